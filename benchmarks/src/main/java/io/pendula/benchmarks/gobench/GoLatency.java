package io.pendula.benchmarks.gobench;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.rivals.Rival;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The two operations of {@link GoBenchCase} that tell how late timers fire while processors are busy. */
final class GoLatency {
    private static final int MEASURED_MILLIS = 1_000;
    private static final long DELAY = MILLISECONDS.toNanos(1);
    /** Before it begins, and after each timer: so long that threads without work have gone to sleep. */
    private static final long QUIET = MILLISECONDS.toNanos(1);
    private static final long PERIOD = MILLISECONDS.toNanos(3);

    private final Child child;
    private final Switches switches;
    private final Rival rival;
    private final Goroutines goroutines;

    GoLatency(Child child, Switches switches, Rival rival, Goroutines goroutines) {
        this.child = child;
        this.switches = switches;
        this.rival = rival;
        this.goroutines = goroutines;
    }

    /**
     * A busy thread arms timers, stays busy until all have fired, and callbacks stay busy until then as well: each timer
     * needs a processor of its own.
     */
    void parallel(int timers) {
        Histogram lateness = parallel(timers, child.number("warmMs", MEASURED_MILLIS));
        lateness.reset();
        switches.begin();
        lateness = parallel(timers, child.number("windowMs", MEASURED_MILLIS));
        report(lateness);
    }

    private Histogram parallel(int timers, long millis) {
        Histogram lateness = new ConcurrentHistogram(3);
        long end = System.nanoTime() + MILLISECONDS.toNanos(millis);
        do {
            AtomicInteger fired = new AtomicInteger();
            for (int i = 0; i < timers; i++) {
                long due = System.nanoTime() + DELAY;
                rival.schedule(DELAY, () -> {
                    lateness.recordValue(Math.max(0, System.nanoTime() - due));
                    fired.incrementAndGet();
                    await(fired, timers);
                });
            }
            await(fired, timers);
            work(QUIET);
        } while (System.nanoTime() < end);
        return lateness;
    }

    private static void await(AtomicInteger fired, int timers) {
        while (fired.get() < timers) {
            Thread.onSpinWait();
        }
    }

    /** Tickers of 3 ms that begin one after the other; a goroutine takes each tick and works. */
    void staggered(int tickers, long workMicros) throws InterruptedException {
        Histogram lateness = new ConcurrentHistogram(3);
        LongAdder lost = new LongAdder();
        for (int i = 0; i < tickers; i++) {
            new Ticking(lateness, lost, MICROSECONDS.toNanos(workMicros)).begin();
            Thread.sleep(0, (int) Math.min(999_999, PERIOD / tickers));
        }
        Thread.sleep(child.number("warmMs", MEASURED_MILLIS));
        lateness.reset();
        lost.reset();
        switches.begin();
        Thread.sleep(child.number("windowMs", MEASURED_MILLIS));
        child.figure("lost", lost.sum());
        report(lateness.copy());
    }

    private void report(Histogram lateness) {
        child.figure("late_us", lateness.getMean() / 1e3);
        child.figure("late_p99_us", lateness.getValueAtPercentile(99) / 1e3);
        child.figure("late_max_us", lateness.getMaxValue() / 1e3);
        switches.figure(child, lateness.getTotalCount());
    }

    /** Keeps its thread busy. */
    private static void work(long nanos) {
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end; ) {
            Thread.onSpinWait();
        }
    }

    private final class Ticking implements Rival.Task {
        private final Histogram lateness;
        private final LongAdder lost;
        private final long work;
        private Object handle;
        private long due;
        private volatile boolean isTaken = true;

        Ticking(Histogram lateness, LongAdder lost, long work) {
            this.lateness = lateness;
            this.lost = lost;
            this.work = work;
        }

        void begin() {
            due = System.nanoTime() + PERIOD;
            handle = rival.schedule(MILLISECONDS.toNanos(3_600_000), this); // the reset publishes it to the callback
            rival.reset(handle, PERIOD, this);
        }

        @Override
        public void run() {
            long expected = due;
            if (isTaken) {
                isTaken = false;
                goroutines.execute(() -> {
                    lateness.recordValue(Math.max(0, System.nanoTime() - expected));
                    isTaken = true;
                    work(work);
                });
            } else {
                lost.increment();
            }
            long now = System.nanoTime();
            due += PERIOD * Math.max(1, (now - due + PERIOD) / PERIOD); // as Go: past ones are left out
            handle = rival.reset(handle, due - now, this);
        }
    }
}
