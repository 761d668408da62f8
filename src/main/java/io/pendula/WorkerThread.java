package io.pendula;

/** A thread that knows which worker it carries, so that arming from a callback finds its queue at once. */
final class WorkerThread extends Thread {
    /** A {@link Worker}; no more is said here, so that what only makes threads need not know of workers. */
    final Runnable worker;

    /** A null group is that of the calling thread. */
    WorkerThread(ThreadGroup group, Runnable worker, String name) {
        super(group, worker, name, 0, false);
        this.worker = worker;
    }
}
