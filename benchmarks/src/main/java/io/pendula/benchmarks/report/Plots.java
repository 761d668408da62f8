package io.pendula.benchmarks.report;

import io.pendula.benchmarks.charts.Plot;
import io.pendula.benchmarks.charts.Plot.Kind;
import io.pendula.benchmarks.charts.Plot.Line;
import io.pendula.benchmarks.charts.Plot.Point;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Results.Spread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Which diagrams are drawn of results, those for which there are figures. */
final class Plots {
    private static final int MOST_LINES = 8;
    private static final String AGAIN = " again";
    /** Rates that are written at curves. */
    private static final Set<String> NOTED = Set.of("100", "1000", "10000", "100000", "500000");

    private final Results all;
    private final String java;

    Plots(Results all) {
        this.all = all;
        this.java = all.javas().get(0);
    }

    /** This and the next are pictures of the pages. */
    Optional<Plot> armCost() {
        return steps("Setting a timeout and stopping it, with 100,000 other timers pending", "startstop", "inFlight",
                "delays=ONE pending=100000 threads=1", "cpu_ns", "timeouts set and not yet stopped",
                "processor time for both, nanoseconds");
    }

    Optional<Plot> frontier() {
        return frontier("p50_us", "half are later than, microseconds", "busy=false");
    }

    List<Plot> of(String name) {
        List<Optional<Plot>> plots = switch (name) {
            case "startstop" -> List.of(armCost(),
                    steps("Cost by timers pending", name, "pending", "delays=ONE inFlight=1000 threads=1", "cpu_ns",
                            "timers pending", "processor time, nanoseconds"));
            case "scaling" -> List.of(steps("Cost by threads", name, "threads", "", "wall_ns",
                    "threads that arm, and workers", "time of one thread's operation, nanoseconds"));
            case "frontier" -> List.of(frontier(), frontier("p99_us", "one in a hundred is later than, microseconds",
                    "busy=false"), frontier("p50_us", "half are later than, microseconds", "busy=true"), distribution());
            case "memory" -> List.of(bars("Heap for a pending timer", name, Map.of(), "bytes", "bytes"));
            case "fire" -> List.of(bars("Firing and arming again", name,
                    CellText.parse("byReset=false workers=2"), "cpu_ns", "processor time, nanoseconds"));
            default -> List.of();
        };
        return plots.stream().flatMap(Optional::stream).toList();
    }

    private Results some(String name, String settings) {
        Map<String, String> only = CellText.parse(settings);
        return all.only(f -> f.name().equals(name) && f.java().equals(java) && !f.subject().endsWith(AGAIN)
                && CellText.allow(only, CellText.parse(f.cell()))
                && CellText.parse(f.cell()).keySet().containsAll(only.keySet()));
    }

    private Optional<Plot> bars(String title, String name, Map<String, String> settings, String figure, String unit) {
        Results some = some(name, CellText.text(settings));
        List<Line> lines = new ArrayList<>();
        for (String subject : some.subjects()) {
            Spread spread = some.spread(java, some.cells().get(0), subject, figure);
            if (spread != null) {
                lines.add(new Line(subject, List.of(new Point("", spread.median(), null))));
            }
        }
        lines.sort(Comparator.comparing(line -> line.points().get(0).y()));
        return plot(new Plot(title, "", unit, lines, Kind.BARS));
    }

    private Optional<Plot> steps(String title, String name, String setting, String only, String figure, String x,
            String y) {
        Results some = some(name, only);
        List<String> cells = some.cells().stream().filter(c -> CellText.parse(c).containsKey(setting))
                .sorted(Comparator.comparing(c -> Long.parseLong(CellText.parse(c).get(setting)))).toList();
        List<Line> lines = new ArrayList<>();
        for (String subject : some.subjects()) {
            List<Point> points = new ArrayList<>();
            for (String cell : cells) {
                Spread spread = some.spread(java, cell, subject, figure);
                if (spread != null && spread.median() > 0) {
                    points.add(new Point(String.format(Locale.ROOT, "%,d",
                            Long.parseLong(CellText.parse(cell).get(setting))), spread.median(), null));
                }
            }
            if (points.size() > 1) {
                lines.add(new Line(subject, points));
            }
        }
        return plot(new Plot(title, x, y, atMost(lines), Kind.STEPS));
    }

    private Optional<Plot> frontier(String figure, String y, String busy) {
        Results some = some("frontier", busy);
        List<Line> lines = new ArrayList<>();
        for (String subject : some.subjects()) {
            List<Point> points = new ArrayList<>();
            for (String cell : some.cells()) {
                Spread late = some.spread(java, cell, subject, figure);
                Spread cpu = some.spread(java, cell, subject, "cpu_us");
                if (late != null && cpu != null && late.median() > 0 && cpu.median() > 0) {
                    String rate = CellText.parse(cell).get("rate");
                    String note = NOTED.contains(rate) ? String.format(Locale.ROOT, "%,d/s", Integer.parseInt(rate)) : null;
                    points.add(new Point(String.valueOf(cpu.median()), late.median(), note));
                }
            }
            if (!points.isEmpty()) {
                lines.add(new Line(subject, points));
            }
        }
        return plot(new Plot((figure.equals("p50_us") ? "Median lateness" : "Lateness of the latest hundredth")
                + " over processor time, from 100 to 500,000 timers a second"
                + (busy.endsWith("true") ? ", with a burner on each processor" : ""),
                "processor time per firing, microseconds", y, lines, Kind.CURVES));
    }

    private Optional<Plot> distribution() {
        Results some = some("frontier", "busy=false rate=10000");
        List<Line> lines = new ArrayList<>();
        for (String subject : some.subjects()) {
            List<Point> points = new ArrayList<>();
            Stream.of("p50", "p90", "p99", "p999", "max").forEach(p -> {
                Spread late = some.spread(java, some.cells().get(0), subject, p + "_us");
                if (late != null && late.median() > 0) {
                    points.add(new Point(p.equals("p999") ? "p99.9" : p, late.median(), null));
                }
            });
            if (!points.isEmpty()) {
                lines.add(new Line(subject, points));
            }
        }
        return plot(new Plot("How late timers are at 10,000 a second", "share of the timers", "later than, microseconds",
                atMost(lines), Kind.STEPS));
    }

    private static List<Line> atMost(List<Line> lines) {
        return lines.subList(0, Math.min(MOST_LINES, lines.size()));
    }

    private static Optional<Plot> plot(Plot plot) {
        return plot.lines().isEmpty() ? Optional.empty() : Optional.of(plot);
    }
}
