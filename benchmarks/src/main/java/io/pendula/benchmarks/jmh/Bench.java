package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.peers.LoopType;
import io.pendula.benchmarks.peers.PoolType;
import io.pendula.benchmarks.rivals.LoopRival;
import io.pendula.benchmarks.rivals.Rival;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What the benchmarks measure: a subject, opened once for all threads. */
public final class Bench {
    private Bench() {}

    /** A scheduler. */
    @State(Scope.Benchmark)
    public static class Scheduler {
        /** See {@link Subject}. */
        @Param({"PENDULA", "STPE", "FJP", "HWT", "NETTY_EXECUTOR", "KAFKA"})
        public String subject;

        /** How many threads it gets; 0: as many as by default. */
        @Param("0")
        public int workers;

        Rival rival;

        @Setup
        public void open() {
            rival = Subject.of(subject).open(workers);
        }

        @TearDown
        public void close() {
            rival.close();
        }
    }

    /** A pool of threads. */
    @State(Scope.Benchmark)
    public static class Pool {
        @Param({"PENDULA_POOL", "STPE", "FJP", "NETTY_EXECUTOR"})
        public String subject;

        @Param("2")
        public int workers;

        ScheduledExecutorService pool;

        @Setup
        public void open() {
            pool = Subject.of(subject).type(PoolType.class).open(workers);
        }

        @TearDown
        public void close() {
            pool.shutdownNow();
        }
    }

    /** A loop that runs everything in one thread. */
    @State(Scope.Benchmark)
    public static class Loop {
        @Param({"PENDULA", "PENDULA_HERE", "NETTY", "PENDULA_IN_NETTY", "AGRONA_PACED", "HWT", "STPE"})
        public String subject;

        private LoopLane lane;

        LoopRival open(int slots) {
            return Subject.of(subject).type(LoopType.class).open(slots);
        }

        void begin(LoopRival rival, Supplier<Load> loads) throws InterruptedException {
            lane = new LoopLane(rival, loads);
            lane.begin();
        }

        Meter meter() {
            return lane.meter;
        }

        @TearDown
        public void close() {
            lane.close();
        }
    }
}
