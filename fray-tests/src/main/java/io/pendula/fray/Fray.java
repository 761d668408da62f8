package io.pendula.fray;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.Executor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.randomness.ControlledRandom;
import org.pastalab.fray.core.randomness.Randomness;
import org.pastalab.fray.core.randomness.RandomnessProvider;

/** Runs scenarios under Fray, each for so many executions. {@code .ci/fray} calls it. */
final class Fray {
    /** Many times what it takes to find the canary. */
    private static final int CANARY_EXECUTIONS = 60;
    /** More than any execution takes: what goes on beyond is a loop without end. */
    private static final int MOST_STEPS = 100_000;
    private static final long NANOS_A_READING = 10_000;
    private static final int SECONDS_A_SCENARIO = 3_600;
    /** Fray's own property. */
    private static final Path WORK = Path.of(System.getProperty("fray.workDir", "target/fray"));

    private final Map<String, Bed.Scenario> scenarios = new LinkedHashMap<>();
    private int executions = 100;
    private int first;
    private long seed = 1;
    private int part;
    private int parts = 1;
    private boolean mustFail;
    private boolean hasPlainFields;
    private final List<String> wanted = new ArrayList<>();

    private static final PrintStream OUT = System.out;

    private Fray(String[] args) {
        WakeScenarios.addTo(scenarios);
        RaceScenarios.addTo(scenarios);
        ExecutorScenarios.addTo(scenarios);
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--executions" -> executions = Integer.parseInt(args[++i]);
                case "--first" -> first = Integer.parseInt(args[++i]);
                case "--seed" -> seed = Long.parseLong(args[++i]);
                case "--part" -> {
                    part = Integer.parseInt(args[++i]);
                    parts = Integer.parseInt(args[++i]);
                }
                case "--must-fail" -> mustFail = true;
                case "--plain-fields" -> hasPlainFields = true;
                default -> {
                    if (!scenarios.containsKey(args[i])) {
                        throw new IllegalArgumentException("no scenario is called " + args[i] + ", but " + scenarios.keySet());
                    }
                    wanted.add(args[i]);
                }
            }
        }
        if (wanted.isEmpty()) {
            wanted.addAll(scenarios.keySet());
        }
    }

    /** What one scenario has come to. */
    private record Result(int executions, Throwable failure) {}

    public static void main(String[] args) throws IOException {
        Files.createDirectories(WORK);
        PrintStream log = new PrintStream(new FileOutputStream(WORK.resolve("log").toFile()), true, StandardCharsets.UTF_8);
        System.setOut(log); // Fray tells of each execution
        System.setErr(log);
        boolean good = new Fray(args).go();
        OUT.flush();
        Runtime.getRuntime().halt(good ? 0 : 1); // Fray's agent takes System.exit away
    }

    private boolean go() {
        Result canary = run("canary", Canary::failToSwap, CANARY_EXECUTIONS, 0);
        if (canary.failure == null) {
            OUT.println("the canary was not found in " + CANARY_EXECUTIONS
                    + " executions: Fray does not change threads at field updaters, the classes were not rewritten");
            return false;
        }
        OUT.println("canary found at execution " + canary.executions);
        boolean good = !mustFail;
        for (int i = 0; i < wanted.size(); i++) {
            if (i % parts == part) {
                good = runAndTell(wanted.get(i)) ? good : !good;
                if (mustFail && good) {
                    return true;
                }
            }
        }
        return good;
    }

    /** False if it has failed. */
    private boolean runAndTell(String name) {
        long begun = System.nanoTime();
        Result r = run(name, scenarios.get(name), executions, first);
        OUT.printf("%-34s %5d executions, %5.1f s%s%n", name, r.executions, (System.nanoTime() - begun) / 1e9,
                r.failure == null ? "" : ", then it fails: " + r.failure);
        if (r.failure != null && !mustFail) {
            r.failure.printStackTrace(OUT);
            OUT.printf("again: .ci/fray %s --seed %d --executions %d%n", name, seed, r.executions);
        }
        return r.failure == null;
    }

    private Result run(String name, Bed.Scenario scenario, int executions, int first) {
        Executor body = new Executor() {
            @Override
            public void beforeExecution() {}

            @Override
            public void execute(boolean resetClassLoader) {
                runOnce(scenario);
            }

            @Override
            public void afterExecution() {}
        };
        RandomnessProvider randoms = new RandomnessProvider() {
            private int next = first;

            @Override
            public Randomness getRandomness() {
                return random(next++);
            }
        };
        Configuration c = new Configuration(new ExecutionInfo(body, false, hasPlainFields, MOST_STEPS),
                WORK.resolve(name), executions, SECONDS_A_SCENARIO,
                new FairScheduler(randoms.getRandomness(), first), randoms, false, false, true, false, false, false,
                NetworkDelegateType.PROACTIVE, SystemTimeDelegateType.MOCK, NANOS_A_READING, false, false, false, false, false,
                false, null);
        Throwable failure = new TestRunner(c).run();
        return new Result(c.getCurrentIteration() + (failure == null ? 0 : 1), failure);
    }

    static void runOnce(Bed.Scenario scenario) {
        Bed bed = new Bed();
        try {
            scenario.run(bed);
            bed.end();
        } catch (Throwable e) {
            throw sneaky(e);
        }
    }

    private Randomness random(int execution) {
        return new ControlledRandom(new ArrayList<>(), new ArrayList<>(), new Random(seed * 1_000_003 + execution));
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException sneaky(Throwable e) throws T {
        throw (T) e;
    }
}
