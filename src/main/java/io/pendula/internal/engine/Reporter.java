package io.pendula.internal.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts and reports the events of a scheduler. This class serves a scheduler without a listener: exceptions go to the
 * uncaught-exception handler, slow and stalled callbacks to the log. A subclass notifies a listener. Exceptions of a
 * listener go to the handler of the calling thread, exceptions of the handler are ignored.
 */
public class Reporter {
    /** More than there are events. Their exact number would load that class at each start. */
    private static final int EVENTS = 16;

    // No adders, and no object for an event: those allocate, and the event may be a shortage of memory.
    private final AtomicLongArray counts = new AtomicLongArray(EVENTS);
    public final AtomicLong measured = new AtomicLong();
    public final AtomicLong measuredNanos = new AtomicLong();

    /** A measured callback has ended. */
    final void measured(long ran) {
        measured.incrementAndGet();
        measuredNanos.addAndGet(ran);
    }

    public final long count(Event event) {
        return counts.get(event.ordinal());
    }

    /** {@link Event} lists the arguments. Throws nothing, because a next step must follow, for instance the end of a run. */
    public final void tell(Event event, Object whose, long first, long second, Object more) {
        counts.incrementAndGet(event.ordinal());
        try {
            dispatch(event, whose, first, second, more);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    protected void dispatch(Event event, Object whose, long first, long second, Object more) {
        switch (event) {
            case THREW, WAKEUP_THREW -> uncaught((Throwable) more);
            case LOOP_CLOSED, PAUSED -> { } // reported only to a listener
            default -> EventLog.SHARED.tell(event, whose, first, second, more);
        }
    }

    /** A thread of this library has failed, and will try again. Exceptions of the report are ignored. */
    public static void tellAndPause(Throwable e, Object blocker, long nanos) {
        try {
            uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(blocker, nanos);
        } catch (Throwable again) {
            return; // the next attempt is earlier
        }
    }

    /** Adds {@code too} to {@code e}, which is thrown; otherwise it would be lost. */
    public static void suppress(Throwable too, Throwable e) {
        if (too != e) { // an exception must not suppress itself
            e.addSuppressed(too);
        }
    }

    /** As if {@code e} had ended the calling thread, which continues. Ignores exceptions of the handler, as the JVM does. */
    public static void uncaught(Throwable e) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable ignored) {
            return;
        }
    }
}
