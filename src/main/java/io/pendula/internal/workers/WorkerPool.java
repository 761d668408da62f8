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
 * The workers of one scheduler: starts their threads, knows them, and sees them end.
 *
 * <p>An ordinary scheduler has all workers at home from the beginning, and spare ones for a while. A pool starts each
 * when it is needed; those for which there is a queue that has none are at home there.
 */
public final class WorkerPool {
    /** After a thread could not be started, it is tried again after so long at the earliest. */
    private static final long RETRY_NANOS = 10_000_000;
    private static final long TELL_EACH_NANOS = 1_000_000_000;

    private static final Sleeper[] NONE = {};
    /** Read with this class: a JVM that is out of memory when it first needs Thread.State can never use it. */
    private static final Thread.State NOT_STARTED = Thread.State.NEW;

    final Engine engine;
    /** Owns the queues of the workers; null if there are none. */
    public final Standby standby;
    /** So many timers were found long overdue by a thread that had slept: nothing had woken their owner. */
    public final AtomicInteger overdueWakes = new AtomicInteger();
    /** So many spare workers have run something. */
    public final AtomicLong sparesUsed = new AtomicLong();

    /** Held while a pool starts its first thread, which calls the user's factory: without it nothing can run. */
    private final Object starting = new Object();
    /** One thread is starting a further worker. */
    private final AtomicBoolean growing = new AtomicBoolean();
    /** It is no pool, or no first thread is to be started any more. */
    private volatile boolean started;
    /** A worker that was wanted could not be started: when that may be tried again, by System.nanoTime; else 0. */
    private volatile long retriesFrom;
    /** How many workers were started after the first ones, for the names of spare ones. Of the thread that has set growing. */
    private int spares;
    /** Of new threads; not that of the thread which happens to need them. */
    private final ThreadGroup group;
    /** When the next failure to start a thread is told, by System.nanoTime. */
    private final AtomicLong tellsFrom = new AtomicLong(System.nanoTime());

    /** {@code queues} of the workers, with that gate; they may be made later, but before the first worker. */
    public WorkerPool(Engine engine, TimerQueue[] queues, WakeGate gate) {
        this.engine = engine;
        this.standby = queues.length > 0 ? new Standby(queues, gate, engine.options.spacingNanos) : null;
        this.started = standby == null || !isPool();
        this.group = engine.endsWhenIdle() ? null : Thread.currentThread().getThreadGroup();
    }

    /** Whether its tasks may block, and there is no monitor. */
    boolean isPool() {
        return engine.options.isPool;
    }

    /** They change under the engine's lifecycle. */
    public Sleeper[] workers() {
        return standby == null ? NONE : standby.sleepers();
    }

    /** Whether a worker, other than that one, could take over from all that run callbacks. See Sleeper.hasBegun. */
    private boolean isAnyFree(Sleeper but) {
        for (Sleeper d : workers()) {
            if (d != but && (d.asleep || !d.hasBegun)) {
                return true;
            }
        }
        return false;
    }

    /** The worker that a thread carries, or null. It looks at all; arming asks {@link Worker#ofFactorysThread} instead. */
    public Sleeper workerOf(Thread t) {
        for (Sleeper d : workers()) {
            if (d.runner() == t) {
                return d;
            }
        }
        return null;
    }

    /** How many threads there are when nothing blocks them, once each was needed. */
    public int core() {
        int most = engine.options.maxThreads;
        return standby == null ? 0 : isPool() ? most : Math.max(engine.workers, Math.min(2, most));
    }

