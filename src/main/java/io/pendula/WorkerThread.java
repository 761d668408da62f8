package io.pendula;

/** A thread that knows which worker it carries, so that arming from a callback finds its queue at once. */
final class WorkerThread extends Thread {
    final Worker worker;

    /** A null group is that of the calling thread. */
    WorkerThread(ThreadGroup group, Worker worker, String name) {
        super(group, worker, name, 0, false);
        this.worker = worker;
    }
}
