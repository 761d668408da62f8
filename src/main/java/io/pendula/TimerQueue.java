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
import static io.pendula.TimerNode.REMOVED;
import static io.pendula.TimerNode.RUNNING;
import static io.pendula.TimerNode.RUNNING_ARMED;
import static io.pendula.TimerNode.RUNNING_CANCELLED;
import static io.pendula.TimerNode.WAITING;
import static io.pendula.TimerNode.deadline;
import static io.pendula.TimerNode.isArmed;
import static io.pendula.TimerNode.isCancelled;
import static io.pendula.TimerNode.isQueued;
import static io.pendula.TimerNode.isRunning;
import static io.pendula.TimerNode.state;
import static io.pendula.TimerNode.word;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
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
     * abort       as cancel, but nothing from NO_STATUS      what has run to its end stays as it is
     * claim stopped REMOVED, DELETED -> RUNNING              for whoever got it from shutdownNow()
     * retime      RUNNING_ARMED  -> RUNNING_ARMED            by the own run, before its end
     * drain       MOVING, MODIFIED_EARLIER -> WAITING        entry pushed to the heap
     *             DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED   dropped, never having been in the heap
     *             MOVING, for now -> the same                joins the line of those that need no heap
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
     * close       MOVING, MODIFIED_EARLIER, WAITING, MODIFIED_LATER -> REMOVED   collected as unfired
     *             RUNNING_ARMED  -> RUNNING (as stop)        collected as unfired
     *             MOVING -> NO_STATUS                        the same, if the run has just ended
     *             DELETED, DELETED_QUEUED -> REMOVED, CANCELLED_QUEUED -> CANCELLED
     *
     * Ground rules
     *
     * 1. An armed timer that does not run is in the inbox (or on its way there, in its pusher's hands; or taken out and
     *    in line), or has an entry with key <= deadline: exactly equal if WAITING. Any other entry is dead. It is
     *    dropped when it is met: at the top, or by a sweep. Nothing on the path of an operation ever looks through the
     *    heap.
     * 2. Entries of one timer are fungible (but see isInPlace). A timer that is brought forward leaves its old entry
     *    behind, and may even come back to that entry's key; whichever entry with the right key surfaces first is the
     *    live one, and as many are counted dead as must be dropped.
     * 3. Whoever makes an entry dead counts it, at that transition; a drain that counted later would meet some twice.
     * 4. The arrays grow before a word changes, so running out of memory leaves each timer as it was.
     * 5. No callback runs, and nobody is woken, while the lock is held.
     * 6. Who arms, stops or resets only tries the lock (but with a manual clock, or once the queue is closed). Those who
     *    drive or close the queue, or read its statistics, may wait for it; no hold is longer than a drain and ten
     *    chunks of a sweep.
     *
     * Who may touch what
     *
     * field        written by                            read by                          mode
     * node.word    anyone, by CAS                        anyone                           volatile
     * node.next    its pusher before the push; drain     drain                            plain, ordered by the inbox's CAS
     * node.task    constructor; cancel, after its CAS    claim, before its CAS            plain
     * inbox        pushers (CAS); drain, close (swap)    anyone                           volatile
     * depth        pushers, drain                        arming threads                   opaque, a hint
     * arrivals     pushers (CAS); drain                  a loop, under the lock           volatile
     * pollUntil    keeper, under the lock; wakers (CAS)  arming threads                   volatile
     * ledger       anyone who counts                     anyone                           volatile read-modify-write
     * nextWhen     lock holder                           thieves, monitor                 opaque, a hint
     * keeper, owner
     *              lock holder (owner also at the start) wakers, drivers, monitor         volatile
     * heap, backlog, young, ready, sweep state, visit, counters
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
    /** How long a drain that ran out of memory waits before it is tried again. */
    static final long OOM_RETRY_NANOS = 10_000_000;

    /** Results of prepareToSleep, below every deadline. */
    static final long GO_ROUND = 0;
    static final long NOT_KEEPER = -1;

    /** In the inbox for good once the queue is closed. */
    private static final TimerNode CLOSED = new TimerNode(null, null) {};

    final int index;
    final Timeline timeline;
    /** Only for what timers ask of their scheduler; null in tests of a queue alone. */
    final TimerScheduler scheduler;
    private final ReentrantLock lock = new ReentrantLock();
    private final TimerHeap heap;
    private final Admission admission;
    /** With a manual clock: resets take part in the order of arming among equal deadlines. */
    private final boolean keepOrder;
    /** Then only: each filed timer's sequence number in the heap. Weak, as a stopped timer's dead entry may stay. */
    private final Map<TimerNode, Integer> places;

    private volatile Keeper keeper;
    /** Who takes the queue back whenever it comes by; null with a manual clock, whose advance runs what is due. */
    private volatile Keeper owner;
    /** Set by the monitor while the keeper is stuck: whoever is idle may adopt the queue. */
    volatile boolean stalled;
    /** The monitor's own note: when the sleeping keeper was first seen to be late, or 0. */
    long lateSince;

    /** Taken from the inbox and not filed yet: only while memory is short does a drain leave something here. */
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
    final Ledger ledger = new Ledger();

    /** Where the sweep has got to; slots above have been looked at. */
    private int hand;
    private int unswept;
    /** The keeper is at it, or will come back to it before it sleeps, so that nobody need wake it. */
    private volatile boolean sweeping;

    /** Where its loop's visit began: the next number of the heap, the end of those in line. */
    private int visitSeq;
    private long visitLine;

    private long fired;
    private long stolen;
    private long stops;
    private long swept;
    private long helps;
    private long unfired;
    private long maxLateness;
    /** Armed by runs that ended while the scheduler was being closed; null once that is done. */
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
        this.places = keepOrder ? new WeakHashMap<>() : null;
    }

    // ---- arm, stop, cancel, reset: any thread, at any time ----

    /** Arms a new timer. */
    void arm(TimerNode t, long when) {
        helpIfDeep();
        enter();
        t.setWordPlain(word(when, MOVING)); // published by the push
        if (!push(t)) {
            leave();
            throw rejected();
        }
        wakeIfBefore(when);
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
            if (s == NO_STATUS || isCancelled(s)) {
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
        if (!t.casWord(w, word(deadline(w), to))) {
            return false;
        }
        if (isArmed(s)) {
            leave();
            if (s == RUNNING_ARMED) {
                ledger.add(STOP);
            } else if (!isQueued(s)) {
                bury(STOP);
            }
        }
        return true;
    }

    /** The own run, about to end, chooses another time for its next firing; nothing if that was stopped meanwhile. */
    void retime(TimerNode t, long when) {
        for (long w = t.wordVolatile(); state(w) == RUNNING_ARMED; w = t.wordVolatile()) {
            if (t.casWord(w, word(when, RUNNING_ARMED))) {
                return;
            }
        }
    }

    /** Makes a stopped timer run on the calling thread, which must fire it and call endRun; false if not stopped. */
    boolean claimStopped(TimerNode t) {
        if (isQueued(state(t.wordVolatile()))) {
            lock.lock();
            try {
                drain();
                dropStopped(ready);
                dropStopped(backlog);
            } finally {
                lock.unlock();
            }
        }
        for (long w = t.wordVolatile(); state(w) == REMOVED || state(w) == DELETED; w = t.wordVolatile()) {
            if (t.casWord(w, word(deadline(w), RUNNING))) {
                return true;
            }
        }
        return false;
    }

    /** Arms a timer anew, whatever it did before; true if that replaced a firing that was to come. */
    boolean reset(TimerNode t, long when) {
        if (keepOrder) {
            drainNow();
        }
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            long old = deadline(w);
            boolean later = when >= old && !keepOrder;
            switch (s) {
                case MOVING:
                case MODIFIED_EARLIER:
                    if (t.casWord(w, word(when, s))) {
                        resets.increment();
                        if (when < old) {
                            wakeIfBefore(when); // the CAS of the word stands for the push
                        }
                        return true;
                    }
                    break;
                case WAITING:
                case MODIFIED_LATER:
                    if (later) {
                        if (t.casWord(w, word(when, MODIFIED_LATER))) {
                            resets.increment();
                            return true;
                        }
                    } else {
                        helpIfDeep();
                        if (t.casWord(w, word(when, MODIFIED_EARLIER))) {
                            resets.increment();
                            bury(0);
                            post(t, when);
                            return true;
                        }
                    }
                    break;
                case DELETED:
                    enter();
                    if (later) {
                        // No wake: nobody sleeps beyond the key of an entry that is still there.
                        if (t.casWord(w, word(when, MODIFIED_LATER))) {
                            ledger.add(-DEAD);
                            return false;
                        }
                    } else {
                        helpIfDeep();
                        if (t.casWord(w, word(when, MODIFIED_EARLIER))) {
                            post(t, when);
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
                    if (t.casWord(w, word(when, MOVING))) {
                        post(t, when);
                        return kept;
                    }
                    leave();
                    break;
                case DELETED_QUEUED:
                    enter();
                    if (t.casWord(w, word(when, MOVING))) {
                        ledger.add(STOP); // the drain will not see that it was stopped
                        wakeIfBefore(when); // whoever went to sleep meanwhile may have left it out
                        return false;
                    }
                    leave();
                    break;
                case RUNNING:
                    enter();
                    if (t.casWord(w, word(when, RUNNING_ARMED))) {
                        if (isClosed()) {
                            undoRearm(t, when);
                        }
                        return false;
                    }
                    leave();
                    break;
                case RUNNING_ARMED:
                    if (t.casWord(w, word(when, RUNNING_ARMED))) {
                        resets.increment();
                        if (isClosed()) {
                            undoRearm(t, when);
                        }
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
        return t.casWord(w, word(deadline(w), REMOVED));
    }

    /**
     * The queue was closed while its own callback armed this timer. The closing thread sets CLOSED, then looks at the
     * word of each running timer; the callback's thread changes the word, then looks for CLOSED. So at least one of
     * them sees the other, and the CAS decides which of them takes the arming back.
     */
    private void undoRearm(TimerNode t, long when) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == REMOVED) {
                throw rejected(); // the run has ended, found the inbox closed, and the closing thread gone
            }
            boolean ended = s == MOVING; // it has ended, but has not found that out yet
            if (!ended && s != RUNNING_ARMED || deadline(w) != when) {
                return; // stopped by another thread, or replaced by its reset, or collected as unfired
            }
            if (t.casWord(w, word(when, ended ? REMOVED : RUNNING))) {
                leave();
                throw rejected();
            }
        }
    }

    // ---- the inbox ----

    private boolean push(TimerNode t) {
        for (;;) {
            TimerNode head = inboxVolatile();
            if (head == CLOSED) {
                return false;
            }
            t.next = head; // plain: published by the CAS
            if (casInbox(head, t)) {
                setDepthOpaque(depthOpaque() + 1);
                return true;
            }
        }
    }

    /** Pushes a timer whose word says already that it is in the inbox. */
    private void post(TimerNode t, long when) {
        if (push(t)) {
            wakeIfBefore(when);
            return;
        }
        lock.lock(); // until the closing thread has been through the heap: it collects what has an old entry there
        try {
            if (!takeBack(t)) {
                return;
            }
        } finally {
            lock.unlock();
        }
        throw rejected();
    }

    /** The inbox was closed before the push; true if the timer was still armed. */
    private boolean takeBack(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (!isQueued(s)) {
                return false; // collected by the close
            }
            if (t.casWord(w, word(deadline(w), s == CANCELLED_QUEUED ? CANCELLED : REMOVED))) {
                if (isArmed(s)) {
                    leave();
                    return true;
                }
                ledger.add(STOP);
                return false;
            }
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
        if (when < p && casPollUntil(p, AWAKE)) {
            Keeper k = keeper;
            if (k != null) { // else a manual clock's advance has just taken the queue over, and nobody sleeps any more
                k.wake();
            }
        }
    }

    private void helpIfDeep() {
        if (depthOpaque() >= HELP_DEPTH) {
            helpDrain();
        }
    }

    /** Before the own push: a timer that is about to be stopped at once must not go into the heap alive. */
    private void helpDrain() {
        if (lock.tryLock()) {
            try {
                helps++;
                if (isAsked() && !keepOrder) {
                    ripen();
                } else {
                    drain();
                }
                sweepToHardBound();
            } finally {
                lock.unlock();
            }
        }
    }

    private void drainNow() {
        lock.lock();
        try {
            drain();
        } finally {
            lock.unlock();
        }
    }

    /** Empties the inbox into the heap, in the order of arming. */
    void drain() {
        assert lock.isHeldByCurrentThread();
        if (isAsked() && arrivalsVolatile() != Timeline.NEVER) {
            setArrivalsVolatile(Timeline.NEVER); // before the inbox is looked at, see above
        }
        backlog.appendAll(young);
        emptyInboxInto(backlog);
        fileBacklog();
    }

    private void fileBacklog() {
        while (!backlog.isEmpty() && hasRoom()) {
            file(backlog.removeFirst());
        }
    }

    private void emptyInboxInto(Backlog line) {
        TimerNode head = inboxVolatile();
        if (head != null && head != CLOSED) { // CLOSED comes only under this lock
            head = swapInbox(null);
            setDepthOpaque(0);
            line.appendReversed(head);
        }
    }

    /** Drops what was stopped and files what is old; the younger half may be stopped yet, before it is in the heap. */
    private void ripen() {
        emptyInboxInto(young);
        for (int n = young.size(); n > 0; n--) {
            TimerNode t = young.removeFirst();
            long w = t.wordVolatile();
            if (isArmed(state(w))) {
                (n > HELP_DEPTH / 2 ? backlog : young).append(t);
            } else if (!unlink(t, w)) {
                young.append(t); // armed or cancelled at this moment
            }
        }
        fileBacklog();
    }

    private boolean isAsked() {
        return owner != null && owner.asksForArrivals();
    }

    private boolean hasRoom() {
        try {
            heap.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            return false; // the backlog keeps them, armed; prepareToSleep and checkTimers come back to it
        }
    }

    private void file(TimerNode t) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            if (s == MOVING && t.isForNow() && !keepOrder && fitsReady(deadline(w))) {
                ready.append(t);
                return;
            }
            if (s == MOVING || s == MODIFIED_EARLIER) {
                if (t.casWord(w, word(deadline(w), WAITING))) {
                    if (places != null) {
                        places.put(t, heap.nextSeq());
                    }
                    heap.push(deadline(w), t);
                    return;
                }
            } else if (unlink(t, w)) {
                return;
            }
        }
    }

    /** A stopped timer has left the inbox. */
    private boolean unlink(TimerNode t, long w) {
        if (t.casWord(w, word(deadline(w), state(w) == DELETED_QUEUED ? REMOVED : CANCELLED))) {
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
            for (int visits = 0; earliest() <= now && visits < CLEAN_CHUNK; visits++) {
                boolean inLine = readyWhen() < heap.topKey();
                long when = earliest();
                TimerNode t = inLine ? ready.first() : heap.top();
                long w = t.wordVolatile();
                if (inLine ? state(w) == MOVING : isTopLive(w)) {
                    Runnable task = t.task(); // before the CAS, see cancel
                    long next = t.nextAfter(when, now);
                    if (t.casWord(w, next == 0 ? word(when, t.isSignal(task) ? NO_STATUS : RUNNING)
                            : word(next, RUNNING_ARMED))) {
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
                    dropFirst(ready);
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
            if (isArmed(state(line.first().wordVolatile()))) {
                line.append(line.removeFirst());
            } else {
                dropFirst(line);
            }
        }
    }

    /** Of a line whose first timer was stopped. Should it be cancelled meanwhile, the second attempt succeeds. */
    private void dropFirst(Backlog line) {
        TimerNode t = line.removeFirst(); // before the CAS, see there
        while (!unlink(t, t.wordVolatile())) {
            Thread.onSpinWait();
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
            if (t.casWord(w, word(deadline(w), again ? MOVING : s == RUNNING ? NO_STATUS : CANCELLED))) {
                if (again) {
                    if (push(t)) {
                        wakeIfBefore(deadline(w));
                    } else {
                        handToCloser(t);
                    }
                }
                runEnds.signal();
                t.ended(again);
                return again;
            }
        }
    }

    /** Whether the top entry is what its timer, whose word is {@code w}, waits for. */
    private boolean isTopLive(long w) {
        return state(w) == WAITING && deadline(w) == heap.topKey() && isInPlace(0);
    }

    /** Re-keys or drops a top entry that is not live under its key; true if it was dropped. */
    private boolean cleanTop() {
        TimerNode t = heap.top();
        long w = t.wordVolatile();
        if (state(w) == MODIFIED_LATER && deadline(w) >= heap.topKey()) {
            if (t.casWord(w, word(deadline(w), WAITING))) {
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
                    return deadline(w) != heap.key(i) || !isInPlace(i);
                case MODIFIED_LATER:
                    return deadline(w) < heap.key(i);
                case DELETED:
                    if (t.casWord(w, word(deadline(w), REMOVED))) {
                        return true;
                    }
                    break;
                default:
                    return true;
            }
        }
    }

    /**
     * With a manual clock a timer often comes back to a deadline for which its dead entry is still there. That entry
     * would be as good as the new one, but for the order of resets, so there only the newest counts.
     */
    private boolean isInPlace(int i) {
        return places == null || places.get(heap.node(i)) == heap.seq(i);
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
            drain();
            if (!wantsSweep() && !cleanTops(Timeline.NEVER)) { // a sweep drops many at less cost than so many pops
                return GO_ROUND;
            }
            heap.trim();
            setNextWhenOpaque(wakeTime(now));
            long p = ahead(wakeTime(now), now);
            setPollUntilVolatile(p); // W1
            drain(); // R1
            if (wakeTime(now) < p) {
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
            drainIfDue(now);
            if (!wantsSweep() && !cleanTops(Timeline.plus(now, LAZY_NANOS))) {
                return GO_ROUND;
            }
            heap.trim();
            setNextWhenOpaque(wakeTime(now));
            long p = Math.min(wakeTime(now), arrivalsVolatile());
            setPollUntilVolatile(p); // W1
            if (arrivalsVolatile() < p) { // R1
                setPollUntilVolatile(AWAKE);
                return GO_ROUND;
            }
            return p;
        } finally {
            lock.unlock();
        }
    }

    private void drainIfDue(long now) {
        if (keepOrder || arrivalsVolatile() <= now || !backlog.isEmpty()) {
            drain();
        }
    }

    /** When the keeper must be up again, as far as the heap and the backlog tell. */
    private long wakeTime(long now) {
        return backlog.isEmpty() ? earliest() : Math.min(earliest(), Timeline.plus(now, OOM_RETRY_NANOS));
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
            drain();
            while (!cleanTops(Timeline.NEVER)) {
                Thread.onSpinWait(); // as many dead tops as there are; only a manual clock asks
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
        return ledger.dead() > softBound();
    }

    /** An entry has died; {@code stopsToo} is counted in the same step. */
    private void bury(long stopsToo) {
        int dead = ledger.add(DEAD + stopsToo);
        if (dead > tidyBound()) {
            if ((dead % TIDY_EVERY == 0 || dead > hardBound()) && lock.tryLock()) {
                try {
                    sweepChunk();
                    sweepChunk();
                    sweepToHardBound();
                } finally {
                    lock.unlock();
                }
            }
            if (isOverBound() && !sweeping) {
                callIfBefore(1); // whoever sleeps, however short, gets up to sweep
            }
        }
    }

    private void exhumed(int dropped) {
        if (dropped > 0) {
            swept += dropped;
            ledger.add(-dropped * DEAD);
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
                sweeping = true;
                unswept = heap.size();
            }
            unswept -= SWEEP_CHUNK;
            sweepChunk();
            // Going on to half the bound spares the next few stops a wake.
            sweeping = unswept > 0 && ledger.dead() > softBound() / 2;
            return sweeping || isOverBound(); // after clearing the flag, for those who saw it and woke nobody
        } finally {
            lock.unlock();
        }
    }

    /** In one hold no more than twice the dead that a drain can bring. */
    private void sweepToHardBound() {
        for (int chunks = 4 * HELP_DEPTH / SWEEP_CHUNK; chunks > 0 && ledger.dead() > hardBound(); chunks--) {
            sweepChunk();
        }
    }

    /**
     * Drops the dead entries among the next slots, round and round from the tail to the top: so what takes the place of
     * a dropped entry has been looked at before.
     */
    private void sweepChunk() {
        assert lock.isHeldByCurrentThread();
        int dropped = 0;
        for (int visits = Math.min(SWEEP_CHUNK, heap.size()); visits > 0; visits--) {
            if (hand <= 0 || hand > heap.size()) {
                hand = heap.size();
            }
            if (isDead(--hand)) {
                heap.removeAt(hand);
                dropped++;
            }
        }
        exhumed(dropped);
        heap.trim();
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

    /** Lock held. Files what has arrived, and lets thieves know of it; the earliest deadline. */
    long survey(long now) {
        drain();
        setNextWhenOpaque(wakeTime(now));
        return earliest();
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
        drainIfDue(now);
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

    /** Lock held. Makes {@code me}, which is up, the one who sleeps for this queue. */
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
        setPollUntilVolatile(until); // W1
        drain(); // R1
        long needed = wakeTime(now);
        if (needed != Timeline.NEVER && Math.max(needed, now + grace) < until || wantsSweep()) {
            setPollUntilVolatile(AWAKE);
            return true;
        }
        return false;
    }

    /** Looks at every timer that is filed here; each armed one once, stopped ones perhaps. */
    void forEach(Consumer<TimerNode> look) {
        lock.lock();
        try {
            drain();
            backlog.forEach(look);
            ready.forEach(look);
            for (int i = 0; i < heap.size(); i++) {
                look.accept(heap.node(i));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns when every claim that had changed a word has been noted in its run. */
    void awaitClaim() {
        lock.lock();
        lock.unlock();
    }

    /** Lock held: something may be waiting in the inbox, or something taken from it could not be filed. */
    boolean hasMail() {
        return inboxVolatile() != null || !backlog.isEmpty() || !young.isEmpty();
    }

    // ---- closing ----

    boolean isClosed() {
        return inboxVolatile() == CLOSED;
    }

    RejectedExecutionException rejected() {
        return new RejectedExecutionException(scheduler == null || scheduler.isClosed() ? "the scheduler is closed"
                : "the loop that the timer belongs to is closed");
    }

    /**
     * Takes every armed timer out. The inbox is closed under the lock, so each push before this one is collected here
     * and each later one fails.
     */
    void close(List<? super TimerNode> collected) {
        lock.lock();
        try {
            backlog.appendAll(young);
            TimerNode head = swapInbox(CLOSED);
            if (head != CLOSED) {
                backlog.appendReversed(head);
            }
            while (!ready.isEmpty()) {
                collect(ready.removeFirst(), true, collected);
            }
            while (!backlog.isEmpty()) {
                collect(backlog.removeFirst(), true, collected);
            }
            int dead = heap.size();
            for (int i = 0; i < heap.size(); i++) {
                if (collect(heap.node(i), false, collected)) {
                    dead--;
                }
            }
            heap.clear();
            ledger.add(-dead * DEAD); // not what the ledger says: some of them may not be counted yet
            setNextWhenOpaque(Timeline.NEVER);
        } finally {
            lock.unlock();
        }
    }

    /** True if the timer had a live entry in the heap. */
    private boolean collect(TimerNode t, boolean fromInbox, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            int s = state(w);
            boolean armed = isArmed(s) && s != RUNNING_ARMED;
            boolean stoppedInInbox = fromInbox && isQueued(s);
            if (!armed && s != DELETED && !stoppedInInbox) {
                return false; // runs, is at rest, or its push is under way, will fail, and settles it
            }
            if (t.casWord(w, word(deadline(w), s == CANCELLED_QUEUED ? CANCELLED : REMOVED))) {
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

    /**
     * Takes the next firing of a timer that runs while the scheduler closes; the queue is closed already, so a run that
     * is just ending cannot push it any more.
     */
    void collectRunning(TimerNode t, List<? super TimerNode> collected) {
        for (;;) {
            long w = t.wordVolatile();
            if (state(w) != RUNNING_ARMED && state(w) != MOVING) {
                return;
            }
            if (t.casWord(w, word(deadline(w), state(w) == MOVING ? NO_STATUS : RUNNING))) {
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

    /**
     * The run has ended and found the inbox closed. What was armed before the close is reported by it, here if the
     * closing thread did not come in time to see the run; what was armed later is refused by undoRearm.
     */
    private void handToCloser(TimerNode t) {
        lock.lock();
        try {
            for (long w = t.wordVolatile(); late != null && state(w) == MOVING; w = t.wordVolatile()) {
                if (t.casWord(w, word(deadline(w), NO_STATUS))) { // not REMOVED: to undoRearm that means refused
                    leave();
                    unfired++;
                    late.add(t);
                    return;
                }
            }
            takeBack(t);
        } finally {
            lock.unlock();
        }
    }

    /** The last step of closing: all queues are closed and all running timers have been looked at. */
    void collectLate(List<? super TimerNode> collected) {
        lock.lock();
        try {
            if (late != null) {
                collected.addAll(late);
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
            drain();
            return waiting();
        } finally {
            lock.unlock();
        }
    }

    private long waiting() {
        return Math.max(0, backlog.armed() + ready.armed() + heap.size() - ledger.dead());
    }

    TimerStats.Worker stats() {
        lock.lock();
        try {
            drain();
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
