package io.pendula;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.StackRoom;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/** Lets an application's own thread drive a queue, at the moments when that thread polls. */
final class LoopWorker extends QueueRunner implements QueueOwner {
    /*
     * Overview
     *
     * The loop's thread alone calls what is in the second part. It says through nanosUntilNext until when it will wait,
     * which publishes pollUntil as a worker's sleep does (WakeGate has the argument), and it is taken to wait until
     * it polls again: then markAwake sets AWAKE. So a timer armed in between costs a call of the hook, though the
     * thread may have returned from its wait long ago; needless, but never too few, as no other thread can know.
     *
     * The hook must be sticky, as Selector.wakeup and unpark are: called before the wait begins, it makes that wait
     * return at once. It is called once for each wait, by the thread that moved pollUntil to AWAKE.
     *
     * If it throws, no thread was woken, so pollUntil is moved back, and the next thread that arms tries again. That
     * happens under the queue's lock, to waitsUntil as it is then: a publication for a later wait begins with
     * waitsUntil = AWAKE and takes the lock after that, so it is either not undone, or comes later. The loop
     * publishes in each queue, then sets waitsUntil, then looks at each pollUntil once more; a thread that has failed to
     * wake it has moved pollUntil, then looks at waitsUntil. All are volatile, so one of the two sees the other.
     *
     * The monitor must not sleep for long while a loop is up, since it may be late at any time. So each
     * thread that ends its wait tells the monitor: its own, when it polls after a wait, or takes its queue back; and one
     * that calls the hook, as the loop may have returned from its wait before.
     *
     * A loop owns one queue from the beginning, and those that other loops leave to it (Loops).
     */

    /** What is tidied up at one visit: so many thousand heap slots. */
    private static final int TIDY_STEPS = 16;
    /** So many hundred stale entries in front of those that are due. */
    private static final int CLEAN_STEPS = 64;

    private static final VarHandle VISITS;

