package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Says by when the owner of one or more queues looks at them without being called. The owner is a loop, or all workers of a
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
     * These accesses have one total order: all are volatile, but for nextWhen (below). A reset of a timer that is in the
     * inbox has the CAS of its word in the place of WG-W2. WG-W1 may be a read that finds the same value. Let WG-W1 be the
     * last one before WG-R2.
     *   - If WG-W3 < WG-R1, the owner sees the timer: it does not sleep beyond it, or calls the worker that does.
     *   - Else WG-W1 < WG-R1 < WG-W3 < WG-R2. So WG-R2 reads g, or AWAKE. If the deadline is before g, the arming thread
     *     moves the gate and calls, unless the owner looks anyway (needsCall). If its CAS fails, it reads the gate again. If
     *     it reads AWAKE, another thread has moved the gate and calls, or the owner is awake and passes WG-W1 and WG-R1 again
     *     before it sleeps.
     * The call reads which worker sleeps after WG-W4; the owner has said that before WG-W1. Standby has the rest.
     *
     * Any thread may drain, under the queue's lock. It lowers nextWhen to what arrivals says (WG-D1), sets arrivals to
     * NEVER by a CAS, then takes the inbox. nextWhen rises under the same lock when all that was taken is filed. So a thread
     * that reads arrivals first, then nextWhen, misses no timer that has passed WG-W3: the CAS makes WG-D1 visible before
     * it. The opposite order of these reads, or a plain store of NEVER, loses a wake-up. A timer that is drained before its
     * WG-W3 lowers arrivals though it is filed. That costs one look.
     *
     * A reset that moves a timer into the inbox changes its word first and pushes then. In between another thread may bring
     * the timer forward by the word alone, and a drain that does not find the timer may clear what its WG-W3 has said. So
     * the thread that pushes reads the word once more after its push, and goes on with WG-W3 for that deadline
     * (TimerQueue.wakeFor). A reset that this reading misses comes after the push, and its own WG-W3 counts.
     *
     * Waiting for a lock parks, too, and may use up the permit of a call. So the owner passes WG-R1 after its last lock and
     * before its park. The permit of a later call ends the park.
     *
     * A thread without stack may get its StackOverflowError after WG-W2 and before WG-W4. Then its own timer waits for the
     * next one that is armed, or for the end of the sleep: within a second, if anything was armed before.
     */

    /** Below every deadline, so no arming calls. */
    public static final long AWAKE = Long.MIN_VALUE;

    /** In the place of a deadline, and below every one: a queue is to be swept. */
    public static final long SWEEP = 0;

    private static final AtomicLongFieldUpdater<WakeGate> LOOK_AT =
            AtomicLongFieldUpdater.newUpdater(WakeGate.class, "lookAt");

    // Read by all threads that arm, so padded on both sides.
    private volatile long lookAt = AWAKE;

    @SuppressWarnings("unused") // padding
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Null with a manual clock, whose advance runs what is due, and after the end. */
    private volatile QueueOwner owner;

    public QueueOwner owner() {
        return owner;
    }

    /** Before any other thread knows it. */
    public void setOwner(QueueOwner to) {
        owner = to;
    }

    /** A loop's queue is closed: it no longer keeps its owner in memory. */
    public void disown() {
        owner = null;
        set(AWAKE);
    }

    public long lookAt() {
        return lookAt;
    }

    /** By a loop that has the queue's lock or is awake, or under the lock of Standby. */
    public void set(long until) {
        if (lookAt != until) {
            lookAt = until; // WG-W1
        }
    }

    boolean cas(long expected, long until) {
        return LOOK_AT.compareAndSet(this, expected, until);
    }

    /** After something was armed for {@code when}, or must be done by then. */
    void wakeIfBefore(long when) {
        for (long g = lookAt; when < g; g = lookAt) { // WG-R2
            QueueOwner o = owner;
            if (o == null || !o.needsCall(when)) { // null: the queue was closed just now (disown), and no thread sleeps for it
                return;
            }
            HoldLock.checkStack(); // or the gate would say that no call is needed, and no thread would be called
            if (cas(g, AWAKE)) { // WG-W4
                o.call();
                return;
            }
        }
    }

    /** After something has arrived where nothing had. */
    void tellFirst() {
        QueueOwner o = owner;
        if (o != null) {
            o.firstHasArrived();
        }
    }
}
