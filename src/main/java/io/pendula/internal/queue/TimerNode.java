package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * A timer as its queue sees it: the word with deadline and state, the task, a link, and the number of its entry. The word
 * is {@code deadline << 4 | state}, so one compare-and-set changes both, and no thread sees half a step. Each transition
 * is one method here. {@link TimerQueue} and its parts decide which transition to make. With compressed references a timer
 * takes 40 bytes: a header of 12, the word, three references, and a number. The third reference, to the queue, is in a
 * subclass.
 */
public class TimerNode {
    /*
     * The states are those of Go's runtime (1.14 to 1.22). In Go a step that writes several fields passes through a
     * transient state (modifying, removing, moving), and all other threads spin meanwhile. Here deadline and state share
     * one word, so each step is one CAS and no thread spins. Modifying and removing are the CAS itself. Moving is the time
     * that a timer spends in the inbox. "Armed" means that a stop would prevent a firing.
     *
     * A row lists the old states, the new state, the result of the operation, and its other effects. NEW was never armed.
     * KEPT is NO_STATUS of an alarm that rings once, while its firing waits for a receiver. "others" are all states that
     * have no other row for the operation. TransitionTableTest reads this table and tries each row.
     *
     * operation       from -> to                                    result  what else happens
     * arm             NEW -> MOVING                                 -       pushed to the inbox
     * stop            WAITING, MODIFIED_LATER -> DELETED            true    its entry is stale now
     *                 MOVING, MODIFIED_EARLIER -> DELETED_QUEUED    true    the drain drops it
     *                 RUNNING_ARMED -> RUNNING                      true    the run goes on without a next firing
     *                 KEPT -> REMOVED                               true    the kept firing is discarded
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
     *                 others -> same                                false   has ended; only a periodic task may rest in
     *                                                                       NO_STATUS without having ended
     * reset, later    WAITING, MODIFIED_LATER -> MODIFIED_LATER     true    also to the same deadline; no push, no wake
     *                 DELETED -> MODIFIED_LATER                     false   its entry lives again
     * reset, earlier  WAITING, MODIFIED_LATER -> MODIFIED_EARLIER   true    pushed; its entry is stale now
     *                 DELETED -> MODIFIED_EARLIER                   false   pushed; its entry stays stale
     * reset           NO_STATUS, REMOVED -> MOVING                  false   pushed
     *                 KEPT -> MOVING                                true    pushed; the firing is replaced
     *                 MOVING, MODIFIED_EARLIER -> same              true    wakes if earlier
     *                 DELETED_QUEUED -> MOVING                      false   wakes, though the timer is in the inbox
     *                 RUNNING -> RUNNING_ARMED                      false   armed when the run ends
     *                 RUNNING_ARMED -> same                         true
     *                 CANCELLED, CANCELLED_QUEUED, RUNNING_CANCELLED -> same   throws
     * claim stopped   REMOVED, DELETED, DELETED_QUEUED -> RUNNING   true    so that the caller of shutdownNow() runs it;
     *                 MOVING, MODIFIED_EARLIER -> WAITING           false   a timer in the inbox is drained first
     *                 CANCELLED_QUEUED -> CANCELLED                 false
     *                 others -> same                                false
     * retime          others -> same                                -       by its own run, before the end: sets a new
     *                                                                       deadline if RUNNING_ARMED
     * drain           MOVING, MODIFIED_EARLIER -> WAITING           -       has an entry in the heap
     *                 DELETED_QUEUED -> REMOVED                     -       dropped; was never in the heap
     *                 CANCELLED_QUEUED -> CANCELLED                 -       the same
     *                 others -> same                                -
     * run (top)       WAITING -> RUNNING                            -       if due; its entry is popped
     *                 WAITING -> RUNNING_ARMED                      -       a periodic timer's, with its next deadline
     *                 WAITING -> KEPT                               -       an alarm's
     *                 MODIFIED_LATER -> WAITING                     -       (Go's adjust) its entry gets its true key
     * receive         KEPT -> REMOVED                               true
     * run end         RUNNING -> NO_STATUS                          -
     *                 RUNNING_ARMED -> MOVING                       -       pushed
     *                 RUNNING_CANCELLED -> CANCELLED                -
     * sweep           DELETED -> REMOVED                            -       (Go's clear deleted) entry dropped
     *                 others -> same                                -       drops entries that do not match the state, too
     * clean (top)     DELETED -> REMOVED                            -       as sweep
     * close           MOVING, MODIFIED_EARLIER, WAITING, MODIFIED_LATER -> REMOVED   -   collected as unfired
     *                 RUNNING_ARMED -> RUNNING                      -       collected as unfired
     *                 DELETED, DELETED_QUEUED -> REMOVED            -
     *                 CANCELLED_QUEUED -> CANCELLED                 -
     *                 others -> same                                -
     * take back       MOVING, MODIFIED_EARLIER, DELETED_QUEUED -> REMOVED   -   as close, but not as unfired: the push
     *                 RUNNING_ARMED -> RUNNING                      -       of a reset or of a new timer was refused
     *                 CANCELLED_QUEUED -> CANCELLED                 -
     */

