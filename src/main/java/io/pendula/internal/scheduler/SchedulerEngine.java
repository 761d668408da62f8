package io.pendula.internal.scheduler;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Options;
import io.pendula.internal.engine.Stepper;
import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.loops.Loops;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.util.Texts;
import io.pendula.internal.workers.Worker;
import io.pendula.internal.workers.WorkerPool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The engine of a scheduler: creates and closes its queues, workers and loops, and finds the queue on which a thread arms.
 */
public final class SchedulerEngine extends Engine {
    /** Enough slots that a few dozen threads rarely share one. */
    public static final int SLOTS = 1024;
    private static final int SLOT_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(SLOTS);

    /** How often a drain checks whether it is over. */
    private static final long LOOK_NANOS = 10_000_000;

    private final TimerQueue[] own;
    private final int mask;
    /**
     * By slot: its number plus 1, or 0. Plain: each is written once, under this array's monitor. A thread that reads 0
     * reads again under it.
     */
    private final int[] numbers = new int[SLOTS];
    /** Guarded by numbers. */
    private int dealt;
    public final WorkerPool workerPool;
    /** Owns the workers' queues; null without workers, and with a manual clock. */
    public final Standby standby;
    /** Null until a loop is attached. */
    public volatile Loops loops;
    /** Null without a manual clock. */
    public final Stepper stepper;
    private final boolean isWatched;
    /** Created when first needed. */
    private volatile StallWatch watch;
    /**
     * Held while the scheduler is being closed. Taken before all other locks, with one exception. A pool's own tracker
     * closes the scheduler when its last task has ended, and may then hold its shuttingDown. Under this lock a close takes
     * the shuttingDown of views, which do not include that tracker. No callback runs, no future completes and no thread
     * waits under it.
     */
    private final Object closing = new Object();
    /** Guarded by closing: timers that are stopped and not returned yet. */
    private List<TimerNode> unfired = new ArrayList<>();
    /** Guarded by lifecycle. The shutdowns of views. Weak, because an unused view needs no shutdown. */
    private final Set<Runnable> views = Collections.newSetFromMap(new WeakHashMap<>());

    public SchedulerEngine(Options options) {
        super(options);
        this.own = new TimerQueue[workers];
        this.mask = Integer.bitCount(own.length) == 1 ? own.length - 1 : -1;
        boolean isManual = options.steppers != null;
        WakeGate gate = new WakeGate();
        this.workerPool = new WorkerPool(this, isManual ? new TimerQueue[0] : own, gate);
        this.standby = workerPool.standby;
        for (int i = 0; i < own.length; i++) {
            own[i] = newQueue(i, gate);
        }
        this.queues = own;
        this.stepper = isManual ? new Stepper(this) : null;
        this.isWatched = options.monitor && standby != null;
        if (isManual) {
            options.steppers.accept(stepper);
        } else if (!options.isPool) {
            try {
                workerPool.startAll();
            } catch (Throwable e) {
                try { // end the threads that were started
                    shutdownNow(t -> {});
                } catch (Throwable too) {
                    e.addSuppressed(too);
                }
                throw e;
            }
        }
    }

    // ---- called by users' objects ----

    /** The summed figures of all queues, including closed loops. Adds the figures of each current queue to {@code each}. */
    public QueueView.Snapshot figures(List<QueueView.Snapshot> each) {
        assert Thread.holdsLock(lifecycle);
        QueueView.Snapshot all = loops == null ? QueueView.Snapshot.nothing() : loops.figuresOfClosed();
        for (TimerQueue q : queues) {
            QueueView.Snapshot figures = q.view().stats();
            all = all.plus(figures);
            each.add(figures);
        }
        return all;
    }

    @Override
    public String toString() {
        int attached = loops().length;
        return "TimerScheduler[" + options.name + ", "
                + (isStepped() ? "manual clock" : Texts.count(own.length, "worker"))
                + (attached == 0 ? "" : ", " + Texts.count(attached, "loop")) + (isClosed() ? ", closed]" : "]");
    }

