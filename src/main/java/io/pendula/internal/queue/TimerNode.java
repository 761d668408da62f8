package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * A timer as its queue sees it: the word that holds its deadline and state, its task, a link, and the number of its entry.
 * The word is {@code deadline << 4 | state}, so both change in one compare-and-set and no thread can see half a step. Each
 * transition is one method here; {@link TimerQueue} and its parts decide which is due. With compressed references a timer
 * takes 40 bytes: a header of 12, the word, three references, and a number. The third reference, to the queue, is a
 * subclass's.
 */
public class TimerNode {
    /*
     * The states are those of Go's runtime (1.14 to 1.22). There, a step that writes several fields passes through a
     * transient state (modifying, removing, moving) in which all others spin. Here deadline and state share one word,
     * so every step is one CAS and these three are no windows: modifying and removing are the CAS itself, moving is
     * the time that a timer spends in the inbox. "Armed" below: a firing is to come that a stop would prevent.
     *
     * A row: the states from which an operation goes, the state to which, its result, and what else happens. NEW was never
     * armed, KEPT is NO_STATUS of an alarm that rings once, whose firing waits for a receiver; "others" are all states that
     * the operation has no other row for. TransitionTableTest reads this table, and tries each row.
     *
     * operation       from -> to                                    result  what else happens
     * arm             NEW -> MOVING                                 -       pushed to the inbox
     * stop            WAITING, MODIFIED_LATER -> DELETED            true    its entry is stale now
     *                 MOVING, MODIFIED_EARLIER -> DELETED_QUEUED    true    the drain drops it
     *                 RUNNING_ARMED -> RUNNING                      true    the run goes on, the next one is off
     *                 KEPT -> REMOVED                               true    the firing is taken away
     *                 others -> same                                false
     * cancel          WAITING, MODIFIED_LATER -> CANCELLED          true    its entry is stale now
     *                 MOVING, MODIFIED_EARLIER -> CANCELLED_QUEUED  true
     *                 RUNNING_ARMED -> RUNNING_CANCELLED            true
     *                 KEPT -> CANCELLED                             true
     *                 NO_STATUS, REMOVED, DELETED -> CANCELLED      false
     *                 DELETED_QUEUED -> CANCELLED_QUEUED            false
     *                 RUNNING -> RUNNING_CANCELLED                  false
     *                 others -> same                                false   from each state: then the task is dropped
     * abort           WAITING, MODIFIED_LATER -> CANCELLED          true    its entry is stale now
     *                 MOVING, MODIFIED_EARLIER -> CANCELLED_QUEUED  true
     *                 RUNNING, RUNNING_ARMED -> RUNNING_CANCELLED   true    if true: then the task is dropped
     *                 REMOVED, DELETED -> CANCELLED                 true
     *                 DELETED_QUEUED -> CANCELLED_QUEUED            true
     *                 others -> same                                false   has run to its end; only a periodic task may
     *                                                                       rest in NO_STATUS and not be over
     * reset, later    WAITING, MODIFIED_LATER -> MODIFIED_LATER     true    or to the same deadline: no heap, no wake
     *                 DELETED -> MODIFIED_LATER                     false   its entry lives again
     * reset, earlier  WAITING, MODIFIED_LATER -> MODIFIED_EARLIER   true    pushed; its entry is stale now
     *                 DELETED -> MODIFIED_EARLIER                   false   pushed; its entry stays stale
     * reset           NO_STATUS, REMOVED -> MOVING                  false   pushed
     *                 KEPT -> MOVING                                true    pushed; the firing is replaced
     *                 MOVING, MODIFIED_EARLIER -> same              true    wakes if earlier
     *                 DELETED_QUEUED -> MOVING                      false   wakes, though it is there already
     *                 RUNNING -> RUNNING_ARMED                      false   armed when the run ends
     *                 RUNNING_ARMED -> same                         true
     *                 CANCELLED, CANCELLED_QUEUED, RUNNING_CANCELLED -> same   throws
     * claim stopped   REMOVED, DELETED, DELETED_QUEUED -> RUNNING   true    for the caller of shutdownNow(), to run it;
     *                 MOVING, MODIFIED_EARLIER -> WAITING           false   what is in the inbox is drained before
     *                 CANCELLED_QUEUED -> CANCELLED                 false
     *                 others -> same                                false
     * retime          others -> same                                -       by the own run, before its end: a new deadline
     *                                                                       if it is RUNNING_ARMED
     * drain           MOVING, MODIFIED_EARLIER -> WAITING           -       has an entry in the heap
     *                 DELETED_QUEUED -> REMOVED                     -       dropped, never having been in the heap
     *                 CANCELLED_QUEUED -> CANCELLED                 -       the same
     *                 others -> same                                -
     * run (top)       WAITING -> RUNNING                            -       if due; a one-shot's entry is popped
     *                 WAITING -> RUNNING_ARMED                      -       a periodic timer's, with its next deadline
     *                 WAITING -> KEPT                               -       an alarm's
     *                 MODIFIED_LATER -> WAITING                     -       (Go's adjust) its entry gets its true key
     * receive         KEPT -> REMOVED                               true
     * run end         RUNNING -> NO_STATUS                          -
     *                 RUNNING_ARMED -> MOVING                       -       pushed
     *                 RUNNING_CANCELLED -> CANCELLED                -
     * sweep           DELETED -> REMOVED                            -       (Go's clear deleted) entry dropped
     *                 others -> same                                -       an entry that the state does not match goes, too
     * clean (top)     DELETED -> REMOVED                            -       as sweep
     * close           MOVING, MODIFIED_EARLIER, WAITING, MODIFIED_LATER -> REMOVED   -   collected as unfired
     *                 RUNNING_ARMED -> RUNNING                      -       collected as unfired
     *                 DELETED, DELETED_QUEUED -> REMOVED            -
     *                 CANCELLED_QUEUED -> CANCELLED                 -
     *                 others -> same                                -
     * take back       MOVING, MODIFIED_EARLIER, DELETED_QUEUED -> REMOVED   -   as close, but not told as unfired: the push
     *                 RUNNING_ARMED -> RUNNING                      -       of a reset or of a new timer was refused
     *                 CANCELLED_QUEUED -> CANCELLED                 -
     */

