package io.pendula.benchmarks.designs;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The thread of a design: it runs the timers of its source that are due, one at a time, and sleeps until the next
 * deadline. Callbacks must not throw.
 *
 * <p>No wake-up is lost. The thread announces that it goes to sleep, then reads the next deadline; an arming thread
 * inserts its timer, then reads the announcement. So at least one of the two sees the other. An arming thread that has
 * to wake this one first takes the announcement back, so each sleep is ended once, and a wake-up that came while the
 * thread still waited for a lock (which may use up the permit to park) is not forgotten.
 */
final class TimerThread extends Thread {
    /** The queue that a thread serves. */
    interface Source {
        /** Takes out the first timer that is due; null if none is. */
        Node takeDue(long now);

        /** The time at which {@link #takeDue} has to be called again. */
        long nextDeadline();
    }

    /** Earlier than every deadline, so no arming wakes the thread. */
    private static final long AWAKE = Long.MIN_VALUE;

    private final Source source;
    private final Sleeper sleeper;
    /** Arming an earlier timer than this must wake the thread. */
    private final AtomicLong sleepsUntil = new AtomicLong(AWAKE);
    private volatile boolean closed;

    TimerThread(Source source, Sleeper sleeper) {
        super(source.getClass().getSimpleName());
        this.source = source;
        this.sleeper = sleeper;
        setDaemon(true);
    }

    /** What the calling thread serves, if it is a design's thread and that is of the given class; else null. */
    static <S extends Source> S currentSource(Class<S> kind) {
        return Thread.currentThread() instanceof TimerThread t && kind.isInstance(t.source) ? kind.cast(t.source) : null;
    }

    @Override
    public void run() {
        try {
            while (!closed) {
                Node due = source.takeDue(Clock.now());
                if (due != null) {
                    due.task.run();
                } else {
                    sleep();
                }
            }
        } finally {
            sleeper.close();
        }
    }

    private void sleep() {
        sleepsUntil.set(Clock.NEVER); // any arming ends the sleep until it is known how long that lasts
        long until = source.nextDeadline();
        if (!closed && sleepsUntil.compareAndSet(Clock.NEVER, until)) {
            long nanos = until - Clock.now();
            if (nanos > 0) {
                sleeper.sleep(nanos);
            }
        }
        sleepsUntil.set(AWAKE);
    }

    /** Called by an arming thread after the insertion. */
    void wakeIfBefore(long when) {
        long until = sleepsUntil.get();
        if (when < until && sleepsUntil.compareAndSet(until, AWAKE)) {
            sleeper.wake(this);
        }
    }

    /** Whether the thread sleeps, or is about to, until a deadline. */
    boolean isAsleep(long when) {
        return sleepsUntil.get() == when;
    }

    /** Lets the thread end after the callback that it runs. */
    void close() {
        closed = true;
        if (sleepsUntil.getAndSet(AWAKE) != AWAKE) {
            sleeper.wake(this);
        }
    }
}
