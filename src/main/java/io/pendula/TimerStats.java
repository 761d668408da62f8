package io.pendula;

import io.pendula.internal.queue.LatenessHistogram;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A snapshot of a scheduler's figures: its work so far, and its pending timers. The counts of one queue are consistent with
 * each other. If nothing is armed, stopped or fired meanwhile,
 * {@code armed == fired + stopped + resets + unfired + pending} exactly.
 *
 * <p>Counters grow from the scheduler's start and never decrease, with one exception: closing the scheduler subtracts
 * from {@code fired} the callbacks that wait in the builder's executor. The other figures describe the moment of the
 * snapshot; {@link Figure#isCounter} distinguishes them. For the last minute, subtract the counters of two snapshots;
 * for lateness, see {@link Lateness#since}.
 *
 * <p>{@link TimerScheduler#stats} returns a snapshot. A later version may have more figures; {@link Figure#all} lists
 * them.
 *
 * @since 0.1
 */
public final class TimerStats extends QueueStats {
    private final String name;
    private final List<Queue> queues;

    private TimerStats(SchedulerEngine engine, QueueView.Snapshot all, List<Queue> queues) {
        super(engine, all);
        this.name = engine.options.name;
        this.queues = queues;
    }

    static TimerStats of(SchedulerEngine engine) {
        List<QueueView.Snapshot> each = new ArrayList<>();
        synchronized (engine.lifecycle) {
            QueueView.Snapshot all = engine.figures(each);
            return new TimerStats(engine, all, each.stream().map(Queue::new).toList());
        }
    }

    /** {@return the scheduler's name, as given to its builder} */
    public String name() {
        return name;
    }

    /**
     * {@return the figures of each queue, unmodifiable; loops that were closed before the scheduler are in the totals, but
     * not in this list}
     */
    public List<Queue> queues() {
        return queues;
    }

    /** {@return the maximum number of pending timers, as given to the builder; Long.MAX_VALUE if there is no bound} */
    public long maxPending() { return get(Row.MAX_PENDING); }

    /** {@return how many timers were found long overdue after a sleep, because a wake-up was lost} */
    public long overdueWakes() { return get(Row.OVERDUE_WAKES); }

    /** {@return how many spare threads have run something, because callbacks blocked all other threads} */
    public long spareThreads() { return get(Row.SPARE_THREADS); }

    /**
     * {@return the number of live threads of the scheduler, including spare threads; not the monitor, the threads of
     * loops, or those of the builder's executor}
     */
    public int threads() { return (int) get(Row.THREADS); }

    /**
     * {@return the number of such threads when each was needed once and none is blocked: a scheduler's workers, or all
     * threads of a pool; 0 for a scheduler without workers or with a {@link ManualClock}}
     */
    public int coreThreads() { return (int) get(Row.CORE_THREADS); }

    /**
     * {@return the maximum number of such threads, including spare threads; 0 for a scheduler without workers. A
     * scheduler with a {@link ManualClock} has no threads, whatever the maximum}
     */
    public int maxThreads() { return (int) get(Row.MAX_THREADS); }

    /** {@return the number of callbacks in progress, including those that wait in the builder's executor} */
    public int running() { return (int) get(Row.RUNNING); }

    /**
     * {@return how many callbacks were measured: all that have ended, if the builder's {@code slowCallback} was set to less
     * than 292 years; otherwise 0}
     */
    public long callbacksMeasured() { return get(Row.CALLBACKS_MEASURED); }

    /** {@return the total time of the measured callbacks, in nanoseconds} */
    public long callbackNanos() { return get(Row.CALLBACK_NANOS); }

    /** {@return how many callbacks took longer than the builder's {@code slowCallback}; 0 if they are not measured} */
    public long callbacksSlow() { return get(Row.CALLBACKS_SLOW); }

    /**
     * {@return how many callbacks threw an exception that was reported to the {@link TimerListener} or, without one, to the
     * uncaught-exception handler}
     */
    public long callbacksThrew() { return get(Row.CALLBACKS_THREW); }

    /** {@return how many runs reached the executor's {@code runTimeout}, and were interrupted} */
    public long callbacksTimedOut() { return get(Row.CALLBACKS_TIMED_OUT); }

    /** {@return how often a run was found to block its thread, or a loop to be late} */
    public long stalls() { return get(Row.STALLS); }

    /** {@return how often all threads were found to be blocked by callbacks, so that timers waited} */
    public long allBlocked() { return get(Row.ALL_BLOCKED); }

    /** {@return the name and all figures, for humans} */
    @Override
    public String toString() {
        return name + ": " + super.toString();
    }

    /**
     * One queue's part of a snapshot.
     *
     * @since 0.1
     */
    public static final class Queue extends QueueStats {
        Queue(QueueView.Snapshot figures) {
            super(null, figures);
        }
    }

    /**
     * A figure, for code that shows all of them, such as an adapter. To read a single figure, call its method.
     *
     * @since 0.1
     */
    public sealed interface Figure permits Row {
        /** {@return all figures except lateness, which is a distribution} */
        static List<Figure> all() {
            return List.copyOf(Row.ALL);
        }

        /** {@return the name of its method, for example staleEntries} */
        String id();

        /** {@return the unit, for example timers; ns for a time in nanoseconds} */
        String unit();

        /** {@return its meaning, in a few words} */
        String text();

        /** {@return true if it grows from the scheduler's start; false if it describes the moment of the snapshot} */
        boolean isCounter();

        /** {@return true if each queue has the figure, too} */
        boolean isByQueue();
    }

    /**
     * The distribution of lateness: how long after its deadline a firing was claimed, in nanoseconds. It is kept in buckets,
     * up to about 18 minutes. The width of a bucket is at most an eighth of its values, or 128 ns below a microsecond.
     * Count, sum and maximum are exact.
     *
     * @since 0.1
     */
    public static final class Lateness {
        /** By bucket of LatenessHistogram. */
        private final long[] counts;
        private final long count;
        private final long sum;
        private final long max;

        Lateness(LatenessHistogram h) {
            this(h.counts(), h.sum(), h.max());
        }

        private Lateness(long[] counts, long sum, long max) {
            this.counts = counts;
            this.count = LongStream.of(counts).sum();
            this.sum = sum;
            this.max = max;
        }

        /** {@return the number of firings} */
        public long count() {
            return count;
        }

        /** {@return the sum of the lateness of all firings, in nanoseconds} */
        public long sumNanos() {
            return sum;
        }

        /**
         * Returns the maximum lateness. For a {@linkplain #since difference} it may be too large by at most one bucket.
         *
         * @return nanoseconds, 0 if there was no firing
         */
        public long maxNanos() {
            return max;
        }

        /**
         * Returns a quantile of lateness, accurate to one bucket. Within a bucket the firings are assumed to be
         * uniformly distributed.
         *
         * @param quantile from 0 to 1, for example 0.99
         * @return nanoseconds, never more than {@link #maxNanos()}; 0 if there was no firing
         * @throws IllegalArgumentException if {@code quantile} is less than 0, more than 1 or not a number
         */
        public long quantileNanos(double quantile) {
            if (!(quantile >= 0 && quantile <= 1)) {
                throw new IllegalArgumentException("quantile must be from 0 to 1, but is " + quantile);
            }
            double rank = Math.max(1, quantile * count);
            long before = 0;
            for (int i = 0; i < counts.length; i++) {
                if (before + counts[i] >= rank) {
                    long low = LatenessHistogram.lowest(i);
                    long high = Math.min(LatenessHistogram.lowest(i + 1), max);
                    return Math.min(max, low + (long) ((high - low) * ((rank - before) / counts[i])));
                }
                before += counts[i];
            }
            return max;
        }

        /**
         * Returns the lateness of the firings between two snapshots.
         *
         * @param earlier the lateness of an earlier snapshot of the same scheduler or queue
         * @return the distribution of the firings after {@code earlier}
         * @throws NullPointerException if {@code earlier} is null
         * @throws IllegalArgumentException if {@code earlier} contains firings that this does not
         */
        public Lateness since(Lateness earlier) {
            Check.notNull(earlier, "earlier");
            long[] rest = counts.clone();
            int used = 0;
            for (int i = 0; i < rest.length; i++) {
                if (earlier.counts[i] > rest[i]) {
                    throw new IllegalArgumentException("earlier must be of the same scheduler and not later, but it has "
                            + earlier.count + " firings, and this " + count);
                }
                rest[i] -= earlier.counts[i];
                used = rest[i] > 0 ? i + 1 : used;
            }
            long most = used == 0 ? 0 : max > earlier.max ? max : Math.min(max, LatenessHistogram.lowest(used) - 1);
            return new Lateness(rest, sum - earlier.sum, most);
        }

        /** {@return count, quantiles and maximum, for humans} */
        @Override
        public String toString() {
            return count == 0 ? "no firings" : Texts.count(count, "firing") + ": p50 "
                    + Texts.duration(quantileNanos(0.5)) + ", p99 " + Texts.duration(quantileNanos(0.99)) + ", max "
                    + Texts.duration(max);
        }
    }
}
