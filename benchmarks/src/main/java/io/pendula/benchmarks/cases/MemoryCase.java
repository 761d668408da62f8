package io.pendula.benchmarks.cases;

import io.pendula.TimerScheduler;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.List;
import java.util.Map;

/** What a pending timer occupies, its shared callback not counted; and what timers leave behind that are stopped. */
final class MemoryCase implements Case {
    private static final int TIMERS = 1_000_000;
    private static final int IN_FLIGHT = 1_000;

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public List<Map<String, String>> cells() {
        return List.of(Map.of());
    }

    @Override
    public List<String> ratios() {
        return List.of("bytes");
    }

    @Override
    public void run(Child child) throws Exception {
        Rival rival = child.subject().open(SchedulerType.AS_BUILT);
        Load.fill(rival, 1, 0); // classes and threads are there from now on
        long before = used();
        Load.fill(rival, TIMERS, 1);
        child.figure("bytes", (used() - before) / (double) TIMERS);
        if (child.subject().type(SchedulerType.class) == SchedulerType.PENDULA) {
            try (TimerScheduler timers = TimerScheduler.builder().build()) {
                Load load = new Load.Timeouts(SchedulerType.pendula(timers), IN_FLIGHT);
                for (int i = 0; i < TIMERS; i++) {
                    load.step();
                }
                child.figure("slots_for_1000", timers.stats().heapCapacity());
            }
        }
    }

    /** The pauses let schedulers that file timers on a thread of their own come to rest. */
    private static long used() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            Thread.sleep(200);
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
