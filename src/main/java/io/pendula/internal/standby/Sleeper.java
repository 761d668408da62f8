package io.pendula.internal.standby;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * What others know of a worker: whether it sleeps and until when, whether it was called, how it gets on with its
 * callbacks, and whether it is there for a while only. {@link Standby} gives it its role.
 */
public abstract class Sleeper extends Firing {
    /** A worker that has claimed nothing for so long is held up. */
    public static final long HELD_UP_NANOS = 200_000;
    /** The same before a spare worker takes over: longer, as several of them may start in a row. */
    public static final long STUCK_NANOS = 1_000_000;

    private static final AtomicIntegerFieldUpdater<Sleeper> PULSE =
            AtomicIntegerFieldUpdater.newUpdater(Sleeper.class, "pulse");

    /** Whose timers it runs before all others; null if it is at home nowhere. */
    public final TimerQueue home;
    /** A spare one: it runs timers only as poller, when that is held up, and ends when it has had nothing to do for long. */
    public final boolean isTemporary;

    /** Odd while a callback runs inline. */
    private volatile int pulse;
    /**
     * It has begun a callback, or other code of the user's, since it woke up or became the poller. It sets this before it looks at the others: so of
     * several that begin callbacks at once the last one sees that all have.
     */
    public volatile boolean hasBegun;
    /** True from before the park to after it. */
    public volatile boolean asleep;
    /** While asleep: until when, at most. */
    public volatile long until;
    /** Another thread wants it to make a round. */
    private volatile boolean called;
    /** How long callbacks have taken, on average. */
    public volatile long took;
    /** Up, with more to run at home than a batch. */
    public volatile boolean isLoaded;

    public Sleeper(TimerQueue home, boolean temporary) {
        this.home = home;
        this.isTemporary = temporary;
    }

    /** Ends its park, or the next one; starts its thread if it has none. False if that could not be started. */
    public abstract boolean wakeThread();

    /** Tells the handler of its thread, which is the calling one, of what a step has thrown. */
    public abstract void tell(Throwable thrown);

    // ---- calls ----

    /** Makes it do another round before it sleeps again; false if its thread could not be started. The caller has no lock. */
    public final boolean call() {
        called = true; // before the look at the seat, and before the permit
        return wakeThread();
    }

    /** Before its thread parks, and while it spins at the end of a sleep: whether there is something else to do. */
    public final boolean isCalled() {
        return called;
    }

    /** A call is pending, and a live thread will see it. After a failed start no thread will. */
    final boolean isComing() {
        Thread t = called ? runner() : null; // in this order: a thread that leaves its seat looks for a call after that
        return t != null && t.isAlive();
    }

    // ---- sleeps ----

    /** Under the monitor of Standby: all threads that look from now on take it to sleep. */
    public final void sleeps(long until) {
        this.until = until;
        this.asleep = true;
    }

    /** By its own thread. Returns whether it was called. */
    public final boolean wakesUp() {
        hasBegun = false; // before asleep, so that it seems free throughout
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

    /** Whether the calling thread is this one, and in no callback: it looks at what it arms before it sleeps. */
    final boolean isBetweenCallbacks() {
        return !isInCallback() && runner() == Thread.currentThread();
    }

    /** A hint, as the next: claimedAt may be another callback's by now. */
    public final boolean getsOn(long now) {
        return now - claimedAt <= HELD_UP_NANOS;
    }

    final boolean isHeldUp(Sleeper forWhom, long now) {
        return isInCallback() && (forWhom.isTemporary ? now - claimedAt > STUCK_NANOS : !getsOn(now));
    }
}
