package io.pendula;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Runs each subject of each cell of a case in JVMs of its own, several times, in turn, and prints medians and spreads
 * as Markdown tables.
 */
@Command(name = "Compare", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Measures Pendula beside other schedulers; tables go to standard output.")
public final class Compare implements Callable<Integer> {
    private static final long CHILD_LIMIT_SECONDS = 120;

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "CASE",
            description = "startstop, reset, fire, burst, lateness, parking, pause, wakeups, memory, start; "
                    + "pools: tasks, execute, handover, ticks, mix; "
                    + "loops: looparm, loopreset, loopio; or all")
    private List<String> names;

    @Option(names = "--forks", description = "JVMs for each figure")
    private int forks = 5;

    @Option(names = "--java17", paramLabel = "JAVA",
            description = "a second java command; everything is measured on it, too")
    private Path secondJava;

    @Option(names = "--busy", description = "lateness: also with a spinning thread on each processor")
    private boolean busy;

    @Option(names = "--designs", description = "startstop, reset, fire, burst, lateness, memory: "
            + "also the designs of the history of timers, and further libraries")
    private boolean designs;

    @Option(names = "--only", paramLabel = "SETTING",
            description = "where a case has this setting, only this value, as pending=0")
    private List<String> only = List.of();

    @Option(names = "--out", paramLabel = "FILE", description = "where every single figure goes, as CSV")
    private Path out;

    @Option(names = "--warm-ms", description = "before the first window")
    private int warmMs = 800;

    @Option(names = "--window-ms", description = "length of a window")
    private int windowMs = 500;

    @Option(names = "--windows", description = "how many")
    private int windows = 3;

    /** What the children of one row of a table have reported: figure by figure, in the order of the forks. */
    private record Row(Map<String, String> cell, String java, String label, Map<String, List<Double>> figures) {
        double median(String figure) {
            double[] sorted = values(figure).sorted().toArray();
            int n = sorted.length;
            return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
        }

        DoubleStream values(String figure) {
            return figures.getOrDefault(figure, List.of()).stream().mapToDouble(d -> d);
        }
    }

    private final Map<String, Path> javas = new LinkedHashMap<>();
    private final Set<String> skipped = new LinkedHashSet<>();
    private PrintWriter csv;
    private int failures;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Compare()).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        List<Case> cases = new ArrayList<>();
        for (String name : names) {
            try {
                cases.addAll(name.equals("all") ? Case.ALL : List.of(Case.named(name)));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), e.getMessage());
            }
        }
        javas.put(System.getProperty("java.version"), Path.of(System.getProperty("java.home"), "bin", "java"));
        if (secondJava != null) {
            javas.put(versionOf(secondJava), secondJava);
        }
        try (PrintWriter writer = out == null ? new PrintWriter(Writer.nullWriter()) : open(out)) {
            csv = writer;
            csv.println("case,java,cell,subject,fork,figure,value");
            for (Case c : cases) {
                measure(c);
            }
        }
        return failures == 0 ? 0 : 1;
    }

    private void measure(Case c) throws IOException, InterruptedException {
        long started = System.nanoTime();
        List<Row> rows = new ArrayList<>();
        List<Case.Subject> compared = new ArrayList<>(c.subjects());
        if (designs && compared.containsAll(Case.Subject.RIVALS)) {
            compared.addAll(Case.Subject.MORE_RIVALS);
        }
        for (Map<String, String> cell : c.cells(busy)) {
            if (!settings(only).entrySet().stream().allMatch(
                    e -> cell.getOrDefault(e.getKey(), e.getValue()).equals(e.getValue()))) {
                continue;
            }
            for (String java : javas.keySet()) {
                for (Case.Subject s : compared) {
                    rows.add(new Row(cell, java, s.label(), new LinkedHashMap<>()));
                }
            }
        }
        Map<String, Map<String, String>> subjects = compared.stream()
                .collect(Collectors.toMap(Case.Subject::label, Case.Subject::settings));
        for (int fork = 1; fork <= forks; fork++) {
            for (Row row : rows) {
                run(c, row, subjects.get(row.label), fork);
            }
        }
        print(c, rows, Duration.ofNanos(System.nanoTime() - started));
    }

    private void run(Case c, Row row, Map<String, String> subject, int fork) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(javas.get(row.java).toString(),
                "-Xms2g", "-Xmx2g", "-XX:+UseG1GC", "-cp", System.getProperty("java.class.path"),
                Child.class.getName(), c.name(), "warmMs=" + warmMs, "windowMs=" + windowMs, "windows=" + windows));
        if (Runtime.Version.parse(row.java).feature() >= 24) {
            // What Netty does is then not warned of.
            command.addAll(1, List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        }
        subject.forEach((key, value) -> command.add(key + "=" + value));
        row.cell.forEach((key, value) -> command.add(key + "=" + value));
        String what = String.join(" ", c.name(), describe(row.cell), row.label, "on", row.java);
        for (String line : output(command)) {
            if (line.startsWith(Child.SKIPPED)) {
                if (skipped.add(row.java + row.label)) {
                    System.err.println(row.label + " on " + row.java + " is " + line);
                }
                return;
            }
            if (line.startsWith(Child.FIGURES)) {
                System.err.println(fork + "/" + forks + " " + what + ":" + line.substring(Child.FIGURES.length()));
                settings(List.of(line.substring(Child.FIGURES.length()).trim().split(" "))).forEach((figure, value) -> {
                    row.figures.computeIfAbsent(figure, k -> new ArrayList<>()).add(Double.parseDouble(value));
                    csv.println(String.join(",", c.name(), row.java, describe(row.cell), row.label,
                            String.valueOf(fork), figure, value));
                });
                csv.flush();
                return;
            }
        }
        failures++;
        System.err.println("FAILED: " + what);
    }

    private static List<String> output(List<String> command) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Thread limit = new Thread(() -> {
            try {
                if (!child.waitFor(CHILD_LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    child.destroyForcibly();
                }
            } catch (InterruptedException e) {
                child.destroyForcibly();
            }
        });
        limit.setDaemon(true);
        limit.start();
        try (BufferedReader r = new BufferedReader(new InputStreamReader(child.getInputStream(),
                StandardCharsets.UTF_8))) {
            return r.lines().toList();
        } finally {
            child.waitFor();
        }
    }

    // ---- tables ----

    private void print(Case c, List<Row> rows, Duration took) {
        List<Row> measured = rows.stream().filter(r -> !r.figures.isEmpty()).toList();
        List<String> figures = measured.stream().flatMap(r -> r.figures.keySet().stream()).distinct().toList();
        String first = c.subjects().get(0).label();
        System.out.printf(Locale.ROOT, "%n%s: %s %s, %d processors; median (min..max) of %d JVMs, %d s in all%n%n",
                c.name(), System.getProperty("os.name"), System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(), forks, took.toSeconds());
        List<String> head = new ArrayList<>(List.of("setting", "java", "subject"));
        head.addAll(figures);
        if (c.subjects().size() > 1) {
            c.ratios().forEach(figure -> head.add(first + " / this, " + figure));
        }
        System.out.println("| " + String.join(" | ", head) + " |");
        System.out.println("|---".repeat(3) + "|--:".repeat(head.size() - 3) + "|");
        for (Row row : measured) {
            List<String> line = new ArrayList<>(List.of(describe(row.cell), row.java, row.label));
            figures.forEach(figure -> line.add(spread(row, figure)));
            if (c.subjects().size() > 1) {
                Row base = rows.stream().filter(r -> r.cell == row.cell && r.java.equals(row.java)
                        && r.label.equals(first)).findFirst().orElseThrow();
                c.ratios().forEach(figure -> line.add(
                        row == base ? "" : number(base.median(figure) / row.median(figure))));
            }
            System.out.println("| " + String.join(" | ", line) + " |");
        }
        System.out.flush();
    }

    private static String spread(Row row, String figure) {
        if (!row.figures.containsKey(figure)) {
            return "";
        }
        String median = number(row.median(figure));
        String min = number(row.values(figure).min().orElseThrow());
        String max = number(row.values(figure).max().orElseThrow());
        return min.equals(max) ? median : median + " (" + min + ".." + max + ")";
    }

    private static String number(double value) {
        String format = value >= 100 || value == Math.rint(value) ? "%.0f" : value >= 10 ? "%.1f"
                : value >= 0.1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }

    // ---- small things ----

    private static Map<String, String> settings(List<String> pairs) {
        return pairs.stream().map(pair -> pair.split("=", 2))
                .collect(Collectors.toMap(kv -> kv[0], kv -> kv[1], (a, b) -> b, LinkedHashMap::new));
    }

    private static String describe(Map<String, String> cell) {
        return cell.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(" "));
    }

    private static String versionOf(Path java) throws IOException, InterruptedException {
        for (String line : output(List.of(java.toString(), "--version"))) {
            if (!line.isBlank()) {
                return line.split(" ")[1]; // "openjdk 17.0.15 2025-04-15"
            }
        }
        throw new IOException("cannot be run: " + java);
    }

    private static PrintWriter open(Path file) throws IOException {
        if (file.getParent() != null) {
            Files.createDirectories(file.getParent());
        }
        return new PrintWriter(Files.newBufferedWriter(file));
    }
}
