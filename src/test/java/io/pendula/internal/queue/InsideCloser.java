package io.pendula.internal.queue;

/** What tests reach inside the close of a queue. */
public final class InsideCloser {
    private InsideCloser() {}

    public static Object closer(TimerQueue q) {
        return q.closer;
    }

    public static int beginReset(TimerQueue q) {
        return q.closer.beginReset();
    }

    public static void endReset(TimerQueue q, int cell) {
        q.closer.endReset(cell);
    }

    /** How many resets a close would wait for. */
    public static int resetsUnderWay(TimerQueue q) {
        ResetCells cells = q.closer.cells;
        int n = 0;
        for (int i = 0; cells != null && i < ResetCells.CELLS; i++) {
            n += cells.get(i);
        }
        return n;
    }

    /** The first step of a close. */
    public static void refuseResets(TimerQueue q) {
        q.closer.closed = true;
    }

    /** How long a close waits for resets that do not go on. */
    public static void setPatience(TimerQueue q, long nanos) {
        q.closer.patienceNanos = nanos;
    }
}
