package io.pendula.benchmarks.report;

import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Subject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Measures what a plan has, round by round, and the subjects of a cell in turn. What a file has already is left out, so
 * that a run that was interrupted goes on.
 */
final class Measuring {
    /** The figure of a subject that cannot be measured here. */
    static final String SKIPPED = "skipped";

    private final Plan plan;
    private final List<Launch.Jvm> javas;
    private final int rounds;
    private final Path file;
    private final Results before;
    private final Progress progress;
    private final Set<String> skipped = new HashSet<>();
    private int failures;

    /** @param before what the file has */
    Measuring(Plan plan, List<Launch.Jvm> javas, int rounds, Path file, Results before) {
        this.plan = plan;
        this.javas = javas;
        this.rounds = rounds;
        this.file = file;
        this.before = before;
        this.progress = new Progress(plan, javas.size() * rounds);
    }

    /** Returns how many measurements failed. */
    int run() throws IOException, InterruptedException {
        for (int round = 1; round <= rounds; round++) {
            for (Plan.Step step : plan.steps()) {
                for (Map<String, String> cell : step.cells()) {
                    for (Launch.Jvm java : javas) {
                        for (int i = 0; i < step.subjects().size(); i++) {
                            // Each round begins with another one, so that none is always first.
                            Subject subject = step.subjects().get((i + round - 1) % step.subjects().size());
                            run(new Launch(step.measured(), cell, subject, java, step.more()), round, step);
                        }
                    }
                }
            }
        }
        return failures;
    }

    private void run(Launch launch, int round, Plan.Step step) throws IOException, InterruptedException {
        String name = launch.measured().name();
        String cell = CellText.text(launch.cell());
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
                        CellText.text(part.cell()), launch.subject().label(), round, figure, value)));
            }
            shown = parts.stream().map(p -> launch.measured().ratios().stream().filter(p.figures()::containsKey)
                    .map(f -> f + "=" + Tables.number(p.figures().get(f))).collect(Collectors.joining(" ")))
                    .collect(Collectors.joining("; "));
        } catch (Launch.Skipped e) {
            skipped.add(kind);
            figures.add(new Results.Figure(name, launch.java().version(), cell, launch.subject().label(), round,
                    SKIPPED, 1));
            shown = "skipped: " + e.getMessage();
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
