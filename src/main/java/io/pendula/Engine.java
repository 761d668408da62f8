package io.pendula;

import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.QueueHost;
import io.pendula.internal.queue.QueueSnapshot;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** The inside of a {@link TimerScheduler}: its queues, who owns them, and which one a calling thread arms on. */
final class Engine implements QueueHost {
    final Timeline timeline;
    /** The workers' queues, then those of loops. Copied at each change, under the worker pool's lock. */
    volatile TimerQueue[] queues;
    final Options options;
    /** Null if tasks run as they are. */
    private final UnaryOperator<Runnable> decorator;

    private final TimerQueue[] workers;
    private final int mask;
    final Turns turns = new Turns();
    /** Of a scheduler whose threads come and go: after so long without anything armed they end. Tests shorten it. */
    long idleNanos = IDLE_NANOS;
    final Loops loops = new Loops(this);
    /** Null until a loop has gone. Under the worker pool's lock. */
    private GoneQueues gone;
    private final PendingLimit limit;
    /** Owns the queues of the workers; null where there are none, and with a manual clock. */
    final Standby standby;
    private final Monitor monitor;
    /** Null where no thread would look: with a manual clock, without workers, or without a monitor. */
    final Backstop backstop;
    /** Only with a manual clock. */
    final Stepper stepper;

    /** Also the lock for closing and for views, and where those wait who close. */
    final WorkerPool workerPool;
    private volatile boolean closed;
    /** Under the worker pool's lock; null until then. */
    private SchedulerCloser closer;

    final Firings firings = new Firings(this);
    final Reporter reporter;
    private final Map<Thread, Receiver> waiting = new ConcurrentHashMap<>();
    /** Under the worker pool's lock. Weak: a view that nobody uses any more need not be told. */
    private final Set<ShutdownTracker> views = Collections.newSetFromMap(new WeakHashMap<>());

    /** How long the threads of the shared scheduler stay though nothing is armed. */
    private static final long IDLE_NANOS = 3_000_000_000L;

    Engine(Options options) {
        this.options = options;
        this.decorator = options.decorator();
        this.timeline = timelineOf(options.clock());
        this.reporter = new Reporter(options.listener());
        this.limit = options.maxPending() == Long.MAX_VALUE ? null : new PendingLimit(options.maxPending());
        ManualClock manual = manualClock();
        this.workers = new TimerQueue[manual == null ? options.workers() : Math.min(1, options.workers())];
        this.mask = Integer.bitCount(workers.length) == 1 ? workers.length - 1 : -1;
        this.standby = manual == null && workers.length > 0 ? new Standby(this, options.spacingNanos()) : null;
        for (int i = 0; i < workers.length; i++) {
            workers[i] = newQueue(i);
            workers[i].ownership.giveTo(standby);
        }
        this.queues = workers;
        this.workerPool = new WorkerPool(this);
        if (manual != null) {
            this.monitor = null;
            this.backstop = null;
            this.stepper = new Stepper(this);
            workerPool.needsNobody();
            manual.attach(this);
        } else {
            boolean watched = options.monitor() && options.workers() > 0;
            this.backstop = watched || options.kind() == Options.Kind.POOL ? new Backstop(this) : null;
            this.monitor = watched ? new Monitor(this, backstop, options.stallNanos()) : null;
            this.stepper = null;
            if (endsWhenIdle()) {
                workerPool.seatAll();
            } else if (options.kind() != Options.Kind.POOL) {
                try {
                    workerPool.startAll(monitor);
                } catch (Throwable e) {
                    closeAfter(e);
                    throw e;
                }
            }
        }
    }

    /** Null, for the system's clock, spares each reading a call through an interface. */
    private static Timeline timelineOf(NanoClock clock) {
        return new Timeline(clock == null || clock instanceof SystemClock ? null : clock::nanoTime);
    }

    // ---- what users ask ----

    Timer after(long delay, Runnable task) {
        return OneShotTimer.arm(currentQueue(), delay, work(task));
    }

    long pending() {
        long n = 0;
        for (TimerQueue q : queues) {
            n += q.view().pending();
        }
        return n;
    }

    TimerStats stats() {
        List<QueueSnapshot> each = new ArrayList<>();
        synchronized (workerPool) {
            for (TimerQueue q : queues) {
                each.add(q.view().stats());
            }
            return new TimerStats(this, each, gone == null ? QueueSnapshot.NOTHING : gone.figures());
        }
    }

    List<PendingTimer> pendingTimers(int limit) {
        return PendingTimer.list(queues, Check.atLeast(limit, 1, "limit"), timeline);
    }

