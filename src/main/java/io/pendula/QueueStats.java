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
 * What is counted by queue: of one, or of all together.
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
     * A figure by its row in the table, as what shows all of them asks for it.
     *
     * @param figure of {@link TimerStats.Figure#all}
     * @return its value; Long.MAX_VALUE of what has no bound or never comes; of a queue, 0 if it is not counted by queue
     */
    public long get(TimerStats.Figure figure) {
        return values[((Row) figure).index];
    }

    /** {@return how often a timer was armed: by making it, by a reset, by each next tick of a ticker} */
    public long armed() { return get(Row.ARMED); }

    /**
     * {@return how many of these fired; among them are an executor's tasks that were cancelled when a thread had taken them out
     * of the queue and not begun yet}
     */
    public long fired() { return get(Row.FIRED); }

    /** {@return how many were prevented by {@code stop} or {@code cancel}} */
    public long stopped() { return get(Row.STOPPED); }

    /** {@return how many were replaced by {@code Timer.reset} or {@code Ticker.reset}} */
    public long resets() { return get(Row.RESETS); }

    /**
     * {@return how many were dropped or returned when the scheduler or a loop was closed; also those whose callback then waited
     * in the builder's executor, which do not count as fired any more}
     */
    public long unfired() { return get(Row.UNFIRED); }

    /** {@return how many are still to come} */
    public long pending() { return get(Row.PENDING); }

    /**
     * {@return how many heap entries stand for no armed timer any more, as it was stopped or brought forward, and are not swept
     * yet}
     */
    public long staleEntries() { return get(Row.STALE_ENTRIES); }

    /** {@return the heaps' capacity, in entries} */
    public long heapCapacity() { return get(Row.HEAP_CAPACITY); }

    /**
     * {@return how many firings were run by a worker that came to help: neither the queue's own, nor the one that looks after all
     * queues}
     */
    public long stolen() { return get(Row.STOLEN); }

    /**
     * {@return the nanoseconds until the next timer is due, 0 if something is due; less than the truth if timers were stopped or
     * put off a short while ago; Long.MAX_VALUE if nothing is pending, or nothing that will ever fire}
     */
    public long nanosUntilNext() { return get(Row.NANOS_UNTIL_NEXT); }

    /**
     * {@return how late firings were since the scheduler's start: the delay between a deadline and the claim of its firing}
     * A callback that waits in the builder's executor waits longer. All that one poll of a loop runs is claimed by one
     * reading of the clock, and so may be up to eight callbacks of a worker, while they are short: if one of these takes
     * long all the same, those after it do not show it.
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

    /** {@return the figures, for people} */
    @Override
    public String toString() {
        return Row.ALL.stream().map(r -> r.id + " " + get(r)).collect(Collectors.joining(", ", "", ", " + lateness));
    }

    /**
     * The table of the figures. What the adapters show and what the page about observability lists is made from it. A new
     * figure is a line here and, if there is nothing yet to read it from, a source; then its method, which
     * {@code FigureTableTest} asks for.
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
        static final Row SPARE_THREADS = once("spareThreads", COUNTER, "threads", "spare threads that have run something",
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

        /** Of one queue, for which there is no engine, 0. */
        private static Row once(String id, boolean isCounter, String unit, String text, ToLongFunction<SchedulerEngine> source) {
            return add(new Row(ALL.size(), id, isCounter, unit, text, false, (e, q) -> e == null ? 0 : source.applyAsLong(e)));
        }

        private static Row add(Row row) {
            ALL.add(row);
            return row;
        }
    }
}
