package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.loads.Delays;
import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.loads.Stopped;
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

/** A window of timeouts, as a server has them: each step arms one and stops another, so as many are pending all the time. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WindowBenchmark {
    /** The timers of one thread. */
    @State(Scope.Thread)
    public static class Own {
        /** How many all threads have together. */
        @Param({"1000", "100000", "1000000"})
        public int pending;

        @Param("RANDOM")
        public Delays delays;

        @Param
        public Stopped stopped;

        Load load;

        @Setup
        public void arm(Bench.Scheduler scheduler, ThreadParams thread) {
            int count = Math.max(2, pending / thread.getThreadCount());
            load = new Load.Window(scheduler.rival, delays, stopped, count, thread.getThreadIndex());
        }
    }

    @Benchmark
    public void window(Own own) {
        own.load.step();
    }
}
