package io.pendula;

import static io.pendula.Ledger.DEAD;
import static io.pendula.Ledger.STOP;
import static io.pendula.TimerNode.CANCELLED;
import static io.pendula.TimerNode.CANCELLED_QUEUED;
import static io.pendula.TimerNode.DELETED;
import static io.pendula.TimerNode.DELETED_QUEUED;
import static io.pendula.TimerNode.MODIFIED_EARLIER;
import static io.pendula.TimerNode.MODIFIED_LATER;
import static io.pendula.TimerNode.MOVING;
import static io.pendula.TimerNode.NO_STATUS;
import static io.pendula.TimerNode.PLACED;
import static io.pendula.TimerNode.REMOVED;
import static io.pendula.TimerNode.RUNNING;
import static io.pendula.TimerNode.RUNNING_ARMED;
import static io.pendula.TimerNode.RUNNING_CANCELLED;
import static io.pendula.TimerNode.WAITING;
import static io.pendula.TimerNode.deadline;
import static io.pendula.TimerNode.isArmed;
import static io.pendula.TimerNode.isCancelled;
import static io.pendula.TimerNode.isPlaced;
import static io.pendula.TimerNode.isQueued;
import static io.pendula.TimerNode.isRunning;
import static io.pendula.TimerNode.state;
import static io.pendula.TimerNode.word;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * One worker: its heap, the lock around it, its inbox, and every transition of the timers that belong to it.
 */
final class TimerQueue extends QueueFields {
    /*
     * Overview
     *
     * The states are those of Go's runtime (1.14 to 1.22). There, a step that writes several fields passes through a
     * transient state (modifying, removing, moving) in which all others spin. Here deadline and state share one word,
     * so every step is one CAS and these three are no windows: modifying and removing are the CAS itself, moving is
     * the time that a timer spends in the inbox. "Armed" below: a firing is to come that a stop would prevent.
     *
     * operation   from -> to                                 result, and what else happens
     * arm         new            -> MOVING                   pushed to the inbox
     * stop        WAITING        -> DELETED                  true; its entry is dead now
     *             MODIFIED_LATER -> DELETED                  true; its entry is dead now
     *             MOVING, MODIFIED_EARLIER -> DELETED_QUEUED true; the drain drops it
     *             RUNNING_ARMED  -> RUNNING                  true; the run goes on, the next one is off
     *             NO_STATUS      -> REMOVED                  true if the firing waits for a receiver (no task)
     *             NO_STATUS (with a task), REMOVED, RUNNING, DELETED*, *CANCELLED*: nothing; false
     * cancel      as stop, but to CANCELLED, CANCELLED_QUEUED, RUNNING_CANCELLED, and from every state; then the task
     *             is dropped. DELETED_QUEUED -> CANCELLED_QUEUED; other states at rest, DELETED -> CANCELLED; false
     * reset       NO_STATUS, REMOVED -> MOVING               false (true if a receiver's firing is replaced); pushed
     *             WAITING, MODIFIED_LATER -> MODIFIED_LATER  true, if not earlier: no heap, no wake
     *             WAITING, MODIFIED_LATER -> MODIFIED_EARLIER true, if earlier: pushed; its entry is dead now
     *             DELETED        -> MODIFIED_LATER           false, if not earlier: its entry lives again
     *             DELETED        -> MODIFIED_EARLIER         false, if earlier: pushed; its entry stays dead
     *             MOVING, MODIFIED_EARLIER -> the same       true; wakes if earlier
     *             DELETED_QUEUED -> MOVING                   false; wakes, though nothing is pushed
     *             RUNNING        -> RUNNING_ARMED            false; armed when the run ends
     *             RUNNING_ARMED  -> RUNNING_ARMED            true
     *             *CANCELLED*                                IllegalStateException
     * abort       as cancel, but nothing from NO_STATUS      what has run to its end stays as it is; only a periodic
     *                                                        task may rest there and not be over
     * claim stopped REMOVED, DELETED -> RUNNING              for whoever got it from shutdownNow()
     * retime      RUNNING_ARMED  -> RUNNING_ARMED            by the own run, before its end
     * drain       MOVING, MODIFIED_EARLIER -> WAITING        entry pushed to the heap
     *             DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED   dropped, never having been in the heap
     *             MOVING, for now -> the same                joins the line of those that need no heap
     * park        WAITING, MODIFIED_LATER -> MOVING          entry dropped, for want of memory
     * run (first in line) MOVING -> RUNNING                  dropped, as by a drain, if it was stopped
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
     * move        when a worker's driver or loop goes away the queue changes its owner as a whole; no timer moves
     * retire      a queue whose loop has gone leaves the scheduler's list while no timer is armed there (GoneQueues)
     * close       MOVING, MODIFIED_EARLIER, WAITING, MODIFIED_LATER -> REMOVED   collected as unfired
     *             RUNNING_ARMED  -> RUNNING (as stop)        collected as unfired
     *             MOVING -> NO_STATUS                        the same, if the run has just ended
     *             MOVING -> REMOVED, or what it was          armed at that moment: collected, or refused (see Closing)
     *             DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED   refused, and stopped by a view's shutdown
     *             DELETED, DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED
     *
     * Ground rules
     *
     * 1. An armed timer that does not run is in the inbox (or on its way there, in its pusher's hands; or taken out and
     *    in line), or has an entry with key <= deadline: exactly equal if WAITING. Any other entry is dead. It is
     *    dropped when it is met: at the top, or by a sweep. Nothing on the path of an operation ever looks through the
     *    heap.
     * 2. A timer that is brought forward leaves its old entry behind (PLACED). It may later be put off beyond that entry's
     *    key, or come back to exactly that key; then two entries fit its word. They are fungible: the one that surfaces
     *    first is the live one, and as many are counted dead as must be dropped. A sweep of the whole heap that has
     *    dropped too few is repeated as a thorough one. That elects the first entry that it meets: it notes the entry's
     *    sequence number in a Place, and all other entries of the timer are dead from then on. So what is counted dead is
     *    exactly what a thorough sweep drops. A timer that is not PLACED has one entry at most.
     * 3. Whoever makes an entry dead counts it, at that transition; a drain that counted later would meet some twice.
     * 4. The heap grows before a word changes, so running out of memory leaves each timer as it was.
     * 5. No callback runs, and nobody is woken, while the lock is held.
     * 6. Who arms, stops or resets only tries the lock (but with a manual clock, or once the queue is closed or
     *    retired). Those who drive or close the queue, or read its statistics, may wait for it. No hold visits more
     *    timers than HoldLock allows, or copies more than one chunk of the heap; only a close may take longer.
     *
     * Who may touch what
     *
     * field        written by                            read by                          mode
     * node.word    anyone, by CAS                        anyone                           volatile
     * node.next    its pusher before the push; drain     drain; lock holder (a Place)     plain, ordered by the inbox's CAS
     * node.task    constructor; cancel, after its CAS    claim, before its CAS            plain
     * inbox        pushers (CAS); drain, close (swap)    anyone                           volatile
     * depth        pushers, drain                        arming threads                   opaque, a hint
     * arrivals     pushers (CAS); drain                  a loop, under the lock           volatile
     * pollUntil    keeper, under the lock; wakers (CAS)  arming threads                   volatile
     * ledger       anyone who counts                     anyone                           volatile read-modify-write
     * sleepsLong   keeper, under the lock                threads that stop                volatile
     * fruitless    lock holder                           threads that make entries dead   volatile
     * posts        resets, around a push                 close, under the lock            opaque, ordered by a CAS
     * closed       close, under the lock                 resets                           volatile
     * nextWhen     lock holder                           thieves, monitor                 opaque, a hint
     * keeper, owner, left
     *              lock holder (owner also at the start) wakers, drivers, monitor         volatile
     * heap, reversal, shortage, backlog, young, ready, sweep state, visit, counters
     *              lock holder                           lock holder (heap.size() also      plain
     *                                                    racily, for a bound)
     *
     * Locks: a queue's lock is the innermost one; nobody holds two. The monitor object of runEnds nests inside none.
     *
     * No lost wake-up
     *
     * The keeper publishes pollUntil = p (W1), then drains (R1: reads the inbox), then unlocks and parks until p.
     * Who arms pushes (W2: a CAS on the inbox, or on the word of a timer that is in the inbox), then reads pollUntil
     * (R2). All four are volatile, hence in one total order: if R1 comes before W2, then W1 < R1 < W2 < R2, so the
     * armer sees p or something later. If it sees p and its deadline is earlier, its CAS from p to AWAKE succeeds (and
     * it wakes the keeper), or fails because another armer's did, or the keeper's own return from park; in each case
     * the keeper is up and has W1 and R1 before it again. If R1 comes after W2, the keeper takes the timer itself. A
     * helper that drains in between holds the lock: either before W1, and p counts its timers in; or after R1, and then
     * each pusher's R2 comes after W1. Before it parks, and when it waits for no lock any more, the keeper looks at
     * pollUntil once again (Driver.nobodyCalled); the waker's permit covers the time after that. The same argument with
     * the ledger instead of the inbox covers the call for a sweep.
     *
     * A reset that moves a timer into the inbox changes the word first and pushes then. In between another thread may
     * bring the timer forward by the word alone; its own W2 (that CAS) is worth nothing, as the keeper does not find the
     * timer. Therefore the pusher reads the word once more after its push, and wakes the keeper for the deadline that it
     * finds (wakeFor). A reset that this reading does not show comes after the push, and its own wake counts. Nothing
     * that may take long lies between the CAS and the push.
     *
     * Draining first and publishing then loses wake-ups: a timer pushed in between is seen by neither.
     *
     * A loop comes by so often that draining each time would file most timers before they are stopped. So it only asks
     * for the earliest of what has arrived: after the push, and before R2, who arms lowers arrivals to its deadline. In
     * the argument that CAS takes the place of W2, and the loop's look at arrivals that of R1. A drain sets arrivals to
     * NEVER, then takes the inbox: whatever is pushed after that lowers it again, and what was pushed before is filed,
     * so if it lowers arrivals only now, or was stopped, that costs the loop one wait that ends too early.
     */

