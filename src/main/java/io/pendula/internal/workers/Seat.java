package io.pendula.internal.workers;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Holds the thread of a worker or of the StallWatch. In the shared scheduler a worker's thread ends after some idle seconds,
 * and the next wake starts another. The watch's thread does so in every scheduler. All other threads keep their seats.
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
     * - Both: the monitor lets one of them fill the seat. If the waker fills it, the old thread ends. Otherwise no thread
     *   is started, and the old thread continues, as after any wake.
     *
     * A thread that a waker starts gets the seat after its start. Until then other wakers wait for the monitor, and try
     * themselves if the start failed. After a failure, couldNotStart resets the word that makes wakers come here (the gate,
     * or the watch's idle). So the next wake is the next attempt. Until then nothing runs, but nothing is lost. The factory
     * is called outside the monitor, because it may take the user's locks: a waker that is too late has made a thread that
     * is never started.
     *
     * The seat also passes on the fields of the worker. The old thread touches none after it has vacated the seat, unless
     * it takes the seat again. The new one waits for the monitor before it touches any.
     */

    /** The body of a thread that has a seat. */
    public interface Sitter extends Runnable {
        /** Called by a thread that could not start this sitter's thread. */
        void couldNotStart();
    }

    private final WorkerPool workerPool;
    private final Sitter sitter;
    /** Part of the name of threads that are started on demand; null if no threads are. */
    private final String role;
    /** Set under the monitor, except that its own thread sets it to null without the monitor. */
    private volatile Thread thread;

    public Seat(WorkerPool workerPool, Sitter sitter, String role) {
        this.workerPool = workerPool;
        this.sitter = sitter;
        this.role = role;
    }

    /** The thread that has this seat, or null. */
    public Thread thread() {
        return thread;
    }

    /** Called only before the thread is started. */
    public void take(Thread t) {
        thread = t;
    }

    /** Wakes the thread, or starts one. False if one was needed and could not be started. */
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

    /**
     * Whether the calling thread has this seat. A thread that was started for this seat and does not have it must end at
     * once.
     */
    public synchronized boolean isMine() {
        return thread == Thread.currentThread();
    }

    /** Called by the seat's thread before it ends. True if it must end; false if it was woken and continues. */
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