    // The code relies on the order of the states: up to CANCELLED a timer is at rest, from MOVING on it is in an inbox.

    /** Never armed, or fired. In no list. An alarm that rings once has rung, and no thread has received the firing yet. */
    public static final int NO_STATUS = 0;
    /** Stopped. In no list. */
    public static final int REMOVED = 1;
    /** Cancelled. In no list; a stale entry may remain in the heap. */
    public static final int CANCELLED = 2;
    /** Claimed; its callback runs. In no list. */
    public static final int RUNNING = 3;
    /** As RUNNING, and armed again once the callback has returned. The word holds the next deadline. */
    public static final int RUNNING_ARMED = 4;
    /** As RUNNING, but cancelled during the run. */
    public static final int RUNNING_CANCELLED = 5;
    /** Stopped; its heap entry is still there, stale. */
    public static final int DELETED = 6;
    /** Has a heap entry with key == deadline. */
    public static final int WAITING = 7;
    /** Postponed: has a heap entry with key <= deadline. The entry gets its true key when it reaches the top. */
    public static final int MODIFIED_LATER = 8;
    /** On its way to the heap: in the inbox. */
    public static final int MOVING = 9;
    /** Brought forward: in the inbox again. Its old heap entry is stale. */
    public static final int MODIFIED_EARLIER = 10;
    /** Stopped while in the inbox, and still linked there. */
    public static final int DELETED_QUEUED = 11;
    /** Cancelled while in the inbox, and still linked there. */
    public static final int CANCELLED_QUEUED = 12;

    private static final int STATE_BITS = 4;

    private static final AtomicLongFieldUpdater<TimerNode> WORD =
            AtomicLongFieldUpdater.newUpdater(TimerNode.class, "word");

    private volatile long word;

    /** Null once cancelled, so that a cancelled timer keeps no objects alive. */
    private Runnable task;

    /**
     * The next timer in the inbox or in a list. The pusher writes it before its push publishes it. The drain that takes
     * the timer out sets it to null.
     */
    TimerNode next;

    /** The number of this timer's newest entry, which is live while the timer is filed. Under the queue's lock. */
    int entry;

    public TimerNode(Runnable task) {
        this.task = task;
    }

    /** Not final, so that tests can act between two reads. No timer overrides it. */
    public long wordVolatile() {
        return word;
    }

    /** Not final for the same reason. Called only by the transitions below. */
    public boolean casWord(long expected, long value) {
        return WORD.compareAndSet(this, expected, value);
    }

    // ---- the parts of a word ----

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

    /** Whether stop() would prevent a firing. */
    public static boolean isArmed(int state) {
        return state >= WAITING && state <= MODIFIED_EARLIER || state == RUNNING_ARMED;
    }

    public static boolean isRunning(int state) {
        return state >= RUNNING && state <= RUNNING_CANCELLED;
    }

    public static boolean isCancelled(int state) {
        return state == CANCELLED || state == RUNNING_CANCELLED || state == CANCELLED_QUEUED;
    }

    /** Whether the timer has a live entry. A stop makes the entry stale, and so does bringing the timer forward. */
    public static boolean isFiled(int state) {
        return state == WAITING || state == MODIFIED_LATER;
    }

    /** Whether its callback may be running. Once the timer is cancelled and this is false, no callback begins. */
    protected boolean isInRun() {
        return isRunning(state(wordVolatile()));
    }

