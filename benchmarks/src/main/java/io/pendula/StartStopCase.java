package io.pendula;

import java.util.List;
import java.util.Map;

/** Arming a timeout and stopping it, beside timers that lie about. */
final class StartStopCase implements Case {
    @Override
    public String name() {
        return "startstop";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("inFlight=0,1000", "pending=0,100000,1000000", "threads=1,2");
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        int threads = child.number("threads");
        Rival rival = child.open(threads == 1 ? SchedulerType.AS_BUILT : threads);
        child.measure(threads, i -> {
            Load.fill(rival, child.number("pending") / threads, i);
            return new Load.Timeouts(rival, child.number("inFlight"));
        });
    }
}
