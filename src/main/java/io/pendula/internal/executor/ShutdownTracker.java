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
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** Takes the tasks of an executor, and knows after a shutdown which of them are still to run. */
public final class ShutdownTracker implements Runnable {
    /*
     * Shutdown
     *
     * A shutdown sets phase, then looks for live tasks: in every queue, then among the runs in progress. Each task that
     * is found is counted, once, through the task's own tally. The thread that ends a counted task takes it off again,
     * and the last one ends the executor. The shutdown holds one count itself until it has looked everywhere. If it
     * fails on the way it keeps that count, and what it has taken back; the next one goes on.
     *
     * No live task is missed. A task that was submitted is armed or runs, or its submitter has not looked at phase
     * for the second time yet: it does so after its push. So if the push came after the shutdown's look at that queue,
     * the submitter sees the phase and takes the task back, unless it runs. The look misses no task that is armed all
     * the while (QueueView). A thread that runs tasks publishes what it claims under the queue's lock, and clears that
     * only when the run has ended, and it looks at phase before it calls the task: either the shutdown sees the run, or
     * that thread sees the phase and counts the task itself (refuseIfLate). The same holds for a periodic task that is pushed
     * again when its run ends: it looks at phase after the push, and before its run is cleared.
     *
     * Four parties may want a task that does not run: the worker that would call it; a shutdownNow() that would give it
     * back; a shutdown, submitter or worker that finds it too late; and a close of the scheduler that has collected it. The
     * first to put something into the task's runner has it. So a task runs, or is in the list, or is rejected (cancelled if
     * its submission has returned): never two of these. A worker waits for a shutdownNow() in progress before it refuses a
     * task; if that has failed, the worker gives the task back in its place. While a periodic task runs, none of the four
     * can have it; when the run has ended, the look at phase after its push decides.
     *
     * The shutdown of a view does not look at the queues if nothing of its own waits, as its scheduler may have millions of
     * timers. Each submission counts its task in begun, before the push. The thread that ends a task first marks it as
     * GONE, then counts it in ended, once. A shutdown that has set phase
     *
     *     ST-S1  reads ended
     *     ST-S2  looks for runs, and takes those that are not GONE
     *     ST-S3  reads begun
     *
     * If ST-S1 and ST-S2 make up ST-S3, each live task runs, but for those whose submitters see the phase. For let L be
     * the tasks that are counted in begun before ST-S3 and are not counted in ended before the end of ST-S1. Neither sum
     * falls, and each is read cell by cell, so ST-S3 - ST-S1 is no less than the size of L. What ST-S2 takes is in L: it
     * was not GONE after ST-S1. So if ST-S2 takes as many as ST-S3 - ST-S1, it takes all of L. A task that is counted in
     * begun after ST-S3 began is pushed later still, so its submitter sees the phase. A run may have ended since ST-S2,
     * and its task have been pushed again, but the shutdown settles what ST-S2 has taken, whether it still runs or not. A
     * single sum of both would not do: a task may begin in a cell that was read already, and end in one that was not.
     * Where an add of a LongAdder makes a cell, it ends with a volatile write, and a sum begins with a volatile read.
     *
     * A thread that has no memory or stack left may fail to count an end. Then all later shutdowns look, and nothing hangs:
     * what they wait for is what they find. A pool counts nothing, as all that it would look at is its own.
     *
     * No task stays counted after its end. A thread that counts a task looks at it again afterwards; the thread that ends
     * the task changes its word, then looks at phase and at the tally. So one of the two takes it off.
     */

    private static final int RUNNING = 0;
    /** Takes no more tasks. */
    private static final int SHUTDOWN = 1;
    /** Starts no waiting task, and interrupts those that run. */
    private static final int STOPPING = 2;
    /** How often a thread that waits for a view's end looks for loops whose threads have ended: there may be no monitor. */
    private static final long LOOK_NANOS = 1_000_000_000;

