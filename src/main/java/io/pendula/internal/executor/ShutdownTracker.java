package io.pendula.internal.executor;

import io.pendula.internal.engine.Reporter;
import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Accepts the tasks of an executor. After a shutdown, tracks the tasks that still have to run. */
public final class ShutdownTracker implements Runnable {
    /*
     * Shutdown
     *
     * A shutdown sets phase, then looks for live tasks: in every queue, then among the runs in progress. It takes back the
     * tasks that may no longer wait, and counts the others, each once. The thread that ends a counted task uncounts it, and
     * the last one ends the executor.
     *
     * The shutdown itself holds one count until it has looked everywhere. If it fails before that, it keeps this count
     * (isHeld), because a task that it has not found may still wait. It also keeps the tasks that it has taken back. The
     * next shutdown does the rest. A task that a worker claims in between is cancelled.
     *
     * No live task is missed. The walk through a queue finds each task that stays armed during the walk (QueueView). If a
     * task is pushed behind the walk, the pushing thread reads phase afterwards. That thread is the submitter, or the
     * thread that ends a periodic run. A thread that runs tasks publishes each claim under the queue's lock, then reads
     * phase, then calls the task. It clears the claim when the run has ended. So either the shutdown sees the claim, or
     * that thread sees the phase.
     *
     * Four parties compete for a task that is not running. A worker calls it. A shutdownNow() gives it back. A thread that
     * finds it too late cancels it. A close of the scheduler that has collected it cancels it, too. The first to replace
     * the null in the task's runner owns the task. So a task runs, or is in a list, or is cancelled, but never two of
     * these. If the submitter cancels a one-shot task, the submission is rejected. A worker waits for a shutdownNow() in
     * progress before it refuses a task, so that all waiting tasks are given back. While a periodic task runs, none of the
     * four can own it. When the run has ended, the read of phase after its push decides.
     *
     * No task stays counted after its end. A thread that counts a task checks afterwards that it is live. The thread that
     * ends the task, or gives it back, changes its word or runner, then reads phase, then uncounts it. So one of the two
     * uncounts it.
     */

    private static final int RUNNING = 0;
    /** Accepts no more tasks. */
    private static final int SHUTDOWN = 1;
    /** Starts no waiting task, and interrupts running ones. */
    private static final int STOPPING = 2;
    /** How often a thread that waits for a view's end checks for ended loop threads, because there may be no monitor. */
    private static final long LOOK_NANOS = 1_000_000_000;

    public final SchedulerEngine engine;
    public final boolean isOwner;
    private volatile int phase = RUNNING;
    /** The number of live tasks that a shutdown has found, plus 1 for the shutdown itself until it has looked everywhere. */
    private final AtomicLong remaining = new AtomicLong(1);
    private final Object shuttingDown = new Object();
    /** Guarded by shuttingDown: remaining includes the shutdown itself. After a failure, true until the next shutdown. */
    private boolean isHeld = true;
    /** Guarded by shuttingDown: tasks taken back, and not yet returned by a shutdownNow(). */
    public ArrayList<Runnable> unstarted = new ArrayList<>();

    public volatile boolean delayedAfterShutdown = true;
    public volatile boolean periodicAfterShutdown;

    public ShutdownTracker(SchedulerEngine engine, boolean isOwner) {
        this.engine = engine;
        this.isOwner = isOwner;
    }

    /** Arms a task; throws if a shutdown came first. */
    public <T extends ScheduledTask<?>> T submit(T task, long delay) {
        if (isShutdown()) {
            throw rejected();
        }
        engine.workerPool.ensureStarted();
        try {
            task.queue.arm(task, engine.timeline.deadlineIn(delay));
            if (phase != RUNNING && !isWanted(task) && task.refuse() && !task.isPeriodic()) { // after the push, see above
                throw rejected(); // a periodic task may have run, so it is only cancelled
            }
        } finally {
            engine.workerPool.growAgain(null);
        }
        return task;
    }

    private RejectedExecutionException rejected() {
        return new RejectedExecutionException((isOwner ? "the executor '" : "the view of scheduler '")
                + engine.options.name + "' is shut down");
    }

    // ---- called by tasks ----

    /** Called for a task that was claimed or armed again. Marks it as refused if it is late; then the caller cancels it. */
    void refuseIfLate(ScheduledTask<?> task) {
        if (!isWanted(task)) {
            synchronized (shuttingDown) { // waits until a shutdownNow() in progress has given back tasks that have not begun
                task.markRefused();
            }
        }
    }

    private boolean isWanted(ScheduledTask<?> task) {
        return phase == RUNNING || mayWait(task) && admit(task);
    }

    /** Called when the task has ended and will not run again, or was given back. */
    void gone(ScheduledTask<?> task) {
        if (phase != RUNNING && task.uncount()) {
            release();
        }
    }

