package io.pendula;

import io.pendula.internal.engine.Options;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.scheduler.SharedScheduler;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Owns workers, each a heap of timers with a thread that drives it, and arms timers on them.
 *
 * <pre>{@code
 * try (TimerScheduler timers = TimerScheduler.builder().name("io").workers(4).build()) {
 *     timers.after(Duration.ofMillis(250), retry);
 *     timers.every(Duration.ofSeconds(1), MissedTicks.SKIP, metrics::flush);
 *     ...
 * }
 * }</pre>
 *
 * <p>Most programs need none of their own: {@link Timer#after(Duration, Runnable)} and
 * {@link Ticker#every(Duration, Runnable)} use the {@linkplain #shared() shared} one. Several schedulers keep timers
 * with different needs apart, as short callbacks and blocking ones.
 *
 * <p><b>Where callbacks run.</b> On the workers' threads, or on the builder's executor. A timer that is armed by a
 * callback goes to the queue of the worker that runs it. Other threads are dealt to the queues in turn, each when it
 * first arms a timer, and all that one thread arms goes to one queue. A timer stays in its queue. If a worker is held up
 * by a callback, another runs what is due in its queue meanwhile; if all are held up, a spare one does, up to
 * {@code maxThreads} threads in all. When all of these are held up, what is due waits. After {@code workers(1)}
 * callbacks run strictly one after the other, unless {@code maxThreads} allows more or there is an executor. An
 * application's own loop can own a queue, too; see {@link #attach}.
 *
 * <p><b>Cost.</b> Stopping and cancelling do not block. Arming and resetting do so in two cases: with a {@link
 * ManualClock}, and while the program's thread factory makes a thread that must be there first, for which a stop of a
 * timer that is never due may wait, too. A scheduler with nothing armed, and nothing left of stopped timers, uses no
 * processor time; with timers armed and none due, one thread wakes up each second. After 36 years of its
 * clock arming by a delay or a period throws {@link IllegalStateException}. Threads are daemons unless told otherwise,
 * named {@code pendula-<name>-worker-0} and so on.
 *
 * <p>All methods are safe for use by all threads.
 *
 * @since 0.1
 */
public final class TimerScheduler extends Armer implements Timers, AutoCloseable {
    /** Null until it is first asked for. Plain: what it refers to is final, and a thread that reads null asks again. */
    private static TimerScheduler shared;

    final SchedulerEngine engine;

    TimerScheduler(SchedulerEngine engine) {
        super(engine.timeline);
        this.engine = engine;
    }

    // ---- what users call ----

    /**
     * The scheduler that {@link Timer#after(Duration, Runnable)} and {@link Ticker#every(Duration, Runnable)} use. It
     * has two workers or more unless {@linkplain #configureShared configured} otherwise, and cannot be closed. Its
     * daemon threads are started when a timer is armed that needs them, and end when nothing has been armed for some
     * seconds. If a thread cannot be started, the timer stays armed, the calling thread's uncaught-exception handler
     * is told (once a second at most), and the next arming tries again.
     *
     * <p><b>Unloading.</b> The threads take nothing over from the threads that arm timers: no context class loader, no
     * thread group, no priority, no access-control context. So an application's class loader can be collected soon
     * after its timers have fired or were stopped, also if this library was loaded by it. A timer that is still armed
     * keeps its task, and with it the application's classes. An application that is to be unloaded stops its timers
     * all at once by arming them on a scheduler of its own, which it {@linkplain #close() closes}, or by submitting its
     * tasks to a {@linkplain #asScheduledExecutorService() view} of this one:
     * {@link SchedulerExecutor#shutdownNow()} ends the tasks of that view and of no other.
     *
     * @return the same scheduler at each call
     */
    public static TimerScheduler shared() {
        TimerScheduler s = shared;
        return s != null ? s : makeShared();
    }

    private static synchronized TimerScheduler makeShared() {
        if (shared == null) {
            shared = new TimerScheduler(SharedScheduler.engine());
        }
        return shared;
    }

    /**
     * Configures the {@linkplain #shared() shared} scheduler before its first use: how many workers it has, a listener,
     * an executor, a clock for tests. What earlier calls have set stays, unless it is set again. Three system properties
     * come after all calls, so that an operator decides: {@code io.pendula.shared.workers}, {@code …maxThreads} and
     * {@code …slowCallbackMillis}. The first use throws {@code IllegalArgumentException} if one of them is not valid.
     *
     * @param settings sets what it wants to; must not call {@code build}. Other threads that call this wait for it
     * @throws NullPointerException if {@code settings} is null
     * @throws IllegalArgumentException as {@link Builder#build} does, or if there would be no worker
     * @throws IllegalStateException if the shared scheduler is in use already, or if called by {@code settings}
     */
    public static void configureShared(Consumer<? super Builder> settings) {
        Check.notNull(settings, "settings");
        Options.configureShared(draft -> settings.accept(new Builder(draft)));
    }

    /** {@return a builder for a new scheduler, with all defaults} */
    public static Builder builder() {
        return new Builder(new Options());
    }

    @Override
    public Timer after(Duration delay, Runnable task) { // not the default, which would call through the interface
        return OneShotTimer.arm(engine, Check.nanos(delay, "delay"), task);
    }

    @Override
    public Timer after(long delay, TimeUnit unit, Runnable task) {
        return OneShotTimer.arm(engine, Check.delay(delay, unit), task);
    }

    @Override
    TimerQueue queue() {
        return engine.currentQueue();
    }

    /**
     * An alarm that rings once, for threads that wait. A worker's queue has it, also if the caller has a loop.
     *
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @return the armed alarm
     * @throws NullPointerException if {@code delay} is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    public Alarm alarm(Duration delay) {
        return OneShotAlarm.arm(engine, Check.nanos(delay, "delay"));
    }

    /**
     * An alarm that rings each {@code period}, for threads that wait. A worker's queue has it, also if the caller has a
     * loop.
     *
     * @param period the time between two firings, more than zero
     * @return the armed alarm
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    public Alarm alarmEvery(Duration period) {
        return PeriodicAlarm.arm(engine, period);
    }

    /**
     * This scheduler as a {@link java.util.concurrent.ScheduledExecutorService}, for code that wants one. Its tasks
     * share the workers with all timers, and follow the same rules: a task should neither run long nor block, unless
     * there are enough workers. Each call gives a view of its own: shutting one down ends its own tasks, as those of a pool,
     * and leaves the scheduler and its other views as they are. That costs little if none of its tasks waits; else it
     * looks through all timers of the scheduler. Closing the scheduler cancels the waiting tasks of all views and ends
     * them.
     *
     * @return a new view
     */
    public SchedulerExecutor asScheduledExecutorService() {
        SchedulerExecutor view = new SchedulerExecutor(engine, false);
        engine.add(view.tracker);
        return view;
    }

    /**
     * Gives the calling thread a queue, whose timers it runs from its own loop: those that it arms from now on by any
     * method of this scheduler, and those that other threads arm through the loop.
     *
     * <p>The loop is confined: its callbacks run on the calling thread and on no other, so they may share state with
     * the rest of the loop's code without a lock. While the thread is busy elsewhere they wait; the monitor, if there
     * is one, tells {@link TimerListener#loopStalled}. When the loop is closed its armed timers are stopped; see
     * {@link TimerLoop#detach()}. What other threads should run while this one is busy belongs on the workers.
     *
     * @param wakeup makes the thread's present or next wait return, as {@code selector::wakeup} does; see
     *     {@link TimerLoop}
     * @return the loop, to be closed by the same thread
     * @throws NullPointerException if {@code wakeup} is null
     * @throws IllegalStateException if the thread has a loop of this scheduler already, or had one in whose callback it
     *     is; if it is a worker, or the scheduler is closed or has an executor, where callbacks run elsewhere
     */
    public TimerLoop attach(Runnable wakeup) {
        Check.notNull(wakeup, "wakeup");
        if (engine.options.executor != null) {
            throw new IllegalStateException("scheduler '" + engine.options.name + "' runs callbacks on its executor,"
                    + " so attach cannot confine them to the calling thread");
        }
        return TimerLoop.of(engine.attach(Thread.currentThread(), wakeup, TimerLoop::new));
    }

    /**
     * The number of armed timers and tickers; exact when nothing happens meanwhile. One that is running and was armed
     * again counts from the end of its run.
     *
     * @return how many firings are to come
     */
    public long pending() {
        return engine.pending();
    }

    /**
     * What is pending, for people who look for a leak: timers and tickers of all queues, in no particular order. Weakly
     * consistent: a timer that is armed, fires, or is stopped or reset during the call may be missing, or there twice. So
     * may one that was postponed before. Holds each queue's lock for no more than some microseconds at a time.
     *
     * @param limit how many to return at most, at least 1
     * @return an unmodifiable list, with all that {@link #pending()} counts if nothing happens meanwhile
     * @throws IllegalArgumentException if {@code limit} is less than 1
     */
    public List<PendingTimer> pendingTimers(int limit) {
        return PendingTimer.list(engine, limit);
    }

    /**
     * How many timers are pending of each class of task: 100,000 heartbeats that were never cancelled stand out at once.
     * A lambda's class names its maker. A {@link io.pendula.spi.TaskWrapper} counts as what it stands for, a timeout as its future or its
     * executor's task, an alarm as {@code Alarm}. As consistent as that list.
     *
     * @return an unmodifiable map, the most frequent class first
     */
    public Map<Class<?>, Long> pendingByTask() {
        return pendingBy(PendingTimer::classOf);
    }

    /**
     * As {@link #pendingByTask}, by any key; as {@code t -> String.valueOf(t.task())} for another library's wrappers.
     *
     * @param <K> what the key tells; may be null
     * @param key is called for each pending timer, under no lock; a timer that ends before it returns is not counted
     * @return an unmodifiable map, the most frequent key first
     */
    public <K> Map<K, Long> pendingBy(Function<? super TimerHandle, ? extends K> key) {
        return PendingTimer.count(engine.queues, key);
    }

    /**
     * What this scheduler has done so far, and has to do. Cheap enough to be called each second: it takes some
     * microseconds per queue, and holds each queue's lock for no longer than any other operation does.
     *
     * @return a snapshot
     */
    public TimerStats stats() {
        return TimerStats.of(engine);
    }

    /** {@return whether it was closed, by {@link #close()} or {@link #shutdownNow()}, so that no timer can be armed} */
    public boolean isClosed() {
        return engine.isClosed();
    }

    /**
     * Takes no more timers, drops those that have not fired, and waits for the callbacks in progress; called by a
     * callback it does not wait for that one, nor for others that have called it. What the builder's executor has not
     * begun is dropped, too. Futures complete as {@link #orTimeout} says. Then waits up to five seconds for lines that
     * {@link TimerListener#logging()} has still to write. An interrupt ends the wait, and stays set. Closing again does no
     * harm; if closing failed, as for want of memory, no timer can be armed any more, and closing again does the rest.
     *
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    @Override
    public void close() {
        engine.close(Long.MAX_VALUE);
    }

    /**
     * Closes as {@link #close()} does, but waits for the callbacks in progress no longer than {@code limit}. Those that
     * last longer go on; calling this again waits for them again.
     *
     * @param limit how long to wait at most; zero does not wait
     * @return true if none of the callbacks that {@code close()} would wait for is in progress any more; false if the
     *     limit has passed, or the waiting thread was interrupted, whose interrupt flag is set then
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalArgumentException if {@code limit} is negative
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    public boolean close(Duration limit) {
        return engine.close(Check.notNegative(limit, "limit"));
    }

    /**
     * Takes no more timers, stops all that have not fired or that the builder's executor has not begun, and returns
     * them. Does not wait for callbacks in progress; {@link #close()} afterwards does. Futures complete as in a close.
     * If this fails, as for want of memory, the next call does the rest and returns what this one should have.
     *
     * @return what was armed, as {@link TimerListener#loopClosed} lists it for a loop: timers, tickers, alarms, and tasks of
     *     views, which are cancelled; in no particular order, each once, also if the builder's executor had not begun one
     *     that was armed again meanwhile. None of them runs or can be reset any more
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    public List<TimerHandle> shutdownNow() {
        List<TimerHandle> stopped = new ArrayList<>();
        engine.shutdownNow(t -> {
            if (t instanceof TimerHandle handle) {
                stopped.add(handle);
            }
        });
        return stopped;
    }

    /**
     * Closes after what is due soon has run: refuses new tasks, waits until each timer and one-shot task that falls due
     * within {@code limit} has run, then closes. A {@code reset} of a timer that there is, and an {@link Alarm}, are not
     * refused. Tickers and periodic tasks go on meanwhile, and are not waited for. With a {@link ManualClock} this call
     * advances the clock as far as it needs. Does not wait if called by a callback, or by a thread that has a
     * {@link TimerLoop} here: that may have to run what is due. An interrupt ends the wait, and stays set. If this throws, tasks
     * are refused, and {@link #close()} does the rest.
     *
     * @param limit how long to wait at most, for callbacks in progress too; zero closes at once
     * @return what was still armed, as {@link #shutdownNow()} returns it: what is due later, tickers, and what was due but
     *     found no thread in time
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalArgumentException if {@code limit} is negative
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler, which goes on, or if another
     *     thread advances the {@code ManualClock}
     */
    public List<TimerHandle> drain(Duration limit) {
        long nanos = Check.notNegative(limit, "limit");
        long begun = System.nanoTime();
        engine.drain(nanos);
        List<TimerHandle> left = shutdownNow();
        engine.close(Math.max(0, nanos - (System.nanoTime() - begun)));
        return left;
    }

    /** {@return name and size, for people, as a text without a fixed form} */
    @Override
    public String toString() {
        return engine.toString();
    }

    /**
     * Collects the settings of a {@link TimerScheduler}. Not safe for use by several threads.
     *
     * @since 0.1
     */
    public static final class Builder extends Settings<Builder> {
        private Builder(Options options) {
            super(options);
        }

        /**
         * How many workers, each a thread with a queue. Default: the available processors, at most 4, rounded down to a
         * power of two. With {@code workers(1)} callbacks run strictly one after the other, in the order of deadlines,
         * unless {@link #maxThreads} allows more, or an {@link #executor} runs them. One worker by default, since there
         * is one processor, is no such promise: spare workers run what is due behind a callback that blocks. A
         * scheduler with a {@link ManualClock} has one worker at most; {@link #build} refuses more.
         *
         * <p>Zero: the scheduler consists of the {@linkplain TimerScheduler#attach loops} that are attached to it, and
         * starts no thread at all. A timer that is armed by a thread without a loop goes to one of the loops, where it
         * ends with the loop. If there is none whose thread lives, or it closes at that very moment, the timer is rejected.
         *
         * @param workers from 0 to 1,024; a power of two spreads threads a little more cheaply
         * @return this
         * @throws IllegalArgumentException if {@code workers} is less than 0 or more than 1,024
         */
        public Builder workers(int workers) {
            options.workers = Check.within(0, workers, Options.MOST_WORKERS, "workers");
            return this;
        }

        /**
         * How many threads there may be, spare ones included. A spare thread is started when all others
         * run callbacks, which may block; it goes away after some idle seconds. Default: {@code workers + 16},
         * but 1 after {@code workers(1)}.
         *
         * @param maxThreads at least the number of workers, at most 32,767
         * @return this
         * @throws IllegalArgumentException if {@code maxThreads} is less than 1 or more than 32,767; {@link #build} throws
         *     it if it is less than the number of workers
         */
        public Builder maxThreads(int maxThreads) {
            options.maxThreads = Check.within(1, maxThreads, Options.MOST_THREADS, "maxThreads");
            return this;
        }

        /**
         * The time source. With a {@link ManualClock} there are no threads: callbacks run inside its {@code advance}.
         * Default: {@link NanoClock#system()}.
         *
         * @param clock a monotonic clock
         * @return this
         * @throws NullPointerException if {@code clock} is null
         */
        public Builder clock(NanoClock clock) {
            Check.notNull(clock, "clock");
            options.clock = clock instanceof SystemClock ? null : clock::nanoTime;
            options.steppers = clock instanceof ManualClock manual ? manual::attach : null;
            options.step = clock instanceof ManualClock manual ? manual::advanceToNext : null;
            return this;
        }

        /** For tests: without one there are no spare workers, and nothing is reported. */
        Builder monitor(boolean monitor) {
            options.monitor = monitor;
            return this;
        }

        /**
         * After how long a callback that has not returned, or a loop that has not polled though a timer is due, is
         * reported to {@link TimerListener#stalled} or {@link TimerListener#loopStalled}, once each. Others, if there
         * are any that are free, run what is due behind it long before. The monitor looks once a second, or twice in
         * this time if that is more often, though not more often than each 10 ms. Default: 5 s.
         *
         * @param threshold zero or more
         * @return this
         * @throws NullPointerException if {@code threshold} is null
         * @throws IllegalArgumentException if {@code threshold} is negative
         */
        public Builder stallAfter(Duration threshold) {
            options.stallNanos = Check.notNegative(threshold, "threshold");
            return this;
        }

        /**
         * A worker that has found something to run sleeps at least until so long after it woke up; what falls due
         * meanwhile may wait until then, also if it is armed meanwhile. A timed wake-up costs more processor time than all
         * else that a firing needs; so where timers are dense, several are run at each. They are late by half of this on
         * average then. If all lie further apart, none is delayed. Zero: none is, at any price. Default: 100 microseconds.
         *
         * <p>This does not bound the number of wake-ups. A timer that is armed for an instant before the sleep ends does not
         * end it, but each of the two threads that watch each other may wake up once in a spacing; 300 tickers of 100 to 300
         * milliseconds on two workers make 130 sleeps a second with a spacing of 20 milliseconds, 22 with 100 milliseconds,
         * and some 1,500 with 0. If a callback blocks, timers behind it may wait for this long, instead of a quarter of a
         * millisecond.
         *
         * @param spacing from zero to an hour
         * @return this
         * @throws NullPointerException if {@code spacing} is null
         * @throws IllegalArgumentException if {@code spacing} is negative or longer than an hour
         */
        public Builder wakeSpacing(Duration spacing) {
            options.spacingNanos = Check.within(spacing, Duration.ofHours(1), "spacing");
            return this;
        }

        /**
         * Makes the scheduler and starts its threads.
         *
         * @return a new scheduler
         * @throws IllegalArgumentException if {@code maxThreads} is less than the number of workers, or if it or an
         *     executor was set though there are none; if there are several with a {@link ManualClock}; if the thread
         *     factory makes virtual threads
         * @throws IllegalStateException if the thread factory returns null, or a thread that was started before; no
         *     thread is left behind
         */
        public TimerScheduler build() {
            return new TimerScheduler(new SchedulerEngine(options.checkChoice().complete()));
        }

        /** Loaded only for a program that asks for it: each class that the first firing needs delays it. */
        static final class SystemClock implements NanoClock {
            static final NanoClock INSTANCE = new SystemClock();

            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public String toString() {
                return "NanoClock.system()";
            }
        }
    }
}
