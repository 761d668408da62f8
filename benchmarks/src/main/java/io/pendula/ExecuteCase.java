package io.pendula;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** How many tasks a pool can be given and runs, when they do next to nothing. */
final class ExecuteCase implements Case {
    @Override
    public String name() {
        return "execute";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("submitters=1,2", "threads=1,2");
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
        Executor pool = child.openPool();
        int submitters = child.number("submitters");
        child.measure(submitters, i -> new Submissions(pool));
        child.figure("million_per_s", submitters * 1e3 / child.figure("wall_ns"));
    }

    /**
     * A thread's tasks, of which a bounded number waits. It sleeps when there are too many, until half of them have
     * run: it then neither takes a processor from the pool nor lets it become idle.
     */
    private static final class Submissions extends Load {
        private static final int MOST_WAITING = 10_000;
        private static final long NAP = 50_000;

        private final Executor pool;
        private final LongAdder done = new LongAdder();
        private final Runnable task = done::increment;
        private long submitted;
        private long limit = MOST_WAITING;

        Submissions(Executor pool) {
            super(0);
            this.pool = pool;
        }

        @Override
        void step() {
            if (submitted == limit) {
                long enough = submitted - MOST_WAITING / 2;
                long ran;
                while ((ran = done.sum()) < enough) {
                    LockSupport.parkNanos(NAP);
                }
                limit = ran + MOST_WAITING;
            }
            submitted++;
            pool.execute(task);
        }
    }
}
