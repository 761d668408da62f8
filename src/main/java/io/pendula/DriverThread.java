package io.pendula;

/** A thread that knows which driver it carries, so that arming from a callback finds its queue at once. */
final class DriverThread extends Thread {
    final Driver driver;

    /** A null group is that of the calling thread. */
    DriverThread(ThreadGroup group, Driver driver, String name) {
        super(group, driver, name, 0, false);
        this.driver = driver;
    }
}
