package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.QueueSnapshot;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/**
 * The loops of one scheduler: knows them, and finds the one that takes over when another goes.
 *
 * <p>A timer belongs to its queue for life, so what moves is the queue as a whole: it gets another owner, under its
 * lock, which is then up and has a drain before it, and is woken. It stays among the scheduler's queues until nothing
 * is armed there ({@link GoneQueues}); each new loop has a queue of its own. Only a queue for which there is no other
 * owner, or whose loop was confined, is closed.
 */
final class Loops {
    private final Engine engine;
    /** Null without workers, and with a manual clock. */
    private final Standby standby;
    /** Null until a loop has gone. Under the engine's lifecycle. */
    private GoneQueues gone;
    /** Made when it is first asked for: it loads the classes of loops, which costs a new JVM two milliseconds. */
    private static final class None {
        static final LoopWorker[] ARRAY = {};
    }

    /**
     * All whose callbacks may run. Copied at each change, under the engine's lifecycle, as all below. Null at the start.
     */
    private volatile LoopWorker[] loops;
    private final Map<Thread, LoopWorker> byThread = new ConcurrentHashMap<>();
    private int made;

    Loops(Engine engine, Standby standby) {
        this.engine = engine;
        this.standby = standby;
    }

    LoopWorker[] all() {
        LoopWorker[] all = loops;
        return all == null ? None.ARRAY : all;
    }

    /** The calling thread's own loop, or null. */
    LoopWorker of(Thread t) {
        LoopWorker[] all = loops;
        return all == null || all.length == 0 ? null : byThread.get(t);
    }

    /** For a thread without a loop, where there are no workers: a shared loop if there is one that lives. */
    TimerQueue any(int turn) {
        LoopWorker[] all = all();
        LoopWorker found = null;
        boolean ended = false;
        for (int i = 0; i < all.length && (found == null || found.isConfined()); i++) {
            LoopWorker d = all[Integer.remainderUnsigned(turn + i, all.length)];
            if (d.hasEnded()) {
                ended = true;
            } else if (!d.detached && (found == null || !d.isConfined())) {
                found = d;
            }
        }
        if (ended) {
            closeEnded();
        }
        if (found == null) {
            throw new RejectedExecutionException("no loop is attached, and the scheduler has no workers of its own");
        }
        return found.queue;
    }

    LoopWorker attach(Thread thread, Runnable wakeup, boolean confined) {
        synchronized (engine.lifecycle) {
            if (engine.isClosed()) {
                throw new IllegalStateException("the scheduler is closed");
            }
            if (byThread.containsKey(thread)) {
                throw new IllegalStateException("the thread " + thread.getName()
                        + " has a loop of this scheduler already");
            }
            for (LoopWorker l : all()) {
                if (l.runner() == thread) {
                    throw new IllegalStateException("the thread " + thread.getName()
                            + " is inside a callback of a loop that it has closed");
                }
            }
            TimerQueue q = engine.newQueue(engine.workers() + made);
            LoopWorker d = new LoopWorker(engine, this, q, thread, wakeup, confined);
            LoopWorker[] all = all();
            LoopWorker[] more = Arrays.copyOf(all, all.length + 1);
            more[all.length] = d;
            TimerQueue[] queues = engine.queuesWith(q);
            byThread.put(thread, d); // the last step that may fail for want of memory
            q.ownership.giveTo(d);
            engine.queues = queues;
            loops = more;
            made++;
            return d;
        }
    }

    /**
     * The loop takes no more timers, and others get those that it has; returns those for which there is no owner. If
     * this fails, as for want of memory, the next call does the rest and returns what this one should have.
     */
    List<TimerNode> detach(LoopWorker d) {
        List<TimerNode> unfired;
        QueueOwner successor = null;
        try {
            synchronized (engine.lifecycle) {
                if (d.ended) {
                    return List.of();
                }
                d.detached = true;
                byThread.remove(d.runner());
                if (!d.isRunning()) {
                    forget(d);
                }
                if (!engine.isClosed()) { // else the thread that closes it has them
                    successor = successor();
                    leaveQueues(d, successor);
                }
                unfired = d.unfired;
                d.ended = true;
            }
        } finally { // outside the lock, as it may run a wakeup of the user's
            if (successor != null && d.hasLeftSome) {
                if (successor instanceof Standby s) {
                    s.hasTakenOver();
                } else {
                    successor.wake();
                    engine.loopIsUp(); // it may be late
                }
            }
        }
        try {
            engine.abandon(unfired);
        } catch (Throwable e) {
            d.ended = false;
            throw e;
        }
        d.unfired = null;
        return unfired;
    }

