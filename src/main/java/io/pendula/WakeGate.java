package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Read by all threads that arm, written when a keeper goes to sleep or is woken. */
@SuppressWarnings("unused") // through a VarHandle
abstract class GateFields extends Padded {
    long pollUntil = WakeGate.AWAKE;
    volatile boolean sleepsLong;
    /**
     * An Error has struck a thread while it armed a timer, as it had no stack left. It may have moved pollUntil to AWAKE
     * and not woken the keeper: the next thread that arms does so.
     */
    volatile boolean wakeFailed;
}

/** Who sleeps for a queue, and until when; whoever arms a timer that is due earlier wakes that thread. */
final class WakeGate extends GateFields {
    /*
     * No lost wake-up
     *
     * The keeper publishes pollUntil = p (W1), then drains (R1: reads the inbox), then unlocks and parks until p.
     * Who arms pushes (W2: a CAS on the inbox, or on the word of a timer that is in the inbox), then reads pollUntil
     * (R2). All four are volatile, hence in one total order: if R1 comes before W2, then W1 < R1 < W2 < R2, so the
     * armer sees p or something later. If it sees p and its deadline is earlier, its CAS from p to AWAKE succeeds (and
     * it wakes the keeper), or fails because another armer's did, or the keeper's own return from park; in each case
     * the keeper is up and has W1 and R1 before it again. If R1 comes after W2, the keeper takes the timer itself. A
     * helper that drains in between holds the lock: either before W1, and p counts its timers in; or after R1, and then
     * each pusher's R2 comes after W1. Before it parks, and when it waits for no lock any more, the keeper looks at
     * pollUntil once again (Driver.nobodyCalled); the waker's permit covers the time after that. The same argument with
     * the count of stale entries instead of the inbox covers the call for a sweep.
     *
     * A reset that moves a timer into the inbox changes the word first and pushes then. In between another thread may
     * bring the timer forward by the word alone; its own W2 (that CAS) is worth nothing, as the keeper does not find the
     * timer. Therefore the pusher reads the word once more after its push, and wakes the keeper for the deadline that it
     * finds (wakeFor). A reset that this reading does not show comes after the push, and its own wake counts. Nothing
     * that may take long lies between the CAS and the push.
     *
     * Draining first and publishing then loses wake-ups: a timer pushed in between is seen by neither.
     *
     * A loop comes by so often that draining each time would file most timers before they are stopped. So it only asks
     * for the earliest of what has arrived: after the push, and before R2, who arms lowers arrivals to its deadline. In
     * the argument that CAS takes the place of W2, and the loop's look at arrivals that of R1. A drain sets arrivals to
     * NEVER, then takes the inbox: whatever is pushed after that lowers it again, and what was pushed before is filed,
     * so if it lowers arrivals only now, or was stopped, that costs the loop one wait that ends too early.
     */

    /** What pollUntil says while nobody sleeps for the queue: below every deadline, so no arming wakes anybody. */
    static final long AWAKE = Long.MIN_VALUE;

    private static final VarHandle POLL_UNTIL;

    static {
        try {
            POLL_UNTIL = MethodHandles.lookup().findVarHandle(GateFields.class, "pollUntil", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // padding
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Null in tests of a queue alone. */
    private final TimerScheduler scheduler;
    private volatile Keeper keeper;
    /** Who takes the queue back whenever it comes by; null with a manual clock, whose advance runs what is due. */
    private volatile Keeper owner;

    WakeGate(TimerScheduler scheduler) {
        this.scheduler = scheduler;
    }

    Keeper keeper() {
        return keeper;
    }

    Keeper owner() {
        return owner;
    }

    /** Under the queue's lock, as all that changes the keeper, unless nobody else knows the queue yet. */
    void setOwner(Keeper owner) {
        this.owner = owner;
    }

    void setKeeper(Keeper keeper) {
        this.keeper = keeper;
    }

    long pollUntil() {
        return (long) POLL_UNTIL.getVolatile(this);
    }

    void setPollUntil(long until) {
        POLL_UNTIL.setVolatile(this, until);
    }

    boolean casPollUntil(long expected, long until) {
        return POLL_UNTIL.compareAndSet(this, expected, until);
    }

    /** The keeper sleeps until then; {@code isLong} if a timer that is stopped meanwhile must not wait for its end. */
    void publish(long until, boolean isLong) {
        sleepsLong = isLong; // before W1, see callForStale
        setPollUntil(until); // W1
    }

    /** After something was armed for {@code when}, or must be done by then. */
    void wakeIfBefore(long when) {
        long p = pollUntil();
        if (when < p) {
            // The call of a method may be one too many for the calling thread's stack. A store to a field is not.
            try {
                if (casPollUntil(p, AWAKE)) {
                    wakeKeeper();
                    if (p == Timeline.NEVER && scheduler != null) {
                        scheduler.firstIsArmed();
                    }
                }
            } catch (Throwable e) {
                wakeFailed = true;
                throw e;
            }
        } else if (wakeFailed) {
            wakeAgain();
        }
    }

    private void wakeKeeper() {
        Keeper k = keeper;
        if (k != null) { // else a manual clock's advance has just taken the queue over, and no thread sleeps for it
            k.wake();
        }
    }

    /** If a wake has failed: perhaps it was for the timer that was armed now. */
    void wakeAgain() {
        try {
            wakeFailed = false; // before the wake: another may fail meanwhile
            wakeKeeper();
        } catch (Throwable e) {
            wakeFailed = true;
            throw e;
        }
    }

    /** After the first entry has become stale, or a timer was stopped in the inbox. */
    void callForStale() {
        if (sleepsLong) {
            wakeIfBefore(1);
        }
    }
}
