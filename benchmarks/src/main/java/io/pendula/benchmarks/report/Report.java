package io.pendula.benchmarks.report;

import io.pendula.benchmarks.harness.Environment;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.jmh.JmhCases;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures all that a {@link Plan} has, round by round, and draws a page of it. Each figure is in the file as soon as
 * it is measured, so that a run that was interrupted goes on where it was.
 */
@Command(name = "report", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Measures everything and draws a page; goes on after an interruption.")
public final class Report implements Callable<Integer> {
    static final String FIGURES = "report.csv";

    @Spec
    private CommandSpec spec;

    @Option(names = "--quick", description = "under six minutes: one round of six subjects in a few cells")
    private boolean quick;

    @Option(names = "--history", description = "under an hour and a half: the designs of the history of timers in all "
            + "cases that they can run, and the benchmarks of Go's own timers")
    private boolean history;

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

    private int failures;

    @Override
    public Integer call() throws Exception {
        if (threads.length == 0 || IntStream.of(threads).anyMatch(n -> n < 1)) {
            throw new ParameterException(spec.commandLine(), "--threads must be positive numbers, but is "
                    + IntStream.of(threads).boxed().toList());
        }
        if (quick && history) {
            throw new ParameterException(spec.commandLine(), "--quick and --history are two plans; choose one");
        }
        Path file = out.resolve(FIGURES);
        if (!drawOnly) {
            measure(file);
        }
        Results results = measured(out);
        Path page = Page.write(results, out);
        Tables.write(results, out);
        System.err.println(page.toAbsolutePath());
        if (publish) {
            Marks.renew(Path.of(""), results);
            Page.pictures(results, Path.of("docs", "pictures"));
        }
        return failures == 0 ? 0 : 1;
    }

    /** What a folder has. */
    static Results measured(Path folder) throws IOException {
        Results results = Results.read(folder.resolve(FIGURES)).only(f -> !f.figure().equals(Measuring.SKIPPED));
        if (results.isEmpty()) {
            throw new IOException("no figures in " + folder);
        }
        return results;
    }

    private void measure(Path file) throws IOException, InterruptedException {
        List<Launch.Jvm> javas = new ArrayList<>(List.of(Launch.Jvm.present()));
        for (Path command : javaCommands) {
            javas.add(Launch.Jvm.at(command));
        }
        Plan plan = quick ? Plan.quick() : history ? Plan.history() : Plan.full(threads);
        int count = rounds > 0 ? rounds : quick ? 1 : 3;
        Map<String, String> about = Environment.describe(javas);
        about.put("plan", (quick ? "quick, " : history ? "history, " : "full, ") + count + (count == 1 ? " round" : " rounds"));
        String tooMany = IntStream.of(threads).filter(n -> n > Runtime.getRuntime().availableProcessors())
                .mapToObj(String::valueOf).collect(Collectors.joining(", "));
        if (!tooMany.isEmpty()) {
            about.put("cannot tell", "how it scales to " + tooMany + " threads: there are "
                    + Runtime.getRuntime().availableProcessors() + " processors");
        }
        Results before = begin(file, about);
        failures = new Measuring(plan, javas, count, file, before).run();
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
}
