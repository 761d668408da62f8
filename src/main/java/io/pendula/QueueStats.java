package io.pendula;

import io.pendula.TimerStats.Lateness;
import io.pendula.internal.engine.Event;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.QueueView.Count;
import io.pendula.internal.scheduler.SchedulerEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * The figures that are counted per queue, for one queue or for all queues together.
 *
 * @since 0.1
 */
public abstract sealed class QueueStats permits TimerStats, TimerStats.Queue {
    private final long[] values;
    private final Lateness lateness;

    /** {@code engine} is null for one queue. */
    QueueStats(SchedulerEngine engine, QueueView.Snapshot queues) {
        this.values = Row.ALL.stream().mapToLong(r -> r.source.applyAsLong(engine, queues)).toArray();
        this.lateness = new Lateness(queues.lateness());
    }

    /**
     * Returns a figure by its descriptor, for code that shows all figures.
     *
     * @param figure one of {@link TimerStats.Figure#all}
     * @return its value; Long.MAX_VALUE for no bound, or a time that never comes; for one queue, 0 if it is not counted by
     *     queue
     */
    public long get(TimerStats.Figure figure) {
        return values[((Row) figure).index];
    }

    /** {@return how often a timer was armed: when it was created, by a reset, or for the next tick of a ticker} */
    public long armed() { return get(Row.ARMED); }

    /**
     * {@return how many {@linkplain #armed armings} have fired, including those of an executor's tasks that were
     * cancelled after a thread had claimed them and before it began them}
     */
    public long fired() { return get(Row.FIRED); }

    /** {@return how many armings were prevented by {@code stop} or {@code cancel}} */
    public long stopped() { return get(Row.STOPPED); }

    /** {@return how many armings were replaced by {@code Timer.reset} or {@code Ticker.reset}} */
    public long resets() { return get(Row.RESETS); }

    /**
     * {@return how many armings were dropped or returned when the scheduler or a loop was closed; this includes
     * callbacks that then waited in the builder's executor, which no longer count as fired}
     */
    public long unfired() { return get(Row.UNFIRED); }

    /** {@return how many armings are pending} */
    public long pending() { return get(Row.PENDING); }

    /**
     * {@return the number of stale heap entries, which are not removed yet: their timers were stopped or brought
     * forward}
     */
    public long staleEntries() { return get(Row.STALE_ENTRIES); }

    /** {@return the heaps' capacity, in entries} */
    public long heapCapacity() { return get(Row.HEAP_CAPACITY); }

    /**
     * {@return how many firings were run by a helping worker: neither the queue's own, nor the one that watches all queues}
     */
    public long stolen() { return get(Row.STOLEN); }

    /**
     * {@return the nanoseconds until the next timer is due, 0 if one is due; too small if timers were stopped or postponed a
     * short while ago; Long.MAX_VALUE if no pending timer will ever fire}
     */
    public long nanosUntilNext() { return get(Row.NANOS_UNTIL_NEXT); }

    /**
     * {@return the distribution of lateness since the scheduler's start} Lateness is the time from a deadline to the
     * claim of its firing, without a wait in the builder's executor. All callbacks of one poll of a loop, and up to
     * eight short callbacks of a worker, are claimed by one reading of the clock. If one of them takes long, that time
     * is not included in the lateness of those after it.
     */
    public Lateness lateness() {
        return lateness;
    }

    /**
     * {@return the largest delay between a deadline and the claim of its firing, since the scheduler's start, in
     * nanoseconds}
     */
    public long maxLatenessNanos() {
        return lateness.maxNanos();
    }

    /** {@return the figures, for humans} */
    @Override
    public String toString() {
        return Row.ALL.stream().map(r -> r.id + " " + get(r)).collect(Collectors.joining(", ", "", ", " + lateness));
    }

