package io.pendula;

import io.pendula.internal.queue.Firing;
import java.util.concurrent.atomic.AtomicBoolean;

/** A claimed firing on its way through the executor that a scheduler was built with. */
final class DispatchedFiring extends Firing implements Runnable {
    private final Engine engine;
    private final AtomicBoolean taken = new AtomicBoolean();
    private volatile Thread runner;

    DispatchedFiring(Engine engine, Firing claimed) {
        this.engine = engine;
        begin(claimed.node(), claimed.task, claimed.deadline, claimed.claimedAt);
    }

    /** Once: by the run, by a close, or by the worker, as an executor that throws may have run the task all the same. */
    boolean take() {
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
                engine.performHere(this);
            } finally {
                engine.ended(this);
            }
        }
    }
}
