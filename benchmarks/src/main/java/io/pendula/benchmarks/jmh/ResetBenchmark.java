package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.loads.Direction;
import io.pendula.benchmarks.loads.Load;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/** Moving the deadline of one of many timers of the calling thread, picked at random. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ResetBenchmark {
    /** The timers of one thread. */
    @State(Scope.Thread)
    public static class Own {
        /** How many all threads have together. */
        @Param("100000")
        public int timers;

        @Param
        public Direction direction;

        Load resets;

        @Setup
        public void arm(Bench.Scheduler scheduler, ThreadParams thread) {
            int count = Math.max(1, timers / thread.getThreadCount());
            resets = new Load.Resets(scheduler.rival, direction, count, thread.getThreadIndex());
        }
    }

    @Benchmark
    public void reset(Own own) {
        own.resets.step();
    }
}
