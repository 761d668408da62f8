package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What a heap and an inbox hold: a timer's packed word, its task, its queue and the link of the inbox. It knows no
 * rule; {@link TimerQueue} makes every transition and is the only caller of {@link #casWord}.
 *
 * <p>The word is {@code deadline << 4 | state}, and {@link #PLACED} in its highest bit, so deadline and state change in
 * one CAS and no thread can see half a step. 32 bytes with compressed references: a header of 12, the word, and three references.
 */
abstract class TimerNode {
    // The order of the codes is used: up to CANCELLED a timer is at rest, from MOVING on it is linked in an inbox.

    /** Never armed, or fired. Nowhere. For a timer without a task: fired, and nobody has received it yet. */
    static final int NO_STATUS = 0;
    /** Stopped and let go. Nowhere. */
    static final int REMOVED = 1;
    /** Cancelled for good. Nowhere, save perhaps for a dead heap entry. */
    static final int CANCELLED = 2;
    /** Claimed; its callback runs. Nowhere. */
    static final int RUNNING = 3;
    /** As RUNNING, and armed again for when the callback has returned: the word holds that next deadline. */
    static final int RUNNING_ARMED = 4;
    /** As RUNNING, but cancelled meanwhile. */
    static final int RUNNING_CANCELLED = 5;
    /** Stopped; its heap entry is still there, dead. */
    static final int DELETED = 6;
    /** Has a heap entry with key == deadline. */
    static final int WAITING = 7;
    /** Put off: has a heap entry with key <= deadline, re-keyed when it surfaces. */
    static final int MODIFIED_LATER = 8;
    /** On its way to the heap: in the inbox. */
    static final int MOVING = 9;
    /** Brought forward: in the inbox again, and its old heap entry is dead. */
    static final int MODIFIED_EARLIER = 10;
    /** Stopped while in the inbox, where its link still is. */
    static final int DELETED_QUEUED = 11;
    /** Cancelled while in the inbox, where its link still is. */
    static final int CANCELLED_QUEUED = 12;

    static final int STATE_BITS = 4;
    /**
     * Set for good once the timer has been brought forward and has left an entry behind: from then on several entries
     * may refer to it. While the bit is clear there is one entry at most.
     */
    static final long PLACED = Long.MIN_VALUE;

    private static final VarHandle WORD;
    private static final VarHandle NEXT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(TimerNode.class, "word", long.class);
            NEXT = lookup.findVarHandle(TimerNode.class, "next", TimerNode.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through WORD
    private volatile long word;

    /** Dropped by cancel, so that a cancelled timer keeps nothing alive. */
    private Runnable task;

    /** The queue that this timer belongs to for life. */
    final TimerQueue queue;

    /**
     * In the inbox and in lists the next timer: written by the pusher before its push publishes it, nulled by the drain
     * that takes it out. While filed the {@link Place}, if there is one.
     */
    TimerNode next;

    TimerNode(TimerQueue queue, Runnable task) {
        this.queue = queue;
        this.task = task;
    }

    static long word(long deadline, int state) {
        return deadline << STATE_BITS | state;
    }

    /** The word that follows {@code before}. */
    static long word(long before, long deadline, int state) {
        return before & PLACED | deadline << STATE_BITS | state;
    }

    static int state(long word) {
        return (int) word & (1 << STATE_BITS) - 1;
    }

    static long deadline(long word) {
        return word << 1 >>> STATE_BITS + 1; // without PLACED
    }

    static boolean isPlaced(long word) {
        return word < 0;
    }

    static boolean isQueued(int state) {
        return state >= MOVING;
    }

    /** Whether a firing is still to come that stop() would prevent. */
    static boolean isArmed(int state) {
        return state >= WAITING && state <= MODIFIED_EARLIER || state == RUNNING_ARMED;
    }

    static boolean isRunning(int state) {
        return state >= RUNNING && state <= RUNNING_CANCELLED;
    }

    static boolean isCancelled(int state) {
        return state == CANCELLED || state == RUNNING_CANCELLED || state == CANCELLED_QUEUED;
    }

    /** The timer that follows this one in an inbox or a list. */
    final TimerNode nextInLine() {
        TimerNode t = next;
        return t == Inbox.END ? null : t;
    }

    /** Plain in effect: of use only to a thread that holds the queue's lock. */
    final void linkIfUnlinked(TimerNode link) {
        NEXT.compareAndSet(this, null, link);
    }

    /** Only of a node that no other thread can reach yet. */
    final void setWordPlain(long value) {
        WORD.set(this, value);
    }

    /** Not final, so that tests can step in between two looks; no timer overrides it. */
    long wordVolatile() {
        return (long) WORD.getVolatile(this);
    }

    /** Not final either. */
    boolean casWord(long expected, long value) {
        return WORD.compareAndSet(this, expected, value);
    }

    /** The task, or null once cancelled. Plain: published by the push, and read under the queue's lock. */
    final Runnable task() {
        return task;
    }

    /** Plain: a claim that could still read the old value loses its CAS to the cancel that came before. */
    final void dropTask() {
        task = null;
    }

    /**
     * The deadline after the one that is being fired, or 0 if this timer fires once. Called under the queue's lock,
     * before the CAS that claims the firing, so it may be repeated, and may find no successor.
     */
    long nextAfter(long deadline, long now) {
        return 0;
    }

    /** Whether it was armed for the present and is never reset, so that it is due by the time that it is drained. */
    boolean isForNow() {
        return false;
    }

    /** Whether a firing with this task is kept for a receiver: then claiming it is all, and no run begins. */
    boolean isSignal(Runnable claimed) {
        return false;
    }

    /**
     * Runs the claimed firing, outside every lock. What it throws, the listener hears of. False if the firing was given
     * to somebody else, who ends the run.
     */
    boolean fire(Runnable claimed, long deadline, long now) throws Throwable {
        claimed.run();
        return true;
    }

    /** The run has ended: the timer is at rest now, or on its way to its next firing. Outside every lock. */
    void ended(boolean armedAgain) {}

    /** Whether a timer that rests after a run has ended for good, so that it can no longer be aborted. */
    boolean isOver() {
        return true;
    }

    /** Collected as unfired by a close. Outside every lock. */
    void abandoned() {}
}
