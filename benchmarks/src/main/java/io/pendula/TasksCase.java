package io.pendula;

import static java.util.concurrent.TimeUnit.MINUTES;

import java.util.List;
import java.util.Map;

/** Scheduling a task on a pool and cancelling it, as many threads as the pool has, beside tasks that lie about. */
final class TasksCase implements Case {
    private static final long DELAY = MINUTES.toNanos(10);

    @Override
    public String name() {
        return "tasks";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("inFlight=0,1000", "pending=0,100000", "threads=1,2");
    }

    @Override
    public List<Subject> subjects() {
        return Subject.POOLS;
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_ns", "wall_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        int threads = child.number("threads");
        Rival pool = SchedulerType.executor(child.openPool());
        child.measure(threads, i -> {
            Load.fill(pool, child.number("pending") / threads, i);
            return new Load.Timeouts(pool, child.number("inFlight"), DELAY);
        });
    }
}
