package io.pendula.internal.loops;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.EventLog;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Lets an application's thread run a queue whenever that thread polls. */
public final class LoopWorker extends Firing implements QueueOwner, EventLog.Loop {
    /*
     * Overview
     *
     * Only the loop's thread calls the methods of the second part, except isRunning. The method nanosUntilNext publishes
     * the end of the thread's wait at the gate, as a worker does before it sleeps (WakeGate has the argument). The loop
     * counts as waiting until it polls again: then markAwake sets AWAKE. So arming a timer in between costs a call of the
     * hook, even if the thread has returned from its wait long ago. Some calls are superfluous, but none is missing.
     *
     * The hook must be sticky, like Selector.wakeup and unpark: called before the wait begins, it makes that wait return at
     * once. It is called once for each wait, by the thread that set the gate to AWAKE, and by a close.
     *
     * If the hook throws, no thread was woken, so the gate is set to NEVER and the next arming tries again. This may undo
     * a newer publication, but it only raises the gate, which costs a superfluous call at most.
     *
     * The watch checks a loop while a timer is armed or runs there. If a queue has no arrivals, the thread that arms the
     * next timer there calls the watch, see StallWatch.
     */

    /** Here and not in the engine, so that a scheduler without loops need not load this class. */
    public static final LoopWorker[] NONE = {};
    /** The limit of cleaning in one poll, in thousands of heap slots. */
    private static final int TIDY_STEPS = 16;

    private static final VarHandle VISITS = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "visits",
            VarHandle.class, LoopWorker.class, int.class);

    public final Engine engine;
    public final TimerQueue queue;
    public final Loops loops;
    public final Thread thread;
    private final Runnable wakeup;
    /** The user's handle of this loop. */
    public final Object handle;

    /** No timer is armed here any more; the last callback may still run. */
    public volatile boolean detached;
    /** The timers stopped by the end of the loop; null once passed on. Under the engine's lifecycle, but see isEnding. */
    public volatile List<TimerNode> unfired = new ArrayList<>();
    /** Set under the engine's lifecycle. The thread that sets it owns unfired until it clears this flag, under no lock. */
    volatile boolean isEnding;
    /** Changes while the thread makes progress. Written by the thread, read by the watch. */
    private int visits;

    // Used by its own thread only.
    private boolean hasSeenClose;
    private boolean interrupted;

    LoopWorker(Engine engine, Loops loops, TimerQueue queue, Thread thread, Runnable wakeup,
            Function<LoopWorker, Object> handle) {
        this.engine = engine;
        this.loops = loops;
        this.queue = queue;
        this.thread = thread;
        this.wakeup = wakeup;
        this.handle = handle.apply(this);
    }

    // ---- any thread ----

    @Override
    public Thread runner() {
        return isRunning() ? thread : null;
    }

    /** Whether its thread has ended. Reads the state because isAlive is a native method on some JDKs. */
    public boolean hasEnded() {
        return thread.getState() == Thread.State.TERMINATED;
    }

    /** Also called when the scheduler was closed. */
    @Override
    public void call() {
        loops.closeIfEnded(this);
        try {
            wakeup.run();
        } catch (Throwable e) {
            queue.gate.set(Timeline.NEVER);
            engine.reporter.tell(Event.WAKEUP_THREW, this, 0, 0, e);
        }
    }

    @Override
    public void firstHasArrived() {
        engine.callWatch();
    }

    /** Differs from an earlier value if the thread has made progress. */
    public int visitsOpaque() {
        return (int) VISITS.getOpaque(this);
    }

    /**
     * Whether the loop was detached but its stopped timers are not passed on yet. Passing them on is in progress, or has
     * failed.
     */
    public boolean isEndOpen() {
        return detached && unfired != null;
    }

    /** Whether nothing is left to do. */
    boolean isOver() {
        return unfired == null && !isRunning();
    }

    // ---- the loop's thread ----

    /** Whether a callback of this loop runs. */
    public boolean isRunning() {
        return node() != null;
    }

    /** Called when the thread has polled, so it is not waiting. */
    public void markAwake() {
        getOn();
        queue.gate.set(WakeGate.AWAKE);
    }

    private void getOn() {
        VISITS.setOpaque(this, visits + 1);
    }

    /** Nanoseconds until the next deadline, Long.MAX_VALUE if there is none, 0 if there is something to do. */
    public long nanosUntilNext() {
        getOn();
        Throwable shortage = queue.due.takeShortage();
        if (shortage != null) {
            Reporter.uncaught(shortage);
        }
        long now;
        long next;
        int steps = 0;
        do {
            now = engine.timeline.now(); // before the publication, because a user's clock may use up the permit of a call
            next = queue.due.prepareToSleep(this, now);
            if (next > now && queue.compactor.wantsSweep()) {
                queue.compactor.sweepStep();
                next = DueTimers.RETRY;
            }
            steps++;
        } while (next == DueTimers.RETRY && steps < TIDY_STEPS);
        if (next <= now || seesClose()) {
            markAwake();
            return 0;
        }
        return next == Timeline.NEVER ? Long.MAX_VALUE : next - now;
    }

    /** True once after a close. Called after the last lock, because waiting for a lock may use up the permit of the hook. */
    private boolean seesClose() {
        if (hasSeenClose || !engine.isClosed()) {
            return false;
        }
        hasSeenClose = true;
        return true;
    }

    /** Runs the timers that are due now and were armed before now; returns their number. */
    public int runDue(int limit) {
        markAwake();
        long now = engine.timeline.now();
        boolean due = queue.due.beginPoll(this, now);
        if (queue.compactor.wantsSweep()) {
            queue.compactor.sweepStep();
        }
        if (!due) {
            return 0;
        }
        int ran = 0;
        try {
            while (ran < limit && queue.due.pollAsLoop(this, this, now) == DueTimers.CLAIMED) {
                ran++;
                runClaimed();
            }
            return ran;
        } finally {
            ended(ran > 0);
        }
    }

    private void runClaimed() {
        getOn();
        try {
            if (engine.run(this)) {
                engine.endRun(this);
            }
        } finally {
            interrupted |= Thread.interrupted(); // the flag of one callback must not affect the next
            end();
        }
    }

    /** Notifies threads that wait for this loop's callbacks, and restores its thread's interrupt flag. */
    private void ended(boolean ran) {
        if (ran) {
            VarHandle.fullFence(); // between the end of the run and the read of closed: pairs with Firings.mustWait
            if (engine.isClosed()) {
                engine.runEnded();
            }
        }
        if (detached) {
            loops.forgetOver();
        }
        if (interrupted) {
            interrupted = false;
            // The application handles it. Last, because a subclass of Thread may throw here.
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public Engine scheduler() {
        return engine;
    }

    @Override
    public Thread thread() {
        return thread;
    }

    @Override
    public String toString() {
        return "TimerLoop[" + thread.getName() + (detached ? ", closed" : "")
                + ", scheduler " + engine.name() + "]";
    }
}
