package io.pendula.benchmarks.report;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.charts.Plot;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Results;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The report as one HTML file that needs no other. */
final class Page {
    /** What a reader must know of a figure. */
    private static final Map<String, String> FIGURES = Map.ofEntries(
            Map.entry("cpu_ns", "processor time of the whole process per operation, ns"),
            Map.entry("wall_ns", "time that one thread's operation takes, ns"),
            Map.entry("cpu_us", "processor time per firing, µs"),
            Map.entry("p50_us", "half are later than, µs"), Map.entry("p99_us", "one in a hundred is later than, µs"),
            Map.entry("max_us", "the latest, median of the rounds, µs"),
            Map.entry("late_us", "how late a firing is on average, µs"),
            Map.entry("switches", "how often the scheduler's threads go to sleep, per firing"),
            Map.entry("round_us", "opening a pool, its tasks, closing it, µs"),
            Map.entry("rss_mb", "the most memory that the process had, MB"),
            Map.entry("drift_us", "what a sleep of a millisecond takes beyond it, µs"),
            Map.entry("bytes", "bytes of heap for a pending timer"),
            Map.entry("last_ms", "from the instant to the last firing, ms"),
            Map.entry("fired_ms", "from the first call to the first firing, ms"),
            Map.entry("cpu_percent", "of one processor, percent"));
    private static final Map<String, String> TITLES = Map.ofEntries(
            Map.entry("startstop", "Arming a timeout and stopping it"),
            Map.entry("scaling", "The same with more threads and workers"),
            Map.entry("window", "A window of timeouts"), Map.entry("reset", "Moving a deadline"), Map.entry("fire", "Firing and arming again, at full speed"),
            Map.entry("frontier", "Lateness and its price"),
            Map.entry("blocked", "Behind a callback that blocks for 200 ms"),
            Map.entry("heavy", "Callbacks that compute for long"),
            Map.entry("burst", "200,000 timers at one instant"), Map.entry("memory", "A million pending timers"),
            Map.entry("pause", "What resets and arming put off"), Map.entry("wakeups", "How often threads wake up"),
            Map.entry("gobench", "Go's own benchmarks, in our words"),
            Map.entry("delayed", "The JDK's DelayedTasks, in our words"),
            Map.entry("foreign", "Benchmarks that others wrote, in our words"),
            Map.entry("start", "The first timer of a JVM"), Map.entry("execute", "Pools: tasks from outside"),
            Map.entry("relay", "Pools: a task that submits itself"), Map.entry("handover", "Pools: waking one"),
            Map.entry("ticks", "Pools: a million ticks a second"), Map.entry("mix", "Pools: blocked threads"),
            Map.entry("looparm", "Loops: arming and stopping"), Map.entry("loopreset", "Loops: moving a deadline"),
            Map.entry("loopio", "Loops: lateness beside I/O"),
            Map.entry("floor", "What every scheduler is made of"));
    private static final int WIDE = 760;
    private static final int NARROW = 350;
    /** The width that a picture is drawn for; a telephone shows it at four fifths of that. */
    private static final int PICTURE = 460;
    private static final Set<String> PICTURED = Set.of("PENDULA", "STPE", "STPE:threads=1", "HWT");

    private Page() {}

    static Path write(Results results, Path folder) throws IOException {
        Path file = folder.resolve("report.html");
        Files.writeString(file, html(results));
        return file;
    }

    /** The two of the project's README, of the subjects of its table. */
    static void pictures(Results results, Path folder) throws IOException {
        Files.createDirectories(folder);
        Plots plots = new Plots(results.only(f -> PICTURED.contains(f.subject())));
        picture(plots.armCost(), 330, results, folder.resolve("arm-cost.svg"));
        picture(plots.frontier(), 400, results, folder.resolve("frontier.svg"));
    }

    private static void picture(Optional<Plot> plot, int height, Results results, Path file) throws IOException {
        if (plot.isPresent()) {
            Files.writeString(file, plot.get().file(PICTURE, height, results.about()));
        }
    }

    private static String html(Results results) throws IOException {
        StringBuilder body = new StringBuilder("<h1>Pendula beside other timers</h1>\n<dl>");
        results.about().forEach((key, value) -> body.append("<dt>").append(Plot.escape(key)).append("</dt><dd>")
                .append(Plot.escape(value)).append("</dd>"));
        body.append("</dl>\n").append(resource("how.html"));
        StringBuilder sections = new StringBuilder();
        Plots plots = new Plots(results);
        int plotted = 0;
        for (Case c : Cases.ALL) {
            Results own = results.only(f -> f.name().equals(c.name()));
            if (own.isEmpty()) {
                continue;
            }
            sections.append("<section id=").append(c.name()).append("><h2>").append(TITLES.getOrDefault(c.name(), ""))
                    .append(" <code>").append(c.name()).append("</code></h2>\n");
            for (Plot plot : plots.of(c.name())) {
                sections.append(figure(plot, plotted++));
            }
            for (String java : own.javas()) {
                for (String figure : c.ratios()) {
                    HeatTable table = new HeatTable(own, figure, java);
                    if (!table.isEmpty()) {
                        sections.append(table(table, figure, java));
                    }
                }
            }
            sections.append("</section>\n");
        }
        results.javas().forEach(java -> body.append(behind(results, java)));
        body.append(sections);
        return resource("page.html").replace("$LIGHT", Plot.LIGHT).replace("$DARK", Plot.DARK)
                .replace("$BODY", body.toString());
    }

    private static String behind(Results results, String java) {
        List<HeatTable.Behind> behind = HeatTable.behind(results, java);
        StringBuilder html = new StringBuilder("<section><h2>Where Pendula is behind, JDK " + java + "</h2><p>By more "
                + "than a tenth, and by more than the control there and in the middle of that table: " + behind.size()
                + " cells.</p>");
        if (!behind.isEmpty()) {
            html.append("<details><summary>All of them, the worst first</summary><ul>");
            behind.forEach(b -> html.append("<li>").append(Plot.escape(b.words())).append("</li>"));
            html.append("</ul></details>");
        }
        return html.append("</section>\n").toString();
    }

    private static String figure(Plot plot, int number) {
        int lines = plot.lines().size();
        int wideHeight = plot.kind() == Plot.Kind.BARS ? 80 + 34 * lines : 400;
        int narrowHeight = plot.kind() == Plot.Kind.BARS ? 80 + 34 * lines : 430;
        return "<figure><figcaption>" + Plot.escape(plot.title()) + "</figcaption><div class=wide>"
                + plot.svg(WIDE, wideHeight, "w" + number + "-") + "</div><div class=narrow>"
                + plot.svg(NARROW, narrowHeight, "n" + number + "-") + "</div></figure>\n";
    }

    private static String table(HeatTable table, String figure, String java) {
        return "<h3>" + Plot.escape(FIGURES.getOrDefault(figure, figure.replace('_', ' '))) + ", JDK " + java
                + "</h3>\n" + table.html() + "<p class=note>" + table.note() + "</p>\n";
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Page.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
