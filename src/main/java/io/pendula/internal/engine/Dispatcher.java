package io.pendula.internal.engine;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** Hands callbacks to the executor that a scheduler was built with, and takes back what that has not begun. */
public final class Dispatcher {
    private final Engine engine;
    /** What the executor has, until it has run. Concurrent. */
    public final Set<Dispatched> handedOff;

    Dispatcher(Engine engine, Set<Dispatched> handedOff) {
        this.engine = engine;
        this.handedOff = handedOff;
    }

    /** A claimed firing on its way through the executor. */
    final class Dispatched extends Firing implements Runnable {
        private final AtomicBoolean taken = new AtomicBoolean();
        private volatile Thread runner;

        private Dispatched(Firing claimed) {
            begin(claimed.node(), claimed.task, claimed.deadline, claimed.claimedAt);
        }

        /** Once: by the run, by a close, or by the worker, as an executor that throws may have run the task all the same. */
        private boolean take() {
            return taken.compareAndSet(false, true);
        }

        @Override
        public Thread runner() {
            return runner;
        }

        @Override
        public void run() {
            if (take()) {
                runner = Thread.currentThread();
                try {
                    if (engine.runHere(this)) {
                        engine.endRun(this);
                    }
                } finally {
                    ended(this);
                }
            }
        }
    }

    /** False if the firing must run on the calling thread: no task of the user's, no room for it, or closed just now. */
    boolean handOff(Firing claimed) {
        if (claimed.task instanceof Receiver) {
            return false;
        }
        Dispatched h = null;
        try {
            h = new Dispatched(claimed);
            handedOff.add(h);
            if (!engine.isClosed()) { // after it was added, see takeBack
                engine.options.executor.execute(h);
                return true;
            }
        } catch (Throwable e) {
            if (h != null && !h.take()) {
                return true; // it ran, or is running
            }
            engine.reporter.tell(Event.THREW, claimed.node(), claimed.lateness(), 0, e);
            if (h != null) {
                ended(h);
            }
            return false;
        }
        boolean isMine = h.take(); // else a close has it
        if (isMine) {
            ended(h);
        }
        return !isMine;
    }

    /** Whatever the removal throws: what follows must come, the run of a firing that was rejected and the wake of a close. */
    private void ended(Dispatched h) {
        try {
            handedOff.remove(h);
        } catch (Throwable e) { // the set has no memory to count that; the firing is out of it
            Reporter.uncaught(e);
        }
        if (engine.isClosed()) { // after the removal; a closing thread sets it before it looks
            engine.runEnded();
        }
    }

    /**
     * Takes back what the executor has and has not begun, and adds the timers to {@code unfired}: they will not run, and
     * neither will what was armed meanwhile. The executor finds nothing to do then. A firing that has not begun may wait
     * there for the very thread that closes.
     *
     * <p>The scheduler is set closed before this looks. A worker adds a firing, then looks whether the scheduler is
     * closed; if so, it takes the firing itself and runs it. Both are volatile, so no firing is left to wait for. All
     * queues are closed, too, so that no run that ends here arms anything.
     */
    void takeBack(List<TimerNode> unfired) {
        List<TimerNode> again = new ArrayList<>(1);
        for (Dispatched h : handedOff) {
            TimerNode t = h.node();
            unfired.add(t); // while there still is memory: a firing that was taken cannot be given back
            if (!h.take()) {
                unfired.remove(unfired.size() - 1);
                continue;
            }
            try {
                TimerQueue q = QueuedNode.queueOf(t);
                q.closer.collectRunning(t, again);
                again.clear();
                q.takeBackFiring();
                if (t.unfire()) {
                    q.endRun(t);
                }
            } finally {
                ended(h);
            }
        }
    }
}
