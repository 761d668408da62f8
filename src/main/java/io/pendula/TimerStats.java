package io.pendula;

import io.pendula.internal.queue.LatenessHistogram;
import io.pendula.internal.queue.LatenessSnapshot;
import io.pendula.internal.queue.QueueSnapshot;
import java.util.Arrays;
import java.util.List;

/**
 * A snapshot of what a scheduler has done and has to do. The counts of one queue belong together; when nothing is being
 * armed, stopped or fired meanwhile, {@code armed == fired + stopped + resets + unfired + pending} exactly.
 *
 * <p>Counts grow from the scheduler's start and never fall, except {@code pending}, {@code staleEntries},
 * {@code heapCapacity}, {@code running} and {@code threads}, which tell of this moment. A figure of the last minute is
 * the difference of two snapshots; for lateness, see {@link Lateness#since}.
 *
 * <p>A snapshot does not change, and is safe for use by all threads.
 *
 * @since 0.1
 */
public final class TimerStats {
    private final String name;
    private final Queue sum;
    private final List<Queue> queues;
    private final long overdueWakes;
    private final long spareThreads;
    private final int threads;
    private final int coreThreads;
    private final int maxThreads;
    private final long maxPending;
    private final int running;
    private final Callbacks callbacks;

    record Threads(int live, int core, int max, long spares, long overdueWakes) {}

    /** Since the scheduler's start. */
    record Callbacks(long threw, long slow, long stalls, long measured, long nanos) {}

    /** {@code gone} are queues that are no more. */
    TimerStats(String name, long maxPending, List<QueueSnapshot> queues, QueueSnapshot gone, Threads threads,
            int running, Callbacks callbacks) {
        QueueSnapshot all = gone;
        for (QueueSnapshot q : queues) {
            all = all.plus(q);
        }
        this.name = name;
        this.maxPending = maxPending;
        this.sum = new Queue(all);
        this.queues = queues.stream().map(Queue::new).toList();
        this.overdueWakes = threads.overdueWakes;
        this.spareThreads = threads.spares;
        this.threads = threads.live;
        this.coreThreads = threads.core;
        this.maxThreads = threads.max;
        this.running = running;
        this.callbacks = callbacks;
    }

    /** {@return the scheduler's name, as given to its builder} */
    public String name() {
        return name;
    }

    /** {@return how often a timer was armed: by making it, by a reset, by each next tick of a ticker} */
    public long armed() {
        return sum.armed();
    }

    /** {@return how many of these fired} */
    public long fired() {
        return sum.figures.fired();
    }

    /** {@return how many were prevented by {@code stop} or {@code cancel}} */
    public long stopped() {
        return sum.figures.stopped();
    }

    /** {@return how many were replaced by a {@code reset}} */
    public long resets() {
        return sum.figures.reset();
    }

    /**
     * {@return how many were dropped or returned when the scheduler or a loop was closed; also those whose callback then
     * waited in the builder's executor, which do not count as fired any more}
     */
    public long unfired() {
        return sum.figures.unfired();
    }

    /** {@return how many are still to come} */
    public long pending() {
        return sum.figures.pending();
    }

    /** {@return how many may be to come at a time, as given to the builder; Long.MAX_VALUE if there is no bound} */
    public long maxPending() {
        return maxPending;
    }

    /** {@return how many heap entries belong to timers that are no longer armed and are not swept yet} */
    public long staleEntries() {
        return sum.figures.staleEntries();
    }

    /** {@return the heaps' capacity, in entries} */
    public long heapCapacity() {
        return sum.figures.heapCapacity();
    }

    /** {@return how many stale entries were dropped} */
    public long staleDropped() {
        return sum.figures.staleDropped();
    }

    /** {@return how many firings were run by another thread than the queue's own} */
    public long stolen() {
        return sum.figures.stolen();
    }

    /** {@return how often an arming thread emptied an inbox} */
    public long callerDrains() {
        return sum.figures.callerDrains();
    }

