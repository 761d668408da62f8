package io.pendula;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ScheduledExecutorService} on the heaps of a {@link TimerScheduler}: either a pool of its own, from
 * {@link TimerExecutors}, or a {@linkplain TimerScheduler#asScheduledExecutorService() view} of a scheduler. It keeps
 * the contract of {@link java.util.concurrent.ScheduledThreadPoolExecutor} with {@code setRemoveOnCancelPolicy(true)},
 * and these rules where that contract is silent or ours is stricter:
 *
 * <p><b>Time.</b> No task starts before its delay has passed. Delays are exact to the nanosecond of the clock and
 * saturate: zero and less is due at once, but never runs inside the call; more than 18 years never runs. Tasks for
 * now and tasks for later share one order, that of their deadlines, so neither kind starves the other.
 *
 * <p><b>Threads.</b> A pool of n runs up to n tasks at once, and never more, whichever threads submitted them. A task
 * may block. What is due behind it runs on another thread of the pool if there is an idle one: at once if it is
 * submitted while the task runs, and no more than 2 ms late on a quiet machine if it was waiting before. With one
 * worker, tasks run strictly one after the other; those with equal deadlines in the order of submission. A view has
 * the threads of its scheduler.
 *
 * <p><b>Futures.</b> All futures are {@link java.util.concurrent.RunnableScheduledFuture}s, those of {@code submit}
 * too. {@code cancel} takes effect at once: the future is done and cancelled, a task that has not started never will,
 * and its memory is free but for a small entry that is swept later. {@code cancel(true)} interrupts the running task
 * and nothing that its thread does afterwards. Once a task has ended, nothing here refers to it. Two futures of one
 * scheduler compare by their deadlines, and equal ones as 0; {@code run()} does nothing but for those that
 * {@code shutdownNow()} has returned.
 *
 * <p><b>Periodic tasks</b> never overlap themselves; run k happens-before run k + 1. At a fixed rate late runs are
 * caught up, back to back, and the phase is kept; a fixed delay counts from the end of a run. A run that throws is
 * the last one: the future reports it and, as hardly anybody looks there, so does the scheduler's
 * {@link TimerListener}; in a pool, the thread's uncaught-exception handler. The same goes for tasks given to
 * {@code execute}.
 *
 * <p><b>Memory effects.</b> What a thread did before it submitted a task happens-before the task runs, and that
 * happens-before {@code get} returns; what is done in tasks happens-before {@code awaitTermination} returns true.
 *
 * <p>All methods may be called by any thread at any time, by tasks too. Submitting and cancelling never block.
 *
 * @since 0.1
 */
public final class SchedulerExecutor extends AbstractExecutorService
        implements ScheduledExecutorService, AutoCloseable {
    /*
     * Shutdown
     *
     * Nothing is counted while the executor runs, so submitting touches nothing that all threads share. A shutdown
     * sets phase, then looks for live tasks: a pool in every queue, then among the runs in progress; a view in its
     * rosters, where each task is entered before its push and crossed out when it has ended, so that a view's end costs
     * what the view has. Each task that is found is counted, once, through the task's own tally; who ends a counted
     * task takes it off again, and the last one ends the executor. The shutdown holds one count itself until it has
     * looked everywhere. If it fails on the way it keeps that count, and what it has taken back; the next one goes on.
     *
     * No live task is missed. A task that was submitted is armed or runs, or its submitter has not looked at phase
     * for the second time yet: it does so after its push. So if the push came after the shutdown's look at that queue
     * or task, the submitter sees the phase and takes the task back, unless it runs. In a pool a worker publishes what
     * it claims under the queue's lock and clears that only when the run has ended, and it looks at phase before it
     * calls the task: either the shutdown sees the run, or the worker sees the phase and counts the task itself
     * (mayRun). In a view the shutdown sees the claim in the task's word. The same holds for a periodic task that is
     * pushed again when its run ends: it looks at phase after the push, and before its run is cleared. A task whose push
     * is refused may have been found in a roster, and counted or given back: it is refused as if it had come too late.
     *
     * What does not run may be wanted by three: the worker that would call it, a shutdownNow() that would give it back,
     * a shutdown, submitter or worker that finds it too late. The first to put something into the task's runner has it.
     * So it runs, is in the list, or is rejected (cancelled, if its submitter has gone): never two of these. The worker
     * waits for a shutdownNow() in progress before it refuses anything. A periodic task whose run has begun is wanted
     * by nobody before that has ended; then it is seen to by the look at phase after its push.
     *
     * Nor is one counted for ever: it is counted, then looked at again, while who ends it changes its word, then looks
     * at phase and the tally.
     */

    private static final int RUNNING = 0;
    /** Takes no more tasks. */
    private static final int SHUTDOWN = 1;
    /** Starts no waiting task, and has interrupted those that run. */
    private static final int STOPPING = 2;

    private static final int ROSTERS_MAX = 16;

    final Engine engine;
    private final boolean owner;
    private volatile int phase = RUNNING;
    /** Live tasks that a shutdown has found, and the shutdown itself. */
    private final AtomicLong remaining = new AtomicLong(1);
    private final CountDownLatch settled = new CountDownLatch(1);
    private final Object shuttingDown = new Object();
    /** Of a view: its live tasks, by queue. */
    private final Roster[] rosters;
    /** Under shuttingDown: taken back, and not yet returned by a shutdownNow(). */
    ArrayList<Runnable> unstarted = new ArrayList<>();
    /** Under shuttingDown: a shutdown has failed, and left its hold to the next. */
    private boolean unsettled;

    private volatile boolean delayedAfterShutdown = true;
    private volatile boolean periodicAfterShutdown;

    SchedulerExecutor(Engine engine, boolean owner) {
        this.engine = engine;
        this.owner = owner;
        this.rosters = owner || engine == null ? null : newRosters(engine.workers());
    }

    private static Roster[] newRosters(int workers) {
        Roster[] all = new Roster[Math.max(1, Integer.highestOneBit(Math.min(workers, ROSTERS_MAX)))];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Roster();
        }
        return all;
    }

    private Roster roster(ScheduledTask<?> task) {
        return rosters[task.queue.index & rosters.length - 1];
    }

    // ---- submission ----

    /**
     * Runs a task as soon as a thread is free, never inside this call. What the task throws goes to the
     * {@link TimerListener}; in a pool, to the thread's uncaught-exception handler.
     *
     * @param command what to run
     * @throws NullPointerException if {@code command} is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public void execute(Runnable command) {
        Check.notNull(command, "command");
        submit(new ScheduledTask<Void>(engine.currentQueue(), engine.work(command), this, 0, true, true), 0);
    }

    /**
     * Runs a task as soon as a thread is free, never inside this call.
     *
     * @param task what to run
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
     * @param task what to run
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
     * @param task what to run
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
     * Submits a task for now that must be done within a time. A task that is done before leaves nothing behind.
     *
     * @param <T> the type of the task's value
     * @param task what to run
     * @param timeout how long it may take, its wait for a thread included, in {@code unit}s; zero or negative: the time
     *     is over at once
     * @param unit the unit of {@code timeout}
     * @param onTimeout is called with the task's future if that is not done when the time is over, by a thread of the
     *     {@linkplain TimerScheduler#shared() shared} scheduler, as those of this executor may be blocked (where there
     *     is a {@link ManualClock}, by its {@code advance}); null: the future is cancelled, and the task interrupted
     * @return the task's future
     * @throws NullPointerException if {@code task} or {@code unit} is null
     * @throws RejectedExecutionException if this executor is shut down or its scheduler is full
     */
    public <T extends @Nullable Object> Future<T> submitWithTimeout(Callable<T> task, long timeout, TimeUnit unit,
            @Nullable Consumer<? super Future<T>> onTimeout) {
        Check.notNull(task, "task");
        Check.notNull(unit, "unit");
        TimedTask<T> timed = new TimedTask<>(engine.currentQueue(), task, this);
        submit(timed, 0);
        timed.armTimeout(engine.timeline.isSystem() ? TimerScheduler.shared().engine : engine, timeout, unit, onTimeout);
        return timed;
    }

    /**
     * Runs a task once after a delay.
     *
     * @param command what to run
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @return its future; its result is null
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        Check.notNull(command, "command");
        long nanos = Check.delay(delay, unit);
        return submit(new ScheduledTask<Void>(engine.currentQueue(), engine.work(command), this, 0, false, nanos <= 0), nanos);
    }

    /**
     * Runs a task once after a delay.
     *
     * @param <V> the type of the result
     * @param callable what to run
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @return its future
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if the executor or its scheduler is shut down, {@code maxPending} tasks are
     *     pending, or memory is short
     */
    @Override
    public <V extends @Nullable Object> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
        Check.notNull(callable, "callable");
        long nanos = Check.delay(delay, unit);
        return submit(new ScheduledTask<>(engine.currentQueue(), callable, this, nanos <= 0), nanos);
    }

    /**
     * Runs a task again and again, at multiples of a period after the first run. Late runs are caught up, one after
     * the other. A run that throws is the last one.
     *
     * @param command what to run
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
        return submitPeriodic(command, initialDelay, period, unit, "period", 1);
    }

    /**
     * Runs a task again and again, with a pause after each run. A run that throws is the last one.
     *
     * @param command what to run
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
        return submitPeriodic(command, initialDelay, delay, unit, "delay", -1);
    }

    private ScheduledFuture<?> submitPeriodic(Runnable command, long initialDelay, long period, TimeUnit unit,
            String name, int sign) {
        Check.notNull(command, "command");
        long first = Check.delay(initialDelay, unit);
        if (period <= 0) {
            throw new IllegalArgumentException(name + " must be positive, but is " + period);
        }
        long nanos = sign * unit.toNanos(period);
        return submit(new ScheduledTask<Void>(engine.currentQueue(), engine.work(command), this, nanos, false, first <= 0), first);
    }

    private <V> ScheduledTask<V> submit(ScheduledTask<V> task, long delay) {
        if (isShutdown()) {
            throw rejected();
        }
        engine.workerPool.ensureStarted();
        long when = engine.timeline.deadlineIn(delay);
        if (rosters != null) {
            task.enterInto(roster(task));
        }
        try {
            task.queue.arm(task, when);
        } catch (Throwable e) { // the scheduler is closed, perhaps, or it is full
            if (task.refuse()) {
                crossOut(task); // if it was never armed nobody else does
                throw e;
            }
            return task; // a shutdownNow() has found it in a roster, and given it back
        }
        if (phase != RUNNING && !isAccepted(task)) { // after the push, see above
            throw rejected();
        }
        return task;
    }

    private void crossOut(ScheduledTask<?> task) {
        Roster.Cell cell = task.takeCell();
        if (cell != null) {
            roster(task).crossOut(cell);
        }
    }

    /** A shutdown came while the task was submitted: it is rejected unless it runs, has run, or was given back. */
    private boolean isAccepted(ScheduledTask<?> task) {
        if (task.isPeriodic()) {
            armedAgain(task); // it may have run several times, or be in somebody's list: cancelled, not rejected
            return true;
        }
        return !task.refuse();
    }

    private static RejectedExecutionException rejected() {
        return new RejectedExecutionException("the executor is shut down");
    }

    // ---- what tasks ask ----

    /** Whether a task that was claimed may be called; if not, it was given back or is cancelled. */
    boolean mayRun(ScheduledTask<?> task) {
        if (phase == RUNNING || mayWait(task) && admit(task)) {
            return true;
        }
        synchronized (shuttingDown) { // until a shutdownNow() in progress has given back what has not begun
            task.refuse();
        }
        return false;
    }

    /** It is in the queue, or on its way to its next run already. */
    void armedAgain(ScheduledTask<?> task) {
        if (phase != RUNNING && !(mayWait(task) && admit(task))) {
            task.refuse();
        }
    }

    /** The task has ended, and does not run any more. */
    void gone(ScheduledTask<?> task) {
        crossOut(task);
        if (phase != RUNNING && task.uncount()) {
            release();
        }
    }

    /** Makes the shutdown wait for a task; false if it is too late. */
    private boolean admit(ScheduledTask<?> task) {
        if (task.isCounted()) {
            return true;
        }
        if (!hold()) {
            return false;
        }
        if (!task.count() || !task.isLive() && task.uncount()) {
            release(); // counted by somebody else, or ended meanwhile
        }
        return true;
    }

    private void release() {
        if (remaining.decrementAndGet() == 0) {
            try {
                if (owner) {
                    engine.shutdownNow(null); // nothing waits there any more; the workers go home
                }
            } finally {
                settled.countDown();
            }
        }
    }

    // ---- shutdown ----

    /**
     * Takes no more tasks. Periodic tasks that wait are cancelled, one that is running when its run has ended; all
     * others still run when they are due, unless the policies say otherwise. Does not wait.
     *
     * <p>If it fails, as for want of memory, no task is taken any more, and the next call of this or of
     * {@link #shutdownNow()} does the rest.
     */
    @Override
    public void shutdown() {
        end(SHUTDOWN);
    }

    /**
     * Takes no more tasks, starts none that waits, and interrupts those that run. Does not wait. If it fails, as for
     * want of memory, the next call does the rest, and returns what this one should have returned.
     *
     * @return what was waiting, as {@link java.util.concurrent.RunnableScheduledFuture}s, neither done nor cancelled:
     *     those who wait for their outcome wait until the receiver sees to them. {@code run()} runs a one-shot task and
     *     cancels a periodic one; {@code cancel} cancels both. A periodic task that is running is not among them, but
     *     cancelled when its run has ended; nor is what was cancelled before
     */
    @Override
    public List<Runnable> shutdownNow() {
        return end(STOPPING);
    }

    private List<Runnable> end(int to) {
        synchronized (shuttingDown) { // no callback runs and nobody waits in here
            boolean first = phase == RUNNING; // then the hold is there from the beginning
            phase = Math.max(phase, to); // before the first look at any task
            if (first || unsettled || hold()) {
                unsettled = true; // until all is done; what fails before is done by the next call
                settle();
                unsettled = false;
                release();
            } else if (owner) {
                engine.shutdownNow(null); // does nothing, unless that has failed before
            }
            if (to != STOPPING || unstarted.isEmpty()) {
                return List.of();
            }
            List<Runnable> result = unstarted;
            unstarted = new ArrayList<>();
            return result;
        }
    }

    /** Keeps a shutdown that has been going on from ending; false if it has ended. */
    private boolean hold() {
        for (long n = remaining.get(); n > 0; n = remaining.get()) {
            if (remaining.compareAndSet(n, n + 1)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Counts all live tasks, and takes back those that may not wait any longer: first what waits, as an interrupt would
     * make workers claim that.
     */
    private void settle() {
        List<ScheduledTask<?>> found = new ArrayList<>();
        Consumer<TimerNode> find = t -> {
            if (t instanceof ScheduledTask<?> task && task.isOf(this) && task.isLive()) {
                found.add(task);
            }
        };
        if (rosters != null) {
            for (Roster roster : rosters) {
                roster.forEach(find);
            }
        } else {
            for (TimerQueue q : engine.queues) {
                q.forEach(find);
            }
        }
        for (ScheduledTask<?> task : found) { // not while it was found: a queue's lock was held
            settle(task);
        }
        if (rosters == null) {
            found.clear();
            engine.firings.forEach(find);
        }
        for (ScheduledTask<?> task : found) {
            if (task.isLive()) {
                settle(task);
                if (phase == STOPPING) {
                    task.interrupt();
                }
            }
        }
    }

    private void settle(ScheduledTask<?> task) {
        if (!mayWait(task)) {
            if (phase == STOPPING) {
                unstarted.ensureCapacity(unstarted.size() + 1); // before it is taken, or it might be lost
                if (task.giveBack()) {
                    unstarted.add(task);
                    return;
                }
            } else if (task.refuse()) {
                return;
            }
        }
        admit(task);
    }

    private boolean mayWait(ScheduledTask<?> task) {
        return phase == SHUTDOWN && (task.isPeriodic() ? periodicAfterShutdown
                : delayedAfterShutdown || task.getDelay(TimeUnit.NANOSECONDS) <= 0);
    }

    /**
     * Whether tasks are refused: after a shutdown, and once the scheduler that this is a view of is closed.
     *
     * @return true if every submission will be rejected
     */
    @Override
    public boolean isShutdown() {
        return phase != RUNNING || engine.isClosed();
    }

    /**
     * Whether it is shut down and all its tasks have ended; of a pool, its threads, too.
     *
     * @return true if nothing will run any more
     */
    @Override
    public boolean isTerminated() {
        return settled.getCount() == 0 && (!owner || engine.workerPool.isEmpty());
    }

    /**
     * Waits until all tasks have ended after a shutdown; of a pool, its threads, too.
     *
     * @param timeout how long to wait at most; zero or negative: only look
     * @param unit the unit of {@code timeout}
     * @return true if nothing will run any more, false if the time ran out before
     * @throws NullPointerException if {@code unit} is null
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        long nanos = Check.notNull(unit, "unit").toNanos(timeout);
        long start = System.nanoTime();
        return settled.await(nanos, TimeUnit.NANOSECONDS)
                && (!owner || engine.workerPool.awaitEmpty(nanos - (System.nanoTime() - start)));
    }

    /**
     * Shuts down and waits until all tasks have ended. If the waiting thread is interrupted the rest is stopped as by
     * {@link #shutdownNow()}, then waited for, and the interrupt flag set at the end. Called by one of its own tasks it
     * does not wait.
     */
    @Override
    public void close() {
        shutdown();
        if (engine.firings.isByCaller(t -> t instanceof ScheduledTask<?> task && task.isOf(this))) {
            return;
        }
        boolean interrupted = false;
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
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Whether one-shot tasks that wait when {@code shutdown()} is called still run when they are due. Default: true. If
     * not, they are cancelled; those that are due already run all the same. Takes effect after a shutdown, too.
     *
     * @param value false to cancel them
     */
    public void setExecuteExistingDelayedTasksAfterShutdownPolicy(boolean value) {
        delayedAfterShutdown = value;
        applyPolicies(value);
    }

    /**
     * Whether waiting one-shot tasks outlive {@code shutdown()}.
     *
     * @return the present setting
     */
    public boolean getExecuteExistingDelayedTasksAfterShutdownPolicy() {
        return delayedAfterShutdown;
    }

    /**
     * Whether periodic tasks go on after {@code shutdown()}, until they are cancelled. Default: false. Takes effect
     * after a shutdown, too.
     *
     * @param value true to let them go on
     */
    public void setContinueExistingPeriodicTasksAfterShutdownPolicy(boolean value) {
        periodicAfterShutdown = value;
        applyPolicies(value);
    }

    /**
     * Whether periodic tasks outlive {@code shutdown()}.
     *
     * @return the present setting
     */
    public boolean getContinueExistingPeriodicTasksAfterShutdownPolicy() {
        return periodicAfterShutdown;
    }

    private void applyPolicies(boolean mayWait) {
        if (!mayWait && phase == SHUTDOWN) {
            end(SHUTDOWN);
        }
    }

    /**
     * What the scheduler behind this executor has done so far, and has to do: of a pool, its own tasks; of a view, all
     * that its scheduler runs.
     *
     * @return a snapshot
     */
    public TimerStats stats() {
        return engine.stats();
    }

    /**
     * What waits; of a view, all that waits in its scheduler. See {@link TimerScheduler#pendingTimers}.
     *
     * @param limit how many to return at most, at least 1
     * @return an unmodifiable list, in no particular order
     * @throws IllegalArgumentException if {@code limit} is less than 1
     */
    public List<PendingTimer> pendingTimers(int limit) {
        return engine.pendingTimers(limit);
    }

    /**
     * How many tasks wait of each class; of a view, in its scheduler. See {@link TimerScheduler#pendingByTask}.
     *
     * @return an unmodifiable map, the most frequent class first
     */
    public Map<Class<?>, Long> pendingByTask() {
        return engine.pendingByTask();
    }

    /**
     * State and scheduler, for people.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "SchedulerExecutor[" + (owner ? "" : "view of ") + engine
                + (isTerminated() ? ", terminated]" : isShutdown() ? ", shutting down]" : "]");
    }
}
