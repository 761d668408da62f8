package io.pendula.internal.scheduler;

import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.WorkerPool;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The callbacks of a scheduler that are running or handed to its executor. Each instance is used once. */
public final class Firings {
    private final SchedulerEngine engine;

    Firings(SchedulerEngine engine) {
        this.engine = engine;
    }

    /**
     * Visits each place where a callback may run. A firing is added to the executor's set before it leaves the worker that
     * claimed it. So this order never misses a firing, but may find it in both places.
     */
    private void forEachPlace(Consumer<Firing> look) {
        for (Sleeper w : engine.workerPool.workers()) {
            look.accept(w);
        }
        for (LoopWorker l : engine.loops()) {
            look.accept(l);
        }
        if (engine.stepper != null) {
            look.accept(engine.stepper);
        }
        if (engine.dispatcher != null) {
            engine.dispatcher.handedOff.forEach(look);
        }
    }

    /** The places for which {@code look} returns true. */
    private List<Firing> find(Predicate<Firing> look) {
        List<Firing> found = new ArrayList<>();
        forEachPlace(run -> {
            if (look.test(run)) {
                found.add(run);
            }
        });
        return found;
    }

    /** Visits every timer that was claimed before the call and whose run has not ended. May visit other timers. */
    void forEach(Consumer<TimerNode> look) {
        forEachPlace(run -> {
            TimerNode t = run.node();
            if (t != null) {
                look.accept(t);
            }
        });
    }

    /** The approximate number: a firing that is being handed to the executor may count twice. */
    public int count() {
        return find(run -> run.node() != null).size();
    }

    /** The run of a timer, or null. */
    Firing runOf(TimerNode timer) {
        List<Firing> runs = find(run -> run.node() == timer);
        return runs.isEmpty() ? null : runs.get(runs.size() - 1); // the executor's, if a worker is handing it over
    }

    /** The calling thread's runs. More than one if the executor runs callbacks on the thread that hands them over. */
    private List<Firing> ofCaller() {
        Thread me = Thread.currentThread();
        return find(run -> run.runner() == me);
    }

    /** Whether the calling thread is inside a callback. */
    boolean isInCallback() {
        return !ofCaller().isEmpty();
    }

    /**
     * Waits until no callback runs. False after {@code nanos}, or if the calling thread is interrupted. Callbacks that call
     * this do not wait for each other, because that would never end. A thread outside callbacks waits for the end of all.
     */
    boolean awaitEnd(long nanos) {
        List<Firing> mine = ofCaller();
        mine.forEach(run -> run.inClose = true);
        engine.runEnded(); // threads that are waiting need not wait for these any more
        try {
            return engine.awaitChange(() -> !mustWait(!mine.isEmpty()), nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * For a worker, its thread must have ended. The thread of a loop or a manual clock may live on, so its run must have
     * ended.
     */
    private boolean mustWait(boolean insideCallback) {
        VarHandle.fullFence(); // between closed and the reads of runs: pairs with LoopWorker.ended and Stepper.runOneDue
        return !find(run -> !(insideCallback && run.inClose)
                && (run instanceof Sleeper d ? !WorkerPool.isOver(d) : run.node() != null)).isEmpty();
    }
}