    public final SchedulerEngine engine;
    public final boolean isOwner;
    private volatile int phase = RUNNING;
    /** Live tasks that a shutdown has found, and the shutdown itself until it has looked everywhere. */
    private final AtomicLong remaining = new AtomicLong(1);
    /** None of them is left, and what a close of the scheduler has to do was tried. */
    private volatile boolean settled;
    private final Object shuttingDown = new Object();
    /** Tasks that were submitted so far; null in a pool. After all other parts, as it is written with each submission. */
    private final Sum begun;
    /** Tasks of those that have ended; null in a pool, too. */
    private final Sum ended;
    /** Under shuttingDown: the shutdown itself is among the remaining; also if it has failed, until the next one. */
    private boolean isHeld = true;
    /** Under shuttingDown: taken back, and not yet returned by a shutdownNow(). */
    public ArrayList<Runnable> unstarted = new ArrayList<>();
    /** Under shuttingDown, too: those that were claimed after a shutdownNow() had failed. Linked, as that needs no memory. */
    private ScheduledTask<?> unstartedClaimed;

    public volatile boolean delayedAfterShutdown = true;
    public volatile boolean periodicAfterShutdown;

    public ShutdownTracker(SchedulerEngine engine, boolean isOwner) {
        this.engine = engine;
        this.isOwner = isOwner;
        this.begun = isOwner ? null : new Sum();
        this.ended = isOwner ? null : new Sum();
    }

    /** On a cache line that the next object does not share: one of the two is written by submitters, the other by workers. */
    @SuppressWarnings("unused") // padding
    private static final class Sum extends LongAdder {
        private static final long serialVersionUID = 1;
        private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
    }

    /** Arms a task; throws if it comes too late. */
    public <T extends ScheduledTask<?>> T submit(T task, long delay) {
        if (isShutdown()) {
            throw rejected();
        }
        engine.workerPool.ensureStarted();
        try {
            arm(task, delay);
            if (phase != RUNNING && isLate(task)) { // after the push, see above
                throw rejected();
            }
        } finally {
            engine.workerPool.growAgain(null);
        }
        return task;
    }

    private void arm(ScheduledTask<?> task, long delay) {
        if (!isOwner) {
            begun.increment();
        }
        boolean isArmed = false;
        try {
            task.queue.arm(task, engine.timeline.deadlineIn(delay));
            isArmed = true;
        } finally {
            if (!isArmed && !task.isLive()) { // else it failed after the push, and ends as any other
                gone(task);
            }
        }
    }

    /** A shutdown came while the task was submitted: it is rejected unless it runs, has run, or was given back. */
    private boolean isLate(ScheduledTask<?> task) {
        boolean once = !task.isPeriodic(); // else it may have run, or be in a returned list: cancelled, not rejected
        return (once || !isWanted(task)) && task.refuse() && once;
    }

    private RejectedExecutionException rejected() {
        return new RejectedExecutionException((isOwner ? "the executor '" : "the view of scheduler '")
                + engine.options.name + "' is shut down");
    }

    // ---- what tasks ask ----

    /**
     * Of a task that was claimed or armed again: one that comes too late is given back, or has the mark of a refusal, when
     * this returns: then the caller cancels it.
     */
    void refuseIfLate(ScheduledTask<?> task, boolean isClaimed) {
        if (!isWanted(task)) {
            synchronized (shuttingDown) { // until a shutdownNow() in progress has given back what has not begun
                if (isClaimed && phase == STOPPING && isHeld) {
                    giveBackClaimed(task);
                }
                task.markRefused();
            }
        }
    }

    /** A shutdownNow() has failed, and this task was claimed since: the next shutdownNow() returns it. */
    private void giveBackClaimed(ScheduledTask<?> task) {
        assert Thread.holdsLock(shuttingDown);
        ScheduledTask<?> others = unstartedClaimed;
        task.linkTo(others);
        unstartedClaimed = task;
        try {
            if (!task.giveBack()) {
                unstartedClaimed = others;
                task.linkTo(null);
            }
        } catch (VirtualMachineError e) {
            // It is given back all the same. Thrown, it would end the run.
        }
    }

    private boolean isWanted(ScheduledTask<?> task) {
        return phase == RUNNING || mayWait(task) && admit(task);
    }

    /** The task has ended, and does not run any more. */
    void gone(ScheduledTask<?> task) {
        if (isOwner && phase == RUNNING) {
            return;
        }
        byte was = task.uncount();
        if (was == ScheduledTask.COUNTED) {
            release();
        }
        if (!isOwner && was != ScheduledTask.GONE) {
            ended.increment(); // last, as it may need memory
        }
    }

