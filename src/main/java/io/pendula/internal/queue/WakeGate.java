package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/** Says until when the owner of a queue sleeps. A thread that arms an earlier timer wakes the owner. */
public final class WakeGate extends Padded {
    /*
     * No lost wake-up
     *
     * Sleeping and arming form a store-then-load handshake on two variables:
     *
     *     owner                                 arming thread
     *     WG-W1  pollUntil = p                  WG-W2  push to the inbox
     *     WG-R1  drain (reads the inbox)        WG-R2  read pollUntil
     *
     * All four are volatile, hence in one total order. In the place of WG-W2 a reset of a timer that is in the inbox
     * already has the CAS of its word (WG-W3). Let WG-W1 be the last publication before WG-R2, and WG-R1 the drain that
     * follows it.
     *   - If WG-W2 precedes WG-R1, the owner finds the timer.
     *   - Else WG-W1 < WG-R1 < WG-W2 < WG-R2, and WG-R2 reads p, or AWAKE if the owner is up again. If it reads p and
     *     the deadline is earlier, the arming thread tries to CAS p to AWAKE. If that succeeds, it wakes the owner. If
     *     it fails, pollUntil has left p, so the owner was woken or has woken up by itself. An owner that is up passes
     *     WG-W1 and WG-R1 again before it sleeps, and that WG-R1 follows WG-W2.
     *
     * A thread that helps to drain holds the lock. It drains before WG-W1, and then p covers its timers; or after WG-R1,
     * and then the WG-R2 of each timer that it drains follows WG-W1.
     *
     * Waiting for a lock parks, too, and may use up a waker's permit. So the owner looks at pollUntil once more after
     * its last lock and before its park (Worker.isCalled). A later waker's permit ends the park.
     *
     * A reset that moves a timer into the inbox changes the word first and pushes then. In between another thread may
     * bring the timer forward by the word alone; its own WG-W3 is worth nothing, as the owner does not find the
     * timer. Therefore the pusher reads the word once more after its push, and wakes the owner for the deadline that it
     * finds (TimerQueue.wakeFor). A reset that this reading does not show comes after the push, and its own wake
     * counts. Nothing that may take long lies between the CAS and the push.
     *
     * Draining first and publishing then loses wake-ups: a timer pushed in between is seen by neither.
     *
     * A thread without stack may get its StackOverflowError after WG-W2 and before the CAS of pollUntil. Then its own
     * timer waits for the next one that is armed, or for the end of the sleep: within a second, if anything was armed before.
     *
     * A loop polls so often that a drain per poll would file most timers before they are stopped. So it only asks for the
     * earliest of what has arrived: after the push, and before WG-R2, an arming thread lowers arrivals to its deadline. In
     * the argument that CAS (WG-W4) takes the place of WG-W2, and the loop's look at arrivals (WG-R4) that of WG-R1. A
     * drain sets arrivals to NEVER, then takes the inbox: whatever is pushed after that lowers it again, and what was
     * pushed before is filed, so if it lowers arrivals only now, or was stopped, that costs the loop one wait that ends too
     * early.
     */

    /** What pollUntil says while the owner is up: below every deadline, so no arming wakes a thread. */
    public static final long AWAKE = Long.MIN_VALUE;

    /** Below every deadline. */
    public static final long NO_HELP = Long.MIN_VALUE;

    private static final AtomicLongFieldUpdater<WakeGate> POLL_UNTIL =
            AtomicLongFieldUpdater.newUpdater(WakeGate.class, "pollUntil");
    private static final AtomicLongFieldUpdater<WakeGate> HELP_BEFORE =
            AtomicLongFieldUpdater.newUpdater(WakeGate.class, "helpBefore");

    // Read by all threads that arm, written when an owner goes to sleep or is woken: padded on both sides.
    private volatile long pollUntil = AWAKE;
    /**
     * While pollUntil says AWAKE: the thread that is up for the queue may be held up by a callback, so a timer that is
     * armed for an instant before this may need another thread. Volatile: the owner writes it, then drains; an arming
     * thread pushes, then reads it. So one of the two sees the other.
     */
    volatile long helpBefore = NO_HELP;

    @SuppressWarnings("unused") // padding
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Sees to it that due timers run. Null with a manual clock, whose advance runs what is due, and after the end. */
    private volatile QueueOwner owner;

    public QueueOwner owner() {
        return owner;
    }

    /** Before any other thread knows the queue. */
    void setOwner(QueueOwner to) {
        owner = to;
    }

    /** The queue is closed: it no longer keeps its owner in memory. */
    public void disown() {
        owner = null;
        setPollUntil(AWAKE);
    }

    public void ownerIsUp() {
        if (pollUntil() != AWAKE) {
            setPollUntil(AWAKE);
        }
    }

    public long pollUntil() {
        return pollUntil;
    }

    void setPollUntil(long until) {
        pollUntil = until;
    }

    public boolean casPollUntil(long expected, long until) {
        return POLL_UNTIL.compareAndSet(this, expected, until);
    }

    /** A thread that arms for an instant before this calls for help. By the owner, under the lock. */
    void setHelp(long helpBefore) {
        this.helpBefore = helpBefore;
    }

    /** The same by any thread. It may have been held up since it looked, and what a later poll has set is right. */
    public void raiseHelp(long helpBefore) {
        for (long h = this.helpBefore; h < helpBefore; h = this.helpBefore) {
            if (HELP_BEFORE.compareAndSet(this, h, helpBefore)) {
                return;
            }
        }
    }

    /** True for one of the threads that arm before helpBefore. */
    public boolean takeHelpCall(long when) {
        for (long h = helpBefore; when < h; h = helpBefore) { // another thread may have set it meanwhile
            HoldLock.checkStack(); // or the mark would be gone, and the guard not called
            if (HELP_BEFORE.compareAndSet(this, h, NO_HELP)) {
                return true;
            }
        }
        return false;
    }

    /** The owner sleeps until then. */
    void publish(long until) {
        HELP_BEFORE.lazySet(this, NO_HELP); // no fence: the next store has one
        setPollUntil(until); // WG-W1
    }

    /** After something was armed for {@code when}, or must be done by then. */
    void wakeIfBefore(long when) {
        long until = pollUntil(); // WG-R2
        while (when < until) {
            HoldLock.checkStack(); // or the gate would say that the owner is awake, and no thread would wake it
            if (casPollUntil(until, AWAKE)) { // SB-A1
                QueueOwner o = owner;
                if (o != null) { // else the queue was closed just now (disown), and no thread sleeps for it
                    o.wakeFor(this, when);
                    if (until == Timeline.NEVER) {
                        o.firstIsArmed();
                    }
                }
                return;
            }
            until = pollUntil(); // the owner has moved the gate; or another thread that arms wakes it
        }
        if (until == AWAKE && when < helpBefore) {
            QueueOwner o = owner;
            if (o != null) {
                o.help(this, when);
            }
        }
    }

    /** After something has arrived where nothing had. */
    void tellFirst() {
        QueueOwner o = owner;
        if (o != null) {
            o.firstIsArmed();
        }
    }
}
