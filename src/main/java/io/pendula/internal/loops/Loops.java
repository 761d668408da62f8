package io.pendula.internal.loops;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Function;

/** The loops of one scheduler: attaches them, finds them, and closes their queues. */
public final class Loops {
    /** A thread that was held up may still count what it has done in a queue that was closed so many loops ago. */
    private static final int KEPT = 64;

    private final Engine engine;
    /** All whose callbacks may run. Copied at each change, under the engine's lifecycle, as all below. */
    private volatile LoopWorker[] loops = {};
    private int made;
    /** Those that were closed last, for their figures; the youngest at the end. */
    private final ArrayDeque<TimerQueue> closed = new ArrayDeque<>(KEPT + 1);
    /** The figures of those before. */
    private QueueView.Snapshot before = QueueView.Snapshot.NOTHING;

    public Loops(Engine engine) {
        this.engine = engine;
    }

    public LoopWorker[] all() {
        return loops;
    }

    /** The calling thread's own loop, or null. */
    public LoopWorker of(Thread t) {
        for (LoopWorker l : loops) {
            if (l.thread == t && !l.detached) {
                return l;
            }
        }
        return null;
    }

    /** For a thread without a loop, where there are no workers: the queue of a loop whose thread lives; null if none does. */
    public TimerQueue any(int turn) {
        LoopWorker[] all = loops;
        for (int i = 0; i < all.length; i++) {
            LoopWorker l = all[Integer.remainderUnsigned(turn + i, all.length)];
            if (l.hasEnded()) {
                closeIfEnded(l);
            } else if (!l.detached) {
                return l.queue;
            }
        }
        return null;
    }

    public LoopWorker attach(Thread thread, Runnable wakeup, Function<LoopWorker, Object> handle) {
        synchronized (engine.lifecycle) {
            if (engine.isClosed()) {
                throw new IllegalStateException("scheduler '" + engine.name() + "' is closed");
            }
            for (LoopWorker l : loops) {
                if (l.thread == thread) {
                    throw new IllegalStateException("the thread " + thread.getName() + (l.detached
                            ? " is inside a callback of a loop that it has closed" : " has a loop of this scheduler already"));
                }
            }
            TimerQueue q = engine.newQueue(engine.workers + made);
            LoopWorker l = new LoopWorker(engine, this, q, thread, wakeup, handle);
            LoopWorker[] more = Engine.with(loops, l);
            TimerQueue[] queues = Engine.with(engine.queues, q);
            q.giveTo(l); // after the last step that may fail for want of memory
            engine.queues = queues;
            loops = more;
            made++;
            return l;
        }
    }

    /**
     * Closes the loop's queue; returns the timers that were armed there. If this fails, as for want of memory, the next
     * call does the rest and returns what this one should have.
     */
    public List<TimerNode> detach(LoopWorker l) {
        List<TimerNode> unfired;
        synchronized (engine.lifecycle) {
            unfired = l.unfired;
            if (unfired == null) {
                return List.of();
            }
            l.detached = true;
            if (!l.isRunning()) {
                forget(l);
            }
            if (l.queue.gate.owner() != null && !engine.isClosed()) { // else it is closed, or who closes it has them
                close(l.queue, unfired);
            }
            l.unfired = null;
        }
        try {
            engine.abandon(unfired);
            return unfired;
        } catch (Throwable e) {
            l.unfired = unfired;
            throw e;
        }
    }

    /** When it has succeeded, the queue has no owner and counts among those that are closed. */
    private void close(TimerQueue q, List<TimerNode> unfired) {
        assert Thread.holdsLock(engine.lifecycle);
        engine.closeAll(new TimerQueue[] {q}, unfired);
        TimerQueue[] rest = Engine.without(engine.queues, q); // what may fail for want of memory comes first
        if (closed.size() == KEPT) {
            before = before.plus(closed.peek().view().stats());
            closed.remove();
        }
        closed.add(q);
        engine.queues = rest;
        q.gate.disown();
    }

    /** As detach, but tells of the timers. */
    public void close(LoopWorker l) {
        List<TimerNode> unfired = detach(l);
        if (!unfired.isEmpty()) {
            engine.reporter.loopClosed(l, unfired);
        }
    }

    /** If its thread has ended without closing it. The caller holds no lock. */
    public void closeIfEnded(LoopWorker l) {
        if (l.hasEnded() && l.unfired != null && !engine.isClosed()) {
            close(l);
        }
    }

    /** What the closed ones did. */
    public QueueView.Snapshot figuresOfClosed() {
        assert Thread.holdsLock(engine.lifecycle);
        QueueView.Snapshot sum = before;
        for (TimerQueue q : closed) {
            sum = sum.plus(q.view().stats());
        }
        return sum;
    }

    /** Its last callback has ended. */
    void forget(LoopWorker l) {
        synchronized (engine.lifecycle) {
            loops = Engine.without(loops, l);
            engine.lifecycle.notifyAll();
        }
    }
}