    /** A loop for {@code me}, which is the calling thread except in tests. {@code handle} makes the user's handle. */
    public LoopWorker attach(Thread me, Runnable wakeup, Function<LoopWorker, Object> handle) {
        if (workerPool.workerOf(me) != null) {
            throw new IllegalStateException("the thread " + me.getName() + " is a worker of this scheduler");
        }
        if (isWatched) {
            watch(); // now, because a thread that arms must not wait for a lock
        }
        synchronized (lifecycle) {
            if (loops == null) {
                loops = new Loops(this);
            }
        }
        loops.closeEnded();
        return loops.attach(me, wakeup, handle); // last, so that a failed attach leaves no loop that is never polled
    }

    /** The loops whose callbacks may run, and those whose closing has failed. */
    public LoopWorker[] loops() {
        Loops l = loops;
        return l == null ? LoopWorker.NONE : l.all();
    }

    // ---- the queue on which a thread arms ----

    public TimerQueue currentQueue() {
        Thread t = Thread.currentThread();
        Worker d = workerOf(t);
        if (d != null && d.home != null) {
            return d.home;
        }
        LoopWorker l = loopOf(t);
        return l != null ? l.queue : workersQueue(t);
    }

    private LoopWorker loopOf(Thread t) {
        return loops == null ? null : loops.of(t);
    }

    /** Whether timers armed by the calling thread wait for that thread. */
    public boolean hasLoopOfCaller() {
        return loopOf(Thread.currentThread()) != null;
    }

    /** The queue on which the thread would arm if it had no loop. For timers that must not wait until the loop is polled. */
    public TimerQueue workersQueue(Thread t) {
        int turn = mask == 0 ? 0 : turnOf(t.getId()); // a subclass with a wrong id affects only the spread
        return mask >= 0 ? own[turn & mask] : own.length == 0 ? anyLoop(turn) : own[turn % own.length];
    }

    private TimerQueue anyLoop(int turn) {
        TimerQueue q = loops == null ? null : loops.any(turn);
        if (q == null) {
            throw new RejectedExecutionException("no loop is attached, and the scheduler has no workers of its own");
        }
        return q;
    }

    /**
     * The number of a thread, in [0, SLOTS), which selects its queue. Each thread gets the next number at its first use, so
     * threads are spread evenly whatever their ids are. The table is indexed by a hash of the id. Threads with equal hashes
     * share a number, which skews the spread a little and has no other effect. Once all slots are taken, only the hash of a
     * new thread decides.
     *
     * <p>A number never changes, so a thread arms all its timers on one queue. Timers with equal deadlines run in the order
     * in which the thread armed them.
     */
    public int turnOf(long threadId) {
        int slot = slot(threadId);
        int number = numbers[slot];
        return (number != 0 ? number : deal(slot)) - 1;
    }

    private int deal(int slot) {
        synchronized (numbers) {
            if (numbers[slot] == 0) {
                numbers[slot] = ++dealt;
            }
            return numbers[slot];
        }
    }

    /**
     * With one multiplication, ids with a constant stride would keep a pattern, and a full table would map them to few
     * queues.
     */
    private static int slot(long id) {
        long h = id * 0x9E3779B97F4A7C15L;
        return (int) ((h ^ h >>> 32) * 0xD6E8FEB86659FD93L >>> SLOT_SHIFT);
    }

    /** The worker of this scheduler that runs on the calling thread, or null. */
    private Worker workerOf(Thread caller) {
        Worker w = caller instanceof CleanThread d && d.body instanceof Worker own ? own
                : options.threadFactory == null ? null : Worker.ofFactorysThread();
        return w != null && w.engine == this ? w : null;
    }

    // ---- closing ----

