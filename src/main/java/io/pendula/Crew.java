package io.pendula;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The drivers of one scheduler: starts their threads, knows them, and sees them end.
 *
 * <p>An ordinary scheduler has all drivers at home from the beginning, and spare ones for a while. A pool starts each
 * when it is needed; those for which there is a queue that has none are at home there.
 */
final class Crew {
    private final TimerScheduler scheduler;
    /** Copied at each change, under this. */
    private volatile Driver[] drivers = {};
    /** Those of a thread factory: our own know their driver. */
    private final Map<Thread, Driver> foreign = new ConcurrentHashMap<>();
    private int sparesStarted;

    /** Held while a pool starts a thread, which calls the user's factory. */
    private final Object starting = new Object();
    private volatile boolean started;
    private int homes;
    private boolean startFailed;

    Crew(TimerScheduler scheduler) {
        this.scheduler = scheduler;
    }

    Driver[] drivers() {
        return drivers;
    }

    /** The driver that one of the factory's threads carries, or null. */
    Driver driverOf(Thread t) {
        return foreign.get(t);
    }

    /** Under this. */
    int sparesStarted() {
        return sparesStarted;
    }

    /** All at home, and the monitor if there is one. */
    void startAll(Monitor monitor) {
        started = true;
        for (TimerQueue q : scheduler.queues) {
            Driver d = new Driver(scheduler, q);
            keep(q, d);
            launch(d, "worker-" + q.index);
        }
        if (monitor != null) {
            Thread t = newThread(monitor, "monitor");
            monitor.setThread(t);
            t.start();
        }
    }

    /** A manual clock's own thread runs everything. */
    void needsNobody() {
        started = true;
    }

    private static void keep(TimerQueue q, Driver d) {
        q.lock();
        try {
            q.keep(d);
        } finally {
            q.unlock();
        }
    }

    /** Starts the first thread of a pool. If it cannot be had, the next call tries again. */
    void ensureStarted() {
        if (!started) {
            synchronized (starting) {
                if (!started) {
                    Driver d = new Driver(scheduler, scheduler.queues[0]);
                    for (TimerQueue q : scheduler.queues) {
                        keep(q, d); // until it has a driver of its own
                    }
                    launch(d, "worker-0");
                    homes = 1;
                    started = true;
                }
            }
        }
    }

    /** Starts one more thread of a pool, to hold the lookout, if there may be more; false if it cannot be had. */
    boolean startAnother() {
        if (drivers.length >= scheduler.options.maxDrivers()) {
            return true;
        }
        synchronized (starting) {
            Lookout lookout = scheduler.lookout;
            if (scheduler.isClosed() || drivers.length >= scheduler.options.maxDrivers() || lookout.isHeld()) {
                return true;
            }
            Driver d = null;
            try {
                d = new Driver(scheduler, homes < scheduler.queues.length ? scheduler.queues[homes] : null);
                lookout.starts(d);
                launch(d, "worker-" + drivers.length);
                homes++;
                return true;
            } catch (Throwable e) {
                lookout.startFailed(d);
                reportStartFailed(e);
                return false;
            }
        }
    }

    /** Starts a driver without a home; false if there are as many as may be. */
    boolean startSpare() {
        int number;
        synchronized (this) {
            if (scheduler.isClosed() || drivers.length >= scheduler.options.maxDrivers()) {
                return false;
            }
            number = sparesStarted++;
        }
        try {
            launch(new Driver(scheduler, null), "spare-" + number);
            return true;
        } catch (Throwable e) {
            synchronized (this) {
                sparesStarted--;
            }
            reportStartFailed(e);
            return false;
        }
    }

    private void reportStartFailed(Throwable e) {
        if (!startFailed) {
            startFailed = true; // once: it is tried again for as long as it is needed
            TimerScheduler.reportUncaught(e);
        }
    }

    /** The thread is started last, when all can find the driver. Does nothing once the scheduler is closed. */
    private void launch(Driver d, String role) {
        Thread t = newThread(d, role);
        d.setThread(t);
        synchronized (this) {
            if (scheduler.isClosed()) {
                return;
            }
            if (scheduler.options.threadFactory() != null) {
                foreign.put(t, d);
            }
            Driver[] more = Arrays.copyOf(drivers, drivers.length + 1);
            more[more.length - 1] = d;
            drivers = more;
        }
        try {
            t.start();
        } catch (Throwable e) {
            ended(d);
            throw e;
        }
    }

    private Thread newThread(Runnable body, String role) {
        TimerScheduler.Options options = scheduler.options;
        String name = "pendula-" + options.name() + "-" + role;
        ThreadFactory factory = options.threadFactory();
        if (factory == null) {
            Thread t = body instanceof Driver d ? new DriverThread(d, name) : new Thread(null, body, name, 0, false);
            t.setDaemon(options.daemon());
            t.setContextClassLoader(options.contextClassLoader());
            return t;
        }
        Thread t = factory.newThread(body);
        if (t == null) {
            throw new IllegalStateException("the thread factory returned null for " + name);
        }
        if (t.getState() != Thread.State.NEW) {
            throw new IllegalStateException("the thread factory returned a thread for " + name
                    + " that is not new but " + t.getState());
        }
        return t;
    }

    /** Called by the driver's thread as the last thing that it does. */
    synchronized void ended(Driver d) {
        foreign.remove(d.runner());
        List<Driver> rest = new ArrayList<>(Arrays.asList(drivers));
        rest.remove(d);
        drivers = rest.toArray(new Driver[0]);
        notifyAll();
    }

    boolean isEmpty() {
        return drivers.length == 0;
    }

    /** Until no driver is left; false if there still are some after so many nanoseconds. */
    synchronized boolean awaitEmpty(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        while (drivers.length > 0) {
            long left = nanos - (System.nanoTime() - start);
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }
}
