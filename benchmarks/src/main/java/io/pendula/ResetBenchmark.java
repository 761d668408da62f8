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
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

/** Moving the deadline of one of many timers of the calling thread; {@code pending} is how many there are in all. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgs = {"-Xms2g", "-Xmx2g", "-XX:+UseG1GC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ResetBenchmark {
    /** Where a reset moves the deadline. */
    public enum Direction { LATER, RANDOM, EARLIER }

    /** The timers of one thread. */
    @State(Scope.Thread)
    public static class Own {
        @Param
        public Direction direction;

        Load resets;

        @Setup
        public void arm(StartStopBenchmark.Shared shared, ThreadParams thread) {
            int count = Math.max(1, shared.pending / thread.getThreadCount());
            resets = new Load.Resets(shared.rival, direction, count, thread.getThreadIndex());
        }
    }

    @Benchmark
    public void reset(Own own) {
        own.resets.step();
    }
}
