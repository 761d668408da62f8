package io.pendula;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.ThreadParams;

/** Arming a timeout and stopping it, at once or when 1,000 more have been armed. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgs = {"-Xms2g", "-Xmx2g", "-XX:+UseG1GC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StartStopBenchmark {
    /** One scheduler for all threads. */
    @State(Scope.Benchmark)
    public static class Shared {
        @Param({"PENDULA", "STPE", "HWT", "FJP"})
        public SchedulerType type;

        @Param({"0", "100000", "1000000"})
        public int pending;

        Rival rival;

        @Setup
        public void open(BenchmarkParams params) {
            rival = type.open(params.getThreads() == 1 ? SchedulerType.AS_BUILT : params.getThreads());
        }

        @TearDown
        public void close() {
            rival.close();
        }
    }

    /** Each thread arms its share of the timers that lie about, so that they are where its own will be. */
    @State(Scope.Thread)
    public static class Own {
        Load atOnce;
        Load inFlight;

        @Setup
        public void fill(Shared shared, ThreadParams thread) {
            Load.fill(shared.rival, shared.pending / thread.getThreadCount(), thread.getThreadIndex());
            atOnce = new Load.Timeouts(shared.rival, 0);
            inFlight = new Load.Timeouts(shared.rival, 1000);
        }
    }

    @Benchmark
    public void atOnce(Own own) {
        own.atOnce.step();
    }

    @Benchmark
    public void inFlight(Own own) {
        own.inFlight.step();
    }
}
