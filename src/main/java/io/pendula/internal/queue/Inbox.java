package io.pendula.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;

/** Written by all threads that arm. */
@SuppressWarnings("unused") // through VarHandles
abstract class InboxFields extends Padded {
    TimerNode head;
    int depth;
    long arrivals = Inbox.UNASKED;
}

/**
 * The timers that were armed and that no drain has taken out yet: a stack to which any thread pushes, and which a drain
 * takes as a whole. On cache lines of its own, so that a push does not slow the worker's look at its heap.
 *
 * <p>It also knows the timers that resets are about to push ({@link Posts}), whose words may say already that they are
 * here.
 */
@SuppressWarnings("unused") // padding
final class Inbox extends InboxFields {
    /** An inbox this long makes the next arming thread help to drain it. Timers stopped before never enter the heap. */
    static final int HELP_DEPTH = 2048;

    /** The link of the oldest timer: other than null, see Liveness.elect. */
    static final TimerNode END = new TimerNode(null);
    /** The head, for good, once the queue is closed. */
    static final TimerNode CLOSED = new TimerNode(null);
    /** The head while the queue is retired, see GoneQueues. */
    static final TimerNode RETIRED = new TimerNode(null);
    /** The link of a timer that its pusher has left in posts. As any timer's there, it says: no entry is in place. */
    static final TimerNode UNPUSHED = new TimerNode(null);
    /** What arrivals says where no loop asks: below every deadline, so no arming notes anything. */
    static final long UNASKED = Long.MIN_VALUE;

    private static final VarHandle HEAD;
    private static final VarHandle DEPTH;
    private static final VarHandle ARRIVALS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(InboxFields.class, "head", TimerNode.class);
            DEPTH = lookup.findVarHandle(InboxFields.class, "depth", int.class);
            ARRIVALS = lookup.findVarHandle(InboxFields.class, "arrivals", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Null until the first reset that pushes: most schedulers never see one, and their first timer need not wait. */
    private volatile Posts posts;
    /**
     * An Error has struck a thread while it armed a timer, as it had no stack left. It may have changed a word and not
     * pushed the timer, or not lowered arrivals; the next drain sees to that. A store to a field is all that such a
     * thread can do.
     */
    volatile boolean pushFailed;

    // ---- any thread ----

    TimerNode head() {
        return (TimerNode) HEAD.getVolatile(this);
    }

    /** The timer that follows this one in the chain, or in a line. */
    static TimerNode next(TimerNode t) {
        TimerNode next = t.next;
        return next == END ? null : next;
    }

    /** Whether an inbox that begins so holds timers. */
    static boolean isTimer(TimerNode head) {
        return head != null && head != CLOSED && head != RETIRED;
    }

    boolean holdsTimers() {
        return isTimer(head());
    }

    /** Null if the timer is in the inbox now; else what has refused it: CLOSED or RETIRED. */
    TimerNode push(TimerNode t) {
        for (;;) {
            TimerNode h = head();
            if (h == CLOSED || h == RETIRED) {
                return h;
            }
            t.next = h == null ? END : h; // plain: published by the CAS
            if (HEAD.compareAndSet(this, h, t)) {
                // The timer is in the inbox, so nothing must be thrown from here on, not even by one more call.
                try {
                    setDepth(depth() + 1);
                } catch (StackOverflowError e) {
                    return null; // the depth is a hint
                }
                return null;
            }
        }
    }

    /** How many were pushed since the last drain. Opaque: a hint. */
    int depth() {
        return (int) DEPTH.getOpaque(this);
    }

    void setDepth(int depth) {
        DEPTH.setOpaque(this, depth);
    }

    /** The earliest deadline that was armed since the last drain, where a loop asks for it; else UNASKED. */
    long arrivals() {
        return (long) ARRIVALS.getVolatile(this);
    }

    void setArrivals(long when) {
        ARRIVALS.setVolatile(this, when);
    }

    void lowerArrivals(long when) {
        for (long a = arrivals(); when < a; a = arrivals()) {
            if (ARRIVALS.compareAndSet(this, a, when)) {
                return;
            }
        }
    }

    // ---- resets: see QueueCloser ----

    Posts posts() {
        Posts p = posts;
        return p != null ? p : makePosts();
    }

    private synchronized Posts makePosts() {
        if (posts == null) {
            posts = new Posts();
        }
        return posts;
    }

    // ---- under the queue's lock ----

    /** The newest of the timers that were here, linked to the others; or null. */
    TimerNode take() {
        if (pushFailed) {
            pushLeft();
        }
        if (!holdsTimers()) { // what else the head may be comes only under this lock
            return null;
        }
        setDepth(0);
        return swap(null);
    }

    /** Pushes what threads have left in posts because they were out of stack. */
    private void pushLeft() {
        pushFailed = false; // before the look: another may be left there meanwhile
        Posts p = posts;
        if (p != null) {
            p.takeIf(t -> t.next == UNPUSHED && pushLeft(t));
        }
    }

    private boolean pushLeft(TimerNode t) {
        for (;;) {
            TimerNode h = head();
            if (h == CLOSED || h == RETIRED) { // these come under the lock: it was collected, or must wait
                pushFailed = h == RETIRED;
                return false;
            }
            t.next = h == null ? END : h;
            if (HEAD.compareAndSet(this, h, t)) {
                return true;
            }
        }
    }

    /** Takes no more timers; those that were here, or null. */
    TimerNode close() {
        TimerNode h = swap(CLOSED);
        return isTimer(h) ? h : null;
    }

    /** Looks at what resets are about to arm. */
    void forEachPosted(Consumer<TimerNode> look) {
        Posts p = posts; // if null: a reset that makes it after this reads closed after that, and is refused
        if (p != null) {
            p.forEach(look);
        }
    }

    /** Takes no more timers until it is reopened; false if there are timers here, or it is closed. */
    boolean retire() {
        return HEAD.compareAndSet(this, null, RETIRED);
    }

    boolean isRetired() {
        return head() == RETIRED;
    }

    void reopen() {
        HEAD.compareAndSet(this, RETIRED, null);
    }

    private TimerNode swap(TimerNode node) {
        return (TimerNode) HEAD.getAndSet(this, node);
    }
}
