package io.pendula.internal.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts what happens to callbacks, and tells of it. This class is for a scheduler without a listener: exceptions go to
 * the uncaught-exception handler, what is slow or stalls goes to the log. A subclass tells a listener.
 * What a listener throws goes to the handler of the calling thread, what the handler throws goes nowhere.
 */
public class Reporter {
    /** More than there are: to ask for their number would load their class with each start. */
    private static final int EVENTS = 16;

    // No adders, and no object for an event: those allocate, and what is reported may be that memory is short.
    private final AtomicLongArray counts = new AtomicLongArray(EVENTS);
    public final AtomicLong measured = new AtomicLong();
    public final AtomicLong measuredNanos = new AtomicLong();

    /** A callback that was measured has ended. */
    final void measured(long ran) {
        measured.incrementAndGet();
        measuredNanos.addAndGet(ran);
    }

    public final long count(Event event) {
        return counts.get(event.ordinal());
    }

    /** See {@link Event} for what each is told with. Throws nothing, as what follows must come: the end of a run above all. */
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
            case LOOP_CLOSED, PAUSED -> { } // only a listener asks for these
            default -> EventLog.SHARED.tell(event, whose, first, second, more);
        }
    }

    /** A thread of this library has failed, and will try again. What this throws itself goes nowhere. */
    public static void tellAndPause(Throwable e, Object blocker, long nanos) {
        try {
            uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(blocker, nanos);
        } catch (Throwable again) {
            return; // the next attempt comes sooner
        }
    }

    /** What is thrown is {@code e}, and {@code too} would be lost otherwise. */
    public static void suppress(Throwable too, Throwable e) {
        if (too != e) { // which may not suppress itself
            e.addSuppressed(too);
        }
    }

    /** As if {@code e} had ended the calling thread, which goes on. What the handler throws is ignored, as by the JVM. */
    public static void uncaught(Throwable e) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable ignored) {
            return;
        }
    }
}