    /**
     * The table of the figures. The adapters and the page about observability are made from it. To add a figure, add a line
     * here, a source if none exists, and its method, which {@code FigureTableTest} requires.
     */
    record Row(int index, String id, boolean isCounter, String unit, String text, boolean isByQueue,
            ToLongBiFunction<SchedulerEngine, QueueView.Snapshot> source) implements TimerStats.Figure {
        static final List<Row> ALL = new ArrayList<>();
        private static final boolean COUNTER = true;
        private static final boolean GAUGE = false;

        static final Row ARMED = byQueue("armed", COUNTER, "timers", "how often a timer was armed: made, reset, or armed for a next tick",
                Count.ARMED);
        static final Row FIRED = byQueue("fired", COUNTER, "timers", "how many of these fired", Count.FIRED);
        static final Row STOPPED = byQueue("stopped", COUNTER, "timers", "how many were prevented by a stop or cancel",
                Count.STOPPED);
        static final Row RESETS = byQueue("resets", COUNTER, "timers", "how many were replaced by a reset", Count.RESETS);
        static final Row UNFIRED = byQueue("unfired", COUNTER, "timers", "how many were dropped or returned by closing",
                Count.UNFIRED);
        static final Row PENDING = byQueue("pending", GAUGE, "timers", "how many are still to come", Count.PENDING);
        static final Row MAX_PENDING = once("maxPending", GAUGE, "timers", "how many may be to come at a time",
                e -> e.options.maxPending);
        static final Row NANOS_UNTIL_NEXT = byQueue("nanosUntilNext", GAUGE, "ns", "time until the next timer is due",
                Count.NANOS_UNTIL_NEXT);
        static final Row RUNNING = once("running", GAUGE, "callbacks", "callbacks in progress", e -> e.firings().count());
        static final Row CALLBACKS_MEASURED = once("callbacksMeasured", COUNTER, "callbacks", "callbacks measured, if slowCallback was set",
                e -> e.reporter.measured.get());
        static final Row CALLBACK_NANOS = once("callbackNanos", COUNTER, "ns", "how long the measured callbacks took",
                e -> e.reporter.measuredNanos.get());
        static final Row CALLBACKS_SLOW = once("callbacksSlow", COUNTER, "callbacks", "callbacks that took longer than slowCallback",
                e -> e.reporter.count(Event.SLOW));
        static final Row CALLBACKS_THREW = once("callbacksThrew", COUNTER, "callbacks", "callbacks that threw",
                e -> e.reporter.count(Event.THREW));
        static final Row CALLBACKS_TIMED_OUT = once("callbacksTimedOut", COUNTER, "callbacks", "runs that the executor's runTimeout has interrupted",
                e -> e.reporter.count(Event.TIMED_OUT));
        static final Row STALLS = once("stalls", COUNTER, "callbacks", "callbacks found to block a thread, and loops found late",
                e -> e.reporter.count(Event.STALLED) + e.reporter.count(Event.LOOP_STALLED));
        static final Row ALL_BLOCKED = once("allBlocked", COUNTER, "times", "how often callbacks blocked all threads, so that timers waited",
                e -> e.reporter.count(Event.ALL_BLOCKED));
        static final Row THREADS = once("threads", GAUGE, "threads", "the scheduler's threads that live",
                e -> e.workerPool.live());
        static final Row CORE_THREADS = once("coreThreads", GAUGE, "threads", "threads when nothing blocks them, once each was needed",
                e -> e.workerPool.core());
        static final Row MAX_THREADS = once("maxThreads", GAUGE, "threads", "how many threads there may be",
                e -> e.options.maxThreads);
        static final Row SPARE_THREADS = once("spareThreads", COUNTER, "threads",
                "spare threads that have run something, because callbacks blocked all other threads",
                e -> e.workerPool.sparesUsed.get());
        static final Row OVERDUE_WAKES = once("overdueWakes", COUNTER, "timers", "timers found long overdue after a sleep, since a wake-up was lost",
                e -> e.workerPool.overdueWakes.get());
        static final Row STOLEN = byQueue("stolen", COUNTER, "timers", "firings run by another worker than their own",
                Count.STOLEN);
        static final Row STALE_ENTRIES = byQueue("staleEntries", GAUGE, "entries", "entries of stopped timers that are not swept yet",
                Count.STALE_ENTRIES);
        static final Row HEAP_CAPACITY = byQueue("heapCapacity", GAUGE, "entries", "entries that the heaps have room for",
                Count.HEAP_CAPACITY);

        private static Row byQueue(String id, boolean isCounter, String unit, String text, Count count) {
            return add(new Row(ALL.size(), id, isCounter, unit, text, true, (e, q) -> q.get(count)));
        }

        /** 0 for one queue, because that has no engine. */
        private static Row once(String id, boolean isCounter, String unit, String text, ToLongFunction<SchedulerEngine> source) {
            return add(new Row(ALL.size(), id, isCounter, unit, text, false, (e, q) -> e == null ? 0 : source.applyAsLong(e)));
        }

        private static Row add(Row row) {
            ALL.add(row);
            return row;
        }
    }
}
