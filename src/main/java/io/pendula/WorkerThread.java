package io.pendula;

/** A thread that knows what it runs, a worker perhaps, so that arming from a callback finds its queue at once. */
final class WorkerThread extends Thread {
    /** A {@link Worker}, or else it carries none; what only makes threads need not know of workers. */
    final Runnable body;

    /** A null group is that of the calling thread. */
    WorkerThread(ThreadGroup group, Runnable body, String name) {
        super(group, body, name, 0, false);
        this.body = body;
    }
}
