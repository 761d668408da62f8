package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.LoopType;
import io.pendula.benchmarks.peers.PoolType;
import io.pendula.benchmarks.peers.SchedulerType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** A cost per operation: a JMH benchmark, run once in one fork for each subject, so that the subjects take turns. */
public final class JmhCase implements Case {
    public static final List<String> FIGURES = List.of("cpu_ns", "wall_ns", "bytes");

    /** What is measured. */
    enum Kind { SCHEDULER, POOL, LOOP, NONE }

    private static final String CLASS_PATH = "java.class.path";
    /** Settings that are no parameters of the benchmark. */
    private static final Set<String> NO_PARAMETERS = Set.of("threads", "op");
    /** From so many pending timers on a JVM gets more memory. */
    private static final int MANY = 5_000_000;

    private final String name;
    private final String method;
    private final List<Map<String, String>> cells;
    private final List<Subject> subjects;
    private final Kind kind;
    private final Map<String, Boolean> probed = new ConcurrentHashMap<>();

    /**
     * @param method class and method of the benchmark; without a method that is the cell's setting "op"
     * @param kind what the subjects are
     */
    JmhCase(String name, String method, Kind kind, List<Subject> subjects,
            List<Map<String, String>> cells) {
        this.name = name;
        this.method = method;
        this.kind = kind;
        this.subjects = subjects;
        this.cells = cells;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Map<String, String>> cells() {
        return cells;
    }

    @Override
    public List<Subject> subjects() {
        return subjects;
    }

    @Override
    public void check(Subject subject) {
        switch (kind) {
            case SCHEDULER -> subject.type(SchedulerType.class);
            case POOL -> subject.type(PoolType.class);
            case LOOP -> subject.type(LoopType.class);
            default -> {}
        }
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public List<Launch.Part> measure(Launch launch) throws IOException, InterruptedException, Launch.Skipped {
        probe(launch);
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + (JmhCase.class.getPackageName() + "." + method).replace(".", "\\.")
                        + (launch.cell().containsKey("op") ? "\\." + launch.cell().get("op") : "") + "$")
                .jvm(launch.java().command().toString())
                .jvmArgs(launch.java().flags(heap(launch)).toArray(String[]::new))
                .forks(1).shouldFailOnError(true).verbosity(VerboseMode.SILENT)
                .threads(Integer.parseInt(launch.cell().getOrDefault("threads", "1")))
                .warmupIterations(4).warmupTime(millis(launch, "warmMs", 250))
                .measurementIterations(Integer.parseInt(launch.more().getOrDefault("windows", "5")))
                .measurementTime(millis(launch, "windowMs", 250))
                .addProfiler(CpuProfiler.class).addProfiler(AllocationProfiler.class);
        if (kind != Kind.NONE) {
            options.param("subject", launch.subject().spec());
        }
        launch.cell().forEach((key, value) -> {
            if (!NO_PARAMETERS.contains(key)) {
                options.param(key, value);
            }
        });
        return List.of(new Launch.Part(launch.cell(), figures(run(launch, options))));
    }

    /** The benchmark fails where a subject is not to be had; this tells such a subject from a failure. */
    private void probe(Launch launch) throws IOException, InterruptedException, Launch.Skipped {
        String what = launch.subject() + launch.java().version();
        if (!probed.containsKey(what)) {
            launch.inChild();
            probed.put(what, true);
        }
    }

    @Override
    public void run(Child child) {
        if (kind == Kind.SCHEDULER) {
            child.subject().open(SchedulerType.AS_BUILT);
        } else if (kind == Kind.POOL) {
            child.subject().type(PoolType.class).open(1);
        } else {
            check(child.subject());
        }
        child.figure("available", 1);
    }

    private static RunResult run(Launch launch, ChainedOptionsBuilder options) throws IOException {
        String own = System.getProperty(CLASS_PATH);
        System.setProperty(CLASS_PATH, launch.classPath()); // where JMH takes that of its forks from
        try {
            Collection<RunResult> results = new Runner(options.build()).run();
            if (results.size() != 1) {
                throw new IOException("cell must choose one benchmark, but there are " + results.size());
            }
            return results.iterator().next();
        } catch (RunnerException e) {
            throw new IOException(String.valueOf(e.getMessage()), e);
        } finally {
            System.setProperty(CLASS_PATH, own);
        }
    }

    /** The medians of a fork's iterations. */
    private static Map<String, Double> figures(RunResult result) {
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("cpu_ns", median(result, i -> secondary(i, CpuProfiler.LABEL)));
        figures.put("wall_ns", median(result, i -> i.getPrimaryResult().getScore()));
        figures.put("bytes", median(result, i -> secondary(i, AllocationProfiler.LABEL)));
        return figures;
    }

    private static double median(RunResult result, ToDoubleFunction<IterationResult> figure) {
        List<IterationResult> iterations = new ArrayList<>();
        for (BenchmarkResult fork : result.getBenchmarkResults()) {
            iterations.addAll(fork.getIterationResults());
        }
        return Results.Spread.of(iterations.stream().mapToDouble(figure).toArray()).median();
    }

    private static double secondary(IterationResult iteration, String label) {
        Result<?> result = iteration.getSecondaryResults().get(label);
        if (result == null) {
            throw new IllegalStateException("no " + label + " among " + iteration.getSecondaryResults().keySet());
        }
        return result.getScore();
    }

    private static String heap(Launch launch) {
        return Integer.parseInt(launch.cell().getOrDefault("pending", "0")) > MANY ? "6g" : "2g";
    }

    private static TimeValue millis(Launch launch, String key, int otherwise) {
        return TimeValue.milliseconds(Long.parseLong(launch.more().getOrDefault(key, String.valueOf(otherwise))));
    }
}
