package io.pendula.search;

import java.util.concurrent.locks.LockSupport;

/** A thread of this JVM that runs one model thread after the other. */
final class Carrier extends Thread {
    private volatile ModelThread next;
    /** Null while a check runs on this thread, whose accesses are not those of the program. */
    ModelThread model;

    Carrier(int number) {
        super("search-carrier-" + number);
        setDaemon(true);
        start();
    }

    void carry(ModelThread thread) {
        thread.carrier = this;
        next = thread;
        LockSupport.unpark(this);
    }

    @Override
    public void run() {
        for (;;) {
            ModelThread t = next;
            if (t == null) {
                LockSupport.park(this);
            } else {
                model = t;
                t.run();
                model = null;
                next = null;
                t.execution.carrierIsFree(this);
            }
        }
    }
}