    // ---- transitions: each returns false if the word is no longer w ----

    private boolean cas(long w, long deadline, int to) {
        return casWord(w, word(deadline, to));
    }

    /** Keeps the deadline. */
    private boolean cas(long w, int to) {
        return casWord(w, w & -1L << STATE_BITS | to);
    }

    /** arm. No other thread can reach the node yet. The push publishes it, so this write needs no fence. */
    final void beginMoving(long when) {
        WORD.lazySet(this, word(when, MOVING));
    }

    /** Undoes beginMoving after a failed push. A direct store to the field, because that needs the least stack. */
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
     * reset, and retime: {@code keepsEntry} if the timer has an entry whose key is not after this deadline. Otherwise a
     * timer that neither runs nor is in the inbox must be pushed afterwards, and its old entry stays behind.
     */
    final boolean tryReset(long w, long when, boolean keepsEntry) {
        int s = state(w);
        boolean leavesEntry = isFiled(s) || s == DELETED || s == MODIFIED_EARLIER;
        return cas(w, when, isRunning(s) ? RUNNING_ARMED : keepsEntry ? MODIFIED_LATER
                : leavesEntry ? MODIFIED_EARLIER : MOVING);
    }

    /** receive: takes the firing that waits for a receiver. */
    public final boolean tryReceive(long w) {
        return cas(w, REMOVED);
    }

    /** drain: the timer has an entry with its deadline as the key. */
    final boolean tryFile(long w) {
        return cas(w, WAITING);
    }

    /** run: {@code next} is the deadline after this one, or 0; {@code kept} if the firing waits for a receiver. */
    final boolean tryClaim(long w, long next, boolean kept) {
        return next != 0 ? cas(w, next, RUNNING_ARMED) : cas(w, kept ? NO_STATUS : RUNNING);
    }

    /** claim stopped. A DELETED timer leaves its entry behind. */
    final boolean tryClaimStopped(long w) {
        return cas(w, RUNNING);
    }

    /** run end. */
    final boolean tryEndRun(long w) {
        int s = state(w);
        return cas(w, s == RUNNING_ARMED ? MOVING : s == RUNNING ? NO_STATUS : CANCELLED);
    }

    /** drain of a timer stopped in the inbox, clean, sweep, close, take back: the timer is at rest. */
    final boolean tryRest(long w) {
        return cas(w, state(w) == CANCELLED_QUEUED ? CANCELLED : REMOVED);
    }

    /** The task, or null once cancelled. Plain: the push publishes it, and a thread that acts on it makes a CAS later. */
    public final Runnable work() {
        return task;
    }

    /** Plain: if a claim still reads the old value, its CAS fails because the cancel's CAS came first. */
    public final void dropTask() {
        task = null;
    }

    /**
     * The deadline after {@code deadline}, or 0 if this timer fires once. Called under the queue's lock, before the CAS
     * that claims the firing. If that CAS fails, it may be called again, or no claim follows.
     */
    protected long nextAfter(long deadline, long now) {
        return 0;
    }

    /** For display: the time between two firings, or 0 if this timer fires once. */
    public long periodNanos() {
        return 0;
    }

    /** Whether a firing is followed by another without a reset. A drain does not wait for such timers. */
    public boolean repeats() {
        return periodNanos() != 0;
    }

    /** Whether a firing with this task is kept for a receiver. If so, no run begins after the claim. */
    public boolean isReceiver(Runnable claimed) {
        return false;
    }

    /**
     * Runs the claimed firing, outside every lock. The listener is notified of an exception. False if the firing was given
     * to another thread, which ends the run.
     */
    public boolean fire(Runnable claimed, long deadline) throws Throwable {
        claimed.run();
        return true;
    }

    /** The run has ended: the timer is at rest, or armed again. Called outside every lock. */
    protected void ended(boolean armedAgain) {}

    /** Whether a timer at rest after a run has completed, so that abort has no effect. */
    protected boolean isOver() {
        return true;
    }

    /** Called instead of fire if a close takes the firing back. True if the caller must end the run. */
    public boolean unfire() {
        return true;
    }

    /** A close has collected the timer as unfired. Called outside every lock. */
    public void abandoned() {}
}
