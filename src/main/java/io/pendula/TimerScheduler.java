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
 * Arms timers and runs them on workers. Each worker is a thread with a queue of timers.
 *
 * <pre>{@code
 * try (TimerScheduler timers = TimerScheduler.builder().name("io").workers(4).build()) {
 *     timers.after(Duration.ofMillis(250), retry);
 *     timers.every(Duration.ofSeconds(1), MissedTicks.SKIP, metrics::flush);
 *     ...
 * }
 * }</pre>
 *
 * <p>Most programs do not need their own scheduler: {@link Timer#after(Duration, Runnable)} and
 * {@link Ticker#every(Duration, Runnable)} use the {@linkplain #shared() shared} one. Use several schedulers to separate
 * timers with different needs, for example short callbacks from blocking ones.
 *
 * <p><b>Where callbacks run.</b> On the workers' threads, or on the builder's executor. If a callback arms a timer, the
 * timer goes to the queue of the worker that runs the callback. Every other thread is assigned to a queue, round-robin, when
 * it arms its first timer. It uses that queue from then on. A timer stays in its queue. If a callback blocks a worker,
 * another worker runs the timers that are due in its queue. If all workers are blocked, a spare thread runs them, up to
 * {@code maxThreads} threads in total. If all of these are blocked, due timers wait. With {@code workers(1)} callbacks run
 * strictly one after the other, unless {@code maxThreads} allows more or there is an executor. An application's own loop can
 * own a queue, too; see {@link #attach}.
 *
 * <p><b>Cost.</b> Stopping and cancelling do not block. Arming and resetting can block in two cases: if the scheduler uses a
 * {@link ManualClock}, and while your thread factory creates a thread that the call needs. In the second case, a
 * {@code stop} of a timer that is never due can also block. A scheduler uses no processor time if no timer is armed and all
 * stopped timers have been removed. If timers are armed and none is due, one thread wakes up each second. After 36 years of
 * the scheduler's clock, arming by a delay or a period throws {@link IllegalStateException}. By default threads are daemons.
 * They are named {@code pendula-<name>-worker-0} and so on.
 *
 * <p>All methods are safe for use by multiple threads.
 *
 * @since 0.1
 */
public final class TimerScheduler extends Armer implements Timers, AutoCloseable {
    /** Null until first use. Need not be volatile: its fields are final, and the method that sets it reads it again. */
    private static TimerScheduler shared;

    final SchedulerEngine engine;

    TimerScheduler(SchedulerEngine engine) {
        super(engine.timeline);
        this.engine = engine;
    }

    // ---- what users call ----

    /**
     * The scheduler that {@link Timer#after(Duration, Runnable)} and {@link Ticker#every(Duration, Runnable)} use. It has
     * at least two workers unless {@linkplain #configureShared configured} otherwise, and cannot be closed. Its daemon
     * threads are started when an armed timer needs them. They end when nothing has been armed for some seconds. If a
     * thread cannot be started, the timer stays armed, and the next arming tries again. The calling thread's
     * uncaught-exception handler is notified, at most once a second.
     *
     * <p><b>Unloading.</b> The threads inherit nothing from the threads that arm timers: no context class loader, no thread
     * group, no priority, no access-control context. So an application's class loader can be collected soon after its timers
     * have fired or were stopped, even if it loaded this library. A timer that is still armed keeps its task, and with it
     * the application's classes. Before an application is unloaded, it should stop all its timers at once. To make this
     * possible, it can arm them on its own scheduler and {@linkplain #close() close} that. Or it can submit its tasks to a
     * {@linkplain #asScheduledExecutorService() view} of this one: {@link SchedulerExecutor#shutdownNow()} ends the tasks
     * of that view only.
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
     * Configures the {@linkplain #shared() shared} scheduler before its first use: how many workers it has, a listener, an
     * executor, a clock for tests. Settings of earlier calls remain, unless set again. Three system properties override all
     * calls, so that an operator has the last word: {@code io.pendula.shared.workers}, {@code …maxThreads} and
     * {@code …slowCallbackMillis}. The first use throws {@code IllegalArgumentException} if one of them is not valid.
     *
     * @param settings changes the builder's settings; must not call {@code build}. Other threads that call this method wait
     *     for it
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
     * An alarm that rings once, for threads that wait. It goes to a worker's queue, even if the caller has a loop.
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
     * An alarm that rings each {@code period}, for threads that wait. It goes to a worker's queue, even if the caller has a
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
     * This scheduler as a {@link java.util.concurrent.ScheduledExecutorService}, for code that needs one. Its tasks share
     * the workers with all timers, and follow the same rules. A task should neither run long nor block, unless there are
     * enough workers. Each call returns a new view. Shutting down a view ends its own tasks, as for a pool, but searches
     * all timers of the scheduler for them. The scheduler and its other views are not affected. Closing the scheduler
     * cancels the waiting tasks of all views and shuts the views down. As after a {@code shutdownNow} of the JDK's pool, a
     * thread inside an {@code invokeAll} or {@code invokeAny} of the view then waits forever; use the forms with a limit.
     *
     * @return a new view
     */
    public SchedulerExecutor asScheduledExecutorService() {
        SchedulerExecutor view = new SchedulerExecutor(engine, false);
        engine.add(view.tracker);
        return view;
    }

    /**
     * Gives the calling thread a queue and lets it run the queue's timers from its own loop. These are the timers that it
     * arms from now on by any method of this scheduler, and those that other threads arm through the loop.
     *
     * <p>The loop is confined: its callbacks run on the calling thread only. So they can share state with the rest of the
     * loop's code without a lock. While the thread is busy elsewhere, they wait; the monitor, if there is one, then calls
     * {@link TimerListener#loopStalled}. When the loop is closed, its armed timers are stopped; see
     * {@link TimerLoop#detach()}. If a timer must not wait for this thread, arm it on the workers.
     *
     * @param wakeup makes the thread's current or next wait return, as {@code selector::wakeup} does; see {@link TimerLoop}
     * @return the loop, to be closed by the same thread
     * @throws NullPointerException if {@code wakeup} is null
     * @throws IllegalStateException if the thread already has a loop of this scheduler, or is still in a callback of an
     *     earlier one. Also if the thread is a worker, or if the scheduler is closed or has an executor, which runs
     *     callbacks on other threads
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
     * The number of armed timers and tickers; exact if no other thread arms, stops or runs timers meanwhile. If a timer is
     * armed again while it runs, it counts from the end of that run.
     *
     * @return the number of firings still to come
     */
    public long pending() {
        return engine.pending();
    }

    /**
     * The pending timers and tickers of all queues, in no particular order; useful to find a leak. Weakly consistent: a
     * timer that is armed, fires, or is stopped or reset during the call may be missing or appear twice. The same is true of
     * a timer that was postponed before. Holds each queue's lock for a few microseconds at a time, or for
     * as long as it takes to file the timers that were armed just before.
     *
     * @param limit the maximum number to return, at least 1
     * @return an unmodifiable list; without other activity it contains all timers that {@link #pending()} counts, up to the
     *     limit
     * @throws IllegalArgumentException if {@code limit} is less than 1
     */
    public List<PendingTimer> pendingTimers(int limit) {
        return PendingTimer.list(engine, limit);
    }

    /**
     * The number of pending timers for each class of task: 100,000 heartbeats that were never cancelled stand out at once.
     * The class of a lambda names the class that created it. A {@link io.pendula.spi.TaskWrapper} counts as the task that it
     * wraps, a timeout as its future or its executor's task, an alarm as {@code Alarm}. Weakly consistent, as
     * {@link #pendingTimers} is.
     *
     * @return an unmodifiable map, the most frequent class first
     */
    public Map<Class<?>, Long> pendingByTask() {
        return pendingBy(PendingTimer::classOf);
    }

    /**
     * As {@link #pendingByTask}, by any key; for example {@code t -> String.valueOf(t.task())} for another library's
     * wrappers.
     *
     * @param <K> the type of the key; a key may be null
     * @param key called for each pending timer, with no lock held; a timer that ends before it returns is not counted
     * @return an unmodifiable map, the most frequent key first
     */
    public <K> Map<K, Long> pendingBy(Function<? super TimerHandle, ? extends K> key) {
        return PendingTimer.count(engine.queues, key);
    }

    /**
     * Counts of this scheduler's work so far, and of its pending timers. Cheap enough to be called each second: it takes a
     * few microseconds per queue. It holds each queue's lock for no longer than any other operation does.
     *
     * @return a snapshot
     */
    public TimerStats stats() {
        return TimerStats.of(engine);
    }

    /** {@return whether it was closed by {@link #close()} or {@link #shutdownNow()}, so that no timer can be armed} */
    public boolean isClosed() {
        return engine.isClosed();
    }

    /**
     * Rejects new timers, drops those that have not fired, and waits for the callbacks in progress. If a callback calls
     * this, this waits neither for that callback nor for other callbacks that have called it. Callbacks that the builder's
     * executor has not started are dropped, too. Futures complete as {@link #orTimeout} says. Then this waits up to five
     * seconds for lines that {@link TimerListener#logging()} has not written yet. An interrupt ends the wait, and the
     * interrupt flag stays set. Closing again is harmless. If closing fails, for example because memory is short, no timer
     * can be armed any more, and closing again does the rest.
     *
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    @Override
    public void close() {
        engine.close(Long.MAX_VALUE);
    }

    /**
     * Closes as {@link #close()} does, but waits for the callbacks in progress no longer than {@code limit}. Callbacks that
     * take longer continue; calling this again waits for them again.
     *
     * @param limit the maximum time to wait; zero does not wait
     * @return true if all callbacks that {@code close()} would wait for have ended; false if the limit has passed, or if the
     *     waiting thread was interrupted (its interrupt flag is then set)
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalArgumentException if {@code limit} is negative
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    public boolean close(Duration limit) {
        return engine.close(Check.notNegative(limit, "limit"));
    }

    /**
     * Rejects new timers, stops all that have not fired or that the builder's executor has not started, and returns them.
     * Does not wait for callbacks in progress; call {@link #close()} afterwards to wait. Futures complete as in a close. If
     * this fails, for example because memory is short, the next call does the rest, and returns the timers of both calls.
     *
     * @return the timers that were armed, as {@link TimerListener#loopClosed} lists them for a loop: timers, tickers,
     *     alarms, and tasks of views, which are cancelled. In no particular order; each appears once, even if it was armed
     *     again before the builder's executor had started its earlier run. None of them runs or can be reset any more
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
     * Closes after the timers that are due soon have run. Rejects new tasks, waits until each timer and one-shot task that
     * is due within {@code limit} has run, then closes. A {@code reset} of an existing timer, and a new {@link Alarm}, are
     * not rejected. Tickers, periodic tasks and those of a {@link Schedule} continue meanwhile, and this does not wait for
     * them. With a {@link ManualClock} this call advances the clock as far as needed. Does not wait if called by a callback,
     * or by a thread that has a {@link TimerLoop} here: the timers may need that thread. An interrupt ends the wait, and the
     * interrupt flag stays set. If this throws, new tasks are rejected, and {@link #close()} does the rest.
     *
     * @param limit the maximum time to wait, for callbacks in progress too; zero closes at once
     * @return the timers that were still armed, as {@link #shutdownNow()} returns them: those due later, tickers, schedules,
     *     and those that were due but did not get a thread within the limit
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalArgumentException if {@code limit} is negative
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler, which continues, or if another
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

    /** {@return name and size, for humans, as a text without a fixed form} */
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
         * The number of workers, each a thread with a queue. Default: the number of available processors, at most 4, rounded
         * down to a power of two. With {@code workers(1)} callbacks run strictly one after the other, in the order of
         * deadlines, unless {@link #maxThreads} allows more, or an {@link #executor} runs them. If there is one worker by
         * default, because there is one processor, this is not promised. Then spare threads run the timers behind a
         * callback that blocks. A scheduler with a {@link ManualClock} has at most one worker; {@link #build} rejects more.
         *
         * <p>Zero: the scheduler consists of the {@linkplain TimerScheduler#attach loops} that are attached to it, and
         * starts no thread. If a thread without a loop arms a timer, the timer goes to one of the loops, and ends when that
         * loop is closed. If no loop has a live thread, or the loop closes at that moment, the timer is rejected.
         *
         * @param workers from 0 to 1,024; powers of two are slightly faster
         * @return this
         * @throws IllegalArgumentException if {@code workers} is less than 0 or more than 1,024
         */
        public Builder workers(int workers) {
            options.workers = Check.within(0, workers, Options.MOST_WORKERS, "workers");
            return this;
        }

        /**
         * The maximum number of threads, spare ones included. A spare thread is started when all others run callbacks, which
         * may block; it ends after it has been idle for some seconds. Default: {@code workers + 16}, but 1 after
         * {@code workers(1)}.
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
         * The time after which a callback is reported that has not returned, or a loop that has not polled although a timer
         * is due. The listener's {@link TimerListener#stalled} or {@link TimerListener#loopStalled} is called, once each.
         * Free workers, if any, run the timers behind it long before that. The monitor checks once a second, or twice in
         * this time if that is more often, but at most every 10 ms. Default: 5 s.
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
         * After a worker has woken up and found a timer to run, it sleeps until at least this long after that wake-up.
         * Timers that become due meanwhile may wait until then, even if they are armed meanwhile. A timed wake-up costs more
         * processor time than the rest of a firing. So if timers are dense, each wake-up runs several, which are late by
         * half of this time on average. If all timers are further apart, none is delayed. Zero: no timer is delayed, at any
         * cost. Default: 100 microseconds.
         *
         * <p>This does not bound the number of wake-ups. A timer that is armed for an instant before the end of the sleep
         * does not end the sleep. But two threads watch each other, and each may wake up once in a spacing. For example,
         * 300 tickers of 100 to 300 milliseconds on two workers cause 130 sleeps a second with a spacing of 20
         * milliseconds, 22 with 100 milliseconds, and some 1,500 with 0. If a callback blocks, timers behind it may wait
         * for this long, instead of a quarter of a millisecond.
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
         * Creates the scheduler and starts its threads.
         *
         * @return a new scheduler
         * @throws IllegalArgumentException if {@code maxThreads} is less than the number of workers; if {@code maxThreads}
         *     or an executor was set although there are no workers. Also if there are several workers with a
         *     {@link ManualClock}, or if the thread factory creates virtual threads
         * @throws IllegalStateException if the thread factory returns null, or a thread that was started before; no
         *     thread is left behind
         */
        public TimerScheduler build() {
            return new TimerScheduler(new SchedulerEngine(options.checkChoice().complete()));
        }

        /** Loaded only by programs that use it: each class that the first firing needs delays that firing. */
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
