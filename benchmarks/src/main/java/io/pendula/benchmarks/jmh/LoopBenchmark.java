package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.loads.Delays;
import io.pendula.benchmarks.loads.Direction;
import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.rivals.LoopRival;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Timeouts on a loop's own thread: armed and stopped, or moved. The loop does nothing else. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LoopBenchmark {
    private static final int STEPS = 32_768;

    /** Timeouts that are stopped, beside pending ones. */
    @State(Scope.Benchmark)
    public static class Arming {
        @Param({"0", "10000", "100000"})
        public int pending;

        @Param({"0", "1000", "16000"})
        public int inFlight;

        @Param
        public Delays delays;

        private Bench.Loop loop;

        @Setup
        public void begin(Bench.Loop opened) throws InterruptedException {
            loop = opened;
            LoopRival rival = loop.open(pending + inFlight + 1);
            loop.begin(rival, () -> new Timeouts(rival, pending, inFlight, delays));
        }

        @Setup(Level.Iteration)
        public void restart() {
            loop.meter().restart();
        }
    }

    /** Timeouts that are put off or brought forward. */
    @State(Scope.Benchmark)
    public static class Moving {
        @Param({"10000", "100000"})
        public int timers;

        @Param
        public Direction direction;

        private Bench.Loop loop;

        @Setup
        public void begin(Bench.Loop opened) throws InterruptedException {
            loop = opened;
            LoopRival rival = loop.open(timers);
            loop.begin(rival, () -> new Resets(rival, direction, timers));
        }

        @Setup(Level.Iteration)
        public void restart() {
            loop.meter().restart();
        }
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public void arm(Arming arming) {
        arming.loop.meter().await(STEPS);
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public void reset(Moving moving) {
        moving.loop.meter().await(STEPS);
    }

    /** As Load.Timeouts. The slots are those of the pending timers, then a ring. */
    private static final class Timeouts extends Load {
        private final LoopRival rival;
        private final Delays delays;
        private final int first;
        private final int end;
        private int next;

        public Timeouts(LoopRival rival, int pending, int inFlight, Delays delays) {
            super(0);
            this.rival = rival;
            this.delays = delays;
            first = pending;
            end = pending + inFlight + 1;
            next = first;
            for (int i = 0; i < pending; i++) {
                rival.arm(i, farDelay());
            }
            for (int i = first + 1; i < end; i++) {
                rival.arm(i, delays.next(this));
            }
        }

        @Override
        public void step() {
            rival.arm(next, delays.next(this));
            next = next + 1 == end ? first : next + 1;
            rival.stop(next); // the oldest; the one just armed, if there is no other
        }
    }

    /** As Load.Resets. */
    private static final class Resets extends Load.Moves {
        private final LoopRival rival;
        private final int timers;

        public Resets(LoopRival rival, Direction direction, int timers) {
            super(direction, 0);
            this.rival = rival;
            this.timers = timers;
            for (int i = 0; i < timers; i++) {
                rival.arm(i, firstDelay());
            }
        }

        @Override
        public void step() {
            rival.reset(random(timers), nextDelay());
        }
    }
}
