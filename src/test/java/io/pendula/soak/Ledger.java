package io.pendula.soak;

import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What a soak counts, and what it has to complain of. */
final class Ledger implements TimerListener, Thread.UncaughtExceptionHandler {
    /** A timer that is later than this is lost. On a busy machine threads wait for seconds. */
    static final long LOST_NANOS = 20_000_000_000L;
    static final RuntimeException MEANT = new RuntimeException("meant", null, false, false) {
        private static final long serialVersionUID = 1;
    };
    private static final int MOST_COMPLAINTS = 20;

    final AtomicLong firings = new AtomicLong();
    final AtomicLong calls = new AtomicLong();
    final AtomicLong thrown = new AtomicLong();
    final AtomicLong threw = new AtomicLong();
    /** Armings and resets that were refused for want of memory. */
    final AtomicLong refusals = new AtomicLong();
    final AtomicLong guests = new AtomicLong();
    final AtomicLong shortages = new AtomicLong();
    final AtomicLong suspensions = new AtomicLong();
    final AtomicLong sweeps = new AtomicLong();
    /** For how long no thread may have run, by collections for want of memory and by suspensions. */
    final AtomicLong heldUpNanos = new AtomicLong();
    /**
     * Odd while all threads may be held up: by a suspension, or by collections. A thread that was held up between its
     * push and its look at the gate has lost no wake-up, but is counted as if it had.
     */
    final AtomicLong disturbances = new AtomicLong();
    final AtomicInteger complaints = new AtomicInteger();

    void complain(String what) {
        if (complaints.incrementAndGet() <= MOST_COMPLAINTS) {
            System.out.println("soak: WRONG: " + what);
        }
    }

    @Override
    public void threw(TimerHandle timer, long latenessNanos, Throwable e) {
        threw.incrementAndGet();
        if (e != MEANT && !isOfShortage(e)) {
            complain("a callback threw " + e);
        }
    }

    @Override
    public void uncaughtException(Thread t, Throwable e) {
        if (!isOfShortage(e) && e != MEANT) {
            e.printStackTrace(System.out);
            complain(t.getName() + " threw " + e);
        }
    }

    private static boolean isOfShortage(Throwable e) {
        for (Throwable c = e; c != null; c = c.getCause()) {
            if (c instanceof OutOfMemoryError) {
                return true;
            }
        }
        return false;
    }
}
