package io.pendula;

import io.pendula.internal.executor.ScheduledTask;
import io.pendula.internal.executor.ShutdownTracker;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ScheduledExecutorService} on Pendula's queues: either a pool with its own threads, from {@link TimerExecutors},
 * or a {@linkplain TimerScheduler#asScheduledExecutorService() view} of a {@link TimerScheduler}. It follows the contract of
 * {@link java.util.concurrent.ScheduledThreadPoolExecutor} with {@code setRemoveOnCancelPolicy(true)}. These rules apply
 * where that contract is silent or less strict:
 *
 * <p><b>Time.</b> No task starts before its delay has passed. Delays are kept in nanoseconds and saturate. With a zero
 * or negative delay, a task is due at once, but never runs inside the call; with more than 18 years, it never runs.
 * Immediate and delayed tasks share one order, that of their deadlines, so neither kind starves the other.
 *
 * <p><b>Threads.</b> A pool of n runs up to n tasks at once, and never more, whichever threads submitted them. A pool
 * built with an executor runs its tasks there, as many at once as that executor allows. A task may block: if another
 * thread of the pool is idle, it runs the other tasks. A task submitted meanwhile starts at once. A task that was
 * already waiting is usually less than a millisecond late, or up to 14 ms if both became due at almost the same time.
 * With one thread and no executor, tasks run strictly one after the other, those with equal deadlines in the order of
 * submission. A view uses the threads of its scheduler.
 *
 * <p><b>Futures.</b> All futures except those of {@code invokeAll} are
 * {@link java.util.concurrent.RunnableScheduledFuture}s, those of {@code submit} too. A {@code cancel} takes effect at
 * once: the future is done and cancelled, and a task that has not started never will. Its memory is released, except for a
 * small entry that is removed later. A {@code cancel(true)} interrupts only the running task, not the later work of its
 * thread. A run in progress continues after its future is cancelled; {@link TimerHandle#cancelAndAwait} waits for its end.
 * When a task has ended, the executor keeps no reference to it. Two futures of one scheduler compare by their deadlines,
 * and as 0 if these are equal. A {@code run()} has no effect, except on futures that {@code shutdownNow()} has returned.
 *
 * <p><b>Periodic tasks</b> never overlap themselves; run k happens-before run k + 1. At a fixed rate, late runs are caught
 * up without a pause, and the phase is kept. A fixed delay counts from the end of a run. A run that throws is the last one.
 * The future reports the exception. Because few programs look there, the {@link TimerListener} is notified too or, without
 * one, the thread's uncaught-exception handler. Exceptions of tasks given to {@code execute} are reported in the same way.
 * A pool's builder can change the rules for late runs and runs that throw, and can limit the time of each run.
 *
 * <p><b>Memory effects.</b> Actions in a thread before it submits a task happen-before the task runs, and that
 * happens-before {@code get} returns. Actions in tasks happen-before {@code awaitTermination} returns true.
 *
 * <p>All methods may be called by any thread at any time, including by tasks. Submitting and cancelling do not block,
 * with one exception: while the first submission to a pool calls the thread factory, other submissions wait. For a
 * view, the exceptions of its {@link TimerScheduler} apply.
 *
 * @since 0.1
 */
public final class SchedulerExecutor extends AbstractExecutorService
        implements ScheduledExecutorService, AutoCloseable {
    final SchedulerEngine engine;
    final ShutdownTracker tracker;

    SchedulerExecutor(SchedulerEngine engine, boolean owner) {
        this.engine = engine;
        this.tracker = new ShutdownTracker(engine, owner);
    }

    // ---- submission ----

    /**
     * Runs a task as soon as a thread is free, never inside this call. If the task throws, the exception goes to the
     * {@link TimerListener} or, without one, to the thread's uncaught-exception handler.
     *
     * @param command the task to run
     * @throws NullPointerException if {@code command} is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public void execute(Runnable command) {
        arm(engine.work(Check.notNull(command, "command")), 0, 0, true);
    }

    /**
     * Runs a task as soon as a thread is free, never inside this call.
     *
     * @param task the task to run
     * @return its future, which is a {@link ScheduledFuture}; its result is null
     * @throws NullPointerException if {@code task} is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public Future<?> submit(Runnable task) {
        return schedule(Check.notNull(task, "task"), 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Runs a task as soon as a thread is free, never inside this call.
     *
     * @param <T> the type of the result
     * @param task the task to run
     * @param result the result of the future; may be null
     * @return its future, which is a {@link ScheduledFuture}
     * @throws NullPointerException if {@code task} is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public <T extends @Nullable Object> Future<T> submit(Runnable task, T result) {
        return schedule(Executors.callable(Check.notNull(task, "task"), result), 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Runs a task as soon as a thread is free, never inside this call.
     *
     * @param <T> the type of the result
     * @param task the task to run
     * @return its future, which is a {@link ScheduledFuture}
     * @throws NullPointerException if {@code task} is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public <T extends @Nullable Object> Future<T> submit(Callable<T> task) {
        return schedule(Check.notNull(task, "task"), 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Submits a task that must be done within a time limit. If the task is done before, its timeout is removed.
     *
     * @param <T> the type of the task's value
     * @param task the task to run
     * @param timeout how long it may take, including the wait for a thread, in {@code unit}s; zero or negative: the time is
     *     over at once
     * @param unit the unit of {@code timeout}
     * @param onTimeout called with the task's future if the task is not done in time; the task then continues unless
     *     this action cancels it. Null: the future is cancelled and the task interrupted. The
     *     {@linkplain TimerScheduler#shared() shared} scheduler measures the time and calls the action, because the
     *     threads of this executor may be blocked; with a {@link ManualClock}, its {@code advance} does so
     * @return the task's future
     * @throws NullPointerException if {@code task} or {@code unit} is null
     * @throws RejectedExecutionException if this executor is shut down, or its scheduler or the timeout's scheduler is full;
     *     the task does not run
     */
    public <T extends @Nullable Object> Future<T> submitWithTimeout(Callable<T> task, long timeout, TimeUnit unit,
            @Nullable Consumer<? super Future<T>> onTimeout) {
        return Timeouts.submit(tracker, Check.notNull(task, "task"), Check.delay(timeout, unit), onTimeout);
    }

    /**
     * Runs a task once after a delay.
     *
     * @param command the task to run
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @return its future; its result is null
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        return arm(engine.work(Check.notNull(command, "command")), Check.delay(delay, unit), 0, false);
    }

    /**
     * Runs a task once after a delay.
     *
     * @param <V> the type of the result
     * @param callable the task to run
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @return its future
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public <V extends @Nullable Object> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
        return arm(engine.work(Check.notNull(callable, "callable")), Check.delay(delay, unit), 0, false);
    }

    /**
     * Runs a task repeatedly, at multiples of a period after the first run. Late runs are caught up, one after the other. A
     * run that throws is the last one.
     *
     * @param command the task to run
     * @param initialDelay until the first run; zero or negative: due at once; beyond 18 years: never
     * @param period between the beginnings of two runs, more than zero
     * @param unit the unit of both
     * @return a future that ends when the task is cancelled, or a run throws
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
        return submitPeriodic(command, initialDelay, period, unit, 1);
    }

    /**
     * Runs a task repeatedly, with a pause after each run. A run that throws is the last one.
     *
     * @param command the task to run
     * @param initialDelay until the first run; zero or negative: due at once; beyond 18 years: never
     * @param delay from the end of a run to the beginning of the next, more than zero
     * @param unit the unit of both
     * @return a future that ends when the task is cancelled, or a run throws
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code delay} is zero or negative
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
        return submitPeriodic(command, initialDelay, delay, unit, -1);
    }

    /**
     * Like {@link #schedule(Runnable, long, TimeUnit)}, with a {@code Duration}.
     *
     * @param command the task to run
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @return its future; its result is null
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException as that does
     */
    public ScheduledFuture<?> schedule(Runnable command, Duration delay) {
        return schedule(command, Check.nanos(delay, "delay"), TimeUnit.NANOSECONDS);
    }

    /**
     * Like {@link #schedule(Callable, long, TimeUnit)}, with a {@code Duration}.
     *
     * @param <V> the type of the result
     * @param callable the task to run
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @return its future
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException as that does
     */
    public <V extends @Nullable Object> ScheduledFuture<V> schedule(Callable<V> callable, Duration delay) {
        return schedule(callable, Check.nanos(delay, "delay"), TimeUnit.NANOSECONDS);
    }

    /**
     * Like {@link #scheduleAtFixedRate(Runnable, long, long, TimeUnit)}, with {@code Duration}s.
     *
     * @param command the task to run
     * @param initialDelay until the first run; zero or negative: due at once; beyond 18 years: never
     * @param period between the beginnings of two runs, more than zero
     * @return a future that ends when the task is cancelled, or a run throws
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as that does
     */
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, Duration initialDelay, Duration period) {
        return submitPeriodic(command, Check.nanos(initialDelay, "initialDelay"), Check.nanos(period, "period"),
                TimeUnit.NANOSECONDS, 1);
    }

    /**
     * Like {@link #scheduleWithFixedDelay(Runnable, long, long, TimeUnit)}, with {@code Duration}s.
     *
     * @param command the task to run
     * @param initialDelay until the first run; zero or negative: due at once; beyond 18 years: never
     * @param delay from the end of a run to the beginning of the next, more than zero
     * @return a future that ends when the task is cancelled, or a run throws
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code delay} is zero or negative
     * @throws RejectedExecutionException as that does
     */
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, Duration initialDelay, Duration delay) {
        return submitPeriodic(command, Check.nanos(initialDelay, "initialDelay"), Check.nanos(delay, "delay"),
                TimeUnit.NANOSECONDS, -1);
    }

    private ScheduledFuture<?> submitPeriodic(Runnable command, long initialDelay, long period, TimeUnit unit,
            int sign) {
        Check.notNull(command, "command");
        long first = Check.delay(initialDelay, unit);
        if (period <= 0) {
            throw new IllegalArgumentException((sign > 0 ? "period" : "delay") + " must be positive, but is " + period);
        }
        return arm(engine.work(command), first, sign * unit.toNanos(period), false);
    }

    /** Not called submit: tracing agents instrument every method of that name. */
    private <V> Task<V> arm(Runnable work, long delay, long period, boolean unheld) {
        return tracker.submit(new Task<>(tracker, work, period, unheld), delay);
    }

    /** A task as listeners see it. */
    static non-sealed class Task<V> extends ScheduledTask<V> implements TimerHandle {
        Task(ShutdownTracker tracker, Runnable work, long period, boolean unheld) {
            super(tracker.engine.currentQueue(), limited(work, tracker.engine.options.runNanos), tracker, period, unheld);
        }

        /** Defined here because a pool without a limit must not load {@code Timeouts} when it starts. */
        private static Runnable limited(Runnable work, long nanos) {
            return nanos == Long.MAX_VALUE ? work : Timeouts.limited(work, nanos);
        }
    }

    // ---- shutdown ----

    /**
     * Rejects new tasks. Waiting periodic tasks are cancelled; a running one is cancelled when its run has ended. All other
     * tasks still run when they are due, unless the policies say otherwise. Does not wait.
     *
     * <p>If this fails, for example because memory is short, new tasks are rejected, and the next call of this or of
     * {@link #shutdownNow()} does the rest.
     */
    @Override
    public void shutdown() {
        tracker.run();
    }

    /**
     * Rejects new tasks, starts no waiting task, and interrupts running tasks. Does not wait. If this fails, for example
     * because memory is short, the next call does the rest and returns the tasks of both. A task due in between is
     * cancelled.
     *
     * @return the waiting tasks, as {@link java.util.concurrent.RunnableScheduledFuture}s, neither done nor cancelled.
     *     Threads that wait for their results wait until the caller runs or cancels them. A {@code run()} runs a one-shot
     *     task and cancels a periodic one; {@code cancel} cancels both. The list does not contain tasks that were cancelled
     *     before, nor a running periodic task, which is cancelled when its run has ended
     */
    @Override
    public List<Runnable> shutdownNow() {
        return tracker.shutdownNow();
    }

    /** {@return true if new tasks are rejected: after a shutdown or, for a view, after its scheduler was closed} */
    @Override
    public boolean isShutdown() {
        return tracker.isShutdown();
    }

    /** {@return true if this executor is shut down and its tasks have ended; for a pool, also its threads} */
    @Override
    public boolean isTerminated() {
        return tracker.isTerminated();
    }

    /**
     * Waits until all tasks have ended after a shutdown; for a pool, also its threads. For a view, this also closes
     * loops whose threads have ended, which cancels the tasks there.
     *
     * @param timeout the maximum time to wait; zero or negative: do not wait
     * @param unit the unit of {@code timeout}
     * @return true if nothing will run any more, false if the time has elapsed first
     * @throws NullPointerException if {@code unit} is null
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return tracker.awaitTermination(Check.delay(timeout, unit));
    }

    /**
     * Shuts down and waits until all tasks have ended. If the waiting thread is interrupted, the remaining tasks are
     * stopped as by {@link #shutdownNow()}. The futures of tasks that had not begun are then never done, and the
     * interrupt flag is set at the end. This method does not wait if it is called by one of the executor's own tasks
     * or, for a view, by any callback of its scheduler. The same is true of a thread that has a {@link TimerLoop}
     * there. The tasks may need that thread. With a {@link ManualClock}, advance the clock first, because this method
     * waits for tasks that wait for the clock.
     */
    @Override
    public void close() {
        shutdown();
        if (engine.isInCallback() || engine.hasLoopOfCaller()) {
            return;
        }
        boolean interrupted = false;
        try {
            for (boolean terminated = false; !terminated; ) {
                try {
                    terminated = awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    if (!interrupted) {
                        interrupted = true;
                        shutdownNow();
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Sets whether one-shot tasks that wait when {@code shutdown()} is called still run when they are due. Default:
     * true. If false, they are cancelled, except those that are due already, which still run. Takes effect after a
     * shutdown, too.
     *
     * @param value false to cancel them
     */
    public void setExecuteExistingDelayedTasksAfterShutdownPolicy(boolean value) {
        tracker.delayedAfterShutdown = value;
        tracker.policyChanged();
    }

    /** {@return whether waiting one-shot tasks still run after {@code shutdown()}} */
    public boolean getExecuteExistingDelayedTasksAfterShutdownPolicy() {
        return tracker.delayedAfterShutdown;
    }

    /**
     * Sets whether periodic tasks continue after {@code shutdown()}, until they are cancelled. Default: false. Takes
     * effect after a shutdown, too.
     *
     * @param value true to let them continue
     */
    public void setContinueExistingPeriodicTasksAfterShutdownPolicy(boolean value) {
        tracker.periodicAfterShutdown = value;
        tracker.policyChanged();
    }

    /** {@return whether periodic tasks continue after {@code shutdown()}} */
    public boolean getContinueExistingPeriodicTasksAfterShutdownPolicy() {
        return tracker.periodicAfterShutdown;
    }

    /** {@return a snapshot of the counts of this pool's tasks; for a view, of all timers of its scheduler} */
    public TimerStats stats() {
        return TimerStats.of(engine);
    }

    /**
     * Returns the waiting tasks; for a view, all pending timers of its scheduler. See
     * {@link TimerScheduler#pendingTimers}.
     *
     * @param limit the maximum number to return, at least 1
     * @return an unmodifiable list, in no particular order
     * @throws IllegalArgumentException if {@code limit} is less than 1
     */
    public List<PendingTimer> pendingTimers(int limit) {
        return PendingTimer.list(engine, limit);
    }

    /**
     * Returns the number of waiting tasks of each class; for a view, in its scheduler. See
     * {@link TimerScheduler#pendingByTask}.
     *
     * @return an unmodifiable map, the most frequent class first
     */
    public Map<Class<?>, Long> pendingByTask() {
        return pendingBy(PendingTimer::classOf);
    }

    /**
     * Returns the number of waiting tasks for each key; for a view, in its scheduler. See
     * {@link TimerScheduler#pendingBy}.
     *
     * @param key called once for each task that waits
     * @param <K> the type of the key; a key may be null
     * @return an unmodifiable map, the most frequent key first
     * @throws NullPointerException if {@code key} is null
     */
    public <K> Map<K, Long> pendingBy(Function<? super TimerHandle, ? extends K> key) {
        return PendingTimer.count(engine.queues, key);
    }

    /**
     * State and scheduler, for humans.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "SchedulerExecutor[" + (tracker.isOwner
                ? engine.options.name + ", " + Texts.count(engine.options.maxThreads, "thread") + ", "
                        + engine.pending() + " pending"
                : "view of " + engine)
                + (isTerminated() ? ", terminated]" : isShutdown() ? ", shutting down]" : "]");
    }
}