    /** Under lifecycle. Each queue of a loop is closed, or gets another owner. */
    private void leaveQueues(LoopWorker d, QueueOwner successor) {
        boolean last = successor == null && !engine.isStepped();
        if (last) {
            relistGone();
        }
        for (TimerQueue q : engine.queues) {
            if (q.gate.home() != d && !(last && q.gate.home() == null)) {
                continue;
            }
            if (d.isConfined() && q == d.queue || last) {
                close(q, d.unfired);
            } else {
                if (successor instanceof LoopWorker l) {
                    l.hasSucceeded = true;
                }
                q.ownership.leaveTo(successor);
                boolean before = d.hasLeftSome;
                d.hasLeftSome = true; // unless nothing is armed there
                if (gone().retire(q)) {
                    d.hasLeftSome = before;
                }
            }
        }
    }

    /**
     * Under lifecycle. The workers if there are any; else another loop, one that is not confined if there
     * is one; or null.
     */
    QueueOwner successor() {
        if (engine.workers() > 0) {
            return standby; // null with a manual clock
        }
        LoopWorker successor = null;
        for (LoopWorker l : all()) {
            if (!l.detached && l.runner().isAlive() && (successor == null || successor.isConfined())) {
                successor = l;
            }
        }
        return successor;
    }

    /**
     * Under lifecycle. As successor(); but a loop whose thread has ended and that is not closed yet,
     * rather than none. Null with a manual clock.
     */
    QueueOwner anyOwner() {
        QueueOwner successor = successor();
        LoopWorker[] all = all();
        for (int i = 0; successor == null && i < all.length && !engine.isStepped(); i++) {
            successor = all[i].detached ? null : all[i];
        }
        return successor;
    }

    /** Closes each loop whose thread has ended without closing it. The caller holds no lock. */
    void closeEnded() {
        for (LoopWorker l : all()) {
            if (l.hasEnded()) {
                closeEnded(l);
            }
        }
    }

    /**
     * Closes a loop, for a thread that cannot do it any more. But a shared loop's timers
     * stay where they are while there is no owner to be had: the next loop that is attached becomes it.
     */
    void closeEnded(LoopWorker l) {
        synchronized (engine.lifecycle) {
            if (l.ended || engine.isClosed() || !l.isConfined() && successor() == null && !engine.isStepped()) {
                return;
            }
        }
        close(l);
    }

    /** As detach, but tells of the timers for which there is no owner. */
    void close(LoopWorker l) {
        List<TimerNode> unfired = detach(l);
        if (!unfired.isEmpty()) {
            engine.reporter.loopClosed(l, unfired);
        }
    }

    /** Under lifecycle. One queue is closed, and forgotten. */
    private void close(TimerQueue q, List<TimerNode> unfired) {
        SchedulerCloser.closeAll(engine, new TimerQueue[] {q}, t -> QueuedNode.queueOf(t) == q, unfired);
        TimerQueue[] rest = engine.queuesWithout(q); // what may fail for want of memory comes first
        gone().add(q);
        engine.queues = rest;
        q.ownership.disown();
    }

    // ---- queues whose loops have gone ----

    /** Made when the first loop goes, as most schedulers have none. */
    GoneQueues gone() {
        synchronized (engine.lifecycle) {
            if (gone == null) {
                gone = new GoneQueues(engine, this);
            }
            return gone;
        }
    }

    /** Under lifecycle. All queues are about to be closed. */
    void relistGone() {
        if (gone != null) {
            gone.relist();
        }
    }

    /** Under lifecycle. */
    QueueSnapshot goneFigures() {
        return gone == null ? QueueSnapshot.NOTHING : gone.figures();
    }

    /** Its last callback has ended. */
    void forget(LoopWorker d) {
        synchronized (engine.lifecycle) {
            List<LoopWorker> rest = new ArrayList<>(Arrays.asList(all()));
            rest.remove(d);
            loops = rest.toArray(new LoopWorker[0]);
            engine.lifecycle.notifyAll();
        }
    }
}