    static {
        try {
            VISITS = MethodHandles.lookup().findVarHandle(LoopWorker.class, "visits", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final TimerQueue queue;
    private final Loops loops;
    private final List<TimerQueue> own;
    /** What its user has in its place, once there is one. Under this object's monitor. */
    Object handle;
    private final Thread thread;
    private final Runnable wakeup;
    private final boolean confined;

    /** Set before it is given another queue than its own. Written under the engine's lifecycle. */
    volatile boolean hasSucceeded;
    /** No timer goes to it any more; its last callback may still run. */
    volatile boolean detached;
    /** And all that has to be done then was done. */
    volatile boolean ended;
    /** What was stopped when it went, until it was returned. Under the engine's lifecycle, as the next. */
    List<TimerNode> unfired = new ArrayList<>();
    /** Another owner has got a queue of it, and must be woken. */
    boolean hasLeftSome;
    /** Until when its thread has said that it will wait, or AWAKE. */
    private volatile long waitsUntil = WakeGate.AWAKE;
    /** Grows while the thread gets on; written by it, read by the monitor. */
    private int visits;

    // Of its thread alone.
    private boolean running;
    private boolean tookBack;
    private boolean tidied;
    private boolean hasSeenClose;
    /** Callbacks run so far; wraps around. */
    private int done;
    private boolean interrupted;

    // The monitor's own notes about this loop.
    private int seenVisits;
    long seenAt;
    boolean stallReported;
    /** Since when it should have polled, when its queue was given to the workers; */
    long absentSince;
    /** and for what. */
    TimerNode lateTimer;

    LoopWorker(Engine engine, Loops loops, TimerQueue queue, Thread thread, Runnable wakeup, boolean confined) {
        super(engine);
        this.loops = loops;
        this.queue = queue;
        this.own = List.of(queue);
        this.thread = thread;
        this.wakeup = wakeup;
        this.confined = confined;
    }

    // ---- any thread ----

    @Override
    Thread runner() {
        return thread;
    }

    @Override
    public boolean isConfined() {
        return confined;
    }

    @Override
    public boolean asksForArrivals() {
        return true;
    }

    @Override
    boolean isGone() {
        return detached || engine.isClosed();
    }

    /** Whether its thread has ended. The state is read because isAlive is a native method on some JDKs. */
    boolean hasEnded() {
        return thread.getState() == Thread.State.TERMINATED;
    }

    /** {@link Loops#detach} */
    List<TimerNode> detach() {
        return loops.detach(this);
    }

    /** {@link Loops#close} */
    void close() {
        loops.close(this);
    }

    /** {@link Loops#closeEnded(LoopWorker)} */
    void closeEnded() {
        loops.closeEnded(this);
    }

    @Override
    public void wake() {
        if (hasEnded()) {
            closeEnded(); // then another runner has its queues, and is woken
        }
        try {
            wakeup.run();
        } catch (Throwable e) {
            for (TimerQueue q : engine.queues) {
                if (q.gate.owner() == this) {
                    q.due.sleepsOn(this);
                }
            }
            engine.reporter.wakeupThrew(this, e);
        } finally {
            engine.loopIsUp();
        }
    }

    @Override
    public long waitsUntil() {
        return waitsUntil;
    }

    @Override
    public void tookBack() {
        tookBack = true;
    }

    @Override
    public void firstIsArmed() {
        engine.callMonitorIfIdle();
    }

    boolean isUp() {
        return waitsUntil == WakeGate.AWAKE;
    }

    /** Whether its thread has got on since the monitor last asked; if so, that is noted and may be reported anew. */
    boolean hasPolled(long now) {
        int v = (int) VISITS.getOpaque(this);
        if (v == seenVisits) {
            return false;
        }
        seenVisits = v;
        seenAt = now;
        stallReported = false;
        lateTimer = null;
        return true;
    }

    // ---- the loop's thread ----

    boolean isRunning() {
        return running;
    }

    /** The thread has polled: it does not wait. */
    void markAwake() {
        getOn();
        if (isUp()) {
            return; // and has said so in every queue
        }
        for (TimerQueue q : owned()) {
            q.ownership.takeBack(this);
        }
        waitsUntil = WakeGate.AWAKE; // before the look at the monitor, which looks at this after it has said so
        tookBack = false;
        engine.loopIsUp();
    }

    private void getOn() {
        VISITS.setOpaque(this, visits + 1);
    }

    /** Under the engine's lifecycle, after a queue has left the list. */
    void checkSuccession() {
        for (TimerQueue q : engine.queues) {
            if (q.gate.home() == this && q != queue) {
                return;
            }
        }
        hasSucceeded = false;
    }

    private void tellMonitor() {
        if (tookBack) {
            tookBack = false;
            engine.loopIsUp();
        }
    }

    private List<TimerQueue> owned() {
        if (!hasSucceeded) {
            return own;
        }
        List<TimerQueue> all = new ArrayList<>();
        for (TimerQueue q : engine.queues) {
            if (q.gate.home() == this) {
                all.add(q);
            }
        }
        return all;
    }

    /** Nanoseconds until the next deadline, Long.MAX_VALUE if there is none, 0 if there is something to do. */
    long nanosUntilNext() {
        StackRoom.check();
        getOn();
        waitsUntil = WakeGate.AWAKE; // see sleepOn
        long now = engine.timeline.now();
        long next = Timeline.NEVER;
        tidied = false;
        for (TimerQueue q : owned()) {
            next = Math.min(next, prepare(q, now));
            engine.retireIfVacant(q);
        }
        waitsUntil = next;
        tellMonitor();
        if (tidied) {
            now = engine.timeline.now();
        }
        if (next <= now || isCalled() || seesClose()) {
            markAwake();
            return 0;
        }
        return next == Timeline.NEVER ? Long.MAX_VALUE : next - now;
    }

    /** Publishes until when this queue's timers can wait; RETRY if there is more to tidy up than at one visit. */
    private long prepare(TimerQueue q, long now) {
        for (int steps = 0; steps < TIDY_STEPS; steps++) {
            long until = q.due.prepareToWait(this, now);
            if (until == DueTimers.NOT_OWNER) {
                q.ownership.takeBack(this); // from the workers
            } else if (until == DueTimers.RETRY) {
                tidied = true;
            } else if (until <= now || !q.compactor.wantsSweep()) {
                return until;
            } else {
                q.compactor.sweepStep();
                tidied = true;
            }
        }
        return DueTimers.RETRY;
    }

    /** Somebody has called meanwhile, perhaps before waitsUntil was there to be seen; or has left a queue here. */
    private boolean isCalled() {
        for (TimerQueue q : owned()) {
            if (q.gate.owner() == this && q.gate.pollUntil() == WakeGate.AWAKE) {
                return true;
            }
        }
        return false;
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
    int runDue(int limit) {
        StackRoom.check();
        markAwake();
        long now = engine.timeline.now();
        List<TimerQueue> mine = owned();
        boolean due = false;
        for (TimerQueue q : mine) {
            due |= beginPoll(q, now);
        }
        if (!due) {
            return 0;
        }
        int before = done;
        try {
            int cleans = 0;
            while (done - before < limit && cleans < CLEAN_STEPS) {
                TimerQueue q = first(mine, now);
                int step = q == null ? DueTimers.NOTHING_DUE : runFirst(q, now);
                if (step == DueTimers.MORE) {
                    cleans++;
                } else if (step != DueTimers.CLAIMED) {
                    break;
                }
            }
            return done - before;
        } finally {
            ended(done != before);
            for (TimerQueue q : mine) {
                engine.retireIfVacant(q);
            }
        }
    }

    private boolean beginPoll(TimerQueue q, long now) {
        boolean due = q.due.beginPoll(this, now);
        tellMonitor();
        if (q.compactor.wantsSweep()) {
            q.compactor.sweepStep();
        }
        return due;
    }

    /** Whose turn it is, or null. */
    private static TimerQueue first(List<TimerQueue> mine, long now) {
        if (mine.size() == 1) {
            return mine.get(0);
        }
        TimerQueue first = null;
        long earliest = Timeline.NEVER;
        for (TimerQueue q : mine) {
            long due = q.due.dueInPoll(now);
            if (due < earliest) {
                first = q;
                earliest = due;
            }
        }
        return first;
    }

    private int runFirst(TimerQueue q, long now) {
        int step = q.due.pollAsLoop(this, this, now);
        tellMonitor();
        if (step == DueTimers.CLAIMED) {
            runClaimed();
        }
        return step;
    }

    /** Runs what others have been due with for some time, where that is allowed; returns how many there were. */
    int helpOthers() {
        StackRoom.check();
        markAwake();
        loops.closeEnded();
        long now = engine.timeline.now();
        int before = done;
        try {
            for (TimerQueue q : engine.queues) {
                if (q.gate.home() != this && isBehind(q, now)) {
                    help(q, now);
                }
            }
            return done - before;
        } finally {
            ended(done != before);
        }
    }

    /** Nobody may have looked at the inbox of a worker that is stuck. */
    private static boolean isBehind(TimerQueue q, long now) {
        boolean mayBe = seemsLate(q, now) || q.gate.home() != null && !isOfLoop(q) && q.due.hasArrivals();
        return mayBe && !q.ownership.isConfined() && q.due.tryFileAndPeek(now) < now - STEAL_AFTER_NANOS;
    }

    @Override
    boolean runClaimed() {
        getOn();
        running = true;
        done++;
        try {
            return perform();
        } finally {
            interrupted |= Thread.interrupted(); // a flag left by one callback is not for the next
            running = false;
            end();
        }
    }

    /** Gives the thread its interrupt flag back, and tells threads that wait for this loop's callbacks. */
    private void ended(boolean ran) {
        if (interrupted) {
            interrupted = false;
            Thread.currentThread().interrupt(); // what it means is for the application to say
        }
        if (ran) {
            VarHandle.fullFence(); // between the run's end and the look at closed: pairs with Firings.mustWait
            if (engine.isClosed()) {
                engine.runEnded();
            }
        }
        if (detached) {
            loops.forget(this);
        }
    }

    @Override
    public String toString() {
        return "TimerLoop[" + thread.getName() + (confined ? ", confined" : "") + (detached ? ", closed" : "")
                + ", scheduler " + engine.name() + "]";
    }
}
