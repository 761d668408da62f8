package io.pendula;

import static java.util.concurrent.TimeUnit.MINUTES;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** How often Pendula's threads wake up: with nothing due, and while a thread arms and stops at full rate. Linux only. */
final class WakeupsCase implements Case {
    private static final int TIMERS = 100_000;
    private static final int WARM_MILLIS = 1_000;
    private static final long IDLE_MILLIS = 3_000;
    private static final long FULL_RATE_MILLIS = 1_000;

    @Override
    public String name() {
        return "wakeups";
    }

    @Override
    public List<Map<String, String>> cells() {
        return List.of(Map.of());
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all(SchedulerType.PENDULA);
    }

    @Override
    public List<String> ratios() {
        return List.of("idle_sleeps");
    }

    @Override
    public void run(Child child) throws Exception {
        Path tasks = Path.of("/proc/self/task");
        if (!Files.isDirectory(tasks)) {
            throw new UnsupportedOperationException("no /proc/self/task");
        }
        Set<Thread> others = Child.threads();
        Rival rival = child.subject().open(SchedulerType.AS_BUILT);
        Load.fill(rival, TIMERS, 0);
        Thread.sleep(child.number("warmMs", WARM_MILLIS));

        long switches0 = switches(tasks);
        long process0 = Child.processCpu();
        long cpu0 = Child.cpuOfOthers(others);
        Thread.sleep(IDLE_MILLIS);
        child.figure("idle_sleeps", switches(tasks) - switches0);
        child.figure("idle_cpu_us", (Child.cpuOfOthers(others) - cpu0) / 1e3);
        child.figure("idle_process_cpu_ms", (Child.processCpu() - process0) / 1e6);

        full(child, "falling", new Falling(rival), tasks);
        full(child, "same", new Load.Timeouts(rival, 0), tasks);
    }

    private static void full(Child child, String name, Load load, Path tasks) throws IOException {
        steps(load, child.number("warmMs", WARM_MILLIS));
        long switches0 = switches(tasks);
        long steps = steps(load, FULL_RATE_MILLIS);
        long sleeps = switches(tasks) - switches0;
        child.figure(name + "_sleeps", sleeps);
        child.figure(name + "_armed_per_sleep", steps / (double) Math.max(1, sleeps));
    }

    private static long steps(Load load, long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        long steps = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 256; i++) {
                load.step();
            }
            steps += 256;
        }
        return steps;
    }

    /** How often the scheduler's threads, workers and monitor alike, have gone to sleep so far. */
    private static long switches(Path tasks) throws IOException {
        try (Stream<Path> all = Files.list(tasks)) {
            return all.mapToLong(WakeupsCase::switchesOf).sum();
        }
    }

    private static long switchesOf(Path task) {
        try {
            // The system keeps only a part of a long name.
            if (!Files.readString(task.resolve("comm")).startsWith("pendula")) {
                return 0;
            }
            return Files.readAllLines(task.resolve("status")).stream()
                    .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each timeout is due before all others, so that arming it wakes the worker if that sleeps. */
    private static final class Falling extends Load {
        private final Rival rival;
        private long delay = MINUTES.toNanos(9); // before what lies about, after the timeouts of the other load

        Falling(Rival rival) {
            super(0);
            this.rival = rival;
        }

        @Override
        void step() {
            delay -= 1_000; // more than the time that passes meanwhile
            rival.cancel(rival.schedule(delay, Rival.Task.NOTHING));
        }
    }
}