    /** Makes the shutdown wait for a task; false if it is too late, or the task is not live. */
    private boolean admit(ScheduledTask<?> task) {
        if (!hold()) {
            return false;
        }
        if (!task.count()) {
            release(); // it is counted already
        }
        boolean isLive = task.isLive(); // after the count
        if (!isLive) {
            gone(task);
        }
        return isLive;
    }

    private void release() {
        if (remaining.decrementAndGet() == 0) {
            terminate();
        }
    }

    /** Called when no task is left. If a call fails, the next call does the rest. */
    private void terminate() {
        try {
            if (isOwner) {
                engine.shutdownNow(t -> {});
            }
        } finally {
            engine.runEnded();
        }
    }

    // ---- shutdown ----

    /** Shuts down. A scheduler that is being closed calls this for its views. */
    @Override
    public void run() {
        end(SHUTDOWN);
    }

    public List<Runnable> shutdownNow() {
        return end(STOPPING);
    }

    public void policyChanged() {
        if (phase == SHUTDOWN) {
            end(SHUTDOWN);
        }
    }

    private List<Runnable> end(int to) {
        HoldLock.checkDeepStack(); // or the shutdown might stay counted
        synchronized (shuttingDown) { // no callback runs and no thread waits in here
            phase = Math.max(phase, to); // before the first look at any task
            isHeld = isHeld || hold();
            if (isHeld) {
                settle();
                isHeld = false;
                release();
            } else {
                terminate();
            }
            if (to != STOPPING) {
                return List.of();
            }
            unstarted.removeIf(t -> ((ScheduledTask<?>) t).isDone()); // cancelled meanwhile
            List<Runnable> result = unstarted;
            unstarted = new ArrayList<>();
            return result;
        }
    }

    /** Keeps a shutdown in progress from ending; false if it has ended. */
    private boolean hold() {
        return remaining.getAndUpdate(n -> n == 0 ? 0 : n + 1) != 0;
    }

    /**
     * Counts all live tasks, and takes back those that may no longer wait. Waiting tasks come first, because an interrupt
     * would make workers claim them.
     */
    private void settle() {
        assert Thread.holdsLock(shuttingDown);
        for (TimerQueue q : engine.queues) {
            q.view().forEachPending(t -> {
                settle(t);
                return true;
            });
        }
        Set<TimerNode> running = new HashSet<>(); // a task that is being handed to the builder's executor is found twice
        engine.forEachRunning(running::add);
        for (TimerNode t : running) {
            if (settle(t) && phase == STOPPING) {
                interrupt((ScheduledTask<?>) t);
            }
        }
    }

    /**
     * If interrupting a user's thread throws, the other threads are still interrupted, and the list still reaches its
     * receiver.
     */
    private static void interrupt(ScheduledTask<?> task) {
        try {
            task.interrupt();
        } catch (Throwable e) {
            Reporter.uncaught(e);
        }
    }

    /** Takes back or counts a timer that is a live task of this executor. True if the executor waits for it. */
    private boolean settle(TimerNode t) {
        if (!(t instanceof ScheduledTask<?> task) || task.tracker != this || !task.isLive()) {
            return false;
        }
        boolean isTaken = !mayWait(task) && (phase == STOPPING && giveBack(task) || task.refuse());
        return !isTaken && admit(task);
    }

    private boolean giveBack(ScheduledTask<?> task) {
        unstarted.add(task); // before it is taken, or it might be lost
        if (task.giveBack()) {
            return true;
        }
        unstarted.remove(unstarted.size() - 1);
        return false;
    }

    private boolean mayWait(ScheduledTask<?> task) {
        return phase == SHUTDOWN && (task.isPeriodic() ? periodicAfterShutdown
                : delayedAfterShutdown || !task.isPending() // claimed, so it was due: no need to ask the user's clock
                || task.getDelay(TimeUnit.NANOSECONDS) <= 0);
    }

    public boolean isShutdown() {
        return phase != RUNNING || engine.isClosed();
    }

    public boolean isTerminated() {
        return isOwner ? engine.isClosed() && engine.workerPool.isEmpty() : remaining.get() == 0;
    }

    public boolean awaitTermination(long nanos) throws InterruptedException {
        for (long left = Math.max(0, nanos); ; left -= LOOK_NANOS) { // at least 0: its difference to now must not overflow
            boolean isLast = engine.loops == null || left <= LOOK_NANOS;
            if (engine.loops != null) {
                engine.loops.closeEnded();
            }
            boolean isOver = engine.awaitChange(this::isTerminated, isLast ? left : LOOK_NANOS);
            if (isOver || isLast) {
                return isOver;
            }
        }
    }
}