    /** {@return how many timers were found long overdue after a sleep, since a wake-up was lost} */
    public long overdueWakes() {
        return overdueWakes;
    }

    /** {@return how many spare threads have run something, as all other threads were held up by callbacks} */
    public long spareThreads() {
        return spareThreads;
    }

    /**
     * {@return the scheduler's threads that live, spare ones included; neither its monitor, nor the threads of loops,
     * nor those of the builder's executor}
     */
    public int threads() {
        return threads;
    }

    /**
     * {@return how many such threads there are when nothing blocks them, once each was needed: a scheduler's workers, or
     * all threads of a pool; 0 for a scheduler without workers}
     */
    public int coreThreads() {
        return coreThreads;
    }

    /** {@return how many such threads there may be, spare ones included; 0 for a scheduler without workers} */
    public int maxThreads() {
        return maxThreads;
    }

    /** {@return the callbacks in progress, those that wait in the builder's executor included} */
    public int running() {
        return running;
    }

    /**
     * The time until the next timer is due.
     *
     * @return nanoseconds, 0 if something is due; less than the truth if timers were stopped or put off a short while
     *     ago; {@code Long.MAX_VALUE} if nothing is pending, or nothing that will ever fire
     */
    public long nanosUntilNext() {
        return sum.figures.nanosUntilNext();
    }

    /**
     * {@return the largest delay between a deadline and the claim of its firing, since the scheduler's start, in
     * nanoseconds}
     */
    public long maxLatenessNanos() {
        return sum.lateness.max;
    }

    /**
     * How late firings were: the delay between a deadline and the claim of its firing. A callback that waits in the
     * builder's executor waits longer.
     *
     * @return the distribution since the scheduler's start
     */
    public Lateness lateness() {
        return sum.lateness;
    }

    /**
     * {@return how many callbacks were measured: all that have ended, if the builder's {@code slowCallback} was set; 0
     * if callbacks are not measured}
     */
    public long callbacksMeasured() {
        return callbacks.measured();
    }

    /** {@return how long the measured callbacks took, all together, in nanoseconds, 0 if callbacks are not measured} */
    public long callbackNanos() {
        return callbacks.nanos();
    }

    /**
     * {@return how many callbacks took longer than the builder's {@code slowCallback}; 0 if callbacks are not
     * measured}
     */
    public long callbacksSlow() {
        return callbacks.slow();
    }

    /** {@return of how many callbacks an exception was told to the {@link TimerListener}} */
    public long callbacksThrew() {
        return callbacks.threw();
    }

    /** {@return how often a run was found to block its thread, or a loop to be late} */
    public long stalls() {
        return callbacks.stalls();
    }

    /**
     * {@return the same for each queue; loops that were closed count above, but are not among these unless a timer of
     * theirs is still armed}
     */
    public List<Queue> queues() {
        return queues;
    }

    /** {@return all figures, for people} */
    @Override
    public String toString() {
        return "TimerStats[" + name + ", " + sum.text() + ", overdueWakes " + overdueWakes + ", threads " + threads
                + " of " + maxThreads + ", spareThreads " + spareThreads + ", running " + running + ", slow "
                + callbacks.slow() + ", threw " + callbacks.threw() + ", stalls " + callbacks.stalls() + ", "
                + sum.lateness + "]";
    }

    /**
     * One queue's part of a snapshot.
     *
     * @since 0.1
     */
    public static final class Queue {
        private final QueueSnapshot figures;
        private final Lateness lateness;

        private Queue(QueueSnapshot figures) {
            this.figures = figures;
            this.lateness = new Lateness(figures.lateness());
        }

        /** {@return how often one of its timers was armed} */
        public long armed() {
            return figures.armed();
        }

        /** {@return how many of these fired} */
        public long fired() {
            return figures.fired();
        }

        /** {@return how many were prevented by {@code stop} or {@code cancel}} */
        public long stopped() {
            return figures.stopped();
        }

