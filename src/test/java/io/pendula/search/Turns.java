package io.pendula.search;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;

/** Hands the turn from one thread of an execution to the next: coroutines where the JVM has them, else carriers. */
abstract class Turns extends Memory {
    /** Ends the threads of an execution that need not go on. */
    static final class Abort extends Error {
        private static final long serialVersionUID = 1;

        Abort() {
            super(null, null, false, false);
        }
    }

    static final Abort ABORT = new Abort();

    private final Search search;
    final ModelThread[] threads = new ModelThread[Execution.MAX_THREADS];
    int count;
    volatile boolean aborting;
    private int live;
    /** Of coroutines: whose turn it is when the present one yields. */
    private ModelThread target;
    private final Thread starter = Thread.currentThread();

    Turns(Search search, LongFunction<Variable.Users> users) {
        super(users);
        this.search = search;
    }

    /** Whose turn it is after that of {@code current}; null at the end. */
    abstract ModelThread next(ModelThread current);

    final void runCarriers() {
        for (int i = 0; i < count; i++) {
            launch(threads[i]);
        }
        ModelThread first = next(null);
        if (first == null) {
            finish();
        } else {
            give(first);
        }
        while (liveThreads() > 0) {
            LockSupport.park(this);
        }
    }

    final void runCoroutines() {
        target = next(null);
        while (target != null) {
            resume(target);
        }
        aborting = true;
        for (int i = 0; i < count; i++) {
            while (threads[i].coroutine != null && !threads[i].ended) {
                resume(threads[i]);
            }
        }
    }

    private void resume(ModelThread t) {
        if (t.coroutine == null) {
            t.coroutine = new Coroutine(t::run);
        }
        Coroutine.active = t;
        target = null;
        try {
            t.coroutine.run();
        } finally {
            Coroutine.active = null;
        }
    }

    private synchronized int liveThreads() {
        return live;
    }

    final void launch(ModelThread t) {
        synchronized (this) {
            live++;
        }
        search.freeCarrier().carry(t);
    }

    void carrierIsFree(Carrier c) {
        search.isFree(c);
        synchronized (this) {
            live--;
        }
        LockSupport.unpark(starter);
    }

    final void give(ModelThread t) {
        if (Coroutine.AVAILABLE) {
            target = t;
        } else {
            t.turn = true;
            LockSupport.unpark(t.carrier);
        }
    }

    /** At the beginning of a thread. */
    void awaitFirstTurn(ModelThread me) {
        if (!Coroutine.AVAILABLE) {
            awaitTurn(me);
        }
    }

    final void awaitTurn(ModelThread me) {
        if (Coroutine.AVAILABLE) {
            Coroutine.yield();
            checkNotAborted();
            return;
        }
        while (!me.turn) {
            if (aborting) {
                throw ABORT;
            }
            LockSupport.park(this);
        }
        me.turn = false;
        if (aborting) {
            throw ABORT;
        }
    }

    final void finish() {
        aborting = true;
        for (int i = 0; i < count && !Coroutine.AVAILABLE; i++) {
            LockSupport.unpark(threads[i].carrier);
        }
    }

    void checkNotAborted() {
        if (aborting) {
            throw ABORT;
        }
    }
}