    // States. The order of the codes is used: up to CANCELLED a timer is at rest, from MOVING on it is linked in an inbox.

    /** Never armed, or fired. Nowhere. Of an alarm that rings once: has rung, and not received yet. */
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

    private static final int STATE_BITS = 4;

    private static final AtomicLongFieldUpdater<TimerNode> WORD =
            AtomicLongFieldUpdater.newUpdater(TimerNode.class, "word");

    private volatile long word;

    /** Dropped by cancel, so that a cancelled timer keeps nothing alive. */
    private Runnable task;

    /**
     * In the inbox and in lists the next timer: written by the pusher before its push publishes it, nulled by the drain
     * that takes it out.
     */
    TimerNode next;

    /** The number of the entry that was made last for this timer, the live one if it is filed. Under the queue's lock. */
    int entry;

    public TimerNode(Runnable task) {
        this.task = task;
    }

    /** Not final, so that tests can step in between two looks; no timer overrides it. */
    public long wordVolatile() {
        return word;
    }

    /** Not final either. For the transitions below alone. */
    public boolean casWord(long expected, long value) {
        return WORD.compareAndSet(this, expected, value);
    }

    // ---- what a word says ----

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

    /** Whether its callback may be running; once it is cancelled and this is false, none begins. */
    protected boolean isInRun() {
        return isRunning(state(wordVolatile()));
    }

    // ---- transitions: each false if the word is no longer w ----

    private boolean cas(long w, long deadline, int to) {
        return casWord(w, word(deadline, to));
    }

    /** With the same deadline. */
    private boolean cas(long w, int to) {
        return casWord(w, w & -1L << STATE_BITS | to);
    }

    /** arm. Only of a node that no other thread can reach yet: published by the push, so this needs no fence. */
    final void beginMoving(long when) {
        WORD.lazySet(this, word(when, MOVING));
    }

