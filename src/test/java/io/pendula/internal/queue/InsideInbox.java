package io.pendula.internal.queue;

/** What tests reach inside the inbox, and what drains it; that wants the queue's lock held, but for helpDrain. */
public final class InsideInbox {
    public static final int HELP_DEPTH = Inbox.HELP_DEPTH;
    public static final TimerNode CLOSED = Inbox.CLOSED;

    private InsideInbox() {}

    public static Object drainer(TimerQueue q) {
        return q.drainer;
    }

    public static void drain(TimerQueue q) {
        q.drainer.drain();
    }

    public static boolean hasMail(TimerQueue q) {
        return q.drainer.hasMail();
    }

    public static void helpDrain(TimerQueue q) {
        q.drainer.helpDrain();
    }

    public static TimerNode push(TimerQueue q, TimerNode t) {
        return q.inbox.push(t) ? null : Inbox.CLOSED;
    }

    public static TimerNode inboxHead(TimerQueue q) {
        return q.inbox.head();
    }

    public static TimerNode link(TimerNode t) {
        return t.next;
    }

    public static void link(TimerNode t, TimerNode next) {
        t.next = next;
    }

    public static void beginMoving(TimerNode t, long when) {
        t.beginMoving(when);
    }

    /** As if memory had been short, and were not any more. */
    public static void endShortage(TimerQueue q) {
        q.drainer.unreported = new OutOfMemoryError("meant");
    }

    public static boolean isMemoryShort(TimerQueue q) {
        return q.lock.scarce;
    }

    /** For how long the heap does not try to grow after an attempt that took so long. */
    public static long pauseAfter(long nanos) {
        return InboxDrainer.PAUSE * nanos;
    }
}