    /** An inbox this long makes the next arming thread help to drain it. Timers stopped before never enter the heap. */
    static final int HELP_DEPTH = 2048;
    /** While an inbox is longer than this, arming threads that cannot help yield. */
    private static final int YIELD_DEPTH = 8 * HELP_DEPTH;
    /** A look at a queue files so many slices at most. */
    private static final int SURVEY_SLICES = 16;
    /** What a drain leaves of a hold's visits, for claiming and for cleaning the top. */
    private static final int SPARE_VISITS = 512;
    /** More than these go to the heap, which is swept: those in line that are cancelled stay until it is their turn. */
    static final int READY_MAX = 4 * HELP_DEPTH;
    /** So many dead entries are never worth a sweep. */
    static final int DEAD_FLOOR = 1024;
    /** Beyond the tidy bound two chunks are swept for so many entries that die. */
    static final int TIDY_EVERY = 256;
    /** Heap slots that a sweep visits in one hold of the lock. */
    static final int SWEEP_CHUNK = 1024;
    /** Dead tops that are cleaned in one hold of the lock. */
    static final int CLEAN_CHUNK = 256;
    /** Sleeps longer than this are divided. */
    private static final long LONG_SLEEP_NANOS = 1_000_000_000;
    /** A loop leaves put-off timers that are no nearer than this where they are. */
    private static final long LAZY_NANOS = 50_000_000;
    /** A stopped timer that is neither armed again nor referred to is let go after about this time. */
    static final long LATE_NANOS = 30_000_000_000L;
    /** In the shared scheduler, whose threads end after that. */
    private static final long SHARED_LATE_NANOS = 3_000_000_000L;
    /** A sweep for that purpose takes no more than one part of this many of a processor. */
    static final long LATE_SHARE = 1_000;
    /** So many entries are looked at to find one that is due later than another. */
    private static final int MAKE_ROOM_VISITS = 16;

    /** Results of prepareToSleep, below every deadline. */
    static final long GO_ROUND = 0;
    static final long NOT_KEEPER = -1;

    /** The link of the oldest timer in an inbox: other than null, see elect. */
    static final TimerNode END = new Timer(null, null);
    /** In the inbox for good once the queue is closed. */
    private static final TimerNode CLOSED = new Timer(null, null);
    /** The link of a timer that its pusher has left in posts. As any timer's there, it says: no entry is in place. */
    private static final TimerNode UNPUSHED = new Timer(null, null);
    /** In the inbox while the queue is retired, see GoneQueues. */
    private static final TimerNode RETIRED = new Timer(null, null);

    final int index;
    final Timeline timeline;
    /** Only for what timers ask of their scheduler; null in tests of a queue alone. */
    final TimerScheduler scheduler;
    private final HoldLock lock = new HoldLock();
    private final TimerHeap heap;
    private final Admission admission;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;

    private volatile Keeper keeper;
    /** Who takes the queue back whenever it comes by; null with a manual clock, whose advance runs what is due. */
    private volatile Keeper owner;
    /** Its loop has gone, so it leaves the scheduler's queues when nothing is armed here. */
    private volatile boolean left;
    /** Set by the monitor while the keeper is stuck: whoever is idle may adopt the queue. */
    volatile boolean stalled;
    /** The monitor's own note: when the loop that keeps it was first seen to be late, or 0. */
    long lateSince;
    final OverdueNote overdue = new OverdueNote();

    /** Taken from the inbox and not filed yet. */
    private final Backlog backlog = new Backlog();
    /**
     * Of a loop: taken from the inbox when that became long, and left to die until they could be due, as arrivals tells
     * of them still. To all others they are in the inbox.
     */
    private final Backlog young = new Backlog();
    /**
     * Armed for the present, hence due, and in order of their deadlines, so that no heap is needed. To all others they
     * are in the inbox still.
     */
    private final Backlog ready = new Backlog();
    /** What the last drain took from the inbox, on its way to the backlog. */
    private final Reversal reversal = new Reversal();
    final Shortage shortage = new Shortage();
    final Ledger ledger = new Ledger();
    /** Null until the first reset that pushes: most schedulers never see one, and their first timer need not wait. */
    private volatile Posts posts;
    /** For good. */
    private volatile boolean closed;

    /**
     * So many entries were counted dead when sweeps had visited the whole heap and found none of them; else 0. No sweep
     * begins before more have died. Volatile: read by threads that make entries dead.
     */
    private volatile int fruitless;
    private final long lateNanos;
    /** The keeper is at it, or will come back to it before it sleeps, so that nobody need wake it. */
    private volatile boolean sweeping;

    /** What runs and resets have handed over while the queue was being closed; null once that is done. */
    private List<TimerNode> late = new ArrayList<>();
    private final LongAdder resets = new LongAdder();

    final RunEnds runEnds = new RunEnds();

    TimerQueue(int index, Timeline timeline, TimerScheduler scheduler, TimerHeap heap, Admission admission,
            boolean keepOrder) {
        this.index = index;
        this.timeline = timeline;
        this.scheduler = scheduler;
        this.heap = heap;
        this.admission = admission;
        this.keepOrder = keepOrder;
        this.lateNanos = scheduler != null && scheduler.endsWhenIdle() ? SHARED_LATE_NANOS : LATE_NANOS;
    }

    // ---- arm, stop, cancel, reset: any thread, at any time ----

    /** Arms a new timer. */
    void arm(TimerNode t, long when) {
        if (depthOpaque() >= HELP_DEPTH) {
            refuseIfShort(when);
            helpDrain();
        }
        enter();
        t.setWordPlain(word(when, MOVING)); // published by the push
        if (!push(t)) {
            unlinkUnpushed(t);
            throw rejected();
        }
        try {
            wakeIfBefore(when);
        } catch (Error e) {
            pushFailed = true;
            wakeFailed = true;
            throw e;
        }
    }

