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
 * <p><b>Where callbacks run.</b> Callbacks run on the workers' threads, or on the builder's executor. If a callback
 * arms a timer, the timer goes to the queue of the worker that runs the callback. Every other thread is assigned to a
 * queue, round-robin, when it arms its first timer. It uses that queue from then on. A timer stays in its queue. If a
 * callback blocks a worker, another worker runs the timers that are due in its queue. If all workers are blocked, a
 * spare thread runs them, up to {@code maxThreads} threads in total. If all of these are blocked, due timers wait. With
 * {@code workers(1)}, callbacks run strictly one after the other, unless {@code maxThreads} is larger or there is an
 * executor. An application's own loop can own a queue, too; see {@link #attach}.
 *
 * <p><b>Blocking.</b> Stopping and cancelling do not block. Arming and resetting can block in three cases: if the
 * scheduler uses a {@link ManualClock}, if the timer belongs to a {@link TimerGroup}, and while your thread factory
 * creates a thread that the call needs. In the last case, a {@code stop} of a timer that is never due can also block.
 * Your own code can block any of these calls: a loop's wakeup, a {@code decorate} function, or a listener.
 *
 * <p><b>Idle schedulers.</b> A scheduler uses no processor time if no timer is armed and all stopped timers have been
 * removed. If timers are armed and none is due, one thread wakes up each second.
 *
 * <p><b>Threads.</b> By default, threads are daemons. They are named {@code pendula-<name>-worker-0} and so on.
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
     * Returns the scheduler that {@link Timer#after(Duration, Runnable)} and {@link Ticker#every(Duration, Runnable)}
     * use. It has at least two workers unless {@linkplain #configureShared configured} otherwise, and cannot be closed.
     * Its daemon threads start when an armed timer needs them, and end when nothing has been armed for some seconds. If
     * a thread cannot be started, the timer stays armed, and the next arming tries again. The uncaught-exception
     * handler of the calling thread is then notified, at most once a second.
     *
     * <p><b>Unloading.</b> The threads inherit nothing from the threads that arm timers: no context class loader,
     * thread group, priority or access-control context. So an application's class loader can be collected soon after
     * its timers have fired or were stopped, even if it loaded this library. An armed timer keeps its task, and with it
     * the application's classes. So an application should stop all its timers before it is unloaded. To stop all of
     * them in one step, it can arm them on its own scheduler and {@linkplain #close() close} it. Or it can submit its
     * tasks to a {@linkplain #asScheduledExecutorService() view} of this scheduler, whose
     * {@link SchedulerExecutor#shutdownNow()} ends the tasks of that view only.
     *
     * @return the shared scheduler, the same at each call
     * @throws IllegalArgumentException if this is the first use and a system property is not valid, see
     *     {@link #configureShared}
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
     * Configures the {@linkplain #shared() shared} scheduler before its first use, for example its workers, listener or
     * executor. Settings of earlier calls remain, unless set again. An operator can override them by three system
     * properties: {@code io.pendula.shared.workers}, {@code io.pendula.shared.maxThreads} and
     * {@code io.pendula.shared.slowCallbackMillis}. If a property is not valid, the first use throws
     * {@code IllegalArgumentException}.
     *
     * @param settings changes the builder's settings; must not call {@code build}. Other threads that call this method
     *     wait until it returns
     * @throws NullPointerException if {@code settings} is null
     * @throws IllegalArgumentException as {@link Builder#build} does, or if there would be no worker
     * @throws IllegalStateException if the shared scheduler is in use already, or if called by {@code settings}
     */
    public static void configureShared(Consumer<? super Builder> settings) {
        Check.notNull(settings, "settings");
        Options.configureShared(draft -> settings.accept(new Builder(draft)));
    }

    /** {@return a builder with default settings for a new scheduler} */
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
     * Returns a new alarm that rings once, for threads that wait. It is armed on a worker's queue, even if the calling
     * thread has a loop.
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
     * Returns a new alarm that rings each {@code period}, for threads that wait. It is armed on a worker's queue, even
     * if the calling thread has a loop.
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
     * Returns a new view of this scheduler as a {@link java.util.concurrent.ScheduledExecutorService}. Its tasks share
     * the workers with all timers, and follow the same rules: a task should neither run long nor block, unless there
     * are enough threads. Shutting down a view ends its own tasks, as for a pool, but searches all timers of the
     * scheduler for them. The scheduler and its other views are not affected.
     *
     * <p>Closing the scheduler cancels the waiting tasks of all views and shuts the views down. A thread inside
     * {@code invokeAll} or {@code invokeAny} of a view then waits forever, as after a {@code shutdownNow} of the JDK's
     * pool; use the variants with a timeout.
     *
     * @return a new view
     */
    public SchedulerExecutor asScheduledExecutorService() {
        SchedulerExecutor view = new SchedulerExecutor(engine, false);
        engine.add(view.tracker);
        return view;
    }

    /**
     * Gives the calling thread a queue of timers, which the thread runs from its own loop. The queue has the timers
     * that the thread arms from now on by any method of this scheduler except {@code alarm} and {@code alarmEvery}, and
     * those that other threads arm through the loop.
     *
     * <p>The loop is confined: its callbacks run on the calling thread only. So they can share state with the rest of
     * the loop's code without a lock. While the thread is busy elsewhere, the callbacks wait; see
     * {@link TimerListener#loopStalled}. When the loop is closed, its armed timers are stopped; see
     * {@link TimerLoop#detach()}. If a timer must not wait for this thread, arm it on the workers.
     *
     * @param wakeup makes the thread's current or next wait return, as {@code selector::wakeup} does; see {@link TimerLoop}
     * @return the loop, to be closed by the same thread
     * @throws NullPointerException if {@code wakeup} is null
     * @throws IllegalStateException if the thread is a worker, already has a loop of this scheduler, or is still in a
     *     callback of an earlier loop. Also if the scheduler is closed or has an executor, which runs callbacks on
     *     other threads
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
     * Returns the number of armed timers and tickers. The number is exact if no other thread arms, stops or runs timers
     * meanwhile. A timer that is armed again while it runs counts from the end of that run.
     *
     * @return the number of firings still to come
     */
    public long pending() {
        return engine.pending();
    }

    /**
     * Returns the pending timers and tickers of all queues, in no particular order, for example to find a leak. The
     * list is weakly consistent: a timer that is armed, fires, or is stopped or reset during the call may be missing or
     * appear twice, and so may a timer that was postponed before. The call walks through the queues: use it for
     * diagnosis, not at regular intervals.
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
     * Returns the number of pending timers for each class of task. A leak stands out: for example, 100,000 heartbeats
     * that were never cancelled. The class of a lambda names the class that created it. A
     * {@link io.pendula.spi.TaskWrapper} counts as the task that it wraps, a timeout as its future or its executor's
     * task, an alarm as {@code Alarm}. The map is weakly consistent, as {@link #pendingTimers} is.
     *
     * @return an unmodifiable map, the most frequent class first
     */
    public Map<Class<?>, Long> pendingByTask() {
        return pendingBy(PendingTimer::classOf);
    }

    /**
     * Like {@link #pendingByTask}, but counts by any key. If another library wraps the tasks, use for example
     * {@code t -> String.valueOf(t.task())}.
     *
     * @param <K> the type of the key; a key may be null
     * @param key called for each pending timer, with no lock held; a timer that ends before it returns is not counted
     * @return an unmodifiable map, the most frequent key first
     * @throws NullPointerException if {@code key} is null
     */
    public <K> Map<K, Long> pendingBy(Function<? super TimerHandle, ? extends K> key) {
        return PendingTimer.count(engine.queues, key);
    }

    /**
     * Returns counts of this scheduler's work so far, and of its pending timers. This takes a few microseconds per
     * queue, so it can be called each second.
     *
     * @return a snapshot
     */
    public TimerStats stats() {
        return TimerStats.of(engine);
    }

    /** {@return true if this scheduler was closed, so that no timer can be armed} */
    public boolean isClosed() {
        return engine.isClosed();
    }

    /**
     * Rejects new timers, drops those that have not fired, and waits for the callbacks in progress. Callbacks that the
     * builder's executor has not started are dropped, too. Futures complete as {@link #orTimeout} says. If a callback
     * calls this method, the method waits neither for that callback nor for other callbacks that have called it.
     * Finally, it waits up to five seconds until lines of {@link TimerListener#logging()} are written. An interrupt
     * ends the wait, and the interrupt flag stays set. Closing again is harmless. If closing fails, for example because
     * memory is short, no timer can be armed any more, and closing again does the rest.
     *
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    @Override
    public void close() {
        engine.close(Long.MAX_VALUE);
    }

    /**
     * Closes as {@link #close()} does, but waits at most {@code limit} for the callbacks in progress. Callbacks that
     * take longer continue; to wait for them again, call this method again.
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
     * Rejects new timers, and stops and returns those that have not fired. These include timers whose callbacks the
     * builder's executor has not started. Does not wait for callbacks in progress; to wait, call {@link #close()}
     * afterwards. Futures complete as in {@code close}. If this method fails, for example because memory is short, the
     * next call does the rest, and returns the timers of both calls.
     *
     * @return the stopped timers, in no particular order: timers, tickers, alarms, and tasks of views, which are
     *     cancelled. Each appears once, even if it was armed again before the builder's executor had started its
     *     earlier run. None of them will run, and none can be reset
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
     * Waits until the timers that are due soon have run, then closes this scheduler. New timers and tasks are rejected
     * at once. The method waits for each timer and one-shot task that is due within {@code limit}. Meanwhile, a
     * {@code reset} of an existing timer and a new {@link Alarm} are not rejected. Tickers, periodic tasks and those of
     * a {@link Schedule} continue, but the method does not wait for them. With a {@link ManualClock}, it advances the
     * clock as far as needed. An interrupt ends the wait, and the interrupt flag stays set. If this method throws, new
     * tasks are rejected; {@link #close()} does the rest.
     *
     * <p>This method does not wait if it is called by a callback, or by a thread that has a {@link TimerLoop} of this
     * scheduler: the timers may need that thread.
     *
     * @param limit the maximum time to wait, for callbacks in progress too; zero closes at once
     * @return the timers that were still armed, as {@link #shutdownNow()} returns them: those due later, tickers,
     *     schedules, and those that became due but did not run within the limit
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

    /** {@return a text for humans, without a fixed form} */
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
         * Sets the number of workers, each a thread with a queue. Default: the number of available processors, at most
         * 4, rounded down to a power of two. After {@code workers(1)}, callbacks run strictly one after the other, in
         * the order of deadlines, unless {@link #maxThreads} allows more threads or an {@link #executor} runs them.
         * This is not promised if one worker is only the default, on a machine with one processor: there, spare threads
         * run the timers behind a callback that blocks. A scheduler with a {@link ManualClock} has at most one worker;
         * {@link #build} rejects more.
         *
         * <p>With {@code workers(0)}, the scheduler starts no thread, and consists of the
         * {@linkplain TimerScheduler#attach loops} that are attached to it. If a thread without a loop arms a timer,
         * the timer goes to one of the loops, and is stopped when that loop is closed. If no loop has a live thread, or
         * the loop closes at that moment, the timer is rejected.
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
         * Sets the maximum number of threads, including spare threads. A spare thread starts when all other threads run
         * callbacks, and ends after some idle seconds. Default: {@code workers + 16}, but 1 after {@code workers(1)}.
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
         * Sets the time source. With a {@link ManualClock}, there are no threads: callbacks run inside its
         * {@code advance}. Default: {@link NanoClock#system()}.
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
         * Sets the time after which a callback that has not returned is reported, and a loop that has a due timer but
         * has not polled. {@link TimerListener#stalled} or {@link TimerListener#loopStalled} is called, once each. This
         * concerns reports only: free workers run the timers behind a blocked callback long before. The scheduler
         * checks once a second, or twice in this time if that is more often, but at most every 10 ms. Default: 5 s.
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
         * Sets the minimum time between two timed wake-ups of a worker, if the first one found a timer to run. Timers
         * that become due in between, even those armed in between, may wait until then. A timed wake-up costs more
         * processor time than the rest of a firing. So if timers are dense, each wake-up runs several, which are late
         * by half of this time on average. If all timers are further apart, none is delayed. With zero, no timer is
         * delayed, whatever the cost. Default: 100 microseconds.
         *
         * <p>This does not bound the number of wake-ups, because two threads watch each other, and each may wake up
         * once in a spacing. For example, 300 tickers of 100 to 300 milliseconds on two workers cause 130 sleeps a
         * second with a spacing of 20 milliseconds, 22 with 100 milliseconds, and some 1,500 with 0. If a callback
         * blocks, timers behind it may wait for this long, instead of a quarter of a millisecond.
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
         * @throws IllegalArgumentException if {@code maxThreads} is less than the number of workers; if
         *     {@code maxThreads} or an executor was set for a scheduler with no workers. Also if a scheduler with a
         *     {@link ManualClock} has several workers, or if the thread factory creates virtual threads
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
