package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.loads.Delays;
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

/** Arming a timeout and stopping it, at once or when {@code inFlight} more have been armed by the same thread. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StartStopBenchmark {
    /** Each thread arms its share of the timers that are pending, so that they are where its own will be. */
    @State(Scope.Thread)
    public static class Timeouts {
        /** Timers of all threads that are due in 10 to 60 minutes. */
        @Param({"0", "100000", "1000000"})
        public int pending;

        /** Timeouts of each thread. */
        @Param({"0", "1000", "16000"})
        public int inFlight;

        @Param
        public Delays delays;

        Load load;

        @Setup
        public void fill(Bench.Scheduler scheduler, ThreadParams thread) {
            Load.fill(scheduler.rival, pending / thread.getThreadCount(), thread.getThreadIndex());
            load = new Load.Timeouts(scheduler.rival, inFlight, delays, thread.getThreadIndex());
        }
    }

    @Benchmark
    public void startStop(Timeouts timeouts) {
        timeouts.load.step();
    }
}