    /** A push that broke off: as before beginMoving. A store to the field, as it needs the least stack. */
    final void forgetArming() {
        word = 0;
    }

    /** stop; cancel and abort if {@code forGood}. */
    final boolean tryDisarm(long w, boolean forGood) {
        int s = state(w);
        if (isQueued(s)) {
            return cas(w, forGood ? CANCELLED_QUEUED : DELETED_QUEUED); // counted by the drain
        }
        if (isRunning(s)) {
            return cas(w, forGood ? RUNNING_CANCELLED : RUNNING);
        }
        return cas(w, forGood ? CANCELLED : s == NO_STATUS ? REMOVED : DELETED);
    }

    /**
     * reset, and retime: {@code keepsEntry} if the timer has an entry that comes in time for this deadline, too. Else a timer
     * that neither runs nor is in the inbox must be pushed then, and an entry that it has stays behind.
     */
    final boolean tryReset(long w, long when, boolean keepsEntry) {
        int s = state(w);
        boolean leavesEntry = isFiled(s) || s == DELETED || s == MODIFIED_EARLIER;
        return cas(w, when, isRunning(s) ? RUNNING_ARMED : keepsEntry ? MODIFIED_LATER
                : leavesEntry ? MODIFIED_EARLIER : MOVING);
    }

    /** receive: the firing that waits for a receiver. */
    public final boolean tryReceive(long w) {
        return cas(w, REMOVED);
    }

    /** drain: it has an entry under its deadline. */
    final boolean tryFile(long w) {
        return cas(w, WAITING);
    }

    /** run: {@code next} is the deadline after this one, or 0; {@code kept} if the firing waits for a receiver. */
    final boolean tryClaim(long w, long next, boolean kept) {
        return next != 0 ? cas(w, next, RUNNING_ARMED) : cas(w, kept ? NO_STATUS : RUNNING);
    }

    /** claim stopped. One that is deleted leaves its entry behind. */
    final boolean tryClaimStopped(long w) {
        return cas(w, RUNNING);
    }

    /** run end. */
    final boolean tryEndRun(long w) {
        int s = state(w);
        return cas(w, s == RUNNING_ARMED ? MOVING : s == RUNNING ? NO_STATUS : CANCELLED);
    }

    /** drain of what was stopped in the inbox, clean, clear deleted, close, take back: the timer is at rest. */
    final boolean tryRest(long w) {
        return cas(w, state(w) == CANCELLED_QUEUED ? CANCELLED : REMOVED);
    }

    /** The task, or null once cancelled. Plain: published by the push. A thread that acts on it makes a CAS after that. */
    public final Runnable work() {
        return task;
    }

    /** Plain: a claim that could still read the old value loses its CAS to the cancel that came before. */
    public final void dropTask() {
        task = null;
    }

    /**
     * The deadline after the one that is being fired, or 0 if this timer fires once. Called under the queue's lock,
     * before the CAS that claims the firing, so it may be repeated, and may find no successor.
     */
    protected long nextAfter(long deadline, long now) {
        return 0;
    }

    /** For people: the time between two firings, or 0 if this timer fires once. */
    public long periodNanos() {
        return 0;
    }

    /** Whether a firing with this task is kept for a receiver: then claiming it is all, and no run begins. */
    public boolean isReceiver(Runnable claimed) {
        return false;
    }

    /**
     * Runs the claimed firing, outside every lock. What it throws is told to the listener. False if the firing was given
     * to another thread, which ends the run.
     */
    public boolean fire(Runnable claimed, long deadline) throws Throwable {
        claimed.run();
        return true;
    }

    /** The run has ended: the timer is at rest now, or on its way to its next firing. Outside every lock. */
    protected void ended(boolean armedAgain) {}

    /** Whether a timer that rests after a run has ended for good, so that it can no longer be aborted. */
    protected boolean isOver() {
        return true;
    }

    /** In the place of fire, for a firing that is taken back by a close; true if the run is to be ended. */
    public boolean unfire() {
        return true;
    }

    /** Collected as unfired by a close. Outside every lock. */
    public void abandoned() {}
}
