package io.pendula;

import io.pendula.internal.queue.LateCounts;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.QueueSnapshot;
import io.pendula.internal.queue.TimerQueue;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The queues that have left a scheduler's list of queues, because their loop has gone: closed ones for good, retired
 * ones until one of their timers is armed again. Keeps their figures.
 */
final class GoneQueues {
    /*
     * Overview
     *
     * Each round of a worker, each look of the monitor walks the scheduler's list, so its length must follow the loops
     * that exist. A queue whose loop has gone stays in the list, with another owner, while a timer is armed there. Then
     * it is retired: it leaves the list. A timer belongs to its queue for life, so a stopped or fired timer of a
     * retired queue may be armed again; then the queue comes back first.
     *
     * Invariant: while RETIRED is in the inbox no timer of the queue is armed, other than by a thread that has changed
     * the word and has yet to push; none runs; the heap and the lines are empty. Hence nothing of it can be due, and it
     * need not be in the list.
     *
     * Retiring happens under lifecycle and the queue's. The queue's lock keeps away drains, claims and the
     * close. Claims happen under it, too, and are told by a Firing from that moment until the run has ended; so if no
     * Firing tells of a timer of this queue, none runs, and none can begin to. What is left are pushes, which need no
     * lock:
     *
     *     retiring                               arming thread
     *     R1  drain (takes the inbox)            A1  CAS of the word to a queued state
     *     R2  look at heap, lines and runs       A2  read the inbox
     *     R3  CAS of the inbox, null to RETIRED  A3  CAS of the inbox to the timer, or bringBack if A2 read RETIRED
     *
     * The inbox is one variable, so R3 and A3 are ordered. If A3 succeeds before R3, then either R1 has taken the timer
     * and R2 finds it (or it was stopped), or it is in the inbox, R3 fails, and the queue stays. If R3 comes first, A3
     * fails, and the next A2 reads RETIRED. RETIRED is replaced by null under the same two locks only, when the queue
     * has an owner. The next attempt to push is the usual one: if the queue was retired once more meanwhile, it comes
     * back once more.
     *
     * Who closes the scheduler, or the last loop where there are no workers, first puts all retired queues back into the
     * list (relist), under lifecycle, so that they are closed as all others are: a timer that is about to
     * be pushed there is collected or refused by the rules of QueueCloser, and later pushes find CLOSED. For that
     * purpose the retired queues are known, by weak references.
     *
     * A queue comes back as one whose owner sleeps: pollUntil is NEVER, so the push that it came back for wakes the
     * owner, with the proof of WakeGate. To wake the owner before the push would let it retire the queue again, which
     * it has time for on a busy machine. The list has the queue before pollUntil is NEVER, so an owner that was woken
     * finds it there: in its next round, or in its last look before it parks (Worker.isCalled, LoopWorker.isCalled).
     * The push may not be the first that wakes: the timer's word is armed by then, so another thread may reset it by
     * the word alone, moves pollUntil to AWAKE, and wakes the owner. If that did not find the queue in the list it
     * would sleep again and leave AWAKE there, for which no push wakes.
     *
     * Whatever else meets a retired queue finds nothing to do: it has no owner, pollUntil is AWAKE and arrivals is not
     * lowered before a push, so no arming wakes a runner; a runner with another copy of the list finds that it is not
     * the owner. Stop, and reset of a timer whose arming thread has yet to push, are a CAS of the word, as always.
     *
     * Costs. The hot path has one more comparison with a constant, on a reference that it has loaded. A timer of a gone
     * loop that is armed only now and then takes its queue to and fro, at the cost of two copies of the list.
     */

    /** So many are known with all that they are; of those before, only what is counted yet. */
    private static final int KEPT = 64;

