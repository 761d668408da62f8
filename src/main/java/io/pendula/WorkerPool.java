package io.pendula;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The workers of one scheduler: starts their threads, knows them, and sees them end.
 *
 * <p>An ordinary scheduler has all workers at home from the beginning, and spare ones for a while. A pool starts each
 * when it is needed; those for which there is a queue that has none are at home there.
 */
final class WorkerPool {
    private final Engine engine;
    /** Copied at each change, under this. */
    private volatile Worker[] workers = {};
    /** Those of a thread factory: our own know their worker. */
    private final Map<Thread, Worker> foreign = new ConcurrentHashMap<>();
    private int sparesStarted;

    /** Held while a pool starts its first thread, which calls the user's factory: without it nothing can run. */
    private final Object starting = new Object();
    /** A worker of a pool is about to start another. */
    private final AtomicBoolean growing = new AtomicBoolean();
    private volatile boolean started;
    private int homes;
    private boolean startFailed;

    WorkerPool(Engine engine) {
        this.engine = engine;
    }

    Worker[] workers() {
        return workers;
    }

    /** The worker that one of the factory's threads carries, or null. */
    Worker workerOf(Thread t) {
        return foreign.get(t);
    }

    /** Under this. */
    int sparesStarted() {
        return sparesStarted;
    }

    /** For statistics: the threads that were started and have not ended. */
    int liveThreads() {
        int n = 0;
        for (Worker d : workers) {
            Thread t = d.runner();
            n += t != null && t.isAlive() ? 1 : 0;
        }
        return n;
    }