    /** A view's shutdown may have found the task, and stopped it, before the queue refused it. */
    private void unlinkUnpushed(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (t.casWord(w, word(w, deadline(w), s == CANCELLED_QUEUED ? CANCELLED : REMOVED))) {
                if (isArmed(s)) {
                    leave();
                }
                return;
            }
        }
    }

    /** While memory is short the depth of the inbox is told to be large, so that arming threads look here. */
    private void refuseIfShort(long when) {
        if (shortage.isOn()) {
            long now = timeline.now();
            if (when > now && !shortage.mayTry(now)) {
                throw new RejectedExecutionException("memory is short: the heap of worker " + index
                        + ", which holds " + heap.size() + " timers, could not grow");
            }
        }
    }

    boolean stop(TimerNode t) {
        return disarm(t, false);
    }

    boolean cancel(TimerNode t) {
        boolean prevented = disarm(t, true);
        t.dropTask(); // after the CAS: a claim that reads the task later than this loses its own CAS
        return prevented;
    }

    private boolean disarm(TimerNode t, boolean forGood) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean prevents = isArmed(s) || s == NO_STATUS && t.isSignal(t.task());
            if (!prevents && !forGood || isCancelled(s)) {
                return false;
            }
            if (tryDisarm(t, w, forGood)) {
                return prevents;
            }
        }
    }

    /**
     * Cancels what has not run to its end; -1 if it has or was cancelled before, else the state that it was in. A run
     * in progress goes on, cancelled from this moment.
     */
    int abort(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == NO_STATUS && t.isOver() || isCancelled(s)) {
                return -1;
            }
            if (tryDisarm(t, w, true)) {
                t.dropTask(); // as cancel does
                return s;
            }
        }
    }

    private boolean tryDisarm(TimerNode t, long w, boolean forGood) {
        int s = state(w);
        int to;
        if (isQueued(s)) {
            to = forGood ? CANCELLED_QUEUED : DELETED_QUEUED; // counted by the drain
        } else if (isRunning(s)) {
            to = forGood ? RUNNING_CANCELLED : RUNNING;
        } else {
            to = forGood ? CANCELLED : s == NO_STATUS ? REMOVED : DELETED;
        }
        if (!t.casWord(w, word(w, deadline(w), to))) {
            return false;
        }
        if (isArmed(s)) {
            leave();
            if (s == RUNNING_ARMED) {
                ledger.add(STOP);
            } else if (isQueued(s)) {
                callForStale();
            } else {
                tidyUp(ledger.add(DEAD + STOP));
            }
        }
        return true;
    }

    /** The own run, about to end, chooses another time for its next firing; nothing if that was stopped meanwhile. */
    void retime(TimerNode t, long when) {
        for (long w = t.wordVolatile(); state(w) == RUNNING_ARMED; w = t.wordVolatile()) {
            if (t.casWord(w, word(w, when, RUNNING_ARMED))) {
                return;
            }
        }
    }

    /** Makes a stopped timer run on the calling thread, which must fire it and call endRun; false if not stopped. */
    boolean claimStopped(TimerNode t) {
        if (isQueued(state(t.wordVolatile()))) {
            unlinkStopped(t);
        }
        for (long w = t.wordVolatile(); state(w) == REMOVED || state(w) == DELETED; w = t.wordVolatile()) {
            if (t.casWord(w, word(w | PLACED, deadline(w), RUNNING))) { // a deleted one leaves its entry behind
                return true;
            }
        }
        return false;
    }

    /** Takes a stopped timer out of the inbox; those in line go into the heap, as a line is not searched. */
    private void unlinkStopped(TimerNode t) {
        lock.lock();
        try {
            for (int tries = 0; tries < 2 && isQueued(state(t.wordVolatile())); tries++) {
                backlog.prependAll(ready);
                lineClosed = true;
                shortage.passNow();
                drainFully();
                while (shortage.isPassing() && isQueued(state(t.wordVolatile()))) {
                    lock.giveWay();
                    drain();
                }
            }
            if (isQueued(state(t.wordVolatile()))) {
                dropStopped(backlog); // another thread has opened the line again
                dropStopped(ready);
            }
        } finally {
            lineClosed = false;
            lock.unlock();
        }
    }

    /** Arms a timer anew, whatever it did before; true if that replaced a firing that was to come. */
    boolean reset(TimerNode t, long when) {
        if (keepOrder) {
            drainNow();
        }
        try {
            return rearm(t, when);
        } catch (Error e) {
            pushFailed = true; // whatever it has not done: see QueueFields
            wakeFailed = true;
            throw e;
        }
    }

    private boolean rearm(TimerNode t, long when) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            long old = deadline(w);
            boolean later = when >= old && !keepOrder;
            if (closed && !isCancelled(s)) { // after the word, see Closing
                throw rejected();
            }
            switch (s) {
                case MOVING:
                case MODIFIED_EARLIER:
                    if (t.casWord(w, word(w, when, s))) {
                        resets.increment();
                        if (when < old) {
                            wakeIfBefore(when); // the CAS of the word stands for the push
                        } else if (wakeFailed) {
                            wakeAgain(); // perhaps it was for this timer
                        }
                        return true;
                    }
                    break;
                case WAITING:
                case MODIFIED_LATER:
                    if (later) {
                        if (t.casWord(w, word(w, when, MODIFIED_LATER))) {
                            resets.increment();
                            return true;
                        }
                    } else {
                        helpIfDeep();
                        if (tryPost(t, w, word(w | PLACED, when, MODIFIED_EARLIER))) {
                            resets.increment();
                            tidyUp(ledger.add(DEAD)); // that can wait until the timer is in the inbox
                            return true;
                        }
                    }
                    break;
                case DELETED:
                    enter();
                    if (later) {
                        // No wake: nobody sleeps beyond the key of an entry that is still there.
                        if (t.casWord(w, word(w, when, MODIFIED_LATER))) {
                            ledger.add(-DEAD);
                            return false;
                        }
                    } else {
                        helpIfDeep();
                        if (tryPost(t, w, word(w | PLACED, when, MODIFIED_EARLIER))) {
                            return false;
                        }
                    }
                    leave();
                    break;
                case NO_STATUS:
                case REMOVED:
                    helpIfDeep();
                    enter();
                    boolean kept = s == NO_STATUS && t.isSignal(t.task()); // before the CAS: a cancel drops the task
                    if (tryPost(t, w, word(w, when, MOVING))) {
                        return kept;
                    }
                    leave();
                    break;
                case DELETED_QUEUED:
                    enter();
                    if (t.casWord(w, word(w, when, MOVING))) {
                        ledger.add(STOP); // the drain will not see that it was stopped
                        wakeIfBefore(when); // whoever went to sleep meanwhile may have left it out
                        return false;
                    }
                    leave();
                    break;
                case RUNNING:
                    enter();
                    if (t.casWord(w, word(w, when, RUNNING_ARMED))) {
                        if (closed) {
                            settle(t, w, when);
                        }
                        return false;
                    }
                    leave();
                    break;
                case RUNNING_ARMED:
                    if (t.casWord(w, word(w, when, RUNNING_ARMED))) {
                        resets.increment();
                        return true;
                    }
                    break;
                default:
                    throw new IllegalStateException("the timer was cancelled, so it cannot be reset");
            }
        }
    }

    /** Takes the firing that waits for a receiver; false if another thread was quicker. */
    boolean receive(TimerNode t, long w) {
        return t.casWord(w, word(w, deadline(w), REMOVED));
    }

    // ---- the inbox ----

    private boolean push(TimerNode t) {
        for (;;) {
            TimerNode head = inboxVolatile();
            if (head == CLOSED) {
                return false;
            }
            if (head == RETIRED) {
                if (scheduler.gone().bringBack(this)) {
                    continue;
                }
                return false;
            }
            t.next = head == null ? END : head; // plain: published by the CAS
            if (casInbox(head, t)) {
                // The timer is in the inbox, so nothing must be thrown from here on, not even by one more call.
                try {
                    setDepthOpaque(depthOpaque() + 1);
                } catch (StackOverflowError e) {
                    return true; // the depth is a hint
                }
                return true;
            }
        }
    }

    /** Pushes what a thread has left in posts because it was out of stack. Lock held. */
    private void pushAgain() {
        pushFailed = false; // before the look: another may be left there meanwhile
        Posts p = posts;
        if (p != null) {
            p.takeIf(t -> t.next == UNPUSHED && pushAgain(t));
        }
    }

    private boolean pushAgain(TimerNode t) {
        for (;;) {
            TimerNode head = inboxVolatile();
            if (head == CLOSED || head == RETIRED) { // these come under the lock: it was collected, or must wait
                pushFailed = head == RETIRED;
                return false;
            }
            t.next = head == null ? END : head;
            if (casInbox(head, t)) {
                return true;
            }
        }
    }

    /** Changes the word to say that the timer is in the inbox, then pushes it; false if another thread was quicker. */
    private boolean tryPost(TimerNode t, long w, long to) {
        boolean pushed;
        boolean pushing = false;
        Posts p = posts;
        if (p == null) {
            p = makePosts();
        }
        int slot = p.enter(t);
        try {
            if (closed || !t.casWord(w, to)) { // after it has entered, see Closing
                return false;
            }
            pushing = true;
            pushed = push(t);
            pushing = false;
            if (!pushed) {
                settle(t, w, deadline(to));
            }
        } finally {
            if (pushing) { // out of stack, so by a store alone; reset does the rest
                t.next = UNPUSHED;
            } else {
                p.leave(slot, t);
            }
        }
        if (pushed) {
            wakeFor(t);
        }
        return true;
    }

    private synchronized Posts makePosts() {
        if (posts == null) {
            posts = new Posts();
        }
        return posts;
    }

    /**
     * After a push of a timer that other threads could reach before it was pushed. One of them may have brought it
     * forward by a CAS of the word alone, and its wake came too early: the keeper found nothing in the inbox. So this
     * thread wakes the keeper for the deadline that it reads now. A reset after this reading comes after the push, too,
     * so its own wake suffices. The same goes for a stop in the inbox and the call for a late drain.
     *
     * <p>The keeper is woken for a timer that was filed and stopped in between, too: a reset that makes the entry live
     * again relies on the keeper not to sleep beyond it.
     */
    private void wakeFor(TimerNode t) {
        long w = t.wordVolatile();
        if (isQueued(state(w)) && !isArmed(state(w))) {
            callForStale();
        } else {
            wakeIfBefore(deadline(w));
        }
    }

    /** After something was armed, see above. */
    private void wakeIfBefore(long when) {
        for (long a = arrivalsVolatile(); when < a; a = arrivalsVolatile()) {
            if (casArrivals(a, when)) {
                break;
            }
        }
        callIfBefore(when);
    }

    private void callIfBefore(long when) {
        long p = pollUntilVolatile();
        if (when < p) {
            // The call of a method may be one too many for the calling thread's stack. A store to a field is not.
            try {
                if (casPollUntil(p, AWAKE)) {
                    wakeKeeper();
                    if (p == Timeline.NEVER && scheduler != null) {
                        scheduler.firstIsArmed();
                    }
                }
            } catch (Throwable e) {
                wakeFailed = true;
                throw e;
            }
        } else if (wakeFailed) {
            wakeAgain();
        }
    }

    private void wakeKeeper() {
        Keeper k = keeper;
        if (k != null) { // else a manual clock's advance has just taken the queue over, and no thread sleeps for it
            k.wake();
        }
    }

    private void wakeAgain() {
        try {
            wakeFailed = false; // before the wake: another may fail meanwhile
            wakeKeeper();
        } catch (Throwable e) {
            wakeFailed = true;
            throw e;
        }
    }

    private void helpIfDeep() {
        if (depthOpaque() >= HELP_DEPTH) {
            helpDrain();
        }
    }

    /**
     * Before the own push: a timer that is about to be stopped at once must not go into the heap alive. If another thread
     * has the lock, or waits for it, that one drains. While more arrives than it can file the arming threads leave it
     * their processors.
     */
    private void helpDrain() {
        if (!lock.hasQueuedThreads() && lock.tryLock()) {
            try {
                helps++;
                if (isAsked() && !keepOrder) {
                    ripen();
                } else {
                    drain();
                }
            } finally {
                lock.unlock();
            }
            sweepToHardBound();
        } else if (depthOpaque() >= YIELD_DEPTH) {
            Thread.yield();
        }
    }

    private void drainNow() {
        lock.lock();
        try {
            drainFully();
        } finally {
            lock.unlock();
        }
    }

    /*
     * Slices. A hold of the lock visits no more than HoldLock.MAX_VISITS timers, so a drain may need several: it takes
     * the inbox as it is, turns that chain round, and appends it to the backlog when the chain is complete, which keeps
     * the order of arming; then it files the backlog. Only then is the inbox looked at again. What is between inbox and
     * heap is as good as in the inbox to all others. It is "something to do": no keeper sleeps meanwhile (wakeTime), and
     * a drain whose result is false stands for R1 in no proof.
     */

    /**
     * Files what has been armed, in the order of arming, as far as one hold of the lock may.
     *
     * @return false if there is something left: then the inbox may not have been looked at
     */
    boolean drain() {
        assert lock.isHeldByCurrentThread();
        backlog.appendAll(young);
        boolean looked = false;
        int counted = 0;
        for (;;) {
            fileBacklog(backlog.size() - counted);
            if (!backlog.isEmpty()) {
                return leaveRest();
            }
            if (reversal.isEmpty()) {
                settled = taken;
                if (looked) {
                    return !shortage.isOn() || lookAtParked();
                }
                if (isAsked() && arrivalsVolatile() != Timeline.NEVER) {
                    setArrivalsVolatile(Timeline.NEVER); // before the inbox is looked at, see above
                }
                takeInbox();
                looked = true;
            }
            counted = turn(backlog);
            if (!reversal.isEmpty()) {
                return leaveRest();
            }
        }
    }

    /** Whether an inbox that begins so holds timers. */
    private static boolean isTimer(TimerNode head) {
        return head != null && head != CLOSED && head != RETIRED;
    }

    /** The next arming thread goes on. */
    private boolean leaveRest() {
        setDepthOpaque(Math.max(depthOpaque(), HELP_DEPTH));
        return false;
    }

    /** Lock held, and released between slices: until all is filed that was pushed before this call. */
    void drainFully() {
        for (long before = taken; !drain() && settled <= before; ) {
            lock.giveWay();
        }
    }

    private void takeInbox() {
        taken++;
        if (pushFailed) {
            pushAgain();
        }
        TimerNode head = inboxVolatile();
        if (isTimer(head)) { // the others come only under this lock
            overdue.forgetInbox();
            setDepthOpaque(0);
            reversal.begin(swapInbox(null));
        }
    }

    /** Goes on with the chain, which joins a line when it is complete; returns how many were visited. */
    private int turn(Backlog line) {
        int turned = reversal.turn(Math.max(0, lock.left() - SPARE_VISITS));
        lock.visit(turned);
        if (reversal.isComplete()) {
            reversal.appendTo(line);
        }
        return turned;
    }

    /** As far as this hold may; {@code uncounted} of them have not been visited in it. */
    private void fileBacklog(int uncounted) {
        for (int left = uncounted; !backlog.isEmpty(); left--) {
            if (!mayVisit(left)) {
                return;
            }
            file(backlog.removeFirst());
        }
    }

    /** Drops what was stopped and files what is old; the younger half may be stopped yet, before it is in the heap. */
    private void ripen() {
        if (reversal.isEmpty()) {
            takeInbox();
        }
        int old = backlog.size();
        int counted = turn(young);
        for (int left = young.size() - counted; young.size() > HELP_DEPTH / 2 && mayVisit(left); left--) {
            ripenFirst(backlog);
        }
        if (young.size() <= HELP_DEPTH / 2 && lock.left() > SPARE_VISITS + HELP_DEPTH / 2) {
            lock.visit(Math.max(0, young.size() - counted));
            for (int n = young.size(); n > 0; n--) {
                ripenFirst(young);
            }
        }
        fileBacklog(old);
        if (isUnfinished()) {
            leaveRest();
        }
    }

    private boolean mayVisit(int uncounted) {
        if (uncounted > 0) {
            if (lock.left() <= SPARE_VISITS) {
                return false;
            }
            lock.visit(1);
        }
        return true;
    }

    /** Of the young: it moves to another line if it is armed. */
    private void ripenFirst(Backlog line) {
        TimerNode t = young.removeFirst();
        if (!unlinkUnlessArmed(t)) {
            line.append(t);
        }
    }

    /** Whether something is on its way from the inbox to the heap, and may be filed at once. */
    private boolean isUnfinished() {
        return !reversal.isEmpty() || !backlog.isEmpty() || shortage.isPassing();
    }

    private boolean isAsked() {
        return owner != null && owner.asksForArrivals();
    }

    /*
     * Memory shortage. If the heap cannot grow, it keeps the timers that are due early: one that is filed makes room by
     * parking another, which is due later. So what is due soon needs no memory, and what is parked (Shortage) is looked
     * at before it is due. What is parked is in the inbox to all others: its state is MOVING or MODIFIED_EARLIER, and
     * stop and reset need the word alone. A reset that brings it forward wakes the keeper in vain; the next look finds
     * it, and so it may be late by the time between two looks.
     *
     * With a manual clock the order of arming counts, and time stands still: there nothing makes room, and each drain
     * tries to grow.
     */

    private boolean isFull() {
        return heap.size() == heap.capacity();
    }

    private boolean hasRoom() {
        if (keepOrder && !shortage.parked.isEmpty() && !shortage.isPassing()) {
            return false; // it would overtake those
        }
        return !isFull() || grow();
    }

    private boolean grow() {
        long began = timeline.now();
        if (!keepOrder && !shortage.mayTry(began)) {
            return false;
        }
        try {
            heap.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            long now = timeline.now();
            shortage.failed(e, now, now - began);
            lock.setScarce(true);
            return false;
        }
    }

    private boolean hasPlace() {
        if (sparePlace == null && (!shortage.isOn() || shortage.mayTryPlace(timeline.now()))) {
            try {
                sparePlace = new Place();
            } catch (OutOfMemoryError e) {
                shortage.failedPlace(e, timeline.now());
                lock.setScarce(true);
            }
        }
        return sparePlace != null;
    }

    /** By parking what is due later; only the last entries are looked at, as such are. */
    private boolean makeRoomFor(long when) {
        for (int i = heap.size() - 1, end = Math.max(0, i - MAKE_ROOM_VISITS); i >= end && !keepOrder; i--) {
            if (lock.left() <= SPARE_VISITS) {
                return false;
            }
            lock.visit(1);
            if (isDead(i)) {
                heap.removeAt(i);
                exhumed(1);
                return true;
            }
            if (heap.key(i) > when && park(i)) {
                return true;
            }
        }
        return false;
    }

    /** Tells the calling thread's uncaught-exception handler that memory was short. */
    void reportShortage() {
        if (!shortage.hasReport()) {
            return;
        }
        OutOfMemoryError e;
        lock.lock();
        try {
            e = shortage.takeReport();
        } finally {
            lock.unlock();
        }
        if (e != null) {
            try {
                TimerScheduler.reportUncaught(new IllegalStateException("memory was short: the heap of worker "
                        + index + " could not grow for a while, so that arming may have been rejected", e));
            } catch (OutOfMemoryError again) {
                TimerScheduler.reportUncaught(e);
            }
        }
    }

    /** Lock held. False if the entry has died at this moment. */
    boolean park(int i) {
        TimerNode t = heap.node(i);
        long w = t.wordVolatile();
        boolean filed = state(w) == WAITING || state(w) == MODIFIED_LATER;
        if (!filed || !isInPlace(i, w) || !t.casWord(w, word(w, deadline(w), MOVING))) {
            return false;
        }
        if (sparePlace == null && t.next instanceof Place p) {
            sparePlace = p;
        }
        t.next = null; // after the CAS: until then a reset may push the timer
        heap.removeAt(i);
        shortage.parked.append(t);
        return true;
    }

    /** A part of a pass, if one is due; true if none is under way then. */
    private boolean lookAtParked() {
        long now = timeline.now();
        if (!shortage.isPassing() && (keepOrder || now >= shortage.lookAt())) {
            shortage.beginPass(now);
        }
        if (shortage.isPassing()) {
            boolean room = !isFull() || grow();
            while (shortage.isPassing() && mayVisit(1)) {
                TimerNode t = shortage.next();
                long w = t.wordVolatile();
                if (isArmed(state(w)) && isFull() && !shortage.isNear(deadline(w)) && !(room && grow())) {
                    room = false;
                    shortage.parked.append(t);
                } else {
                    file(t);
                }
            }
            shortage.passed(now);
        }
        if (shortage.parked.isEmpty() && heap.capacity() - heap.size() > heap.capacity() >> 4) {
            shortage.ended();
            lock.setScarce(false);
        } else {
            setDepthOpaque(Math.max(depthOpaque(), HELP_DEPTH)); // see refuseIfShort
        }
        return !shortage.isPassing();
    }

    /** Takes out of the inbox: what was stopped is dropped. */
    private void file(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == MOVING && t.isForNow() && !keepOrder && !lineClosed && fitsReady(deadline(w))) {
                ready.append(t);
                return;
            }
            if (s == MOVING || s == MODIFIED_EARLIER) {
                boolean placed = keepOrder && isPlaced(w);
                if (placed && !hasPlace() || !hasRoom() && !makeRoomFor(deadline(w))) {
                    shortage.parked.append(t);
                    return;
                }
                if (placed) { // before the CAS: after it a reset may push the timer
                    sparePlace.seq = heap.nextSeq();
                    t.next = sparePlace;
                }
                if (t.casWord(w, word(w, deadline(w), WAITING))) {
                    if (placed) {
                        sparePlace = null;
                    }
                    heap.push(deadline(w), t);
                    return;
                }
                t.next = null;
            } else if (unlink(t, w)) {
                return;
            }
        }
    }

    /** A stopped or cancelled timer leaves the inbox; false if its word is no longer {@code w}. */
    private boolean unlink(TimerNode t, long w) {
        if (t.casWord(w, word(w, deadline(w), state(w) == DELETED_QUEUED ? REMOVED : CANCELLED))) {
            stops++;
            return true;
        }
        return false;
    }

    /**
     * Of equal deadlines the heap's come first, so all that are equal to the last one in line must join it, however
     * long the line is.
     */
    private boolean fitsReady(long when) {
        if (ready.isEmpty()) {
            return true;
        }
        long last = deadline(ready.last().wordVolatile());
        return ready.size() < READY_MAX ? when >= last : when == last;
    }

    // ---- what the driver does, lock held ----

    /** Claims the earliest due timer into {@code run}; false if none is due. */
    boolean claimDue(long now, Run run, boolean stealing) {
        assert lock.isHeldByCurrentThread();
        int dropped = 0;
        try {
            // Bounded, as somebody else may want the lock: prepareToSleep goes on with what is left.
            for (int visits = 0; visits < CLEAN_CHUNK; visits++) {
                boolean inLine = readyWhen() < heap.topKey();
                long when = earliest();
                if (when > now) {
                    return false;
                }
                lock.visit(1);
                TimerNode t = inLine ? ready.first() : heap.top();
                long w = t.wordVolatile();
                if (inLine ? state(w) == MOVING && deadline(w) == when : isTopLive(w)) {
                    Runnable task = t.task(); // before the CAS, see cancel
                    long next = t.nextAfter(when, now);
                    if (t.casWord(w, next == 0 ? word(w, when, t.isSignal(task) ? NO_STATUS : RUNNING)
                            : word(w, next, RUNNING_ARMED))) {
                        run.begin(t, task, when, now);
                        if (inLine) {
                            ready.removeFirst();
                        } else {
                            heap.pop();
                        }
                        if (next == 0) {
                            leave();
                        }
                        fired++;
                        if (stealing) {
                            stolen++;
                        }
                        maxLateness = Math.max(maxLateness, now - when);
                        return true;
                    }
                } else if (inLine) {
                    dropFirstReady();
                } else if (cleanTop()) {
                    dropped++;
                }
            }
            return false;
        } finally {
            setNextWhenOpaque(wakeTime(now));
            exhumed(dropped);
        }
    }

    /** When the first of those in line is due, or NEVER. */
    private long readyWhen() {
        return ready.isEmpty() ? Timeline.NEVER : deadline(ready.first().wordVolatile());
    }

    private void dropStopped(Backlog line) {
        for (int n = line.size(); n > 0; n--) {
            TimerNode t = line.removeFirst(); // before the CAS, see there
            if (!unlinkUnlessArmed(t)) {
                line.append(t);
            }
        }
    }

    /** The first in line was stopped or, should that ever happen, reset: then it is filed under its new deadline. */
    private void dropFirstReady() {
        TimerNode t = ready.removeFirst(); // before the CAS, see there
        if (!unlinkUnlessArmed(t)) {
            backlog.append(t);
        }
    }

    /**
     * Lets go of a timer that was taken out of a line because it was stopped. False if a reset has armed it again
     * meanwhile: that reset pushed nothing, as the timer was in the line, so the timer must stay in one.
     */
    private boolean unlinkUnlessArmed(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            if (isArmed(state(w))) {
                return false;
            }
            if (unlink(t, w)) {
                return true;
            }
        }
    }

    /**
     * The end of a run that was begun by claimDue; called without the lock, by whatever thread ran it. True if the
     * timer was armed again.
     */
    boolean endRun(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean again = s == RUNNING_ARMED;
            if (t.casWord(w, word(w, deadline(w), again ? MOVING : s == RUNNING ? NO_STATUS : CANCELLED))) {
                if (again) {
                    if (push(t)) {
                        wakeFor(t);
                    } else {
                        handToCloser(t);
                    }
                }
                runEnds.signal(t);
                t.ended(again);
                return again;
            }
        }
    }

    /** Whether the top entry is what its timer, whose word is {@code w}, waits for. */
    private boolean isTopLive(long w) {
        return state(w) == WAITING && isInPlace(0, w);
    }

    /** Re-keys or drops a top entry that is not live under its key; true if it was dropped. */
    private boolean cleanTop() {
        TimerNode t = heap.top();
        long w = t.wordVolatile();
        if (state(w) == MODIFIED_LATER && isInPlace(0, w)) {
            Place place = t.next instanceof Place p ? p : null; // before the CAS: after it a reset may push the timer
            if (t.casWord(w, word(w, deadline(w), WAITING))) {
                if (place != null) {
                    place.seq = heap.nextSeq();
                }
                heap.rekeyTop(deadline(w));
            }
            return false;
        }
        if (isDead(0)) {
            heap.pop();
            return true;
        }
        return false;
    }

    /** Whether an entry belongs to no armed timer; lets a deleted timer go. */
    private boolean isDead(int i) {
        TimerNode t = heap.node(i);
        for (;;) {
            long w = t.wordVolatile();
            switch (state(w)) {
                case WAITING:
                case MODIFIED_LATER:
                    if (!isInPlace(i, w)) {
                        return true;
                    }
                    if (thorough && isPlaced(w)) {
                        elect(i);
                    }
                    return false;
                case DELETED:
                    if (t.casWord(w, word(w, deadline(w), REMOVED))) {
                        return true;
                    }
                    break;
                default:
                    return true;
            }
        }
    }

    /**
     * Whether entry {@code i} is, or may be, the live one of its timer, which the word {@code w} says is filed. A link
     * that holds another timer says that a reset has brought this one forward since the word was read.
     */
    private boolean isInPlace(int i, long w) {
        if (!isPlaced(w)) {
            assert fits(i, w);
            return true;
        }
        TimerNode link = heap.node(i).next;
        return link == null ? !keepOrder && fits(i, w) : link instanceof Place p && p.seq == heap.seq(i);
    }

    private boolean fits(int i, long w) {
        return state(w) == WAITING ? deadline(w) == heap.key(i) : deadline(w) >= heap.key(i);
    }

    /**
     * Makes an entry that may be the live one of its timer the only one that is. By a CAS from null, as a reset may bring
     * the timer forward at this moment: it writes the link, never null, before its push, and from then on this fails.
     */
    private void elect(int i) {
        TimerNode t = heap.node(i);
        if (t.next == null) {
            try {
                Place p = new Place();
                p.seq = heap.seq(i);
                t.linkIfUnlinked(p);
            } catch (OutOfMemoryError e) {
                return; // the entries stay alike
            }
        }
    }

    /**
     * Publishes until when the keeper sleeps.
     *
     * @return that deadline; or GO_ROUND if there is still something to do, or NOT_KEEPER if another has taken over
     */
    long prepareToSleep(Keeper me, long now) {
        lock.lock();
        try {
            if (keeper != me) {
                return NOT_KEEPER;
            }
            if (!drain()) {
                setNextWhenOpaque(wakeTime(now));
                return GO_ROUND;
            }
            if (!wantsSweep() && !cleanTops(Timeline.NEVER)) { // a sweep drops many at less cost than so many pops
                return GO_ROUND;
            }
            heap.trim();
            setNextWhenOpaque(wakeTime(now));
            planLateSweep(now);
            long p = Math.min(ahead(wakeTime(now), now), lateSweepAt);
            publish(p, now); // W1
            if (!drain() || wakeTime(now) < p || missesStale()) { // R1
                setPollUntilVolatile(AWAKE);
                return GO_ROUND;
            }
            return p;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The same for a loop. It gets up for other reasons, too, so a long sleep is not divided; and it comes by so often
     * that timers are left in the inbox, and put-off ones under their old keys, until they could be due.
     */
    long prepareToWait(Keeper me, long now) {
        lock.lock();
        try {
            if (keeper != me) {
                return NOT_KEEPER;
            }
            if (isDrainDue(now) && !drain()) {
                setNextWhenOpaque(wakeTime(now));
                return GO_ROUND;
            }
            if (!wantsSweep() && !cleanTops(Timeline.plus(now, LAZY_NANOS))) {
                return GO_ROUND;
            }
            heap.trim();
            setNextWhenOpaque(wakeTime(now));
            planLateSweep(now);
            long p = Math.min(Math.min(wakeTime(now), arrivalsVolatile()), lateSweepAt);
            publish(p, now); // W1
            if (arrivalsVolatile() < p || missesStale()) { // R1
                setPollUntilVolatile(AWAKE);
                return GO_ROUND;
            }
            return p;
        } finally {
            lock.unlock();
        }
    }

    private boolean isDrainDue(long now) {
        return keepOrder || pushFailed || arrivalsVolatile() <= now || isUnfinished() || now >= lateSweepAt
                || now >= shortage.lookAt();
    }

    private void publish(long until, long now) {
        stopsAtPublication = stops;
        sleepsLong = !keepOrder && until - now > lateNanos; // before W1, see callForStale
        setPollUntilVolatile(until);
    }

    /** When the keeper must be up again, as far as the heap and the backlog tell. */
    private long wakeTime(long now) {
        return Math.min(earliest(), isUnfinished() ? now : shortage.lookAt());
    }

    /**
     * A long sleep ends an eighth too early and is followed by a shorter one. That costs three sleeps more in ten
     * minutes, and spares a wake to each timer that is a little earlier than all before it.
     */
    private static long ahead(long when, long now) {
        long left = when - now;
        return left < LONG_SLEEP_NANOS || when == Timeline.NEVER ? when : when - (left >> 3);
    }

    /**
     * Until the top is live, or was put off from an instant after {@code lazyFrom}; false if there are so many dead
     * ones that somebody else should get the lock meanwhile.
     */
    private boolean cleanTops(long lazyFrom) {
        int dropped = 0;
        int visits = 0;
        while (heap.size() > 0 && visits < CLEAN_CHUNK) {
            long w = heap.top().wordVolatile();
            if (isTopLive(w) || heap.topKey() > lazyFrom && state(w) == MODIFIED_LATER) {
                break;
            }
            visits++;
            lock.visit(1);
            if (cleanTop()) {
                dropped++;
            }
        }
        exhumed(dropped);
        return visits < CLEAN_CHUNK;
    }

    /** The earliest deadline, as far as filed; it may belong to a dead entry. */
    long earliest() {
        assert lock.isHeldByCurrentThread();
        return Math.min(readyWhen(), heap.topKey());
    }

    /** The earliest deadline of an armed timer. */
    long earliestLive() {
        lock.lock();
        try {
            drainFully();
            while (!cleanTops(Timeline.NEVER)) {
                lock.giveWay();
            }
            return heap.topKey();
        } finally {
            lock.unlock();
        }
    }

    // ---- dead entries ----

    /** More dead entries than this: the driver sweeps. The racy read of the size is benign, it only shifts the bound. */
    private int softBound() {
        return Math.max(DEAD_FLOOR, heap.size() >> 2);
    }

    /**
     * More than this: who makes entries dead sweeps a little now and then. It has the timers in its processor's cache,
     * so this costs a fraction of what it costs the driver, which is called if that is not enough.
     */
    private int tidyBound() {
        return softBound() * 3 / 4;
    }

    /** More than this: whoever notices helps, as the driver does not get a processor. */
    private int hardBound() {
        return DEAD_FLOOR / 2 + (heap.size() >> 1);
    }

    boolean isOverBound() {
        int dead = ledger.dead();
        return dead > softBound() && dead > fruitless;
    }

    /** After an entry has died, and was counted. */
    private void tidyUp(int dead) {
        if (dead == 1) {
            callForStale();
        }
        if (dead > tidyBound() && dead > fruitless) {
            if ((dead % TIDY_EVERY == 0 || dead > hardBound()) && lock.tryLock()) {
                try {
                    sweepChunk();
                    sweepChunk();
                } finally {
                    lock.unlock();
                }
                sweepToHardBound();
            }
            if (isOverBound() && !sweeping) {
                callIfBefore(1); // whoever sleeps, however short, gets up to sweep
            }
        }
    }

    private void exhumed(int dropped) {
        if (dropped > 0) {
            swept += dropped;
            int dead = ledger.add(-dropped * DEAD);
            if (fruitless > 0) {
                fruitless = Math.min(fruitless, Math.max(0, dead));
            }
        }
    }

    /**
     * Whether the keeper should sweep before it sleeps. Asked after pollUntil was published: who makes an entry dead
     * counts it, then looks at pollUntil, so either the keeper sees the count or it is woken.
     */
    boolean wantsSweep() {
        return sweeping || isOverBound();
    }

    /**
     * One chunk of a sweep; true if there is more to do. The inbox is left alone: draining it at each step would bring
     * timers into the heap that are about to be stopped, and those would be the next to be swept.
     */
    boolean sweepStep() {
        lock.lock();
        try {
            if (!sweeping) {
                startSweep();
            }
            unswept -= SWEEP_CHUNK;
            sweepChunk();
            // Going on to half the bound spares the next few stops a wake.
            boolean enough = ledger.dead() <= (thorough ? 0 : softBound() / 2);
            sweeping = unswept > 0 && !enough;
            if (!sweeping) {
                fellShort = !enough && !thorough;
                thorough = false;
            }
            return sweeping || isOverBound(); // after clearing the flag, for those who saw it and woke nobody
        } finally {
            lock.unlock();
        }
    }

    private void startSweep() {
        if (fellShort) {
            startThoroughSweep();
        } else {
            sweeping = true;
            unswept = heap.size();
        }
    }

    /** Of the whole heap, with all dead entries told from live ones. */
    void startThoroughSweep() {
        lock.lock();
        try {
            fellShort = false;
            thorough = true;
            hand = heap.size(); // from the tail, so that none is missed
            sweeping = true;
            unswept = heap.size();
        } finally {
            lock.unlock();
        }
    }

    private boolean isOverHardBound() {
        int dead = ledger.dead();
        return dead > hardBound() && dead > fruitless;
    }

    /** In several holds of the lock; no more than twice the dead that a drain can bring. */
    private void sweepToHardBound() {
        for (int chunks = 4 * HELP_DEPTH / SWEEP_CHUNK; chunks > 0 && isOverHardBound() && lock.tryLock(); ) {
            try {
                for (; chunks > 0 && isOverHardBound() && lock.left() > SWEEP_CHUNK + SPARE_VISITS; chunks--) {
                    sweepChunk();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Drops the dead entries among the next slots, round and round from the tail to the top. In a round that began at
     * the tail the last entry, which takes the place of a dropped one, has been visited before.
     */
    private void sweepChunk() {
        assert lock.isHeldByCurrentThread();
        int dropped = 0;
        int slots = Math.min(lock.left(), Math.min(SWEEP_CHUNK, heap.size()));
        lock.visit(slots);
        for (int visited = 0; visited < slots && heap.size() > 0; visited++) {
            if (hand <= 0 || hand > heap.size()) {
                hand = heap.size();
            }
            if (isDead(--hand)) {
                dropped++;
                if (thorough) {
                    dropped += dropUntilVisited();
                } else {
                    heap.removeAt(hand); // what comes here, if not visited before, has its turn in the next round
                }
            }
        }
        exhumed(dropped);
        visitedInVain = dropped > 0 ? 0 : visitedInVain + slots;
        if (visitedInVain >= heap.size()) {
            visitedInVain = 0;
            if (thorough) {
                fruitless = ledger.dead();
            } else if (!sweeping) { // only threads that make entries dead have swept
                thorough = true;
            }
        }
        heap.trim();
    }

    /**
     * Drops the entry that the hand is at, and visits what comes there if that is an entry that was not visited before: a
     * parent, if the last entry went further up. Returns how many more were dropped.
     */
    private int dropUntilVisited() {
        for (int more = 0; ; more++) {
            int last = heap.seq(heap.size() - 1);
            heap.removeAt(hand);
            if (hand >= heap.size() || heap.seq(hand) == last) {
                return more;
            }
            if (lock.left() <= 0) {
                hand++; // the next hold looks at this slot
                return more;
            }
            lock.visit(1);
            if (!isDead(hand)) {
                return more;
            }
        }
    }

    /*
     * Late sweeps. Below the bound dead entries would stay until their keys surface, which may take hours, and each
     * keeps its timer's task alive. So the keeper sleeps no longer than LATE_NANOS while there are dead entries or, in
     * the inbox of a loop, timers that may have been stopped; then it drains and sweeps the whole heap. A pass that took
     * t is not repeated within LATE_SHARE * t.
     *
     * A keeper that found nothing of that kind may sleep for hours. It says so (sleepsLong) before it publishes
     * pollUntil, and reads the count of dead entries after that; a thread that makes the first entry dead, or stops a
     * timer in the inbox, reads sleepsLong after that. So, as in the proof above, one of them sees the other, and the
     * keeper is woken once. To be woken for each of many such stops would cost more than they are worth: so if drains
     * have dropped stopped timers since the last publication, the next sleep is limited, too.
     */

    private void planLateSweep(long now) {
        if (keepOrder || isClosed()) { // a manual clock's advance and its loops look at everything anyway
            lateSweepAt = Timeline.NEVER;
            return;
        }
        if (lateSweepBegan > 0 && !sweeping) { // it has ended
            long pause = Math.max(lateNanos, LATE_SHARE * (now - lateSweepBegan));
            lateSweepBegan = 0;
            lateSweepAt = Timeline.plus(now, pause);
        }
        boolean stale = ledger.dead() > 0 || hasMail();
        if (!stale && stops == stopsAtPublication) {
            lateSweepAt = Timeline.NEVER;
        } else if (lateSweepAt == Timeline.NEVER) {
            lateSweepAt = Timeline.plus(stale ? plannedAt : now, lateNanos);
        }
        if (now >= lateSweepAt && lateSweepBegan == 0) {
            lateSweepAt = Timeline.plus(now, lateNanos);
            if (ledger.dead() > 0) {
                lateSweepBegan = now;
                startThoroughSweep();
            }
        }
        plannedAt = now;
    }

    /** Whether there is something for a late sweep that planLateSweep did not see. */
    private boolean missesStale() {
        return lateSweepAt == Timeline.NEVER && ledger.dead() > 0 && !keepOrder;
    }

    /** After the first entry has died, or a timer was stopped in the inbox. */
    private void callForStale() {
        if (sleepsLong) {
            callIfBefore(1);
        }
    }

    // ---- the keeper, and what it and thieves need ----

    void lock() {
        lock.lock();
    }

    boolean tryLock() {
        return lock.tryLock();
    }

    void unlock() {
        lock.unlock();
    }

    Keeper keeper() {
        return keeper;
    }

    Keeper owner() {
        return owner;
    }

    /** Lock held, unless nobody else knows this queue yet. */
    void setOwner(Keeper owner) {
        this.owner = owner;
    }

    /** Whether nobody but the owner may run what is due. Never so of a queue that was armed for anybody. */
    boolean isConfined() {
        Keeper k = owner;
        return k != null && k.isConfined();
    }

    /** Lock held, and released between slices. Files what has arrived, up to a bound, and lets thieves know of it; the earliest deadline. */
    long survey(long now) {
        for (int slices = 1; !drain() && slices < SURVEY_SLICES; slices++) {
            lock.giveWay();
        }
        setNextWhenOpaque(wakeTime(now));
        return earliest();
    }

    /** Lock held. The earliest deadline, as far as filed or as the inbox tells. */
    long earliestTold() {
        return Math.min(earliest(), isAsked() ? arrivalsVolatile() : Timeline.NEVER);
    }

    /** Whether there may be an armed timer here. Racy: see Monitor. */
    boolean mayBeArmed() {
        TimerNode head = inboxVolatile();
        return head != CLOSED && (isTimer(head) && head != overdue.settled || isAnyFiled() || isTakenOut());
    }

    /** Whether an armed timer is filed, as far as is counted. */
    boolean isAnyFiled() {
        return !ready.isEmpty() || heap.size() > ledger.dead();
    }

    private boolean isTakenOut() {
        return !reversal.isEmpty() || !backlog.isEmpty() || !young.isEmpty() || !shortage.parked.isEmpty();
    }

    /** Lock held. The first of those that were taken out of the inbox and are not filed yet, or null. */
    TimerNode firstTakenOut() {
        return !backlog.isEmpty() ? backlog.first() : !young.isEmpty() ? young.first()
                : !reversal.isEmpty() ? reversal.any() : shortage.parked.firstOrNull();
    }

    /** Lock held. Whose deadline is the earliest, or null; it may be dead. */
    TimerNode first() {
        if (readyWhen() < heap.topKey()) {
            return ready.first();
        }
        return heap.size() > 0 ? heap.top() : null;
    }

    /** Lock held. A loop comes by: what is filed from now on, and not due before now, is for its next visit. */
    void beginVisit(long now) {
        if (isDrainDue(now)) {
            drainFully();
        }
        planLateSweep(now); // as its thread may never say that it waits
        visitSeq = heap.nextSeq();
        visitLine = ready.removed() + ready.size();
    }

    /** Lock held. Whether what is first is due, and for this visit. */
    boolean isForVisit(long now) {
        if (earliest() <= now) {
            cleanTops(Timeline.NEVER); // or a claim would drop what is dead and take what comes behind it
        }
        long when = earliest();
        return when < now || when == now
                && (readyWhen() < heap.topKey() ? ready.removed() < visitLine : heap.seq(0) - visitSeq < 0);
    }

    /** Lock held. Makes {@code me}, which is up, the one who sleeps for this queue; null if none does. */
    void keep(Keeper me) {
        assert lock.isHeldByCurrentThread();
        keeper = me;
        stalled = false;
        setPollUntilVolatile(AWAKE);
    }

    /**
     * Lock held. Makes {@code to}, which sleeps until an instant that is known, the keeper. True if it must be woken,
     * since something here needs it earlier; what is due may wait for {@code grace}.
     */
    boolean lend(Keeper to, long until, long now, long grace) {
        assert lock.isHeldByCurrentThread();
        keeper = to;
        drain();
        planLateSweep(now);
        publish(until, now); // W1
        boolean complete = drain(); // R1
        long needed = Math.min(wakeTime(now), lateSweepAt);
        if (!complete || needed != Timeline.NEVER && Math.max(needed, now + grace) < until || wantsSweep()
                || missesStale()) {
            setPollUntilVolatile(AWAKE);
            return true;
        }
        return false;
    }

    /** Looks at every timer that is filed here; each armed one once, stopped ones perhaps. */
    void forEach(Consumer<TimerNode> look) {
        lock.lock();
        try {
            drainFully();
            assert reversal.isComplete();
            backlog.forEach(look);
            shortage.parked.forEach(look);
            ready.forEach(look);
            for (int i = 0; i < heap.size(); i++) {
                look.accept(heap.node(i));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lock held: something may be waiting in the inbox, or something taken from it could not be filed. */
    boolean hasMail() {
        return isTimer(inboxVolatile()) || isTakenOut() || pushFailed;
    }

    // ---- leaving the scheduler's queues, and coming back: see GoneQueues ----

    /** Makes {@code to} owner and keeper; null with a manual clock, whose advance runs what is due. */
    void giveTo(QueueRunner to) {
        lock.lock();
        try {
            give(to);
        } finally {
            lock.unlock();
        }
    }

    private void give(QueueRunner to) {
        assert lock.isHeldByCurrentThread();
        owner = to;
        keep(to);
        drain(); // so that arrivals says what the owner asks for
    }

    /** As giveTo, when the loop has gone that the queue was made for. */
    void leaveTo(QueueRunner heir) {
        lock.lock();
        try {
            left = true;
            give(heir);
        } finally {
            lock.unlock();
        }
    }

    /** Whether it may be worth to try and retire this queue. The racy read of the size is benign. */
    boolean seemsVacant() {
        return left && heap.size() <= ledger.dead() && inboxVolatile() == null;
    }

    /** True if nothing was armed here and no callback of this queue runs: then the inbox takes no more timers. */
    boolean retire() {
        lock.lock();
        try {
            // Not all at once, if there is much to drain or to clean: then the next attempt goes on.
            boolean vacant = left && drain() && cleanTops(Timeline.NEVER) && heap.size() == 0 && ready.isEmpty()
                    && !isTakenOut();
            if (!vacant || scheduler.isAnyRunning(t -> t.queue == this) || !casInbox(null, RETIRED)) {
                return false;
            }
            sweeping = false;
            lateSweepAt = Timeline.NEVER;
            lateSweepBegan = 0;
            setNextWhenOpaque(Timeline.NEVER);
            release();
            return true;
        } finally {
            lock.unlock();
        }
    }

    boolean isRetired() {
        return inboxVolatile() == RETIRED;
    }

    /** Ends the retirement. The owner first, so that each push finds a keeper to wake; null if it is closed next. */
    void comeBackTo(QueueRunner heir) {
        lock.lock();
        try {
            give(heir);
            setPollUntilVolatile(Timeline.NEVER); // the owner may sleep, and has nothing to do before the push
            casInbox(RETIRED, null);
        } finally {
            lock.unlock();
        }
    }

    /** No thread sleeps for this queue any more, nor does it keep its last owner in memory. */
    void disown() {
        lock.lock();
        try {
            release();
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        assert lock.isHeldByCurrentThread();
        owner = null;
        keep(null);
        overdue.forgetInbox();
        overdue.keeper = null;
    }

    /** Returns the figures of a queue that is closed or retired, and begins anew from zero. */
    TimerStats.Worker takeFigures() {
        lock.lock();
        try {
            long stopped = stops + ledger.stops();
            long reset = resets.sum();
            TimerStats.Worker figures = new TimerStats.Worker(fired + stopped + reset + unfired, fired, stopped, reset,
                    unfired, 0, 0, 0, swept, stolen, helps, maxLateness);
            fired = 0;
            stops -= stopped;
            stopsAtPublication = stops;
            resets.add(-reset);
            unfired = 0;
            swept = 0;
            stolen = 0;
            helps = 0;
            maxLateness = 0;
            return figures;
        } finally {
            lock.unlock();
        }
    }

    // ---- closing ----

    /*
     * Closing
     *
     * A reset that has returned has armed the timer: that arming runs, is stopped or replaced, or is collected. A reset
     * that throws has changed nothing. The closing thread takes these steps, the first four in one hold of the lock:
     *
     *     C1  closed = true
     *     C2  inbox = CLOSED
     *     C3  collects what is in the inbox, the lines and the heap
     *     C4  collects what is in posts
     *     C5  looks at what runs (collectRunning)
     *     C6  late = null, under the lock; what was in it is collected
     *
     * A reset reads the word (A1), enters posts if it will have to push (A2), reads closed (A3) and is refused if it is
     * true, changes the word by a CAS (A4), and pushes, or in a run reads closed again (A5). All are volatile, but for
     * A2, which A4 orders.
     *
     * 1. Once A4 of some reset comes after C1, no other reset of that timer succeeds: if its A1 comes after that A4,
     *    its A3 reads true; if it comes before, its CAS fails.
     * 2. A4 before C1, and the word says that the timer is in the inbox, a line or the heap: it is there, and C3 meets
     *    it; or its push is still to come. Then its pusher's A2 came before its A4, so before C1, and C4 meets it. Or
     *    the pusher is a run that is about to end: see 4. So what such a reset has armed is collected, and it has
     *    returned normally.
     * 3. A4 after C1. If the timer was where C3 or C4 finds it, they have changed the word, so A4 comes before that
     *    step, and the arming is collected. Else it was at rest, its push finds the inbox closed, and by 1 the arming in
     *    the word is the own one or has been stopped. This reset settles it under the lock: before C6 it is collected,
     *    after C6 undone and refused.
     * 4. In a run. A4 before C5: C5 meets the arming, in its run or when the run has just ended (MOVING); or the run
     *    ended before C5, and found the inbox closed: then it hands the arming to late, before C6. A4 after C5: by 1 it
     *    is the only one, and A5 reads true; the reset settles it as in 3. A run that ends after C6 with an arming
     *    leaves it to that reset. Settling leaves alone any arming with another deadline: then the own one has run
     *    meanwhile.
     */

    boolean isClosed() {
        return closed;
    }

    RejectedExecutionException rejected() {
        return new RejectedExecutionException(scheduler == null || scheduler.isClosed() ? "the scheduler is closed"
                : isRetired() ? "memory is short, so the timer's queue cannot take it"
                : "the loop that the timer belongs to is closed");
    }

    /**
     * Takes every armed timer out that does not run: C1 to C4. The hold is as long as there are timers: the threads that
     * might wait for the lock have no more business here, and a reset that meets the close has to wait for its end.
     * If it fails for want of memory, what it has not collected is still here, and the next call goes on.
     */
    void close(List<? super TimerNode> collected) {
        lock.lock();
        try {
            closed = true;
            reversal.turn(Integer.MAX_VALUE);
            reversal.appendTo(backlog);
            backlog.appendAll(young);
            backlog.appendAll(shortage.parked);
            overdue.forgetInbox();
            TimerNode head = swapInbox(CLOSED);
            if (head != CLOSED && head != null) {
                reversal.begin(head);
                reversal.turn(Integer.MAX_VALUE);
                reversal.appendTo(backlog);
            }
            collectAll(ready, collected);
            collectAll(backlog, collected);
            collectHeap(collected);
            Posts p = posts; // if null: a reset that makes it after this reads closed after that, and is refused
            if (p != null) {
                p.forEach(t -> collect(t, false, collected));
            }
            heap.clear();
            setNextWhenOpaque(Timeline.NEVER);
        } finally {
            lock.unlock();
        }
    }

    private void collectAll(Backlog line, List<? super TimerNode> collected) {
        while (!line.isEmpty()) {
            reserve(collected);
            collect(line.removeFirst(), true, collected);
        }
    }

    /** Entry by entry, so that what is left when memory runs out is counted right. */
    private void collectHeap(List<? super TimerNode> collected) {
        int dead = 0;
        try {
            for (int last = heap.size() - 1; last >= 0; last--) {
                if (!collect(heap.node(last), false, collected)) {
                    dead++;
                }
                heap.removeAt(last);
            }
        } finally {
            ledger.add(-dead * DEAD); // not what the ledger says: some of them may not be counted yet
        }
    }

    /** Makes room for one more before a word changes: a timer that was stopped and then not noted would be lost. */
    private static void reserve(List<? super TimerNode> collected) {
        collected.add(null);
        collected.remove(collected.size() - 1);
    }

    /** True if the timer had a live entry in the heap. */
    private boolean collect(TimerNode t, boolean fromInbox, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean armed = isArmed(s) && s != RUNNING_ARMED;
            boolean stoppedInInbox = fromInbox && isQueued(s);
            if (!armed && s != DELETED && !stoppedInInbox) {
                return false; // runs, is at rest, or was stopped before its push, which will fail and settle that
            }
            if (armed) {
                reserve(collected);
            }
            if (t.casWord(w, word(w, deadline(w), s == CANCELLED_QUEUED ? CANCELLED : REMOVED))) {
                if (armed) {
                    leave();
                    unfired++;
                    collected.add(t);
                } else if (stoppedInInbox) {
                    stops++;
                }
                return s == WAITING || s == MODIFIED_LATER;
            }
        }
    }

    /** C5. Takes the next firing of a timer that runs, or whose run is just ending. */
    void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            if (state(w) != RUNNING_ARMED && state(w) != MOVING) {
                return;
            }
            reserve(collected);
            if (t.casWord(w, word(w, deadline(w), state(w) == MOVING ? NO_STATUS : RUNNING))) {
                leave();
                lock.lock();
                try {
                    unfired++;
                } finally {
                    lock.unlock();
                }
                collected.add(t);
                return;
            }
        }
    }

    /** For a reset that has armed the timer, and then found the queue closed. */
    private void settle(TimerNode t, long before, long when) {
        lock.lock();
        try {
            for (;;) {
                long w = t.wordVolatile();
                int s = state(w);
                boolean armed = isArmed(s);
                boolean notTaken = !closed; // memory is short: see GoneQueues.bringBack
                if (!isQueued(s) && s != RUNNING_ARMED || armed && deadline(w) != when && !notTaken) {
                    return; // collected; or, in its run, stopped, or run meanwhile
                }
                boolean refused = armed && (late == null || notTaken);
                if (armed && !refused) {
                    reserve(late);
                }
                if (t.casWord(w, refused ? undone(w, before) : withdrawn(w))) {
                    if (!armed) {
                        ledger.add(STOP);
                        return;
                    }
                    leave();
                    if (refused) {
                        throw rejected();
                    }
                    unfired++;
                    late.add(t);
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The word without its arming. */
    private static long withdrawn(long w) {
        int s = state(w);
        return word(w, deadline(w), s == CANCELLED_QUEUED ? CANCELLED : s == RUNNING_ARMED ? RUNNING : REMOVED);
    }

    /** As it was before the reset, but for a run that has ended since. */
    private static long undone(long w, long before) {
        boolean ended = isRunning(state(before)) && !isRunning(state(w));
        return word(w, deadline(before), ended ? NO_STATUS : state(before));
    }

    /** The run has ended with an arming, and found the inbox closed. */
    private void handToCloser(TimerNode t) {
        lock.lock();
        try {
            for (;;) {
                long w = t.wordVolatile();
                int s = state(w);
                if (!isQueued(s) || s == MOVING && late == null) {
                    return; // collected; or armed by a reset that will settle it
                }
                boolean armed = s == MOVING;
                if (armed) {
                    reserve(late);
                }
                if (t.casWord(w, armed ? word(w, deadline(w), NO_STATUS) : withdrawn(w))) {
                    if (armed) {
                        leave();
                        unfired++;
                        late.add(t);
                    } else {
                        ledger.add(STOP);
                    }
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** C6, the last step: all queues are closed and all running timers have been looked at. */
    void collectLate(List<? super TimerNode> collected) {
        lock.lock();
        try {
            if (late != null) {
                collected.addAll(late); // all or none
                late = null;
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- figures ----

    private void enter() {
        if (admission != null) {
            admission.enter();
        }
    }

    private void leave() {
        if (admission != null) {
            admission.leave();
        }
    }

    /** Armed timers, not counting those whose next firing awaits the end of their run. */
    long pending() {
        lock.lock();
        try {
            drainFully();
            return waiting();
        } finally {
            lock.unlock();
        }
    }

    private long waiting() {
        long inLines = armedIn(backlog) + armedIn(shortage.parked) + armedIn(ready);
        return Math.max(0, inLines + heap.size() - ledger.dead());
    }

    /** Lock held, and released between slices: those that leave the line meanwhile do so from its front. */
    private long armedIn(Backlog line) {
        long armed = 0;
        long at = line.removed();
        TimerNode t = line.firstOrNull();
        for (long end = at + line.size(); t != null && at < end; ) {
            if (!mayVisit(1)) {
                lock.giveWay();
                if (line.removed() > at) {
                    at = line.removed();
                    t = line.firstOrNull();
                }
            } else {
                armed += isArmed(state(t.wordVolatile())) ? 1 : 0;
                t = t.nextInLine();
                at++;
            }
        }
        return armed;
    }

    /** How many timers one hold of the lock has visited at most. */
    int longestHold() {
        lock.lock();
        try {
            return lock.most();
        } finally {
            lock.unlock();
        }
    }

    TimerStats.Worker stats() {
        lock.lock();
        try {
            drainFully();
            long pending = waiting();
            long stopped = stops + ledger.stops();
            long reset = resets.sum();
            return new TimerStats.Worker(fired + stopped + reset + unfired + pending, fired, stopped, reset, unfired,
                    pending, ledger.dead(), heap.capacity(), swept, stolen, helps, maxLateness);
        } finally {
            lock.unlock();
        }
    }
}
