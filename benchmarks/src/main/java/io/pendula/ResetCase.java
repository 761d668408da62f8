package io.pendula;

import io.pendula.ResetBenchmark.Direction;
import java.util.List;
import java.util.Map;

/** Moving the deadlines of 100,000 timers. */
final class ResetCase implements Case {
    private static final int TIMERS = 100_000;

    @Override
    public String name() {
        return "reset";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("direction=LATER,RANDOM,EARLIER", "threads=1,2");
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        int threads = child.number("threads");
        Rival rival = child.open(threads == 1 ? SchedulerType.AS_BUILT : threads);
        Direction direction = Direction.valueOf(child.text("direction"));
        child.measure(threads, i -> new Load.Resets(rival, direction, TIMERS / threads, i));
    }
}
