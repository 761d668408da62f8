package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * A timer as its queue sees it: the word that holds its deadline and state, its task, its queue and a link. The word is
 * {@code deadline << 4 | state}, so both change in one compare-and-set and no thread can see half a step. Each transition
 * is one method here; {@link TimerQueue} and its parts decide which is due. With compressed references a timer takes 40
 * bytes: a header of 12, the word, three references, and a number.
 */
public class TimerNode {
    /*
     * The states are those of Go's runtime (1.14 to 1.22). There, a step that writes several fields passes through a
     * transient state (modifying, removing, moving) in which all others spin. Here deadline and state share one word,
     * so every step is one CAS and these three are no windows: modifying and removing are the CAS itself, moving is
     * the time that a timer spends in the inbox. "Armed" below: a firing is to come that a stop would prevent.
     *
     * operation   from -> to                                 result, and what else happens
     * arm         new            -> MOVING                   pushed to the inbox
     * stop        WAITING        -> DELETED                  true; its entry is stale now
     *             MODIFIED_LATER -> DELETED                  true; its entry is stale now
     *             MOVING, MODIFIED_EARLIER -> DELETED_QUEUED true; the drain drops it
     *             RUNNING_ARMED  -> RUNNING                  true; the run goes on, the next one is off
     *             NO_STATUS      -> REMOVED                  true if the firing waits for a receiver (no task)
     *             NO_STATUS (with a task), REMOVED, RUNNING, DELETED*, *CANCELLED*: nothing; false
     * cancel      as stop, but to CANCELLED, CANCELLED_QUEUED, RUNNING_CANCELLED, and from every state; then the task
     *             is dropped. DELETED_QUEUED -> CANCELLED_QUEUED; other states at rest, DELETED -> CANCELLED; false
     * reset       NO_STATUS, REMOVED -> MOVING               false (true if a receiver's firing is replaced); pushed
     *             WAITING, MODIFIED_LATER -> MODIFIED_LATER  true, if not earlier: no heap, no wake
     *             WAITING, MODIFIED_LATER -> MODIFIED_EARLIER true, if earlier: pushed; its entry is stale now
     *             DELETED        -> MODIFIED_LATER           false, if not earlier: its entry lives again
     *             DELETED        -> MODIFIED_EARLIER         false, if earlier: pushed; its entry stays stale
     *             MOVING, MODIFIED_EARLIER -> the same       true; wakes if earlier
     *             DELETED_QUEUED -> MOVING                   false; wakes, though nothing is pushed
     *             RUNNING        -> RUNNING_ARMED            false; armed when the run ends
     *             RUNNING_ARMED  -> RUNNING_ARMED            true
     *             *CANCELLED*                                IllegalStateException
     * abort       as cancel, but nothing from NO_STATUS      what has run to its end stays as it is; only a periodic
     *                                                        task may rest there and not be over
     * claim stopped REMOVED, DELETED -> RUNNING              for the caller of shutdownNow(), to run it
     * retime      RUNNING_ARMED  -> RUNNING_ARMED            by the own run, before its end
     * drain       MOVING, MODIFIED_EARLIER -> WAITING        entry pushed to the heap
     *             DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED   dropped, never having been in the heap
     * park        WAITING, MODIFIED_LATER -> MOVING          entry dropped, for want of memory
     * run (top)   WAITING, due   -> RUNNING                  a one-shot's entry is popped
     *             WAITING, due   -> RUNNING_ARMED            a periodic timer's, with its next deadline
     *             WAITING, due   -> NO_STATUS                without a task: the firing waits for a receiver
     *             MODIFIED_LATER -> WAITING                  (Go's adjust) its entry gets its true key
     * receive     NO_STATUS      -> REMOVED
     * run end     RUNNING -> NO_STATUS, RUNNING_CANCELLED -> CANCELLED
     *             RUNNING_ARMED  -> MOVING                   pushed to the inbox
     * clean (top), clear deleted (sweep)
     *             DELETED        -> REMOVED                  entry dropped
     *             any other state that the entry does not match: entry dropped, state untouched
     * close       MOVING, MODIFIED_EARLIER, WAITING, MODIFIED_LATER -> REMOVED   collected as unfired
     *             RUNNING_ARMED  -> RUNNING (as stop)        collected as unfired
     *             DELETED, DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED
     * take back   as close, but not told as unfired          the push of a reset or of a new timer was refused
     */

    // States. The order of the codes is used: up to CANCELLED a timer is at rest, from MOVING on it is linked in an inbox.

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

    /** The number of the entry that was made last for this timer, the live one if it is filed. Guarded by the queue's lock. */
    int entry;

    public TimerNode(Runnable task) {
        this.task = task;
    }

    /** Not final, so that tests can step in between two looks; no timer overrides it. */
    public long wordVolatile() {
        return word;
    }

    /** Not final either. For the transitions below alone. */
    protected boolean casWord(long expected, long value) {
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

    // ---- transitions: each false if the word is no longer w ----

    private boolean cas(long w, long deadline, int to) {
        return casWord(w, word(deadline, to));
    }

    private boolean cas(long w, int to) {
        return cas(w, deadline(w), to);
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

    /** park: back into a line, for want of memory. */
    final boolean tryPark(long w) {
        return cas(w, MOVING);
    }

    /** run: {@code next} is the deadline after this one, or 0; {@code kept} if the firing waits for a receiver. */
    final boolean tryClaim(long w, long when, long next, boolean kept) {
        return next != 0 ? cas(w, next, RUNNING_ARMED) : cas(w, when, kept ? NO_STATUS : RUNNING);
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

    /** The task, or null once cancelled. Plain: published by the push, and read under the queue's lock. */
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
     * Runs the claimed firing, outside every lock. What it throws, the listener hears of. False if the firing was given
     * to another thread, which ends the run.
     */
    public boolean fire(Runnable claimed, long deadline, long now) throws Throwable {
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
