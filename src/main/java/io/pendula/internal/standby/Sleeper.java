package io.pendula.internal.standby;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * The state of a worker that other threads read: whether and until when it sleeps, whether it was called, and how its
 * callbacks proceed. {@link Standby} assigns its role.
 */
public abstract class Sleeper extends Firing {
    /** A worker that has claimed nothing for this long is held up. */
    public static final long HELD_UP_NANOS = 200_000;
    /** The same limit for a spare worker to take over. Longer, because several spare workers may start in a row. */
    public static final long STUCK_NANOS = 1_000_000;

    private static final AtomicIntegerFieldUpdater<Sleeper> PULSE =
            AtomicIntegerFieldUpdater.newUpdater(Sleeper.class, "pulse");

    /** The queue that this worker runs first; null if it has none. */
    public final TimerQueue home;
    /**
     * A spare worker. It runs timers only as poller, takes over only from a stuck poller, and ends after some idle seconds.
     */
    public final boolean isTemporary;

    /** Odd while a callback runs on this thread. */
    private volatile int pulse;
    /**
     * True if user code has begun since this worker woke up or took the role by SB-T2. Set before this worker reads the
     * flags of the others. So if several workers begin callbacks at once, the last one sees that all have begun.
     */
    public volatile boolean hasBegun;
    /** True from before the park until after it. */
    public volatile boolean asleep;
    /** While asleep: the latest end of the sleep. */
    public volatile long until;
    /** Another thread has requested a further round. */
    private volatile boolean called;
    /** Average duration of recent callbacks, in nanoseconds. */
    public volatile long took;
    /** This worker is awake, and its home has more due timers than a batch. */
    public volatile boolean isLoaded;

    public Sleeper(TimerQueue home, boolean temporary) {
        this.home = home;
        this.isTemporary = temporary;
    }

    /** Ends the current park, or the next one. Starts a thread if there is none; false if that fails. */
    public abstract boolean wakeThread();

    /** Passes {@code thrown} to the handler of this worker's thread, which is the calling one. */
    public abstract void tell(Throwable thrown);

    // ---- calls ----

    /** Requests another round before the next sleep; false if the thread could not be started. The caller holds no lock. */
    public final boolean call() {
        called = true; // before the read of the seat, and before the permit
        return wakeThread();
    }

    /** Read before the thread parks, and while it spins at the end of a sleep. */
    public final boolean isCalled() {
        return called;
    }

    /** Whether a call is pending that a live thread will see. After a failed start, no thread will see it. */
    final boolean isComing() {
        Thread t = called ? runner() : null; // in this order: a thread that leaves its seat checks for a call after that
        return t != null && t.isAlive();
    }

    // ---- sleeps ----

    /** Under the monitor of Standby. From now on other threads see this worker as asleep. */
    public final void sleeps(long until) {
        this.until = until;
        this.asleep = true;
    }

    /** Called by the worker's own thread. Returns whether it was called. */
    public final boolean wakesUp() {
        hasBegun = false; // before asleep, so that it looks free throughout
        asleep = false; // SW-U1
        boolean wasCalled = called;
        called = false;
        return wasCalled;
    }

    // ---- callbacks ----

    public final void enterCallback() {
        PULSE.lazySet(this, pulse + 1); // a hint, so it needs no fence
    }

    public final void leaveCallback() {
        PULSE.lazySet(this, pulse + 1); // a hint, so it needs no fence
    }

    public final int pulse() {
        return pulse;
    }

    public final boolean isInCallback() {
        return (pulse & 1) != 0;
    }

    /**
     * Whether the calling thread is this worker's thread and is in no callback. If so, it checks the queues before it
     * sleeps, so its own arming needs no call.
     */
    final boolean isBetweenCallbacks() {
        return !isInCallback() && runner() == Thread.currentThread();
    }

    /** Whether it has claimed a timer recently. A hint, like isHeldUp: claimedAt may already belong to another callback. */
    public final boolean getsOn(long now) {
        return now - claimedAt <= HELD_UP_NANOS;
    }

    final boolean isHeldUp(Sleeper forWhom, long now) {
        return isInCallback() && (forWhom.isTemporary ? now - claimedAt > STUCK_NANOS : !getsOn(now));
    }
}
