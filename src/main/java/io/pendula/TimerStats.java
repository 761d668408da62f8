package io.pendula;

import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.Options;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.queue.LatenessHistogram;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import io.pendula.internal.workers.WorkerPool;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A snapshot of what a scheduler has done and has to do. The counts of one queue belong together; when nothing is being
 * armed, stopped or fired meanwhile, {@code armed == fired + stopped + resets + unfired + pending} exactly.
 *
 * <p>Counts grow from the scheduler's start and never fall, except {@code pending}, {@code staleEntries},
 * {@code heapCapacity}, {@code running} and {@code threads}, which tell of this moment; and a close takes back from
 * {@code fired} what has waited in the builder's executor. A figure of the last minute is the difference of two
 * snapshots; for lateness, see {@link Lateness#since}.
 *
 * <p>{@link TimerScheduler#stats} makes it. Programs should not: a later version may have more figures.
 *
 * @param name the scheduler's name, as given to its builder
 * @param armed how often a timer was armed: by making it, by a reset, by each next tick of a ticker
 * @param fired how many of these fired; among them are an executor's tasks that were cancelled when a thread had taken
 *     them out of the queue and not begun yet
 * @param stopped how many were prevented by {@code stop} or {@code cancel}
 * @param resets how many were replaced by {@code Timer.reset} or {@code Ticker.reset}
 * @param unfired how many were dropped or returned when the scheduler or a loop was closed; also those whose callback
 *     then waited in the builder's executor, which do not count as fired any more
 * @param pending how many are still to come
 * @param maxPending how many may be to come at a time, as given to the builder; Long.MAX_VALUE if there is no bound
 * @param staleEntries how many heap entries stand for no armed timer any more, as it was stopped or brought forward, and
 *     are not swept yet
 * @param heapCapacity the heaps' capacity, in entries
 * @param staleDropped how many stale entries were dropped
 * @param stolen how many firings were run by a worker that came to help: neither the queue's own, nor the one that looks
 *     after all queues
 * @param callerDrains how often an arming thread emptied an inbox
 * @param overdueWakes how many timers were found long overdue after a sleep, since a wake-up was lost
 * @param spareThreads how many spare threads have run something, as all other threads were held up by callbacks
 * @param threads the scheduler's threads that live, spare ones included; neither its monitor, nor the threads of loops,
 *     nor those of the builder's executor
 * @param coreThreads how many such threads there are when nothing blocks them, once each was needed: a scheduler's
 *     workers, or all threads of a pool; 0 for a scheduler without workers or with a {@link ManualClock}
 * @param maxThreads the limit of such threads, spare ones included, of which there are none without a monitor; 0 for a
 *     scheduler without workers. A scheduler with a {@link ManualClock} has no thread, whatever the limit
 * @param running the callbacks in progress, those that wait in the builder's executor included
 * @param nanosUntilNext the nanoseconds until the next timer is due, 0 if something is due; less than the truth if timers
 *     were stopped or put off a short while ago; Long.MAX_VALUE if nothing is pending, or nothing that will ever fire
 * @param lateness how late firings were since the scheduler's start: the delay between a deadline and the claim of its
 *     firing. A callback that waits in the builder's executor waits longer. All that one poll of a loop runs is claimed by
 *     one reading of the clock, and so may be up to eight callbacks of a worker, while they are short: if one of these
 *     takes long all the same, those after it do not show it
 * @param callbacksMeasured how many callbacks were measured: all that have ended, if the builder's {@code slowCallback}
 *     was set, to less than 292 years; 0 if callbacks are not measured
 * @param callbackNanos how long the measured callbacks took, all together, in nanoseconds
 * @param callbacksSlow how many callbacks took longer than the builder's {@code slowCallback}; 0 if they are not measured
 * @param callbacksThrew of how many callbacks an exception was told to the {@link TimerListener} or, without one, to the
 *     uncaught-exception handler
 * @param stalls how often a run was found to block its thread, or a loop to be late
 * @param allBlocked how often all threads were found to be blocked by callbacks, so that timers waited
 * @param queues the figures of each queue, unmodifiable; loops that were closed before the scheduler count above, but are
 *     not among these
 * @since 0.1
 */
public record TimerStats(String name, long armed, long fired, long stopped, long resets, long unfired, long pending,
        long maxPending, long staleEntries, long heapCapacity, long staleDropped, long stolen, long callerDrains,
        long overdueWakes, long spareThreads, int threads, int coreThreads, int maxThreads, int running,
        long nanosUntilNext, Lateness lateness, long callbacksMeasured, long callbackNanos, long callbacksSlow,
        long callbacksThrew, long stalls, long allBlocked, List<Queue> queues) {

    /**
     * {@return the largest delay between a deadline and the claim of its firing, since the scheduler's start, in
     * nanoseconds}
     */
    public long maxLatenessNanos() {
        return lateness.max;
    }

    static TimerStats of(SchedulerEngine engine) {
        Options options = engine.options;
        WorkerPool threads = engine.workerPool;
        Reporter told = engine.reporter;
        List<QueueView.Snapshot> each = new ArrayList<>();
        synchronized (engine.lifecycle) {
            QueueView.Snapshot all = engine.figures(each);
            return new TimerStats(options.name, all.armed(), all.fired(), all.stopped(), all.reset(), all.unfired(),
                    all.pending(), options.maxPending, all.staleEntries(), all.heapCapacity(), all.staleDropped(), all.stolen(),
                    all.callerDrains(), threads.overdueWakes.get(), threads.sparesUsed.get(), threads.live(),
                    threads.core(), options.maxThreads, engine.firings().count(),
                    all.nanosUntilNext(), new Lateness(all.lateness()), told.measured.get(), told.measuredNanos.get(),
                    told.count(Event.SLOW), told.count(Event.THREW), told.count(Event.STALLED) + told.count(Event.LOOP_STALLED),
                    told.count(Event.ALL_BLOCKED),
                    each.stream().map(Queue::of).toList());
        }
    }

    /**
     * One queue's part of a snapshot.
     *
     * @param armed how often one of its timers was armed
     * @param fired how many of these fired
     * @param stopped how many were prevented by {@code stop} or {@code cancel}
     * @param resets how many were replaced by {@code Timer.reset} or {@code Ticker.reset}
     * @param unfired how many were dropped or returned when the scheduler or a loop was closed
     * @param pending how many are still to come
     * @param staleEntries how many heap entries stand for no armed timer any more and are not swept yet
     * @param heapCapacity the heap's capacity, in entries
     * @param staleDropped how many stale entries were dropped
     * @param stolen how many firings were run by a worker that came to help: neither the queue's own, nor the one that
     *     looks after all queues
     * @param callerDrains how often an arming thread emptied the inbox
     * @param nanosUntilNext the nanoseconds until the next timer is due, as {@link TimerStats#nanosUntilNext()}
     * @param lateness how late firings were
     * @since 0.1
     */
    public record Queue(long armed, long fired, long stopped, long resets, long unfired, long pending, long staleEntries,
            long heapCapacity, long staleDropped, long stolen, long callerDrains, long nanosUntilNext,
            Lateness lateness) {

        static Queue of(QueueView.Snapshot q) {
            return new Queue(q.armed(), q.fired(), q.stopped(), q.reset(), q.unfired(), q.pending(), q.staleEntries(),
                    q.heapCapacity(), q.staleDropped(), q.stolen(), q.callerDrains(), q.nanosUntilNext(),
                    new Lateness(q.lateness()));
        }

        /** {@return the largest delay between a deadline and the claim of its firing, in nanoseconds} */
        public long maxLatenessNanos() {
            return lateness.max;
        }
    }

    /**
     * The distribution of lateness: how long after its deadline a firing was claimed, in nanoseconds. It is kept in
     * buckets that are at most an eighth wide of what they hold (from a microsecond on; 128 ns below that), up to about
     * 18 minutes. Count, sum and maximum are those of the values recorded.
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

        /** {@return how many firings there were} */
        public long count() {
            return count;
        }

        /** {@return how late all of them were together, in nanoseconds} */
        public long sumNanos() {
            return sum;
        }

        /**
         * How late the latest was. Of a {@linkplain #since difference} it may be too large, by one bucket at most.
         *
         * @return nanoseconds, 0 if there was no firing
         */
        public long maxNanos() {
            return max;
        }

        /**
         * How late a given part of the firings was at most, to within one bucket; between a bucket's bounds the firings
         * are taken to be spread evenly.
         *
         * @param quantile the part, from 0 to 1, as 0.99
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
         * The firings between two snapshots.
         *
         * @param earlier the lateness of an earlier snapshot of the same scheduler or queue
         * @return the distribution of those that came after {@code earlier}
         * @throws NullPointerException if {@code earlier} is null
         * @throws IllegalArgumentException if {@code earlier} holds firings that this does not
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

        /** {@return count, quantiles and maximum, for people} */
        @Override
        public String toString() {
            return count == 0 ? "no firings" : Texts.count(count, "firing") + ": p50 "
                    + Texts.duration(quantileNanos(0.5)) + ", p99 " + Texts.duration(quantileNanos(0.99)) + ", max "
                    + Texts.duration(max);
        }
    }
}