    /** Accepts no new task, and waits until timers due within {@code nanos} have run. Then the caller closes. */
    public void drain(long nanos) {
        refuseIfShared();
        long begun = System.nanoTime();
        long end = Math.min(timeline.deadlineIn(nanos), Timeline.NEVER - 1);
        refuseTasks();
        if (isInCallback() || hasLoopOfCaller()) {
            return; // this thread may have to run them
        }
        while (stepper != null && isDueBy(end)) {
            options.step.run();
        }
        try {
            while (isDueBy(end) || firings().count() > 0 || isDueBy(end)) { // again: a run that ended may have reset one
                long left = nanos - (System.nanoTime() - begun);
                if (left <= 0) {
                    return;
                }
                TimeUnit.NANOSECONDS.sleep(Math.min(left, LOOK_NANOS));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether a one-shot timer is due by {@code end}; with a manual clock, except those that loops run. */
    private boolean isDueBy(long end) {
        for (TimerQueue q : queues) {
            boolean counts = stepper == null || q.gate.owner() == null;
            if (counts && !q.view().forEachPending(t -> t.repeats() || TimerNode.deadline(t.wordVolatile()) > end)) {
                return true;
            }
        }
        return false;
    }

    private void refuseIfShared() {
        if (options.isShared) {
            throw new IllegalStateException("the shared scheduler cannot be closed");
        }
    }

    /** Waits at most {@code nanos} for callbacks; false if some may be left. */
    public boolean close(long nanos) {
        shutdownNow(t -> {});
        return firings().awaitEnd(nanos);
    }

    /** Passes the armed timers to {@code stopped}. Each step can be repeated, so the next call completes a failed one. */
    public void shutdownNow(Consumer<TimerNode> stopped) {
        refuseIfShared();
        synchronized (lifecycle) {
            closed = true;
        }
        List<TimerNode> taken;
        try {
            taken = end();
        } finally {
            wakeAll();
        }
        passOn(taken, stopped);
    }

    /** Stops all timers and returns them. If this fails, the next call returns them. */
    private List<TimerNode> end() {
        synchronized (closing) {
            closeAll(queues, unfired);
            if (loops != null) {
                loops.collectUnfired(unfired);
            }
            abandon(unfired);
            List<Runnable> inUse;
            synchronized (lifecycle) {
                inUse = List.copyOf(views);
            }
            inUse.forEach(Runnable::run);
            List<TimerNode> taken = unfired;
            unfired = new ArrayList<>();
            return taken;
        }
    }

    /** Called under no lock: dependent stages of the futures may call this scheduler, and wait for other threads. */
    private void passOn(List<TimerNode> taken, Consumer<TimerNode> stopped) {
        try {
            completeAbandoned(taken);
            taken.forEach(stopped);
        } catch (Throwable e) {
            synchronized (closing) { // the next call does it
                unfired = taken;
            }
            throw e;
        }
    }

    /** Called even after a failure, because workers and loops must see that the scheduler is closed. */
    private void wakeAll() {
        for (Sleeper d : workerPool.workers()) {
            d.call();
        }
        if (watch != null) {
            watch.schedulerIsClosed();
        }
        for (LoopWorker l : loops()) {
            l.call();
        }
    }

    /** Adds the shutdown of a view, which runs when the scheduler is closed; at once if it is closed already. */
    public void add(Runnable shutdown) {
        synchronized (lifecycle) {
            views.add(shutdown);
        }
        if (isClosed()) { // after it was added; a closing thread sets it before it checks
            shutdown.run();
        }
    }

    // ---- called by its parts ----

    public Firings firings() {
        return new Firings(this);
    }

    /** Reports a failure instead of throwing it: the caller may have to run a claimed timer. A later call tries again. */
    @Override
    public void callWatch() {
        if (isWatched) {
            try {
                watch().callIfIdle();
            } catch (Throwable e) {
                workerPool.reportStartFailed(e);
            }
        }
    }

    private StallWatch watch() {
        if (watch == null) {
            synchronized (this) {
                if (watch == null) {
                    watch = new StallWatch(this);
                }
            }
        }
        return watch;
    }

    @Override
    public void forEachRunning(Consumer<TimerNode> look) {
        firings().forEach(look);
    }

    @Override
    public boolean isInCallback() {
        return firings().isInCallback();
    }

    @Override
    public Firing runOf(TimerNode timer) {
        return firings().runOf(timer);
    }
}
