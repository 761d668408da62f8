package io.pendula.internal.workers;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Options;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.util.VirtualThreads;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The workers of one scheduler. Starts their threads, lists them, and removes each worker when it ends.
 *
 * <p>An ordinary scheduler starts its workers at once, and spare workers when callbacks block. A pool starts each worker
 * when it is needed, and gives it a queue as its home while there are queues without one.
 */
public final class WorkerPool {
    /** Minimum pause between two attempts to start a thread. */
    private static final long RETRY_NANOS = 10_000_000;
    private static final long TELL_EACH_NANOS = 1_000_000_000;

    private static final Sleeper[] NONE = {};
    /**
     * Loads Thread.State with this class. If the JVM ran out of memory while it loaded Thread.State later, it could never
     * use it.
     */
    private static final Thread.State NOT_STARTED = Thread.State.NEW;

    final Engine engine;
    /** Owns the workers' queues; null if there are none. */
    public final Standby standby;
    /** Timers found long overdue after a sleep: nothing had woken their owner. */
    public final AtomicInteger overdueWakes = new AtomicInteger();
    /** Spare workers that have run something. */
    public final AtomicLong sparesUsed = new AtomicLong();

    /** Held while a pool starts its first thread, which calls the user's factory: without that thread nothing can run. */
    private final Object starting = new Object();
    /** Whether a thread is starting another worker. */
    private final AtomicBoolean growing = new AtomicBoolean();
    /** False only in a pool whose first thread is not started yet. */
    private volatile boolean started;
    /** After a failed start, the System.nanoTime of the next attempt; else 0. */
    private volatile long retriesFrom;
    /** The number of workers started after the first ones, for names. Used only by the thread that has set growing. */
    private int spares;
    /** The group of new threads. Not the group of the thread that happens to need them. */
    private final ThreadGroup group;
    /** The System.nanoTime from which the next failed start is reported. */
    private final AtomicLong tellsFrom = new AtomicLong(System.nanoTime());

    /**
     * {@code queues}: those of the workers, which share the gate. The array may be filled later, but before the first
     * worker.
     */
    public WorkerPool(Engine engine, TimerQueue[] queues, WakeGate gate) {
        this.engine = engine;
        this.standby = queues.length > 0 ? new Standby(queues, gate, engine.options.spacingNanos) : null;
        this.started = standby == null || !isPool();
        this.group = engine.endsWhenIdle() ? null : Thread.currentThread().getThreadGroup();
    }

    /** Whether tasks may block and there is no monitor. */
    boolean isPool() {
        return engine.options.isPool;
    }

    /** Changes under the engine's lifecycle. */
    public Sleeper[] workers() {
        return standby == null ? NONE : standby.sleepers();
    }

