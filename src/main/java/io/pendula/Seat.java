package io.pendula;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The place of a worker's or the stall watch's thread. In the shared scheduler a worker's thread ends when it has had
 * nothing to do for some seconds, and the next wake starts another one, as everywhere that of the watch; elsewhere a seat
 * keeps its thread.
 */
final class Seat {
    /*
     * No wake is lost
     *
     * A waker first changes what the thread looks at before it sleeps (pollUntil, or whether the watch is idle), then
     * reads the seat. A thread that ends first vacates its seat, then looks at the same word once more. All four are
     * volatile, so at least one of the two sees the other:
     *
     * - The waker finds the seat empty, and starts a thread.
     * - The thread finds the word changed, and sits down again.
     * - Both: each replaces null by a compare-and-set, so one of them succeeds. If it is the waker, the old thread
     *   ends; else the waker's thread is never started, and the old one goes on, as after any wake.
     *
     * Between two threads the fields of the worker are passed on by the seat: the old thread touches none after it has
     * vacated the seat, unless it gets the seat back; the new one is started by a thread that found the seat empty.
     *
     * If a thread cannot be started the seat is empty again, and the waker's caller puts the word back, so that the
     * next wake is the next attempt. Until then nothing runs, but nothing is lost. A waker that finds a thread which
     * was never started starts it, as the one that made it may have failed in between; of two, one succeeds.
     */

    /** Read with this class: a JVM that is out of memory when it first needs Thread.State can never use it. */
    private static final Thread.State NOT_STARTED = Thread.State.NEW;

    private final WorkerPool workerPool;
    private final Runnable body;
    /** Of the threads that are started when they are needed; null if none is. */
    private final String role;
    private final AtomicReference<Thread> sitting = new AtomicReference<>();

    Seat(WorkerPool workerPool, Runnable body, String role) {
        this.workerPool = workerPool;
        this.body = body;
        this.role = role;
    }

    /** The thread that sits here, or null. */
    Thread thread() {
        return sitting.get();
    }

    /** Only before the thread is started. */
    void take(Thread t) {
        sitting.set(t);
    }

    /** Wakes the thread, or starts one; false if one was needed and could not be started. */
    boolean wake() {
        Thread t = sitting.get();
        if (role != null && (t == null || t.getState() == NOT_STARTED)) {
            return start(t);
        }
        LockSupport.unpark(t);
        return true;
    }

    /** {@code made} by another waker, or null. That may be about to start it, or may have been out of stack. */
    private boolean start(Thread made) {
        Thread t = made;
        try {
            if (t == null) {
                t = workerPool.newThread(body, role);
                if (!sitting.compareAndSet(null, t)) {
                    return true;
                }
            }
            t.start();
            return true;
        } catch (IllegalThreadStateException e) {
            return true; // the other waker was quicker
        } catch (Throwable e) {
            sitting.compareAndSet(t, null); // if one was made
            workerPool.reportStartFailed(e);
            return false;
        }
    }

    /** Whether the calling thread sits here. One that does not, though it was started for that, must end at once. */
    boolean isMine() {
        return sitting.get() == Thread.currentThread();
    }

    /** The own thread, {@code me}, is about to end. True if it must; false if it was woken and goes on. */
    boolean leave(Thread me, BooleanSupplier isWoken) {
        sitting.set(null);
        return !isWoken.getAsBoolean() || !sitting.compareAndSet(null, me);
    }
}
