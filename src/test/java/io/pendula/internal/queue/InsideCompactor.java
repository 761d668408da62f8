package io.pendula.internal.queue;

/** What tests reach inside the book-keeping of stale entries. */
public final class InsideCompactor {
    public static final int CALL_EVERY = Compactor.CALL_EVERY;
    public static final long STALE = Compactor.STALE;
    public static final long STOP = Compactor.STOP;

    private InsideCompactor() {}

    public static int stale(TimerQueue q) {
        return q.compactor.stale();
    }

    /** Counts an entry as stale, though none is, and helps to sweep as a stop does. */
    public static void makeStale(TimerQueue q) {
        q.compactor.onEntryStale(q.compactor.count(Compactor.STALE));
    }

    public static int countStale(TimerQueue q, long counts) {
        return q.compactor.count(counts);
    }

    public static void startFullSweep(TimerQueue q) {
        q.lock.lock();
        try {
            q.compactor.startFull();
        } finally {
            q.lock.unlock();
        }
    }

    public static boolean isSweepUnderWay(TimerQueue q) {
        return q.compactor.isUnderWay;
    }
}