    Map<Class<?>, Long> pendingByTask() {
        return PendingTimer.countByTask(queues);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    SchedulerExecutor newView() {
        SchedulerExecutor view = new SchedulerExecutor(this, false);
        boolean late;
        synchronized (workerPool) {
            views.add(view.tracker());
            late = closed;
        }
        if (late) {
            view.shutdown();
        }
        return view;
    }

    TimerLoop attach(Runnable wakeup, boolean confined) {
        Thread me = Thread.currentThread();
        if (workerOf(me) != null) {
            throw new IllegalStateException("the thread " + me.getName() + " is a worker of this scheduler");
        }
        LoopWorker l = loops.attach(me, wakeup, confined);
        loopIsUp(); // it may never say that it waits
        loops.closeEnded();
        return l.handle;
    }

    @Override
    public String toString() {
        int attached = loops.all().length;
        return "TimerScheduler[" + options.name() + ", "
                + (stepper != null && workers.length > 0 ? "manual clock" : Texts.count(workers.length, "worker"))
                + (attached == 0 ? "" : ", " + Texts.count(attached, "loop")) + (closed ? ", closed]" : "]");
    }

    /** What is run in the place of a task. */
    Runnable work(Runnable task) {
        return decorator == null ? task : Decorated.by(decorator, task);
    }

    /** The same of a task with a value. */
    Call work(Callable<?> task) {
        return decorator == null ? new Call(task) : Decorated.by(decorator, task);
    }

    // ---- closing ----

    void close() {
        close(Long.MAX_VALUE);
    }

    /** Waits for callbacks no longer than so many nanoseconds; false if some may be left. */
    boolean close(long nanos) {
        shutdownNow(null);
        return firings.awaitEnd(nanos);
    }

    /** Adds the one-shot timers that were armed to {@code stopped} if that is not null. */
    void shutdownNow(List<? super Timer> stopped) {
        if (options.kind() == Options.Kind.SHARED) {
            throw new IllegalStateException("the shared scheduler cannot be closed");
        }
        SchedulerCloser c;
        synchronized (workerPool) {
            if (gone != null) {
                gone.relist();
            }
            if (closer == null) {
                closer = new SchedulerCloser(this);
            }
            c = closer;
            closed = true; // from now on the worker pool takes nobody, and no loop is attached or detached
        }
        FlightEvents.closed(this);
        if (!c.isDone()) {
            try {
                c.go(stopped);
            } finally {
                wakeAll();
            }
        }
    }

    /** Those threads that were started already go away again. */
    private void closeAfter(Throwable e) {
        try {
            shutdownNow(null);
        } catch (Throwable too) {
            e.addSuppressed(too);
        }
    }

    /** Whatever has failed: workers and loops must find out that the scheduler is closed. */
    private void wakeAll() {
        for (Worker d : workerPool.workers()) {
            d.call();
        }
        if (monitor != null) {
            monitor.wake();
        }
        for (LoopWorker l : loops.all()) {
            l.wake();
        }
    }

    /** Tells those who wait for timers that were collected as unfired. More than once, it does no more harm. */
    void abandon(List<TimerNode> unfired) {
        waiting.values().forEach(Receiver::run);
        unfired.forEach(TimerNode::abandoned);
    }

    /** Under the worker pool's lock. One queue is closed, and forgotten. */
    void closeQueue(TimerQueue q, List<TimerNode> unfired) {
        SchedulerCloser.closeAll(this, new TimerQueue[] {q}, t -> QueuedNode.queueOf(t) == q, unfired);
        TimerQueue[] rest = queuesWithout(q); // what may fail for want of memory comes first
        gone().add(q);
        queues = rest;
        q.ownership.disown();
    }

    /** Those that are still in use. */
    List<ShutdownTracker> views() {
        synchronized (workerPool) {
            return List.copyOf(views);
        }
    }

    /** Whether its threads end when nothing is armed for some seconds, and are started again when something is. */
    boolean endsWhenIdle() {
        return options.kind() == Options.Kind.SHARED;
    }

    int workers() {
        return workers.length;
    }

    /** Made when the first loop goes, as most schedulers have none. */
    GoneQueues gone() {
        synchronized (workerPool) {
            if (gone == null) {
                gone = new GoneQueues(this);
            }
            return gone;
        }
    }

    /** Takes a queue from the list if its loop has gone and nothing is armed there. Caller holds no queue's lock. */
    void retireIfVacant(TimerQueue q) {
        if (q.ownership.seemsVacant()) {
            gone().retire(q);
        }
    }

    /** Whether a manual clock's advance runs what no loop owns. */
    boolean isStepped() {
        return stepper != null && workers.length > 0;
    }

    TimerQueue newQueue(int index) {
        return new TimerQueue(index, timeline, this, new TimerHeap(), limit, manualClock() != null);
    }

    private ManualClock manualClock() {
        // A null spares a program that has none the class.
        return options.clock() instanceof ManualClock m ? m : null;
    }

    /** Under the worker pool's lock. */
    TimerQueue[] queuesWith(TimerQueue q) {
        TimerQueue[] more = Arrays.copyOf(queues, queues.length + 1);
        more[queues.length] = q;
        return more;
    }

    /** Under the worker pool's lock. */
    TimerQueue[] queuesWithout(TimerQueue q) {
        List<TimerQueue> rest = new ArrayList<>(Arrays.asList(queues));
        rest.remove(q);
        return rest.toArray(new TimerQueue[0]);
    }

    // ---- what queues ask ----

    /** The one that a timer belongs to. */
    static Engine of(TimerNode t) {
        return (Engine) QueuedNode.queueOf(t).host;
    }

    @Override
    public boolean bringBack(TimerQueue q) {
        return gone().bringBack(q);
    }

    @Override
    public long lateSweepNanos() {
        return endsWhenIdle() ? Compactor.SHARED_LATE_NANOS : Compactor.LATE_NANOS;
    }

    // ---- what workers and the monitor call ----

    /** A timer was armed in a queue whose owner slept without a limit. */
    void firstIsArmed() {
        if (monitor != null) {
            monitor.somethingIsArmed();
        }
    }

    /** A worker has woken up, and no other sleeps. */
    void noneAsleep() {
        if (monitor != null) {
            monitor.noneAsleep(nowIfTold());
        }
    }

    /** A loop has woken up, or a queue has got another owner. */
    void loopIsUp() {
        if (monitor != null) {
            monitor.loopIsUp(nowIfTold());
        }
    }

    /**
     * Runs a claimed callback to its end, whatever it throws: the end must come even when memory is short. True if the
     * timer was armed again.
     */
    boolean perform(Firing run) {
        TimerNode t = run.nodeOpaque();
        boolean ends = !t.isReceiver(run.task);
        long began = options.isMeasured() ? nowIfTold() : 0;
        try {
            ends &= t.fire(run.task, run.deadline, run.claimedAt);
        } catch (Throwable e) {
            reporter.threw(t, run.lateness(), e);
        }
        if (began != 0) {
            long ended = nowIfTold();
            reporter.measured(ended - began);
            if (ended - began > options.slowNanos()) {
                reporter.slow(t, run.lateness(), ended - began);
            }
        }
        if (run.lateness() >= FlightEvents.LATE_NANOS) {
            reporter.late(t, run.lateness());
        }
        return ends && QueuedNode.queueOf(t).endRun(t);
    }

    /** The present instant; 0 if a clock of the user's throws, where that must not break off what has begun. */
    private long nowIfTold() {
        try {
            return timeline.now();
        } catch (Throwable e) {
            Reporter.uncaught(e);
            return 0;
        }
    }

    /** Gives a claimed firing to the executor; false if it must run here: no task of the user's, or no room for it. */
    boolean handOff(Firing claimed) {
        if (claimed.task instanceof Receiver) {
            return false;
        }
        DispatchedFiring h = null;
        try {
            h = new DispatchedFiring(this, claimed);
            firings.add(h);
            options.executor().execute(h);
            return true;
        } catch (Throwable e) {
            if (h != null && !h.take()) {
                return true; // it ran, or is running
            }
            reporter.threw(claimed.nodeOpaque(), claimed.lateness(), e);
            if (h != null) {
                firings.ended(h);
            }
            return false;
        }
    }

    // ---- what timers ask ----

    TimerQueue currentQueue() {
        Thread t = Thread.currentThread();
        Worker d = workerOf(t);
        if (d != null && d.home() != null) {
            return d.home();
        }
        LoopWorker l = loops.of(t);
        if (l != null) {
            return l.queue;
        }
        int turn = mask == 0 ? 0 : turns.of(t.getId());
        return mask >= 0 ? workers[turn & mask]
                : workers.length == 0 ? loops.any(turn) : workers[turn % workers.length];
    }

    /** The worker of this scheduler that a thread carries, or null. */
    private Worker workerOf(Thread t) {
        if (t instanceof WorkerThread d) {
            return d.worker.engine == this ? d.worker : null;
        }
        return options.threadFactory() == null ? null : workerPool.workerOf(t);
    }

    /** Waits on a receiver, so that closing the scheduler ends the wait. */
    boolean await(Receiver receiver, BooleanSupplier taken, long nanos) throws InterruptedException {
        Thread me = Thread.currentThread();
        waiting.put(me, receiver); // before the first look at closed
        try {
            return receiver.await(taken, nanos);
        } finally {
            waiting.remove(me);
        }
    }

    void checkAwaitable(TimerQueue q, boolean cancelled) {
        if (cancelled) {
            throw new CancellationException("the timer was cancelled, so it will never fire");
        }
        if (closed) {
            throw new CancellationException("the timer's scheduler is closed, so it will never fire");
        }
        if (q.isClosed()) {
            throw new CancellationException("the timer's loop is closed, so it will never fire");
        }
    }
}
