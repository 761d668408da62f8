package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Publishes when the owner of one or more queues will check them without a call. The owner is a loop, or all workers of a
 * scheduler together, whose queues share one gate. A thread that arms a timer for an earlier instant calls the owner.
 */
public final class WakeGate extends Padded {
    /*
     * No wake-up is lost
     *
     * Sleeping and arming form a store-then-load handshake:
     *
     *     owner, in this order                    arming thread, in this order
     *     WG-W1  lookAt = g                       WG-W2  push to the inbox
     *     WG-R1  read each queue's arrivals,      WG-W3  lower arrivals to the deadline
     *            then its nextWhen                WG-R2  read lookAt
     *                                             WG-W4  if the deadline is earlier: CAS to AWAKE, call the owner
     *
     * These accesses have one total order, because all are volatile, except nextWhen (see below). A reset of a timer in the
     * inbox has the CAS of its word in the place of WG-W2. WG-W1 may be a read that finds the same value. Let WG-W1 be the
     * last one before WG-R2.
     *   - If WG-W3 < WG-R1, the owner sees the timer. It does not sleep beyond the deadline, or it calls the worker that
     *     does.
     *   - Otherwise WG-W1 < WG-R1 < WG-W3 < WG-R2. So WG-R2 reads g or AWAKE. If the deadline is before g, the arming
     *     thread moves the gate and calls the owner, unless the owner checks anyway (needsCall). If its CAS fails, it
     *     reads the gate again. If it reads AWAKE, there are two cases. Another thread has moved the gate and calls the
     *     owner. Or the owner is awake, and passes WG-W1 and WG-R1 again before it sleeps.
     *
     * A thread that fails to wake the owner sets the gate to NEVER, so the next arming tries again. This only raises the
     * gate: WG-R2 may read NEVER instead, and superfluous calls may follow.
     *
     * After WG-W4 the call reads which worker sleeps. The owner has written this before WG-W1. Standby has the rest.
     *
     * Any thread may drain, under the queue's lock. A drain lowers nextWhen to the value of arrivals (WG-D1), sets arrivals
     * to NEVER by a CAS, then takes the inbox. nextWhen rises under the same lock, after all these timers are filed. So a
     * thread that reads arrivals first, then nextWhen, misses no timer that has passed WG-W3: the CAS makes WG-D1 visible
     * before it. The opposite order of these reads, or a plain store of NEVER, would lose a wake-up. A timer that is drained
     * before its WG-W3 lowers arrivals although it is filed. That costs one check.
     *
     * A reset that moves a timer into the inbox changes its word first, then pushes it. In between, another thread may
     * bring the timer forward by a change of the word only. A drain that does not find the timer may then clear the
     * deadline that this thread has written at WG-W3. So the pushing thread reads the word again after its push, and
     * continues with WG-W3 for that deadline (TimerQueue.wakeFor). A reset that this read misses comes after the push,
     * so its own WG-W3 is enough.
     *
     * A wait for a lock parks, too, and may consume the permit of a call. So the owner passes WG-R1 after its last lock and
     * before its park. The permit of a later call ends the park. A loop reads the clock before, because a user's clock may
     * park, too.
     *
     * If a thread runs out of stack between WG-W2 and WG-W4, its own timer waits for the next arming or the end of the
     * sleep. If any timer was armed before, that is within a second.
     */

    /** Below every deadline, so no arming thread calls the owner. */
    public static final long AWAKE = Long.MIN_VALUE;

    /** Passed instead of a deadline, and below all of them: a queue must be swept. */
    public static final long SWEEP = 0;

    private static final AtomicLongFieldUpdater<WakeGate> LOOK_AT =
            AtomicLongFieldUpdater.newUpdater(WakeGate.class, "lookAt");

    // Read by all threads that arm, so padded on both sides.
    private volatile long lookAt = AWAKE;

    @SuppressWarnings("unused") // padding
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Null after disown, and with a manual clock, whose advance runs due timers. */
    private volatile QueueOwner owner;

    public QueueOwner owner() {
        return owner;
    }

    /** Called before any other thread knows this gate. */
    public void setOwner(QueueOwner to) {
        owner = to;
    }

    /** Called when a loop's queue is closed, so that the queue no longer keeps its owner in memory. */
    public void disown() {
        owner = null;
        set(AWAKE);
    }

    public long lookAt() {
        return lookAt;
    }

    /**
     * Called by a loop that has the queue's lock or is awake, or under the lock of Standby. Any thread may raise the gate.
     */
    public void set(long until) {
        if (lookAt != until) {
            lookAt = until; // WG-W1
        }
    }

    boolean cas(long expected, long until) {
        return LOOK_AT.compareAndSet(this, expected, until);
    }

    /** Called after a timer was armed for {@code when}, or if the owner must check by then. */
    void wakeIfBefore(long when) {
        for (long g = lookAt; when < g; g = lookAt) { // WG-R2
            QueueOwner o = owner;
            if (o == null || !o.needsCall(when)) { // null: the queue was closed just now (disown), and no thread sleeps for it
                return;
            }
            HoldLock.checkStack(); // an overflow after the CAS would leave the gate AWAKE without a call
            if (cas(g, AWAKE)) { // WG-W4
                o.call();
                return;
            }
        }
    }

    /** Called when the first timer since a drain has arrived. */
    void tellFirst() {
        QueueOwner o = owner;
        if (o != null) {
            o.firstHasArrived();
        }
    }
}