    /** One worker for each queue, or two if there may be: one that guards the other; and the monitor if there is one. */
    void startAll(Monitor monitor) {
        started = true;
        TimerQueue[] queues = engine.queues;
        Worker[] all = new Worker[Math.max(queues.length, Math.min(2, engine.options.maxThreads()))];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Worker(engine, engine.standby, i < queues.length ? queues[i] : null, false);
        }
        if (all.length > 0) {
            engine.standby.begin(all[0], all.length > 1 ? all[1] : null);
        }
        for (int i = 0; i < all.length; i++) {
            launch(all[i], "worker-" + i);
        }
        if (monitor != null) {
            Thread t = newThread(monitor, "monitor");
            monitor.setThread(t);
            t.start();
        }
    }

    /** Those of the shared scheduler: each thread starts when it is first called. */
    void seatAll() {
        started = true;
        Worker[] all = new Worker[engine.queues.length];
        for (TimerQueue q : engine.queues) {
            Worker d = new Worker(engine, engine.standby, q, false);
            d.sleeps(Timeline.NEVER); // has no thread as yet
            all[q.index] = d;
            q.due.prepareToSleep(engine.standby, engine.timeline.now());
        }
        engine.standby.begin(all[0], all.length > 1 ? all[1] : null);
        knows(all);
    }

    /** Workers whose threads are started later, or never. */
    synchronized void knows(Worker... workers) {
        this.workers = workers;
    }

    /** A manual clock's own thread runs everything. */
    void needsNobody() {
        started = true;
    }

    /** Starts the first thread of a pool. If it cannot be had, the next call tries again. */
    void ensureStarted() {
        if (!started) {
            synchronized (starting) {
                if (!started) {
                    Worker d = new Worker(engine, engine.standby, engine.queues[0], false);
                    engine.standby.begin(d, null);
                    homes = 1; // before this worker starts others
                    launch(d, "worker-0");
                    started = true;
                }
            }
        }
    }

    /**
     * A worker of a pool is about to run a task. Starts one more, if there may be more and none sleeps. The user's
     * factory may be slow, so nobody waits for it but the worker that has called it; all others go on, and those that
     * go to sleep meanwhile look after what that one leaves.
     */
    void growIfAlone(Worker by) {
        if (workers.length >= engine.options.maxThreads() || isAnyAsleep(by)
                || !growing.compareAndSet(false, true)) {
            return;
        }
        try {
            Worker d;
            try {
                if (engine.isClosed() || workers.length >= engine.options.maxThreads() || isAnyAsleep(by)) {
                    return;
                }
                TimerQueue home = homes < engine.queues.length ? engine.queues[homes] : null;
                d = new Worker(engine, engine.standby, home, false);
                if (!enlist(d, newThread(d, "worker-" + workers.length))) {
                    return;
                }
                homes++;
            } finally {
                growing.set(false); // before the start: the new worker may need another at once
            }
            start(d);
        } catch (Throwable e) {
            reportStartFailed(e);
        }
    }

    private boolean isAnyAsleep(Worker but) {
        for (Worker d : workers) {
            if (d != but && d.asleep) {
                return true;
            }
        }
        return false;
    }

    /** Whether there is none that sleeps, though one more could be started. */
    boolean isSpareNeeded() {
        return mayGrow() && !isAnyAsleep(null);
    }

    /** Whether a spare worker could be started. */
    boolean mayGrow() {
        return workers.length < engine.options.maxThreads();
    }

    /** Starts a worker without a home; false if there are as many as may be. */
    boolean startSpare() {
        int number;
        synchronized (this) {
            if (engine.isClosed() || workers.length >= engine.options.maxThreads()) {
                return false;
            }
            number = sparesStarted;
        }
        try {
            launch(new Worker(engine, engine.standby, null, true), "spare-" + number);
            synchronized (this) {
                sparesStarted++; // no sooner: statistics tell of none that was not started
            }
            FlightEvents.spareStarted(engine, workers.length);
            return true;
        } catch (Throwable e) {
            reportStartFailed(e);
            return false;
        }
    }

    void reportStartFailed(Throwable e) {
        if (!startFailed) {
            startFailed = true; // once: it is tried again for as long as it is needed
            Reporter.uncaught(e);
        }
    }

    /** The thread is started last, when all can find the worker. Does nothing once the scheduler is closed. */
    private void launch(Worker d, String role) {
        if (enlist(d, newThread(d, role))) {
            start(d);
        }
    }

    /** From now on all can find it; false if the scheduler is closed. */
    private boolean enlist(Worker d, Thread t) {
        d.setThread(t);
        synchronized (this) {
            if (engine.isClosed()) {
                return false;
            }
            if (engine.options.threadFactory() != null) {
                foreign.put(t, d);
            }
            Worker[] more = Arrays.copyOf(workers, workers.length + 1);
            more[more.length - 1] = d;
            workers = more;
        }
        return true;
    }

    private void start(Worker d) {
        try {
            d.runner().start();
        } catch (Throwable e) {
            ended(d);
            throw e;
        }
    }

    /** One more thread for a worker that the worker pool has already, or for the monitor. */
    Thread newThreadOf(Runnable body, String role) {
        Thread t = newThread(body, role);
        if (body instanceof Worker d && engine.options.threadFactory() != null) {
            foreign.put(t, d);
        }
        return t;
    }

    /** Such a thread has ended, or is not started. */
    void left(Thread t) {
        foreign.remove(t);
    }

    private Thread newThread(Runnable body, String role) {
        Options options = engine.options;
        String name = "pendula-" + options.name() + "-" + role;
        ThreadFactory factory = options.threadFactory();
        if (factory == null) {
            Thread t = engine.endsWhenIdle() ? CleanThreads.make(body, name)
                    : body instanceof Worker d ? new WorkerThread(null, d, name)
                    : new Thread(null, body, name, 0, false);
            t.setDaemon(options.daemon());
            t.setContextClassLoader(options.contextClassLoader());
            return t;
        }
        Thread t = factory.newThread(body);
        if (t == null) {
            throw new IllegalStateException("the thread factory returned null for " + name);
        }
        if (VirtualThreads.isVirtual(t)) {
            throw VirtualThreads.refused();
        }
        if (t.getState() != Thread.State.NEW) {
            throw new IllegalStateException("the thread factory returned a thread for " + name
                    + " that is not new but " + t.getState());
        }
        return t;
    }

    /** Called by the worker's thread as the last thing that it does. */
    synchronized void ended(Worker d) {
        foreign.remove(d.runner());
        List<Worker> rest = new ArrayList<>(Arrays.asList(workers));
        rest.remove(d);
        workers = rest.toArray(new Worker[0]);
        notifyAll();
    }

    boolean isEmpty() {
        return workers.length == 0;
    }

    /** Until no worker is left; false if there still are some after so many nanoseconds. */
    synchronized boolean awaitEmpty(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        while (workers.length > 0) {
            long left = nanos - (System.nanoTime() - start);
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }
}