    /** Threads count from their start to their end. */
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
     * One worker for each queue, or two if there may be: one that guards the other. The threads of the shared scheduler
     * start when they are first called.
     */
    public void startAll() {
        TimerQueue[] queues = engine.queues;
        boolean onCall = engine.endsWhenIdle();
        Worker[] all = new Worker[core()];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Worker(this, standby, i < queues.length ? queues[i] : null, false);
            if (onCall) {
                all[i].sleeps(Timeline.NEVER); // has no thread as yet
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

    /** Workers whose threads are started later, or never. */
    public void knows(Sleeper... workers) {
        synchronized (engine.lifecycle) {
            standby.knows(workers);
        }
    }

    /** Starts the first thread of a pool. If that fails, the exception is the submission's, and the next one tries again. */
    public void ensureStarted() {
        if (started || Thread.holdsLock(starting)) { // the second: a factory submits to the pool that has called it
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
     * A worker is about to run a callback, which may block. If no other worker is free this starts one more, if there
     * may be more: in a pool one that stays, elsewhere a spare one. {@code by} is null for all other threads.
     *
     * <p>One thread at a time does that. Another leaves it to that one, and it looks again after a success, when it has
     * cleared growing: hasBegun was set before the other thread failed to set growing, so it is seen then. After a failure
     * growAgain looks, RETRY_NANOS later at the earliest.
     *
     * <p>A spare worker that is about to end seems free until it is gone. So it calls this when it is. It leaves
     * workers, then reads each hasBegun; a worker that begins a callback sets hasBegun, then reads workers. All are
     * volatile, so one of the two sees the other.
     */
    public void growIfAlone(Sleeper by) {
        long from = retriesFrom;
        if (from != 0) {
            if (System.nanoTime() - from < 0) {
                return;
            }
            HoldLock.checkStack(); // or no thread might try again
            retriesFrom = 0; // before the attempt, which sets it anew if it fails
        }
        boolean goesOn = true;
        while (goesOn && isGrowthNeeded(by)) { // once more when it has grown, see above
            HoldLock.checkStack(); // or growing might stay set
            goesOn = growing.compareAndSet(false, true) && grow(by);
        }
    }

    /**
     * A task was submitted, or a callback is about to run. If a worker could not be started when it was needed, no
     * worker may find that out again, as all may block: so this tries again, at a bounded rate.
     */
    public void growAgain(Sleeper by) {
        if (retriesFrom != 0) {
            growIfAlone(by);
        }
    }

    /**
     * {@code by} is not counted among those that are free. A pool that may have two threads has two, as every scheduler
     * has: one guards the other.
     */
    private boolean isGrowthNeeded(Sleeper by) {
        return workers().length < engine.options.maxThreads && (isPool() && workers().length < 2 || !isAnyFree(by))
                && (isPool() || engine.options.monitor) && !engine.isClosed();
    }

    /** By the thread that has set growing; false if it has failed. */
    private boolean grow(Sleeper by) {
        Throwable failure = null;
        try {
            if (isGrowthNeeded(by)) { // another thread may have started one since the last look
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
        TimerQueue home = isPool() && size < engine.queues.length ? engine.queues[size] : null; // none leaves a pool
        launch(new Worker(this, standby, home, !isPool()), isPool() ? "worker-" + size : "spare-" + spares);
        spares++;
    }

    /** It is tried again for as long as it is needed, so of many failures in a row one a second is told. */
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

    /** Does nothing once the scheduler is closed. The thread is started last, when others count the worker. */
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
                    standby.knows(before); // makes no array, as memory may be short
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
     * Called by the worker's thread as the last thing that it does. Tried until it succeeds, as memory may be short:
     * what waits for the end of all workers would wait for ever.
     */
    public void ended(Worker d) {
        for (boolean isGone = false; !isGone; ) {
            try {
                synchronized (engine.lifecycle) {
                    standby.knows(Engine.without(workers(), d));
                    engine.lifecycle.notifyAll();
                }
                isGone = true;
            } catch (RuntimeException | OutOfMemoryError e) { // every other Error would come again
                Reporter.tellAndPause(e, d, RETRY_NANOS);
            }
        }
        if (d.isTemporary) {
            growIfAlone(null); // the others took it for free until now, see there
        }
    }

    /** Whether no worker is left, but for those that {@link #isOver}. */
    public boolean isEmpty() {
        for (Sleeper d : workers()) {
            if (!isOver(d)) {
                return false;
            }
        }
        return true;
    }

    /** Whether its thread has ended. A thread of the user's factory may do so without having run the worker. */
    public static boolean isOver(Sleeper d) {
        Thread t = d.runner();
        return t != null && !t.isAlive() && t.getState() != NOT_STARTED;
    }
}
