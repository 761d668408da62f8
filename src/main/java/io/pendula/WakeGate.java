package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Read by all threads that arm, written when an owner goes to sleep or is woken. */
@SuppressWarnings("unused") // through a VarHandle
abstract class GateFields extends Padded {
    long pollUntil = WakeGate.AWAKE;
    /**
     * While pollUntil says AWAKE: a timer that is armed for an earlier instant may need another thread than the one
     * that is up for the queue, as that is perhaps held up by a callback. Volatile: the owner writes it, then drains; who
     * arms pushes, then reads it. So one of the two sees the other.
     */
    long helpBefore = WakeGate.NO_HELP;
    volatile boolean sleepsLong;
    /**
     * An Error has struck a thread while it armed a timer, as it had no stack left. It may have moved pollUntil to AWAKE
     * and not woken the owner: the next thread that arms does so.
     */
    volatile boolean wakeFailed;
}

/** Who sleeps for a queue, and until when; whoever arms a timer that is due earlier wakes that thread. */
final class WakeGate extends GateFields {
    /*
     * No lost wake-up
     *
     * The owner publishes pollUntil = p (W1), then drains (R1: reads the inbox), then unlocks and parks until p.
     * Who arms pushes (W2: a CAS on the inbox, or on the word of a timer that is in the inbox), then reads pollUntil
     * (R2). All four are volatile, hence in one total order: if R1 comes before W2, then W1 < R1 < W2 < R2, so the
     * armer sees p or something later. If it sees p and its deadline is earlier, its CAS from p to AWAKE succeeds (and
     * it wakes the owner), or fails because another armer's did, or the owner's own return from park; in each case
     * the owner is up and has W1 and R1 before it again. If R1 comes after W2, the owner takes the timer itself. A
     * helper that drains in between holds the lock: either before W1, and p counts its timers in; or after R1, and then
     * each pusher's R2 comes after W1. Before it parks, and when it waits for no lock any more, the owner looks at
     * pollUntil once again (Driver.nobodyCalled); the waker's permit covers the time after that. The same argument with
     * the count of stale entries instead of the inbox covers the call for a sweep.
     *
     * A reset that moves a timer into the inbox changes the word first and pushes then. In between another thread may
     * bring the timer forward by the word alone; its own W2 (that CAS) is worth nothing, as the owner does not find the
     * timer. Therefore the pusher reads the word once more after its push, and wakes the owner for the deadline that it
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

    /** Below every deadline. */
    static final long NO_HELP = Long.MIN_VALUE;

    private static final VarHandle POLL_UNTIL;
    private static final VarHandle HELP_BEFORE;

    static {
        try {
            POLL_UNTIL = MethodHandles.lookup().findVarHandle(GateFields.class, "pollUntil", long.class);
            HELP_BEFORE = MethodHandles.lookup().findVarHandle(GateFields.class, "helpBefore", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // padding
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Null in tests of a queue alone. */
    private final TimerScheduler scheduler;
    /** Who sees to it that due timers run; null with a manual clock, whose advance runs what is due. */
    private volatile QueueOwner owner;
    /** Who takes the queue back when it comes by; null with a manual clock. */
    private volatile QueueOwner home;

    WakeGate(TimerScheduler scheduler) {
        this.scheduler = scheduler;
    }

    QueueOwner owner() {
        return owner;
    }

    QueueOwner home() {
        return home;
    }

    /** Under the queue's lock, as all that changes the owner, unless nobody else knows the queue yet. */
    void setHome(QueueOwner home) {
        this.home = home;
    }

    void setOwner(QueueOwner owner) {
        this.owner = owner;
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

    /** The owner has taken the queue up: it drains it before it publishes again. */
    void takeUp(long helpBefore) {
        setHelpBefore(helpBefore);
        if (pollUntil() != AWAKE) {
            setPollUntil(AWAKE);
        }
    }

    /** Who arms for an instant before this calls for help. */
    void setHelpBefore(long helpBefore) {
        HELP_BEFORE.setVolatile(this, helpBefore);
    }

    /** True for one of those who arm before helpBefore. */
    boolean takeHelpCall(long when) {
        long h = (long) HELP_BEFORE.getVolatile(this);
        return when < h && HELP_BEFORE.compareAndSet(this, h, NO_HELP);
    }

    /** The owner sleeps until then; {@code isLong} if a timer that is stopped meanwhile must not wait for its end. */
    void publish(long until, boolean isLong) {
        sleepsLong = isLong; // before W1, see callForStale
        HELP_BEFORE.setOpaque(this, NO_HELP);
        setPollUntil(until); // W1
    }

    /** After something was armed for {@code when}, or must be done by then. */
    void wakeIfBefore(long when) {
        long p = pollUntil();
        if (when < p) {
            // The call of a method may be one too many for the calling thread's stack. A store to a field is not.
            try {
                wakeFrom(p, when);
            } catch (Throwable e) {
                wakeFailed = true;
                throw e;
            }
        } else if (p == AWAKE && when < (long) HELP_BEFORE.getVolatile(this)) {
            callHelp(when);
        } else if (wakeFailed) {
            wakeAgain();
        }
    }

    private void wakeFrom(long until, long when) {
        if (!casPollUntil(until, AWAKE)) {
            wakeIfBefore(when); // the owner has taken the queue up, or published anew; or another armer wakes it
            return;
        }
        QueueOwner o = owner; // after the CAS, see above
        if (o != null) { // else a manual clock's advance has just taken the queue over, and no thread sleeps for it
            o.wakeFor(this, when);
        }
        if (until == Timeline.NEVER && scheduler != null) {
            scheduler.firstIsArmed();
        }
    }

    private void callHelp(long when) {
        QueueOwner o = owner;
        if (o != null) {
            o.help(this, when);
        }
    }

    /** If a wake has failed: perhaps it was for the timer that was armed now. */
    void wakeAgain() {
        try {
            wakeFailed = false; // before the wake: another may fail meanwhile
            QueueOwner o = owner;
            if (o != null) {
                o.wake();
            }
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
