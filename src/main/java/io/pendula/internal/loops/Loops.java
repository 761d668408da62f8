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

/** The loops of one scheduler: attaches and lists them, and closes their queues. */
public final class Loops {
    /** The number of closed queues kept, because a suspended thread may still count in one of them. */
    private static final int KEPT = 64;

    private final Engine engine;
    /** All loops that are not over. Copied at each change, under the engine's lifecycle, like the fields below. */
    volatile LoopWorker[] loops = {};
    private int made;
    /** The queues closed most recently, for their figures; the latest at the end. */
    private final ArrayDeque<TimerQueue> closed = new ArrayDeque<>(KEPT + 1);
    /** The figures of earlier queues. */
    private QueueView.Snapshot before = QueueView.Snapshot.nothing();

    public Loops(Engine engine) {
        this.engine = engine;
    }

    public LoopWorker[] all() {
        return loops;
    }

    /** The loop of a thread, or null. */
    public LoopWorker of(Thread t) {
        for (LoopWorker l : loops) {
            if (l.thread == t && !l.detached) {
                return l;
            }
        }
        return null;
    }

    /** For a thread without a loop if there are no workers: the queue of a loop whose thread is alive, or null. */
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
            q.gate.setOwner(l); // after the last step that may fail for lack of memory
            engine.queues = queues;
            loops = more;
            made++;
            return l;
        }
    }

    /**
     * Closes the loop's queue, and passes its armed timers to {@code stopped}, once. If this fails, for instance for lack
     * of memory or because {@code stopped} throws, the next call does the rest and passes on the remaining timers.
     */
    public void detach(LoopWorker l, Consumer<List<TimerNode>> stopped) {
        if (beginEnd(l)) {
            try {
                engine.abandon(l.unfired); // without a lock, like the next steps
                engine.completeAbandoned(l.unfired); // before stopped, which may cancel them
                stopped.accept(l.unfired);
                l.unfired = null;
            } finally {
                l.isEnding = false;
            }
            forgetOver();
        }
    }

    /** Stops its timers. False if they were passed on, or another call is about to pass them on. */
    private boolean beginEnd(LoopWorker l) {
        synchronized (engine.lifecycle) {
            if (l.isEnding || l.unfired == null) {
                return false;
            }
            l.detached = true;
            if (l.queue.gate.owner() != null && !engine.isClosed()) { // else closed, or a closing thread has them
                close(l.queue, l.unfired);
            }
            l.isEnding = true;
            return true;
        }
    }

    /** If this succeeds, the queue has no owner and counts as closed. */
    private void close(TimerQueue q, List<TimerNode> unfired) {
        assert Thread.holdsLock(engine.lifecycle);
        engine.closeAll(new TimerQueue[] {q}, unfired);
        TimerQueue[] rest = Engine.without(engine.queues, q); // steps that may fail for lack of memory come first
        if (closed.size() == KEPT) {
            before = before.plus(closed.peek().view().stats());
            closed.remove();
        }
        closed.add(q);
        engine.queues = rest;
        q.gate.disown();
    }

    /** As {@code detach}, but reports the timers. */
    public void close(LoopWorker l) {
        detach(l, unfired -> {
            if (!unfired.isEmpty()) {
                List<TimerNode> all = unfired.stream().toList(); // if this fails, the next call reports
                engine.reporter.tell(Event.LOOP_CLOSED, l, 0, 0, all);
            }
        });
    }

    /** Closes a loop whose thread has ended. If that fails, closeEnded tries again. The caller holds no lock. */
    public void closeIfEnded(LoopWorker l) {
        if (!l.detached) {
            tryCloseIfEnded(l);
        }
    }

    /** Closes all loops whose threads have ended, also after a failed attempt. False if one of them fails now. */
    public boolean closeEnded() {
        boolean success = true;
        for (LoopWorker l : loops) {
            success &= tryCloseIfEnded(l);
        }
        return success;
    }

    /** Reports a failure instead of throwing it: the caller has not asked for this close. */
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

    /** Called while the scheduler is closed: adds the timers stopped by calls that have failed. */
    public void collectUnfired(List<TimerNode> unfired) {
        synchronized (engine.lifecycle) {
            for (LoopWorker l : loops) {
                if (!l.isEnding && l.isEndOpen()) { // in this order: a thread that ends the loop changes unfired first
                    unfired.addAll(l.unfired);
                    l.unfired = null;
                }
            }
        }
    }

    /** The summed figures of closed queues. */
    public QueueView.Snapshot figuresOfClosed() {
        assert Thread.holdsLock(engine.lifecycle);
        QueueView.Snapshot sum = before;
        for (TimerQueue q : closed) {
            sum = sum.plus(q.view().stats());
        }
        return sum;
    }

    /** Removes loops that are over from the list. If that fails, the next call or attach does it. */
    void forgetOver() {
        try {
            synchronized (engine.lifecycle) {
                loops = left();
            }
        } catch (Throwable e) {
            Reporter.uncaught(e); // not thrown: the caller has succeeded, and may have timers to return
        }
    }

    private LoopWorker[] left() {
        assert Thread.holdsLock(engine.lifecycle);
        return Arrays.stream(loops).filter(l -> !l.isOver()).toArray(LoopWorker[]::new);
    }
}
