package io.pendula.internal.workers;

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
     * A waker first changes the word that the thread reads before it sleeps (whether a worker was called, or the watch is
     * idle), then reads the seat (SE-W1). A thread that ends first vacates its seat (SE-L1), then reads the same word
     * once more (SE-L2). All four are volatile, so at least one of the two sees the other:
     *
     * - The waker finds the seat empty, and starts a thread.
     * - The thread finds the word changed, and takes its seat again.
     * - Both: the monitor lets one of them fill the seat. If that is the waker, the old thread ends. Else no thread is
     *   started, and the old one goes on, as after any wake.
     *
     * A thread that a waker starts gets the seat after its start. Until then each waker waits for the monitor, and tries
     * itself if the start has failed. After a failure couldNotStart puts back the word that decides whether a waker comes here
     * (the gate; whether the watch is idle). So the next wake is the next attempt. Until then nothing runs, but nothing is
     * lost. The factory is called outside the monitor, as it may take locks of the user's: a waker that comes too late has
     * made a thread that is never started.
     *
     * The fields of the worker are passed on by the seat: the old thread touches none after it has vacated the seat, unless
     * it takes the seat again; the new one waits for the monitor before it touches any.
     */

    /** What has a seat. */
    public interface Sitter extends Runnable {
        /** The calling thread could not start the one that was to run. */
        void couldNotStart();
    }

    private final WorkerPool workerPool;
    private final Sitter sitter;
    /** Of the threads that are started when they are needed; null if none is. */
    private final String role;
    /** Set under the monitor; or by its thread, to null. */
    private volatile Thread thread;

    public Seat(WorkerPool workerPool, Sitter sitter, String role) {
        this.workerPool = workerPool;
        this.sitter = sitter;
        this.role = role;
    }

    /** The thread that sits here, or null. */
    public Thread thread() {
        return thread;
    }

    /** Only before the thread is started. */
    public void take(Thread t) {
        thread = t;
    }

    /** Wakes the thread, or starts one; false if one was needed and could not be started. */
    public boolean wake() {
        Thread t = thread; // SE-W1
        if (t == null && role != null) {
            return start();
        }
        LockSupport.unpark(t);
        return true;
    }

    private boolean start() {
        try {
            Thread t = workerPool.newThread(sitter, role);
            synchronized (this) {
                if (thread == null) {
                    t.start();
                    thread = t;
                }
                return true;
            }
        } catch (Throwable e) {
            return failed(e);
        }
    }

    private boolean failed(Throwable e) {
        sitter.couldNotStart();
        workerPool.reportStartFailed(e);
        return false;
    }

    /** Whether the calling thread sits here. One that does not, though it was started for that, must end at once. */
    public synchronized boolean isMine() {
        return thread == Thread.currentThread();
    }

    /** The own thread is about to end. True if it must; false if it was woken and goes on. */
    public boolean leave(BooleanSupplier isWoken) {
        thread = null; // SE-L1
        if (isWoken.getAsBoolean()) { // SE-L2
            synchronized (this) {
                thread = thread == null ? Thread.currentThread() : thread;
            }
        }
        return !isMine();
    }
}
