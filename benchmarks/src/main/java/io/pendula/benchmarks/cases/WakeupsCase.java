package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MINUTES;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How often a scheduler's threads go to sleep: with nothing due, and while a thread arms and stops at full rate. Linux
 * only. The designs of {@code SchedulerType.DESIGNS} can be measured as well.
 */
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
        Switches switches = Switches.beforeOpening();
        if (!switches.areKnown()) {
            throw new UnsupportedOperationException("no /proc/self/task");
        }
        Set<Thread> others = Child.threads();
        Rival rival = child.subject().open(SchedulerType.AS_BUILT);
        Load.fill(rival, TIMERS, 0);
        Thread.sleep(child.number("warmMs", WARM_MILLIS));

        switches.begin();
        long process0 = ProcessorTime.ofProcess();
        long cpu0 = ProcessorTime.ofThreadsBut(others);
        Thread.sleep(IDLE_MILLIS);
        child.figure("idle_sleeps", switches.count());
        child.figure("idle_cpu_us", (ProcessorTime.ofThreadsBut(others) - cpu0) / 1e3);
        child.figure("idle_process_cpu_ms", (ProcessorTime.ofProcess() - process0) / 1e6);

        full(child, "falling", new Falling(rival), switches);
        full(child, "same", new Load.Timeouts(rival, 0), switches);
    }

    private static void full(Child child, String name, Load load, Switches switches) {
        steps(load, child.number("warmMs", WARM_MILLIS));
        switches.begin();
        long steps = steps(load, FULL_RATE_MILLIS);
        long sleeps = switches.count();
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

    /** Each timeout is due before all others, so that arming it wakes the worker if that sleeps. */
    private static final class Falling extends Load {
        private final Rival rival;
        private long delay = MINUTES.toNanos(9); // before what lies about, after the timeouts of the other load

        Falling(Rival rival) {
            super(0);
            this.rival = rival;
        }

        @Override
        public void step() {
            delay -= 1_000; // more than the time that passes meanwhile
            rival.cancel(rival.schedule(delay, Rival.Task.NOTHING));
        }
    }
}
