package io.pendula.internal.engine;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** Hands callbacks to the builder's executor, and takes back those that it has not begun. */
public final class Dispatcher {
    private final Engine engine;
    /** Firings in the executor, until they have run. Concurrent. */
    public final Set<Dispatched> handedOff;
    /** Guarded by the lock that a close of the scheduler holds. */
    private boolean isTakenBack;

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

        /** True for the first caller: the run, a close, or the worker. An executor may run the task and then throw. */
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

    /** False if the firing must run on the calling thread: not a user's task, no memory, or just closed. */
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
        boolean isMine = h.take(); // otherwise a close has taken it
        if (isMine) {
            ended(h);
        }
        return !isMine;
    }

    /** Ignores failures of the removal: the run of a rejected firing, or the wake-up of a close, must follow. */
    private void ended(Dispatched h) {
        try {
            handedOff.remove(h);
        } catch (Throwable e) { // no memory to count the removal; the firing is out of the set
            Reporter.uncaught(e);
        }
        if (engine.isClosed()) { // after the removal; a closing thread sets it before it checks
            engine.runEnded();
        }
    }

    /**
     * Takes back the firings that the executor has not begun, and adds their timers to {@code unfired}. They will not run,
     * nor will their next armings. The executor then finds nothing to do. A firing that has not begun may wait there for
     * the closing thread.
     *
     * <p>The scheduler is set closed first. A worker adds a firing, then checks whether the scheduler is closed; if so, it
     * takes the firing itself and runs it. Both are volatile, so no firing is left behind. All queues are closed, too, so
     * no run that ends here arms anything. A firing that the first call has not found runs on its worker. A later call
     * must not take it from there: its timer would not be in the list that the first one returns. So only a call after a
     * failure does anything.
     */
    void takeBack(List<TimerNode> unfired) {
        if (isTakenBack) {
            return;
        }
        List<TimerNode> again = new ArrayList<>(1);
        for (Dispatched h : handedOff) {
            TimerNode t = h.node();
            unfired.add(t); // while there is memory: a firing that was taken cannot be given back
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
        isTakenBack = true;
    }
}