        /** {@return how many were replaced by a {@code reset}} */
        public long resets() {
            return figures.reset();
        }

        /** {@return how many were dropped or returned when the scheduler or a loop was closed} */
        public long unfired() {
            return figures.unfired();
        }

        /** {@return how many are still to come} */
        public long pending() {
            return figures.pending();
        }

        /** {@return how many heap entries belong to timers that are no longer armed and are not swept yet} */
        public long staleEntries() {
            return figures.staleEntries();
        }

        /** {@return the heap's capacity, in entries} */
        public long heapCapacity() {
            return figures.heapCapacity();
        }

        /** {@return how many stale entries were dropped} */
        public long staleDropped() {
            return figures.staleDropped();
        }

        /** {@return how many firings were run by another thread than the queue's own} */
        public long stolen() {
            return figures.stolen();
        }

        /** {@return how often an arming thread emptied the inbox} */
        public long callerDrains() {
            return figures.callerDrains();
        }

        /**
         * {@return the time until the next timer is due; see {@link TimerStats#nanosUntilNext()}, in nanoseconds, or
         * {@code Long.MAX_VALUE}}
         */
        public long nanosUntilNext() {
            return figures.nanosUntilNext();
        }

        /** {@return the largest delay between a deadline and the claim of its firing, in nanoseconds} */
        public long maxLatenessNanos() {
            return lateness.max;
        }

        /** {@return how late firings were} */
        public Lateness lateness() {
            return lateness;
        }

        private String text() {
            return "armed " + armed() + ", fired " + fired() + ", stopped " + stopped() + ", resets " + resets()
                    + ", unfired " + unfired() + ", pending " + pending() + ", staleEntries " + staleEntries()
                    + ", heapCapacity " + heapCapacity() + ", staleDropped " + staleDropped() + ", stolen " + stolen()
                    + ", callerDrains " + callerDrains();
        }

        /** {@return all figures, for people} */
        @Override
        public String toString() {
            return "Queue[" + text() + ", " + lateness + "]";
        }
    }

    /**
     * The distribution of lateness: how long after its deadline a firing was claimed, in nanoseconds. It is kept in
     * buckets that are at most an eighth wide of what they hold (from a microsecond on; 128 ns below that), up to about
     * 18 minutes. Count, sum and maximum are exact.
     *
     * @since 0.1
     */
    public static final class Lateness {
        static final Lateness NONE = new Lateness(LatenessSnapshot.NONE);

        /** By bucket; those behind the last that is not empty are left out. */
        private final long[] counts;
        private final long count;
        private final long sum;
        private final long max;

        Lateness(LatenessSnapshot s) {
            this.counts = s.counts();
            this.count = s.count();
            this.sum = s.sum();
            this.max = s.max();
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
            for (int i = 0; i < Math.max(rest.length, earlier.counts.length); i++) {
                long before = i < earlier.counts.length ? earlier.counts[i] : 0;
                if (before > (i < rest.length ? rest[i] : 0)) {
                    throw new IllegalArgumentException("earlier must be of the same scheduler and not later, but it has "
                            + earlier.count + " firings, and this " + count);
                }
                if (i < rest.length) {
                    rest[i] -= before;
                    used = rest[i] > 0 ? i + 1 : used;
                }
            }
            long most = used == 0 ? 0 : max > earlier.max ? max : Math.min(max, LatenessHistogram.lowest(used) - 1);
            return new Lateness(new LatenessSnapshot(Arrays.copyOf(rest, used), sum - earlier.sum, most));
        }

        /** {@return count, quantiles and maximum, for people} */
        @Override
        public String toString() {
            return count == 0 ? "no firings" : "lateness of " + Texts.count(count, "firing") + ": p50 "
                    + Texts.millis(quantileNanos(0.5)) + ", p99 " + Texts.millis(quantileNanos(0.99)) + ", max "
                    + Texts.millis(max);
        }
    }
}
