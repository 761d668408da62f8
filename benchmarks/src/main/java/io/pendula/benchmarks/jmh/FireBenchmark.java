package io.pendula.benchmarks.jmh;

import static java.util.concurrent.TimeUnit.HOURS;

import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.rivals.Rival;
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
import org.openjdk.jmh.annotations.TearDown;

/** Timers each of which arms itself again when it fires: more than any scheduler can run in time. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FireBenchmark {
    private static final int FIRINGS = 65_536;

    /** All timers. */
    @State(Scope.Benchmark)
    public static class Timers {
        @Param("10000")
        public int timers;

        /** Whether a timer is armed anew, or another one. */
        @Param({"false", "true"})
        public boolean byReset;

        private final Meter meter = new Meter();
        private volatile boolean over;

        @Setup
        public void start(Bench.Scheduler scheduler) {
            for (int i = 0; i < timers; i++) {
                new SelfArming(scheduler.rival, this, i).start();
            }
        }

        /** Before the scheduler is closed, which would reject what is armed then. */
        @TearDown
        public void end() throws InterruptedException {
            over = true;
            Thread.sleep(20);
        }

        @Setup(Level.Iteration)
        public void restart() {
            meter.restart();
        }
    }

    @Benchmark
    @OperationsPerInvocation(FIRINGS)
    public void fire(Timers timers) {
        timers.meter.await(FIRINGS);
    }

    private static final class SelfArming extends Load implements Rival.Task {
        /** Delays are even over [0, 2.1 ms). */
        private static final int DELAY_BITS = 21;
        private static final int BATCH = 64;

        private final Rival rival;
        private final Timers all;
        private Object handle;
        private int fired;

        SelfArming(Rival rival, Timers all, int seed) {
            super(seed);
            this.rival = rival;
            this.all = all;
            this.fired = seed % BATCH; // they do not add all at once
        }

        void start() {
            if (all.byReset) {
                handle = rival.schedule(HOURS.toNanos(1), this); // the reset then publishes the handle to the callback
            }
            step();
        }

        @Override
        public void step() {
            long delay = random() >>> Long.SIZE - DELAY_BITS;
            if (all.byReset) {
                rival.reset(handle, delay, this);
            } else {
                rival.schedule(delay, this);
            }
        }

        @Override
        public void run() {
            if (++fired % BATCH == 0) {
                all.meter.add(BATCH);
            }
            if (!all.over) {
                step();
            }
        }
    }
}
