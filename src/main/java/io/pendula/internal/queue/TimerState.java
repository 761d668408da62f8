package io.pendula.internal.queue;

/**
 * What the word of a timer says: {@code deadline << 4 | state}, so deadline and state change in one CAS and no thread can
 * see half a step. The transitions are methods of {@link TimerNode}.
 */
public final class TimerState {
    // The order of the codes is used: up to CANCELLED a timer is at rest, from MOVING on it is linked in an inbox.

    /** Never armed, or fired. Nowhere. For a timer without a task: fired, and not received yet. */
    public static final int NO_STATUS = 0;
    /** Stopped and let go. Nowhere. */
    public static final int REMOVED = 1;
    /** Cancelled for good. Nowhere, save perhaps for a stale heap entry. */
    public static final int CANCELLED = 2;
    /** Claimed; its callback runs. Nowhere. */
    public static final int RUNNING = 3;
    /** As RUNNING, and armed again for when the callback has returned: the word holds that next deadline. */
    public static final int RUNNING_ARMED = 4;
    /** As RUNNING, but cancelled meanwhile. */
    public static final int RUNNING_CANCELLED = 5;
    /** Stopped; its heap entry is still there, stale. */
    public static final int DELETED = 6;
    /** Has a heap entry with key == deadline. */
    public static final int WAITING = 7;
    /** Put off: has a heap entry with key <= deadline, re-keyed when it surfaces. */
    public static final int MODIFIED_LATER = 8;
    /** On its way to the heap: in the inbox. */
    public static final int MOVING = 9;
    /** Brought forward: in the inbox again, and its old heap entry is stale. */
    public static final int MODIFIED_EARLIER = 10;
    /** Stopped while in the inbox, where its link still is. */
    public static final int DELETED_QUEUED = 11;
    /** Cancelled while in the inbox, where its link still is. */
    public static final int CANCELLED_QUEUED = 12;

    public static final int STATE_BITS = 4;

    private TimerState() {}

    public static long word(long deadline, int state) {
        return deadline << STATE_BITS | state;
    }

    public static int state(long word) {
        return (int) word & (1 << STATE_BITS) - 1;
    }

    public static long deadline(long word) {
        return word >>> STATE_BITS;
    }

    public static boolean isQueued(int state) {
        return state >= MOVING;
    }

    /** Whether a firing is still to come that stop() would prevent. */
    public static boolean isArmed(int state) {
        return state >= WAITING && state <= MODIFIED_EARLIER || state == RUNNING_ARMED;
    }

    public static boolean isRunning(int state) {
        return state >= RUNNING && state <= RUNNING_CANCELLED;
    }

    public static boolean isCancelled(int state) {
        return state == CANCELLED || state == RUNNING_CANCELLED || state == CANCELLED_QUEUED;
    }

    /** Of a timer that is filed: has an entry, which is stale as soon as the timer is stopped or brought forward. */
    public static boolean isFiled(int state) {
        return state == WAITING || state == MODIFIED_LATER;
    }
}
