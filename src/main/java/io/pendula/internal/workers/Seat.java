package io.pendula.internal.workers;

import io.pendula.internal.engine.Reporter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The place of a worker's or the StallWatch's thread. In the shared scheduler a worker's thread ends when it has had
 * nothing to do for some seconds, and the next wake starts another one. The thread of the watch does so in each scheduler.
 * All other threads keep their seats.
 */
public final class Seat {
    /*
     * No wake is lost
     *
     * A waker first changes what the thread looks at before it sleeps (whether a worker was called, or the watch is
     * idle), then reads the seat (SE-W1). A thread that ends first vacates its seat (SE-L1), then looks at the same word
     * once more (SE-L2). All four are volatile, so at least one of the two sees the other:
     *
     * - The waker finds the seat empty, and starts a thread.
     * - The thread finds the word changed, and sits down again.
     * - Both: each replaces null by a compare-and-set, so one of them succeeds. If it is the waker, the old thread
     *   ends; else the waker's thread is never started, and the old one goes on, as after any wake.
     *
     * Between two threads the fields of the worker are passed on by the seat: the old thread touches none after it has
     * vacated the seat, unless it gets the seat back; the new one is started by a thread that found the seat empty.
     *
     * If a thread cannot be started the seat is empty again, and couldNotStart puts back what decides whether a waker
     * comes here (the gates of the queues; whether the watch is idle), so that the next wake is the next attempt. Until
     * then nothing runs, but nothing is lost. A waker that finds a thread which was never started starts it, as the one
     * that made it may have failed in between. Both do so under that thread's monitor: if the first fails, the seat is
     * empty when the second looks, so no thread runs that has lost its seat.
     *
     * A worker does not wait for a thread factory of the user's, as what is due would wait with it. It leaves the wake
     * to a thread that is made for that, and wakes as above, but later. One such thread is enough: a waker counts its
     * wake after its change of the word, and that thread ends when it has woken the seat after the last wake that was
     * counted. If it cannot be started the wakes that were counted are void, and couldNotStart comes after that.
     */

    /** Read with this class: a JVM that is out of memory when it first needs Thread.State can never use it. */
    private static final Thread.State NOT_STARTED = Thread.State.NEW;

    /** What has a seat. */
    public interface Sitter extends Runnable {
        /** The calling thread could not start the one that was to run. */
        void couldNotStart();
    }

    private final WorkerPool workerPool;
    private final Sitter sitter;
    /** Of the threads that are started when they are needed; null if none is. */
    private final String role;
    private final AtomicReference<Thread> sitting = new AtomicReference<>();
    /** Wakes that were left to the thread that waits for the user's factory; 0 if there is none. */
    private final AtomicInteger leftAside = new AtomicInteger();

    public Seat(WorkerPool workerPool, Sitter sitter, String role) {
        this.workerPool = workerPool;
        this.sitter = sitter;
        this.role = role;
    }

    /** The thread that sits here, or null. */
    public Thread thread() {
        return sitting.get();
    }

    /** Only before the thread is started. */
    public void take(Thread t) {
        sitting.set(t);
    }

    /** Wakes the thread, or starts one; false if one was needed and could not be started, as far as is known. */
    public boolean wake() {
        Thread t = sitting.get(); // SE-W1
        if (role != null && (t == null || t.getState() == NOT_STARTED)) {
            return workerPool.isFactoryCalledAside() ? leaveAside() : start(t);
        }
        LockSupport.unpark(t);
        return true;
    }

    private boolean leaveAside() {
        if (leftAside.getAndIncrement() > 0) {
            return true;
        }
        try {
            workerPool.aside(() -> {
                int wakes;
                do {
                    wakes = leftAside.get();
                    wakeOrTell();
                } while (leftAside.addAndGet(-wakes) > 0);
            });
            return true;
        } catch (Throwable e) {
            leftAside.set(0);
            return failed(e);
        }
    }

    private void wakeOrTell() {
        try {
            wake(); // as this thread is no worker, it may wait for the factory
        } catch (Throwable e) { // the word could not be put back; later wakes are tried all the same
            Reporter.uncaught(e);
        }
    }

    /** {@code made} by another waker, or null. That may be about to start it, or may have been out of stack. */
    private boolean start(Thread made) {
        Thread t = made;
        try {
            if (t == null) {
                t = workerPool.newThread(sitter, role);
                if (!sitting.compareAndSet(null, t)) {
                    return true;
                }
            }
        } catch (Throwable e) {
            return failed(e);
        }
        Throwable failure = null;
        synchronized (t) { // so that no waker takes the seat from a thread that another has started
            try {
                if (sitting.get() == t && t.getState() == NOT_STARTED) {
                    t.start();
                }
            } catch (Throwable e) {
                failure = e;
                if (t.getState() == NOT_STARTED) {
                    sitting.set(null);
                }
            }
        }
        return failure == null || failed(failure);
    }

    private boolean failed(Throwable e) {
        sitter.couldNotStart();
        workerPool.reportStartFailed(e);
        return false;
    }

    /** Whether the calling thread sits here. One that does not, though it was started for that, must end at once. */
    public boolean isMine() {
        return sitting.get() == Thread.currentThread();
    }

    /** The own thread, {@code me}, is about to end. True if it must; false if it was woken and goes on. */
    public boolean leave(Thread me, BooleanSupplier isWoken) {
        sitting.set(null); // SE-L1
        return !isWoken.getAsBoolean() || !sitting.compareAndSet(null, me); // SE-L2
    }
}
