package io.pendula.internal.loops;

import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** The loops of one scheduler: attaches them, finds them, and closes their queues. */
public final class Loops {
    /** A thread that was held up may still count what it has done in a queue that was closed so many loops ago. */
    private static final int KEPT = 64;

    private final Engine engine;
    /** All that are not over. Copied at each change, under the engine's lifecycle, as all below. */
    volatile LoopWorker[] loops = {};
    private int made;
    /** Those that were closed last, for their figures; the youngest at the end. */
    private final ArrayDeque<TimerQueue> closed = new ArrayDeque<>(KEPT + 1);
    /** The figures of those before. */
    private QueueView.Snapshot before = QueueView.Snapshot.nothing();

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
                if (l.thread == thread && (!l.detached || l.isRunning())) { // else it is over, or its end has failed
                    throw new IllegalStateException("the thread " + thread.getName() + (l.detached
                            ? " is inside a callback of a loop that it has closed" : " has a loop of this scheduler already"));
                }
            }
            TimerQueue q = engine.newQueue(engine.workers + made, new WakeGate());
            LoopWorker l = new LoopWorker(engine, this, q, thread, wakeup, handle);
            LoopWorker[] more = Engine.with(left(), l);
            TimerQueue[] queues = Engine.with(engine.queues, q);
            q.gate.setOwner(l); // after the last step that may fail for want of memory
            engine.queues = queues;
            loops = more;
            made++;
            return l;
        }
    }

    /**
     * Closes the loop's queue; passes the timers that were armed there to {@code stopped}, once. If this fails, as for want
     * of memory, or if {@code stopped} throws, the next call does the rest and passes on what this one should have.
     */
    public void detach(LoopWorker l, Consumer<List<TimerNode>> stopped) {
        if (beginEnd(l)) {
            try {
                engine.abandon(l.unfired); // without a lock, as what follows
                engine.completeAbandoned(l.unfired); // before stopped, which may cancel them
                stopped.accept(l.unfired);
                l.unfired = null;
            } finally {
                l.isEnding = false;
            }
            forgetOver();
        }
    }

    /** Stops its timers. False if they were passed on, or another call is about to do that. */
    private boolean beginEnd(LoopWorker l) {
        synchronized (engine.lifecycle) {
            if (l.isEnding || l.unfired == null) {
                return false;
            }
            l.detached = true;
            if (l.queue.gate.owner() != null && !engine.isClosed()) { // else it is closed, or who closes it has them
                close(l.queue, l.unfired);
            }
            l.isEnding = true;
            return true;
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
        detach(l, unfired -> {
            if (!unfired.isEmpty()) {
                List<TimerNode> all = unfired.stream().toList(); // if this fails, as for want of memory, the next call tells
                engine.reporter.tell(Event.LOOP_CLOSED, l, 0, 0, all);
            }
        });
    }

    /** If its thread has ended without closing it. If that fails, closeEnded tries again. The caller holds no lock. */
    public void closeIfEnded(LoopWorker l) {
        if (!l.detached) {
            tryCloseIfEnded(l);
        }
    }

    /** Closes those whose threads have ended, also if an earlier attempt has failed. False if one of them fails now. */
    public boolean closeEnded() {
        boolean success = true;
        for (LoopWorker l : loops) {
            success &= tryCloseIfEnded(l);
        }
        return success;
    }

    /** A failure is told, not thrown: who finds out that a loop's thread has ended has not asked for the close. */
    private boolean tryCloseIfEnded(LoopWorker l) {
        try {
            if (l.hasEnded() && l.unfired != null && !engine.isClosed()) {
                close(l);
            }
            return true;
        } catch (Throwable e) {
            Reporter.uncaught(e);
            return false;
        }
    }

    /** The scheduler is being closed: adds what was stopped by calls that have failed. */
    public void collectUnfired(List<TimerNode> unfired) {
        synchronized (engine.lifecycle) {
            for (LoopWorker l : loops) {
                if (!l.isEnding && l.isEndOpen()) { // in this order: a thread that ends it changes unfired first
                    unfired.addAll(l.unfired);
                    l.unfired = null;
                }
            }
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

    /** Takes those that are over off the list. If that fails, as for want of memory, the next call or attach does it. */
    void forgetOver() {
        try {
            synchronized (engine.lifecycle) {
                loops = left();
            }
        } catch (Throwable e) {
            Reporter.uncaught(e); // not thrown: the caller has done what it should, and may have timers to return
        }
    }

    private LoopWorker[] left() {
        assert Thread.holdsLock(engine.lifecycle);
        return Arrays.stream(loops).filter(l -> !l.isOver()).toArray(LoopWorker[]::new);
    }
}