    private final Engine engine;
    private final Loops loops;
    /** Those that left last, the youngest at the end. Under lifecycle, as all below. */
    private final ArrayDeque<TimerQueue> lately = new ArrayDeque<>(KEPT + 2);
    /** Weak: a retired queue to which no timer refers is never armed again. */
    private final Set<TimerQueue> retired = Collections.newSetFromMap(new WeakHashMap<>());
    /** The figures of those before, when they were let go. */
    private QueueSnapshot before = QueueSnapshot.NOTHING;
    /** What is counted there yet. */
    private final Set<LateCounts> late = new HashSet<>();
    private final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();

    GoneQueues(Engine engine, Loops loops) {
        this.engine = engine;
        this.loops = loops;
    }

    /** Holds no more than the last few queues; those before are let go unless a timer refers to them. */
    void add(TimerQueue q) {
        makeRoom();
        lately.add(q);
    }

    private void makeRoom() {
        if (lately.size() >= KEPT) {
            TimerQueue oldest = lately.peek();
            before = before.plus(oldest.view().takeFigures());
            lately.remove();
            late.add(oldest.view().lateCounts(unreachable));
        }
        for (Object l = unreachable.poll(); l != null; l = unreachable.poll()) {
            before = before.plus(((LateCounts) l).figures());
            late.remove(l);
        }
    }

    /** What all of them did together. */
    QueueSnapshot figures() {
        QueueSnapshot sum = before;
        for (TimerQueue q : lately) {
            sum = sum.plus(q.view().stats());
        }
        for (LateCounts l : late) {
            sum = sum.plus(l.figures());
        }
        return sum;
    }

    /**
     * Takes a queue from the list if its loop has gone and nothing is armed there; true if the queue is retired now. The
     * caller holds no queue's lock.
     */
    boolean retire(TimerQueue q) {
        synchronized (engine.lifecycle) {
            if (q.ownership.isRetired()) {
                return true;
            }
            if (engine.isClosed()) {
                return false; // the thread that closes it goes by the list
            }
            QueueOwner owner = q.gate.home();
            TimerQueue[] rest = engine.queuesWithout(q); // what may fail for want of memory comes first
            makeRoom();
            retired.add(q);
            if (!q.ownership.retire(() -> engine.isAnyRunning(t -> QueuedNode.queueOf(t) == q))) {
                retired.remove(q);
                return false;
            }
            engine.queues = rest;
            lately.add(q);
            if (owner instanceof LoopWorker l) {
                l.checkSuccession();
            }
            return true;
        }
    }

    /**
     * Called by a push that met RETIRED. Afterwards the inbox takes timers again, or is closed; false if memory is
     * short, and the queue is retired still.
     */
    boolean bringBack(TimerQueue q) {
        synchronized (engine.lifecycle) {
            if (!q.ownership.isRetired()) {
                return true; // another thread has brought it back, or put it back into the list to close it
            }
            QueueOwner owner = loops.anyOwner();
            TimerQueue[] more;
            try {
                more = engine.queuesWith(q);
            } catch (OutOfMemoryError e) {
                return false;
            }
            if (owner instanceof LoopWorker l) {
                l.hasSucceeded = true;
            }
            TimerQueue[] rest = engine.queues;
            engine.queues = more; // before the gate says that the owner sleeps, see above
            try {
                q.ownership.comeBackTo(owner);
            } catch (Throwable e) {
                engine.queues = rest;
                throw e;
            }
            retired.remove(q);
            lately.remove(q);
            late.removeIf(l -> l.refersTo(q));
        }
        engine.loopIsUp(); // if it is a loop, which may be late
        return true;
    }

    /**
     * Under lifecycle. Puts all retired queues back into the list, without an owner: they are about to be
     * closed.
     */
    void relist() {
        List<TimerQueue> all = new ArrayList<>(Arrays.asList(engine.queues));
        all.addAll(retired);
        TimerQueue[] more = all.toArray(new TimerQueue[0]); // what may fail for want of memory comes first
        for (int i = engine.queues.length; i < more.length; i++) {
            more[i].ownership.comeBackTo(null);
            lately.remove(more[i]);
        }
        engine.queues = more;
        late.removeIf(l -> retired.contains(l.get()));
        retired.clear();
    }
}