    /** Makes the shutdown wait for a task; false if it is too late. */
    private boolean admit(ScheduledTask<?> task) {
        if (!hold()) {
            return false;
        }
        if (!task.count()) {
            release(); // it is counted already, or has ended
        } else if (!task.isLive()) {
            gone(task);
        }
        return true;
    }

    private void release() {
        if (remaining.decrementAndGet() == 0) {
            terminate();
        }
    }

    /** Nothing is left. Does the rest of a call that has failed, and nothing if there is none. */
    private void terminate() {
        try {
            if (isOwner) {
                engine.shutdownNow(t -> {});
            }
        } finally {
            settled = true;
            engine.runEnded();
        }
    }

    // ---- shutdown ----

    /** Shuts down. A scheduler that is closed calls this of its views. */
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
            for (ScheduledTask<?> t = unstartedClaimed; t != null; t = unstartedClaimed) {
                unstarted.add(t);
                unstartedClaimed = (ScheduledTask<?>) t.next();
                t.linkTo(null);
            }
            unstarted.removeIf(t -> ((ScheduledTask<?>) t).isDone()); // cancelled meanwhile
            List<Runnable> result = unstarted;
            unstarted = new ArrayList<>();
            return result;
        }
    }

    /** Keeps a shutdown that has been going on from ending; false if it has ended. */
    private boolean hold() {
        return remaining.getAndUpdate(n -> n == 0 ? 0 : n + 1) != 0;
    }

    /**
     * Counts all live tasks, and takes back those that may not wait any longer: first what waits, as an interrupt would
     * make workers claim that.
     */
    private void settle() {
        assert Thread.holdsLock(shuttingDown);
        long over = isOwner ? 0 : ended.sum(); // ST-S1
        Set<ScheduledTask<?>> running = running(); // ST-S2
        if (isOwner || over + running.stream().filter(t -> !t.isGone()).count() != begun.sum()) { // ST-S3
            settleWaiting();
            running = running();
        }
        for (ScheduledTask<?> task : running) {
            settle(task);
            if (phase == STOPPING) {
                interrupt(task);
            }
        }
    }

    /** A thread of the user's that refuses to be interrupted keeps no other from being so, and no list from its receiver. */
    private static void interrupt(ScheduledTask<?> task) {
        try {
            task.interrupt();
        } catch (Throwable e) {
            Reporter.uncaught(e);
        }
    }

    private void settleWaiting() {
        for (TimerQueue q : engine.queues) {
            q.view().forEachPending(t -> {
                ifOwn(t, this::settle);
                return true;
            });
        }
    }

    /** Each once: what is just handed to the builder's executor is met twice. */
    private Set<ScheduledTask<?>> running() {
        Set<ScheduledTask<?>> found = new HashSet<>();
        engine.forEachRunning(t -> ifOwn(t, found::add));
        return found;
    }

    private void ifOwn(TimerNode t, Consumer<ScheduledTask<?>> then) {
        if (t instanceof ScheduledTask<?> task && task.tracker == this) {
            then.accept(task);
        }
    }

    private void settle(ScheduledTask<?> task) {
        if (!task.isLive() || phase == SHUTDOWN && !mayWait(task) && task.refuse()) {
            return;
        }
        if (phase == STOPPING) {
            unstarted.add(task); // before it is taken, or it might be lost
            if (task.giveBack()) {
                return;
            }
            unstarted.remove(unstarted.size() - 1);
            if (task.finishRefusal()) {
                return;
            }
        }
        admit(task);
    }

    private boolean mayWait(ScheduledTask<?> task) {
        return phase == SHUTDOWN && (task.isPeriodic() ? periodicAfterShutdown
                : delayedAfterShutdown || !task.isPending() // claimed, as it was due: nothing to ask the user's clock for
                || task.getDelay(TimeUnit.NANOSECONDS) <= 0);
    }

    public boolean isShutdown() {
        return phase != RUNNING || engine.isClosed();
    }

    public boolean isTerminated() {
        return settled && (!isOwner || engine.workerPool.isEmpty());
    }

    public boolean awaitTermination(long nanos) throws InterruptedException {
        for (long left = Math.max(0, nanos); ; left -= LOOK_NANOS) { // at least 0, as its difference to now must not overflow
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
