package io.pendula.benchmarks.jmh;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Pools that are given tasks that do next to nothing, from outside or by the task before. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PoolBenchmark {
    private static final int HOPS = 32_768;

    /** The tasks of one submitting thread. */
    @State(Scope.Thread)
    public static class Submissions {
        private static final int MOST_WAITING = 10_000;
        private static final long NAP = 50_000;

        private final LongAdder done = new LongAdder();
        private final Runnable task = done::increment;
        private Executor pool;
        private long submitted;
        private long limit = MOST_WAITING;

        @Setup
        public void open(Bench.Pool scheduler) {
            pool = scheduler.pool;
        }

        /**
         * Sleeps when too many wait, until half of them have run: the submitter then neither takes a processor from the
         * pool nor lets it become idle.
         */
        void submit() {
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

    /** A task that executes itself again. */
    @State(Scope.Benchmark)
    public static class Relay {
        private static final int BATCH = 64;

        private final Meter meter = new Meter();
        private int runs;

        @Setup
        public void begin(Bench.Pool scheduler) {
            Executor pool = scheduler.pool;
            pool.execute(new Runnable() {
                @Override
                public void run() {
                    if (++runs % BATCH == 0) {
                        meter.add(BATCH);
                    }
                    try {
                        pool.execute(this);
                    } catch (RejectedExecutionException e) {
                        runs = 0; // the pool was closed: the end of the trial
                    }
                }
            });
        }

        @Setup(Level.Iteration)
        public void restart() {
            meter.restart();
        }
    }

    @Benchmark
    public void execute(Submissions submissions) {
        submissions.submit();
    }

    @Benchmark
    @OperationsPerInvocation(HOPS)
    public void relay(Relay relay) {
        relay.meter.await(HOPS);
    }
}
