package io.pendula.internal.queue;

/** What tests reach inside the close of a queue. */
public final class InsideCloser {
    private InsideCloser() {}

    public static Object closer(TimerQueue q) {
        return q.closer;
    }

    public static void beginReset(TimerQueue q) {
        q.inbox.countReset(1);
    }

    /** How many resets a close would wait for. */
    public static int resetsUnderWay(TimerQueue q) {
        return q.inbox.resetting;
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
