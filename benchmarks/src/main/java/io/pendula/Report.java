package io.pendula;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures all that a {@link Plan} has, round by round, and draws a page of it. Each figure is in the file as soon as it
 * is measured, so that a run that was interrupted goes on where it was.
 */
@Command(name = "report", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Measures everything and draws a page; goes on after an interruption.")
final class Report implements Callable<Integer> {
    static final String FIGURES = "report.csv";
    private static final String SKIPPED = "skipped";

    @Spec
    private CommandSpec spec;

    @Option(names = "--quick", description = "under six minutes: one round of six subjects in a few cells")
    private boolean quick;

    @Option(names = "--rounds", description = "JVMs for each figure (default: 3, or 1 if quick)")
    private int rounds;

    @Option(names = "--java", paramLabel = "JAVA",
            description = "further java commands; everything is measured on each, too")
    private List<Path> javaCommands = List.of();

    @Option(names = "--threads", split = ",", description = "how many arm at once, and as many workers, in 'scaling'")
    private int[] threads = JmhCases.SCALE;

    @Option(names = "--out", paramLabel = "FOLDER")
    private Path out = Path.of("benchmarks", "results");

    @Option(names = "--fresh", description = "throws away what was measured before")
    private boolean fresh;

    @Option(names = "--draw", description = "measures nothing and draws what the folder has")
    private boolean drawOnly;

    @Option(names = "--publish", description = "also renews the figures and pictures of README.md, docs and "
            + "benchmarks/README.md; run in the root of the repository")
    private boolean publish;

    private final Set<String> skipped = new HashSet<>();
    private int failures;

    @Override
    public Integer call() throws Exception {
        if (threads.length == 0 || IntStream.of(threads).anyMatch(n -> n < 1)) {
            throw new ParameterException(spec.commandLine(), "--threads must be positive numbers, but is "
                    + IntStream.of(threads).boxed().toList());
        }
        Path file = out.resolve(FIGURES);
        if (!drawOnly) {
            measure(file);
        }
        Results results = Results.read(file).only(f -> !f.figure().equals(SKIPPED));
        if (results.isEmpty()) {
            throw new IOException("no figures in " + file);
        }
        Path page = Page.write(results, out);
        Tables.write(results, out);
        System.err.println(page.toAbsolutePath());
        if (publish) {
            Marks.renew(Path.of(""), results);
            Page.pictures(results, Path.of("docs", "pictures"));
        }
        return failures == 0 ? 0 : 1;
    }

    private void measure(Path file) throws IOException, InterruptedException {
        List<Launch.Jvm> javas = new ArrayList<>(List.of(Launch.Jvm.present()));
        for (Path command : javaCommands) {
            javas.add(Launch.Jvm.at(command));
        }
        Plan plan = quick ? Plan.quick() : Plan.full(threads);
        int count = rounds > 0 ? rounds : quick ? 1 : 3;
        Map<String, String> about = Environment.describe(javas);
        about.put("plan", (quick ? "quick, " : "full, ") + count + (count == 1 ? " round" : " rounds"));
        String tooMany = IntStream.of(threads).filter(n -> n > Runtime.getRuntime().availableProcessors())
                .mapToObj(String::valueOf).collect(Collectors.joining(", "));
        if (!tooMany.isEmpty()) {
            about.put("cannot tell", "how it scales to " + tooMany + " threads: there are "
                    + Runtime.getRuntime().availableProcessors() + " processors");
        }
        Results before = begin(file, about);
        Progress progress = new Progress(plan, javas.size() * count);
        for (int round = 1; round <= count; round++) {
            for (Plan.Step step : plan.steps()) {
                for (Map<String, String> cell : step.cells()) {
                    for (Launch.Jvm java : javas) {
                        for (int i = 0; i < step.subjects().size(); i++) {
                            // Each round begins with another one, so that none is always first.
                            Subject subject = step.subjects().get((i + round - 1) % step.subjects().size());
                            Launch launch = new Launch(step.measured(), cell, subject, java, step.more());
                            run(launch, round, step, file, before, progress);
                        }
                    }
                }
            }
        }
    }

    /** What has been measured before an interruption. */
    private Results begin(Path file, Map<String, String> about) throws IOException {
        if (fresh || !Files.exists(file)) {
            Results.create(file, about);
            return new Results();
        }
        Results before = Results.read(file);
        for (String key : List.of("commit", "java", "plan")) {
            if (!about.get(key).equals(before.about().get(key))) {
                throw new ParameterException(spec.commandLine(), file + " has figures of " + key + " '"
                        + before.about().get(key) + "', not '" + about.get(key)
                        + "'; throw them away with --fresh, or choose another --out");
            }
        }
        return before;
    }

    private void run(Launch launch, int round, Plan.Step step, Path file, Results before, Progress progress)
            throws IOException, InterruptedException {
        String name = launch.measured().name();
        String cell = Settings.text(launch.cell());
        boolean done = before.figures().stream().anyMatch(f -> f.round() == round && f.name().equals(name)
                && f.java().equals(launch.java().version()) && f.subject().equals(launch.subject().label())
                && (f.cell() + " ").startsWith(cell + " "));
        String kind = name + launch.java().version() + launch.subject().label();
        if (done || skipped.contains(kind)) {
            progress.omit(step);
            return;
        }
        long begin = System.nanoTime();
        List<Results.Figure> figures = new ArrayList<>();
        String shown;
        try {
            List<Launch.Part> parts = launch.run();
            for (Launch.Part part : parts) {
                part.figures().forEach((figure, value) -> figures.add(new Results.Figure(name, launch.java().version(),
                        Settings.text(part.cell()), launch.subject().label(), round, figure, value)));
            }
            shown = parts.stream().map(p -> launch.measured().ratios().stream().filter(p.figures()::containsKey)
                    .map(f -> f + "=" + Tables.number(p.figures().get(f))).collect(Collectors.joining(" ")))
                    .collect(Collectors.joining("; "));
        } catch (Launch.Skipped e) {
            skipped.add(kind);
            figures.add(new Results.Figure(name, launch.java().version(), cell, launch.subject().label(), round,
                    SKIPPED, 1));
            shown = "skipped:" + e.getMessage();
        } catch (IOException e) {
            failures++;
            shown = "FAILED: " + e.getMessage();
        }
        Results.append(file, figures);
        progress.done(step, System.nanoTime() - begin, launch + ": " + shown);
    }

    /** Tells how far it is. */
    private static final class Progress {
        private final Map<Plan.Step, double[]> measured = new HashMap<>();
        private final Map<Plan.Step, Integer> left = new HashMap<>();
        private final int all;

        Progress(Plan plan, int repetitions) {
            plan.steps().forEach(s -> left.put(s, s.jvms() * repetitions));
            all = plan.steps().stream().mapToInt(Plan.Step::jvms).sum() * repetitions;
        }

        void omit(Plan.Step step) {
            left.merge(step, -1, Integer::sum);
        }

        void done(Plan.Step step, long nanos, String what) {
            omit(step);
            double[] sumAndCount = measured.computeIfAbsent(step, s -> new double[2]);
            sumAndCount[0] += nanos / 1e9;
            sumAndCount[1]++;
            int jvms = left.values().stream().mapToInt(n -> n).sum();
            System.err.printf("[%d/%d, %s left] %s%n", all - jvms, all, time(secondsLeft()), what);
        }

        private double secondsLeft() {
            // Steps that have not begun take as much more or less than was thought as those that have.
            double thought = 0;
            double took = 0;
            for (Map.Entry<Plan.Step, double[]> e : measured.entrySet()) {
                thought += e.getKey().seconds() * e.getValue()[1];
                took += e.getValue()[0];
            }
            double factor = took / thought;
            double seconds = 0;
            for (Map.Entry<Plan.Step, Integer> e : left.entrySet()) {
                double[] m = measured.get(e.getKey());
                seconds += e.getValue() * (m == null ? e.getKey().seconds() * factor : m[0] / m[1]);
            }
            return seconds;
        }

        private static String time(double seconds) {
            long s = Math.round(seconds);
            return s >= 3_600 ? s / 3_600 + " h " + s % 3_600 / 60 + " min" : s >= 60 ? s / 60 + " min" : s + " s";
        }
    }
}
