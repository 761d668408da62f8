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

/** Lets an application's own thread drive a queue, at the moments when that thread polls. */
public final class LoopWorker extends Firing implements QueueOwner, EventLog.Loop {
    /*
     * Overview
     *
     * The loop's thread alone calls what is in the second part, but for isRunning. It says through nanosUntilNext until
     * when it will wait, which publishes lookAt as a worker's sleep does (WakeGate has the argument), and it is taken
     * to wait until it polls again: then markAwake sets AWAKE. So a timer armed in between costs a call of the hook,
     * though the thread may have returned from its wait long ago; needless, but never too few, as no other thread can
     * know.
     *
     * The hook must be sticky, as Selector.wakeup and unpark are: called before the wait begins, it makes that wait
     * return at once. It is called once for each wait, by the thread that moved lookAt to AWAKE; and by a close.
     *
     * If the hook throws, no thread was woken, so lookAt is moved back, and the next thread that arms tries again. That
     * happens under the queue's lock, to waitsUntil as it is then: a publication for a later wait begins with
     * waitsUntil = AWAKE and takes the lock after that, so it is either not undone, or comes later. The loop
     * publishes in its queue, then sets waitsUntil, then looks at lookAt once more; a thread that has failed to wake it
     * has moved lookAt, then looks at waitsUntil. All are volatile, so one of the two sees the other.
     *
     * The watch looks at a loop while something is armed or runs there. A thread that arms where nothing had arrived
     * calls it, see StallWatch.
     */

    /** Here and not in the engine, so that a scheduler without loops need not load this class when it starts. */
    public static final LoopWorker[] NONE = {};
    /** What is tidied up at one visit: so many thousand heap slots. */
    private static final int TIDY_STEPS = 16;
    /** What is cleaned in front of those that are due: so many times Compactor.CLEAN_CHUNK entries. */
    private static final int CLEAN_STEPS = 64;

    private static final VarHandle VISITS = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "visits",
            VarHandle.class, LoopWorker.class, int.class);

    public final Engine engine;
    public final TimerQueue queue;
    public final Loops loops;
    public final Thread thread;
    private final Runnable wakeup;
    /** What its user has in its place. */
    public final Object handle;

    /** No timer goes to it any more; its last callback may still run. */
    public volatile boolean detached;
    /** What was stopped when it went; null once that was passed on. Under the engine's lifecycle, but see isEnding. */
    public volatile List<TimerNode> unfired = new ArrayList<>();
    /** Set under the engine's lifecycle by a thread that has unfired for itself until it clears this, under no lock. */
    volatile boolean isEnding;
    /** Until when its thread has said that it will wait, or AWAKE. */
    private volatile long waitsUntil = WakeGate.AWAKE;
    /** Grows while the thread gets on; written by it, read by the watch. */
    private int visits;

    // Of its thread alone.
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

    /** Whether its thread has ended. The state is read because isAlive is a native method on some JDKs. */
    public boolean hasEnded() {
        return thread.getState() == Thread.State.TERMINATED;
    }

    /** Also when the scheduler was closed. */
    @Override
    public void call() {
        loops.closeIfEnded(this);
        try {
            wakeup.run();
        } catch (Throwable e) {
            queue.due.sleepsOn();
            engine.reporter.tell(Event.WAKEUP_THREW, this, 0, 0, e);
        }
    }

    @Override
    public long sleepsUntil() {
        return waitsUntil;
    }

    @Override
    public void firstHasArrived() {
        engine.callWatch();
    }

    /** Another number than before if its thread has got on. */
    public int visitsOpaque() {
        return (int) VISITS.getOpaque(this);
    }

    /** Whether it was to be ended, and nobody was told yet what was stopped: that is under way, or has failed. */
    public boolean isEndOpen() {
        return detached && unfired != null;
    }

    /** Whether nothing is left to be done. */
    boolean isOver() {
        return unfired == null && !isRunning();
    }

    // ---- the loop's thread ----

    /** Whether it is in a callback. */
    public boolean isRunning() {
        return node() != null;
    }

    /** The thread has polled: it does not wait. */
    public void markAwake() {
        getOn();
        if (waitsUntil != WakeGate.AWAKE) {
            queue.gate.set(WakeGate.AWAKE);
            waitsUntil = WakeGate.AWAKE;
        }
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
        waitsUntil = WakeGate.AWAKE; // see sleepsOn
        long now = engine.timeline.now();
        long next = DueTimers.RETRY;
        int steps = 0;
        while (next == DueTimers.RETRY && steps < TIDY_STEPS) {
            next = queue.due.prepareToSleep(this, now);
            if (next > now && queue.compactor.wantsSweep()) {
                queue.compactor.sweepStep();
                next = DueTimers.RETRY;
            }
            steps++;
        }
        waitsUntil = next;
        if (steps > 1) {
            now = engine.timeline.now(); // before the last look, as a clock of the user's may use up the permit
        }
        // A thread may have called meanwhile, perhaps before waitsUntil was there to be seen.
        if (next <= now || queue.gate.lookAt() == WakeGate.AWAKE || seesClose()) {
            markAwake();
            return 0;
        }
        return next == Timeline.NEVER ? Long.MAX_VALUE : next - now;
    }

    /** Once, after the last lock: a wait for a lock may have used up the permit of the hook that a close has called. */
    private boolean seesClose() {
        if (hasSeenClose || !engine.isClosed()) {
            return false;
        }
        hasSeenClose = true;
        return true;
    }

    /** Runs what is due now, and was armed before now; returns how many there were. */
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
            for (int cleans = 0; ran < limit && cleans < CLEAN_STEPS; ) {
                int step = queue.due.pollAsLoop(this, this, now);
                if (step == DueTimers.CLAIMED) {
                    ran++;
                    runClaimed();
                } else if (step == DueTimers.MORE) {
                    cleans++;
                } else {
                    break;
                }
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
            interrupted |= Thread.interrupted(); // a flag left by one callback is not for the next
            end();
        }
    }

    /** Tells threads that wait for this loop's callbacks, and gives its thread the interrupt flag back. */
    private void ended(boolean ran) {
        if (ran) {
            VarHandle.fullFence(); // between the run's end and the look at closed: pairs with Firings.mustWait
            if (engine.isClosed()) {
                engine.runEnded();
            }
        }
        if (detached) {
            loops.forgetOver();
        }
        if (interrupted) {
            interrupted = false;
            // What it means is for the application to say. Last, as a subclass of Thread may throw here.
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
