package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Lets an application's own thread drive a queue, at the moments when that thread comes by. */
final class LoopDriver extends QueueRunner {
    /*
     * Overview
     *
     * The loop's thread alone calls what is in the second part. It says through nanosUntilNext until when it will wait,
     * which publishes pollUntil as a driver's sleep does (TimerQueue has the argument), and it is taken to wait until
     * it comes by again: then getUp sets AWAKE. So a timer armed in between costs a call of the hook, though the
     * thread may have returned from its wait long ago; needless, but never too few, as nobody else can know.
     *
     * The hook must be sticky, as Selector.wakeup and unpark are: called before the wait begins, it makes that wait
     * return at once. It is called once for each wait, by whoever moved pollUntil to AWAKE. If it throws, nobody has
     * been woken, so pollUntil is moved back: the next one who arms tries again.
     *
     * A loop owns one queue from the beginning, and those that other loops leave to it (Loops). It adopts none.
     */

    /** What is tidied up at one visit: so many thousand heap slots. */
    private static final int TIDY_STEPS = 16;
    private static final int CLEAN_STEPS = 64;

    private static final VarHandle VISITS;

    static {
        try {
            VISITS = MethodHandles.lookup().findVarHandle(LoopDriver.class, "visits", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final TimerQueue queue;
    final TimerLoop handle;
    private final Thread thread;
    private final Runnable wakeup;
    private final boolean confined;

    /** Set before it is given another queue than its own. */
    volatile boolean hasHeritage;
    /** No timer goes to it any more; its last callback may still run. */
    volatile boolean detached;
    /** Until when its thread has said that it will wait, or AWAKE. */
    private volatile long waitsUntil = TimerQueue.AWAKE;
    /** How often the thread came by: written by it, read by the monitor. */
    private int visits;
    /** Its thread is inside a callback. */
    private boolean running;

    // The monitor's own notes about this loop.
    private int seenVisits;
    boolean stallReported;

    LoopDriver(TimerScheduler scheduler, TimerQueue queue, Thread thread, Runnable wakeup, boolean confined) {
        super(scheduler);
        this.queue = queue;
        this.thread = thread;
        this.wakeup = wakeup;
        this.confined = confined;
        this.handle = new TimerLoop(this);
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
    public void wake() {
        try {
            wakeup.run();
        } catch (Throwable e) {
            long until = waitsUntil;
            if (until != TimerQueue.AWAKE) {
                // If it has come by meanwhile, or another has adopted the queue, this makes one wake needless, no more.
                for (TimerQueue q : scheduler.queues) {
                    if (keeps(q)) {
                        q.casPollUntil(TimerQueue.AWAKE, until);
                    }
                }
            }
            scheduler.reportWakeup(this, e);
        }
    }

    boolean isUp() {
        return waitsUntil == TimerQueue.AWAKE;
    }

    /** Whether its thread has come by since the monitor last asked. */
    boolean hasComeBy() {
        int v = (int) VISITS.getOpaque(this);
        boolean more = v != seenVisits;
        seenVisits = v;
        return more;
    }

    // ---- the loop's thread ----

    boolean isRunning() {
        return running;
    }

    /** The thread has come by: it does not wait. */
    void getUp() {
        VISITS.setOpaque(this, visits + 1);
        if (isUp()) {
            return; // AWAKE in every queue: nobody else changes that while this one keeps it
        }
        getUp(queue);
        if (hasHeritage) {
            for (TimerQueue q : scheduler.queues) {
                if (keeps(q)) {
                    getUp(q);
                }
            }
        }
        waitsUntil = TimerQueue.AWAKE; // before the look at the monitor, which looks at this after it has said so
        scheduler.driverIsUp();
    }

    private void getUp(TimerQueue q) {
        q.lock(); // as only the keeper may change pollUntil, and that can be another by now
        try {
            takeUp(q);
        } finally {
            q.unlock();
        }
    }

    /** Nanoseconds until the next deadline, Long.MAX_VALUE if there is none, 0 if there is something to do. */
    long nanosUntilNext() {
        VISITS.setOpaque(this, visits + 1);
        long now = scheduler.timeline.now();
        long next = prepare(queue, now);
        if (hasHeritage) {
            for (TimerQueue q : scheduler.queues) {
                if (q != queue && owns(q)) {
                    next = Math.min(next, prepare(q, now));
                }
            }
        }
        waitsUntil = next;
        // The second look is for a hook that threw before waitsUntil was there to be seen: see wake().
        if (next <= now || queue.pollUntilVolatile() == TimerQueue.AWAKE) {
            getUp();
            return 0;
        }
        return next == Timeline.NEVER ? Long.MAX_VALUE : next - now;
    }

    /** Publishes until when this queue's timers can wait; GO_ROUND if there is more to tidy up than at one visit. */
    private long prepare(TimerQueue q, long now) {
        for (int steps = 0; steps < TIDY_STEPS; steps++) {
            long until = q.prepareToWait(this, now);
            if (until == TimerQueue.NOT_KEEPER) {
                getUp(q); // takes it back from whoever adopted it
            } else if (until != TimerQueue.GO_ROUND) {
                if (until <= now || !q.wantsSweep()) {
                    return until;
                }
                q.sweepStep();
            }
        }
        return TimerQueue.GO_ROUND;
    }

    /** Runs what is due now, and was armed before now; returns how many there were. */
    int runDue(int limit) {
        getUp();
        int ran = runDue(queue, limit);
        if (hasHeritage) {
            for (TimerQueue q : scheduler.queues) {
                if (q != queue && owns(q)) {
                    ran += runDue(q, limit - ran);
                }
            }
        }
        return ended(ran);
    }

    private int runDue(TimerQueue q, int limit) {
        long now = scheduler.timeline.now();
        int most = limit;
        int ran = 0;
        int cleans = 0;
        while (ran < most && cleans < CLEAN_STEPS) {
            boolean claimed;
            q.lock();
            try {
                if (!takeUp(q)) {
                    break; // a callback has closed this loop
                }
                if (ran + cleans == 0) {
                    // Once: what callbacks arm for now is not for this visit, else it might have no end.
                    q.drain();
                    most = Math.min(limit, q.filed());
                }
                claimed = q.claimDue(now, this, false);
                if (!claimed && q.earliest() > now) {
                    break;
                }
            } finally {
                q.unlock();
            }
            if (claimed) {
                runClaimed();
                ran++;
            } else {
                cleans++; // so many dead ones in front that others were let at the lock
            }
        }
        return ran;
    }

    /** Runs what others have been due with for some time, where that is allowed; returns how many there were. */
    int helpOthers() {
        getUp();
        long now = scheduler.timeline.now();
        long late = now - STEAL_AFTER_NANOS;
        int ran = 0;
        for (TimerQueue q : scheduler.queues) {
            // Nobody may have looked at the inbox of one that is stuck.
            if (!owns(q) && (q.nextWhenOpaque() < late || q.inboxVolatile() != null && isBehind(q, now))) {
                ran += steal(q, now);
            }
        }
        return ended(ran);
    }

    private static boolean isBehind(TimerQueue q, long now) {
        if (q.isConfined() || !q.tryLock()) {
            return false;
        }
        try {
            return q.survey(now) < now - STEAL_AFTER_NANOS;
        } finally {
            q.unlock();
        }
    }

    @Override
    boolean runClaimed() {
        running = true;
        try {
            return perform();
        } finally {
            running = false;
            end();
        }
    }

    /** Tells those who wait for this loop's callbacks. */
    private int ended(int ran) {
        if (ran > 0) {
            VarHandle.fullFence(); // between the run's end and the look at closed: pairs with TimerScheduler.mustWait
            if (scheduler.isClosed()) {
                scheduler.runEnded();
            }
        }
        if (detached) {
            scheduler.loops.forget(this);
        }
        return ran;
    }
}