    /** Whether a worker other than {@code but} could take over from those in callbacks. See Sleeper.hasBegun. */
    private boolean isAnyFree(Sleeper but) {
        for (Sleeper d : workers()) {
            if (d != but && (d.asleep || !d.hasBegun)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The worker of a thread, or null. Compares with all workers, so arming uses {@link Worker#ofFactorysThread} instead.
     */
    public Sleeper workerOf(Thread t) {
        for (Sleeper d : workers()) {
            if (d.runner() == t) {
                return d;
            }
        }
        return null;
    }

    /** The number of threads if no callback blocks, after each was needed once. */
    public int core() {
        int most = engine.options.maxThreads;
        return standby == null ? 0 : isPool() ? most : Math.max(engine.workers, Math.min(2, most));
    }

    /** A thread counts from its start to its end. */
    public int live() {
        assert Thread.holdsLock(engine.lifecycle);
        int live = 0;
        for (Sleeper d : workers()) {
            Thread t = d.runner();
            live += t != null && t.isAlive() ? 1 : 0;
        }
        return live;
    }

    /**
     * One worker for each queue, and at least two if maxThreads allows: one is the guard. The threads of the shared
     * scheduler start when they are first called.
     */
    public void startAll() {
        TimerQueue[] queues = engine.queues;
        boolean onCall = engine.endsWhenIdle();
        Worker[] all = new Worker[core()];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Worker(this, standby, i < queues.length ? queues[i] : null, false);
            if (onCall) {
                all[i].sleeps(Timeline.NEVER); // has no thread yet
            }
        }
        if (all.length > 0) {
            standby.begin(all[0], all.length > 1 ? all[1] : null);
        }
        if (onCall) {
            knows(all);
            return;
        }
        for (int i = 0; i < all.length; i++) {
            launch(all[i], "worker-" + i);
        }
    }

    /** Registers workers whose threads start later, or never. */
    public void knows(Sleeper... workers) {
        synchronized (engine.lifecycle) {
            standby.knows(workers);
        }
    }

    /** Starts the first thread of a pool. If that fails, the submission throws and the next one tries again. */
    public void ensureStarted() {
        if (started || Thread.holdsLock(starting)) { // the second: a factory submits to the pool that called it
            return;
        }
        synchronized (starting) {
            if (!started) {
                Worker d = new Worker(this, standby, engine.queues[0], false);
                standby.begin(d, null);
                launch(d, "worker-0");
                started = true;
            }
        }
    }

    /**
     * Called before a callback, which may block. If no other worker is free, starts one more, up to maxThreads: in a pool a
     * permanent worker, elsewhere a spare worker. The argument {@code by} is the calling worker, or null for other threads.
     *
     * <p>Only one thread at a time starts a worker. Another thread leaves it to the first thread, which checks again after
     * a success, when it has cleared growing. The other thread set its hasBegun before it failed to set growing, so that
     * check sees it. After a failure growAgain checks, RETRY_NANOS later at the earliest.
     *
     * <p>A spare worker that is about to end seems free until it has left workers. So it calls this after that. It leaves
     * workers, then reads each hasBegun; a worker that begins a callback sets hasBegun, then reads workers. All are
     * volatile, so one of the two sees the other.
     */
    public void growIfAlone(Sleeper by) {
        long from = retriesFrom;
        if (from != 0) {
            if (System.nanoTime() - from < 0) {
                return;
            }
            HoldLock.checkStack(); // otherwise no thread might try again
            retriesFrom = 0; // before the attempt, which sets it again if it fails
        }
        boolean goesOn = true;
        while (goesOn && isGrowthNeeded(by)) { // again after each success, see above
            HoldLock.checkStack(); // otherwise growing might stay set
            goesOn = growing.compareAndSet(false, true) && grow(by);
        }
    }

    /**
     * Called when a task is submitted or a callback begins. Retries a failed start at a bounded rate, because all workers
     * may block and none may notice the need again.
     */
    public void growAgain(Sleeper by) {
        if (retriesFrom != 0) {
            growIfAlone(by);
        }
    }

    /** {@code by} does not count as free. If two threads are allowed, there are always two: one is the guard. */
    private boolean isGrowthNeeded(Sleeper by) {
        return workers().length < engine.options.maxThreads && (isPool() && workers().length < 2 || !isAnyFree(by))
                && (isPool() || engine.options.monitor) && !engine.isClosed();
    }

    /** Called by the thread that has set growing; false on failure. */
    private boolean grow(Sleeper by) {
        Throwable failure = null;
        try {
            if (isGrowthNeeded(by)) { // another thread may have started one since the last check
                launchNext();
            }
        } catch (Throwable e) {
            failure = e;
        }
        growing.set(false);
        if (failure != null) {
            retriesFrom = System.nanoTime() + RETRY_NANOS | 1; // not 0
            reportStartFailed(failure);
        }
        return failure == null;
    }

    private void launchNext() {
        int size = workers().length;
        TimerQueue home = isPool() && size < engine.queues.length ? engine.queues[size] : null; // workers never leave a pool
        launch(new Worker(this, standby, home, !isPool()), isPool() ? "worker-" + size : "spare-" + spares);
        spares++;
    }

    /** Reports at most one failure a second, because a start is retried while it is needed. */
    public void reportStartFailed(Throwable e) {
        long now = System.nanoTime();
        long from = tellsFrom.get();
        if (now - from >= 0 && tellsFrom.compareAndSet(from, now + TELL_EACH_NANOS)) {
            Sleeper me = workerOf(Thread.currentThread());
            if (me == null) {
                Reporter.uncaught(e);
            } else {
                me.tell(e);
            }
        }
    }

    /** Does nothing if the scheduler is closed. Lists the worker before it starts the thread. */
    private void launch(Worker d, String role) {
        Thread t = newThread(d, role);
        d.setThread(t);
        synchronized (engine.lifecycle) {
            if (!engine.isClosed()) {
                Sleeper[] before = workers();
                standby.knows(Engine.with(before, d));
                try {
                    t.start();
                } catch (Throwable e) {
                    standby.knows(before); // allocates no array: memory may be short
                    throw e;
                }
            }
        }
    }

    Thread newThread(Runnable body, String role) {
        Options options = engine.options;
        String name = "pendula-" + options.name + "-" + role;
        ThreadFactory factory = options.threadFactory;
        if (factory == null) {
            return engine.endsWhenIdle() ? CleanThread.make(body, name, options.daemon, options.contextClassLoader)
                    : new CleanThread(group, body, name, options.daemon, options.contextClassLoader);
        }
        Thread t = factory.newThread(body);
        if (t == null) {
            throw new IllegalStateException("the thread factory returned null for " + name);
        }
        if (VirtualThreads.isVirtual(t)) {
            throw VirtualThreads.refused();
        }
        if (t.getState() != NOT_STARTED) {
            throw new IllegalStateException("the thread factory returned a thread for " + name
                    + " that is not new but " + t.getState());
        }
        return t;
    }

    /**
     * The last call of a worker's thread. Repeats its work until it succeeds, because memory may be short: otherwise a spare
     * worker that has ended would count as free forever, and no other would be started.
     */
    public void ended(Worker d) {
        for (boolean isGone = false; !isGone; ) {
            try {
                synchronized (engine.lifecycle) {
                    standby.knows(Engine.without(workers(), d));
                    engine.lifecycle.notifyAll();
                }
                isGone = true;
            } catch (RuntimeException | OutOfMemoryError e) { // any other Error would recur
                Reporter.tellAndPause(e, d, RETRY_NANOS);
            }
        }
        if (d.isTemporary) {
            growIfAlone(null); // the others have counted it as free until now, see growIfAlone
        }
    }

    /** Whether all workers are gone or {@linkplain #isOver over}. */
    public boolean isEmpty() {
        for (Sleeper d : workers()) {
            if (!isOver(d)) {
                return false;
            }
        }
        return true;
    }

    /** Whether its thread has ended. A thread made by a user's factory may end without having run the worker. */
    public static boolean isOver(Sleeper d) {
        Thread t = d.runner();
        return t != null && !t.isAlive() && t.getState() != NOT_STARTED;
    }
}
