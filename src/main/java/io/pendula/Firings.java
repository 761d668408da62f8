package io.pendula;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The callbacks of a scheduler that are in progress, or handed to its executor: for threads that close it. */
final class Firings {
    private final Engine engine;
    private final WorkerPool workerPool;
    private final Loops loops;
    /** Only with a manual clock. */
    private final Stepper stepper;

    Firings(Engine engine, WorkerPool workerPool, Loops loops, Stepper stepper) {
        this.engine = engine;
        this.workerPool = workerPool;
        this.loops = loops;
        this.stepper = stepper;
    }

    /** Looks at what runs: every timer that was claimed before, unless its run has ended; others perhaps. */
    void forEach(Consumer<TimerNode> look) {
        // By their own types: for Firing the JVM's verifier would load every one of these classes at the start.
        for (Worker d : workerPool.workers()) {
            look(d.node(), look);
        }
        for (LoopWorker l : loops.all()) {
            look(l.node(), look);
        }
        for (DispatchedFiring h : engine.handedOff) { // after the workers: registered before a worker lets go
            look(h.node(), look);
        }
        if (stepper != null) {
            look(stepper.node(), look);
        }
    }

    /** How many are in progress, about: one that is just being handed to the executor may count twice. */
    int count() {
        int[] n = new int[1];
        forEach(t -> n[0]++);
        return n[0];
    }

    /** The thread that runs a timer, or null. */
    Thread runnerOf(TimerNode timer) {
        for (DispatchedFiring h : engine.handedOff) { // before the worker that hands it over
            if (h.node() == timer) {
                return h.runner();
            }
        }
        for (Worker d : workerPool.workers()) {
            if (d.node() == timer) {
                return d.runner();
            }
        }
        for (LoopWorker l : loops.all()) {
            if (l.node() == timer) {
                return l.runner();
            }
        }
        return stepper != null && stepper.node() == timer ? stepper.runner() : null;
    }

    private static void look(TimerNode t, Consumer<TimerNode> look) {
        if (t != null) {
            look.accept(t);
        }
    }

    // ---- the caller's own, and those of others ----

    /** More than one if the executor runs callbacks on the thread that hands them over. */
    private List<Firing> ofCaller() {
        Thread t = Thread.currentThread();
        List<Firing> runs = new ArrayList<>();
        for (Worker d : workerPool.workers()) {
            if (d.runner() == t) {
                runs.add(d);
            }
        }
        for (LoopWorker l : loops.all()) {
            if (l.runner() == t && l.isRunning()) {
                runs.add(l);
            }
        }
        for (DispatchedFiring h : engine.handedOff) {
            if (h.runner() == t) {
                runs.add(h);
            }
        }
        if (stepper != null && stepper.runner() == t) {
            runs.add(stepper);
        }
        return runs;
    }

    /** Whether the calling thread is inside a callback of such a timer. */
    boolean isByCaller(Predicate<TimerNode> timer) {
        return ofCaller().stream().map(Firing::node).anyMatch(timer);
    }

    // ---- what the executor has not begun ----

    /**
     * Takes back what the executor has and has not begun, and adds the timers to {@code unfired}: they will not run, and
     * neither will what was armed meanwhile. The executor finds nothing to do then. A firing that has not begun may wait
     * there for the very thread that closes.
     *
     * <p>The scheduler is set closed before this looks. A worker registers a firing, then looks whether the scheduler is
     * closed; if so, it takes the firing itself and runs it. Both are volatile, so no firing is left to wait for. All
     * queues are closed, too, so that no run that ends here arms anything.
     */
    void takeBack(List<TimerNode> unfired) {
        List<TimerNode> again = new ArrayList<>(1);
        for (DispatchedFiring h : engine.handedOff) {
            TimerNode t = h.node();
            unfired.add(t); // while there still is memory: a firing that was taken cannot be given back
            if (!h.take()) {
                unfired.remove(unfired.size() - 1);
                continue;
            }
            try {
                TimerQueue q = QueuedNode.queueOf(t);
                q.collectRunning(t, again);
                again.clear();
                q.takeBackFiring();
                if (t.unfire()) {
                    q.endRun(t);
                }
            } finally {
                engine.ended(h);
            }
        }
    }

    /**
     * Until none is in progress: then true. False if that lasts longer than so many nanoseconds, or if the calling thread
     * is interrupted. Callbacks that call this do not wait for each other, or they would wait for ever; a thread that is
     * inside none waits for all, to their ends.
     */
    boolean awaitEnd(long nanos) {
        long begun = System.nanoTime();
        List<Firing> mine = ofCaller();
        synchronized (engine.lifecycle) {
            if (!mine.isEmpty()) {
                mine.forEach(run -> run.inClose = true);
                engine.lifecycle.notifyAll();
            }
            try {
                return awaitEnd(nanos, begun, !mine.isEmpty());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    private boolean awaitEnd(long nanos, long begun, boolean insideCallback) throws InterruptedException {
        if (nanos == Long.MAX_VALUE) {
            while (mustWait(insideCallback)) {
                engine.lifecycle.wait();
            }
            return true;
        }
        while (mustWait(insideCallback)) {
            long left = nanos - (System.nanoTime() - begun);
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(engine.lifecycle, left);
        }
        return true;
    }

    private boolean mustWait(boolean insideCallback) {
        for (Worker d : workerPool.workers()) {
            if (!(insideCallback && d.inClose)) {
                return true;
            }
        }
        VarHandle.fullFence(); // between closed and the look at runs: pairs with LoopWorker.ended and Stepper.runOneDue
        for (LoopWorker l : loops.all()) {
            if (!(insideCallback && l.inClose) && l.node() != null) { // its thread lives on
                return true;
            }
        }
        if (stepper != null && !(insideCallback && stepper.inClose) && stepper.node() != null) {
            return true;
        }
        for (DispatchedFiring h : engine.handedOff) {
            if (!(insideCallback && h.inClose)) { // it has begun, or takeBack would have taken it
                return true;
            }
        }
        return false;
    }
}
