package io.pendula;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Owns workers, each a heap of timers with a thread that drives it, and arms timers on them.
 *
 * <pre>{@code
 * try (TimerScheduler timers = TimerScheduler.builder().name("io").workers(4).build()) {
 *     timers.after(Duration.ofMillis(250), retry);
 *     timers.every(Duration.ofSeconds(1), MissedTicks.SKIP, metrics::flush);
 *     ...
 * }
 * }</pre>
 *
 * <p>Most programs need none of their own: {@link Timer#after(Duration, Runnable)} and
 * {@link Ticker#every(Duration, Runnable)} use the {@linkplain #shared() shared} one. Several schedulers keep timers
 * with different needs apart, as short callbacks and blocking ones.
 *
 * <p><b>Where callbacks run.</b> On the drivers' threads, or on the builder's executor. A timer that is armed by a
 * callback goes to the worker whose driver runs it, one that is armed by another thread to a worker that depends on
 * the thread alone; it stays there. If a driver is held up by a callback, another runs the worker's due timers
 * meanwhile; if all are held up, the monitor starts a spare one. With one worker, callbacks run strictly one after the
 * other, unless {@code maxDrivers} allows more. An application's own loop can be the driver of a worker, too; see
 * {@link #attach}.
 *
 * <p><b>Cost.</b> Arming, stopping and resetting never block. A scheduler with nothing due uses no processor time.
 * Threads are daemons unless told otherwise, named {@code pendula-<name>-worker-0} and so on.
 *
 * <p>All methods are safe for use by all threads.
 */
public final class TimerScheduler implements AutoCloseable {
    final Timeline timeline;
    /** The workers' queues, then those of loops. Copied at each change, under crew. */
    volatile TimerQueue[] queues;
    final Options options;

    private final TimerQueue[] workers;
    private final int mask;
    final Loops loops = new Loops(this);
    /** Queues that were closed lately: whoever was about to count something may do so yet. Under crew. */
    private final ArrayDeque<TimerQueue> closedLately = new ArrayDeque<>();
    /** The figures of those before. Under crew. */
    private TimerStats.Worker gone = TimerStats.NOTHING;
    private final Admission admission;
    /** Only of a pool with more than one thread. */
    final Lookout lookout;
    private final Monitor monitor;
    /** Only with a manual clock: the run that its advance is busy with. */
    private final Stepped stepped;

    /** Also the lock for closing and for views, and where those wait who close. */
    final Crew crew;
    private volatile boolean closed;

    private final Set<Handoff> handoffs = ConcurrentHashMap.newKeySet();
    private final Map<Thread, Signal> waiting = new ConcurrentHashMap<>();
    /** Under crew. Weak: a view that nobody uses any more need not be told. */
    private final Set<SchedulerExecutor> views = Collections.newSetFromMap(new WeakHashMap<>());

    /** The builder's settings. */
    record Options(String name, int workers, int maxDrivers, ThreadFactory threadFactory, boolean daemon,
            ClassLoader contextClassLoader, Executor executor, TimerListener listener, long slowNanos,
            long maxPending, NanoClock clock, boolean monitor, long stallNanos, boolean earlyPark,
            boolean tightSlack, Kind kind) {}

    enum Kind {
        ORDINARY,
        /** Cannot be closed. */
        SHARED,
        /** Of an executor: tasks may block, so a lookout takes the monitor's place; threads start when needed. */
        POOL
    }

    private static final int CLOSED_KEPT = 64;
    private static final AtomicInteger POOLS = new AtomicInteger();

    private static final class Shared {
        static final TimerScheduler INSTANCE = new TimerScheduler(
                builder().name("shared").workers(Math.max(2, Builder.defaultWorkers())).options(Kind.SHARED));
    }

    private TimerScheduler(Options options) {
        this.options = options;
        this.timeline = new Timeline(options.clock);
        this.admission = options.maxPending == Long.MAX_VALUE ? null : new Admission(options.maxPending);
        ManualClock manual = options.clock instanceof ManualClock m ? m : null;
        this.workers = new TimerQueue[manual == null ? options.workers : Math.min(1, options.workers)];
        this.mask = Integer.bitCount(workers.length) == 1 ? workers.length - 1 : -1;
        for (int i = 0; i < workers.length; i++) {
            workers[i] = newQueue(i);
        }
        this.queues = workers;
        if (manual != null) {
            this.monitor = null;
            this.stepped = new Stepped();
            this.lookout = null;
            this.crew = new Crew(this);
            crew.needsNobody();
            manual.attach(this);
        } else {
            this.monitor = options.monitor && options.workers > 0 ? new Monitor(this, options.stallNanos) : null;
            this.stepped = null;
            this.lookout = options.kind == Kind.POOL && options.maxDrivers > 1 ? new Lookout(this) : null;
            this.crew = new Crew(this);
            if (options.kind != Kind.POOL) {
                try {
                    crew.startAll(monitor);
                } catch (Throwable e) {
                    closeQueues(); // those that were started already go away again
                    throw e;
                }
            }
        }
    }

    /** A scheduler of its own for an executor with so many threads; {@code threadFactory} may be null. */
    static SchedulerExecutor newPool(int threads, ThreadFactory threadFactory) {
        Builder b = builder().name("pool-" + POOLS.incrementAndGet()).maxDrivers(threads).monitor(false).daemon(false)
                .workers(Integer.highestOneBit(Math.min(threads, Builder.defaultWorkers())))
                .contextClassLoader(Thread.currentThread().getContextClassLoader());
        if (threadFactory != null) {
            b.threadFactory(threadFactory);
        }
        return new SchedulerExecutor(new TimerScheduler(b.options(Kind.POOL)), true);
    }

    // ---- what users call ----

    /**
     * The scheduler that {@link Timer#after(Duration, Runnable)} and {@link Ticker#every(Duration, Runnable)} use. It
     * has at least two workers and daemon threads, which are started by the first call, and cannot be closed.
     *
     * @return the same scheduler at each call
     */
    public static TimerScheduler shared() {
        return Shared.INSTANCE;
    }

    /**
     * Starts the configuration of a new scheduler.
     *
     * @return a builder with all defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Runs {@code task} once after {@code delay}.
     *
     * @param delay how long to wait; zero or negative: due at once, but never inside this call; beyond 18 years: never
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if this scheduler is closed or {@code maxPending} timers are armed
     */
    public Timer after(Duration delay, Runnable task) {
        return after(Timeline.nanos(delay, "delay"), TimeUnit.NANOSECONDS, task);
    }

    /**
     * As {@link #after(Duration, Runnable)}; allocates nothing but the timer.
     *
     * @param delay how long to wait, in {@code unit}s; zero or negative: due at once, but never inside this call;
     *     beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if {@code unit} or {@code task} is null
     * @throws RejectedExecutionException if this scheduler is closed or {@code maxPending} timers are armed
     */
    public Timer after(long delay, TimeUnit unit, Runnable task) {
        long nanos = Check.delay(delay, unit);
        return Timer.arm(here(), nanos, task);
    }

    /**
     * A timer without a task, whose firing is kept for one receiver; see {@link Timer#await()}.
     *
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @return the armed timer
     * @throws NullPointerException if {@code delay} is null
     * @throws RejectedExecutionException if this scheduler is closed or {@code maxPending} timers are armed
     */
    public Timer after(Duration delay) {
        return after(delay, new Signal());
    }

    /**
     * Runs {@code task} each {@code period}, first after one period; missed ticks are skipped.
     *
     * @param period the time between two ticks, more than zero
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException if this scheduler is closed or {@code maxPending} timers are armed
     */
    public Ticker every(Duration period, Runnable task) {
        return every(period, MissedTicks.SKIP, task);
    }

    /**
     * Runs {@code task} each {@code period}, first after one period.
     *
     * @param period the time between two ticks, more than zero
     * @param missedTicks what to do about ticks that could not run in time
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException if this scheduler is closed or {@code maxPending} timers are armed
     */
    public Ticker every(Duration period, MissedTicks missedTicks, Runnable task) {
        long nanos = Check.period(period);
        Check.notNull(missedTicks, "missedTicks");
        return Ticker.arm(here(), nanos, missedTicks, task);
    }

    /**
     * A ticker without a task, which keeps one tick for a receiver; see {@link Ticker#await()}.
     *
     * @param period the time between two ticks, more than zero
     * @return the armed ticker
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException if this scheduler is closed or {@code maxPending} timers are armed
     */
    public Ticker every(Duration period) {
        return every(period, MissedTicks.SKIP, new Signal.Ticks());
    }

    /**
     * This scheduler as a {@link java.util.concurrent.ScheduledExecutorService}, for code that wants one. Its tasks
     * share the workers with all timers, and follow the same rules: what runs long or blocks should not, unless there
     * are enough drivers. Each call gives a view of its own: shutting one down ends its own tasks, as those of a pool,
     * and leaves the scheduler and its other views as they are. Closing the scheduler cancels the waiting tasks of all
     * views and ends them.
     *
     * @return a new view
     */
    public SchedulerExecutor asScheduledExecutorService() {
        SchedulerExecutor view = new SchedulerExecutor(this, false);
        boolean late;
        synchronized (crew) {
            views.add(view);
            late = closed;
        }
        if (late) {
            view.shutdown();
        }
        return view;
    }

    /**
     * Makes the calling thread the driver of a worker of its own, whose timers it runs from its own loop: those that it
     * arms from now on by any method of this scheduler, and those that others arm through the loop.
     *
     * <p>If it is late, because it is busy elsewhere, drivers of this scheduler run its due timers meanwhile.
     *
     * @param wakeup makes the thread's present or next wait return, as {@code selector::wakeup} does; see
     *     {@link TimerLoop}
     * @return the loop, to be closed by the same thread
     * @throws NullPointerException if {@code wakeup} is null
     * @throws IllegalStateException if the thread has a loop of this scheduler already or is one of its drivers, or if
     *     this scheduler is closed
     */
    public TimerLoop attach(Runnable wakeup) {
        return attach(wakeup, false);
    }

    /**
     * As {@link #attach}, for callbacks that must run on the calling thread and nowhere else. While it is busy
     * elsewhere they wait; the monitor, if there is one, tells the {@link TimerListener}.
     *
     * @param wakeup makes the thread's present or next wait return, as {@code selector::wakeup} does; see
     *     {@link TimerLoop}
     * @return the loop, to be closed by the same thread
     * @throws NullPointerException if {@code wakeup} is null
     * @throws IllegalStateException if the thread has a loop of this scheduler already or is one of its drivers, if
     *     this scheduler is closed, or if it was built with an executor, where callbacks run elsewhere
     */
    public TimerLoop attachConfined(Runnable wakeup) {
        if (options.executor != null) {
            throw new IllegalStateException("callbacks run on the scheduler's executor, so no loop can confine them");
        }
        return attach(wakeup, true);
    }

    private TimerLoop attach(Runnable wakeup, boolean confined) {
        Check.notNull(wakeup, "wakeup");
        Thread me = Thread.currentThread();
        if (driverOf(me) != null) {
            throw new IllegalStateException("the thread " + me.getName() + " is a driver of this scheduler");
        }
        LoopDriver l = loops.attach(me, wakeup, confined);
        driverIsUp(); // it may never say that it waits
        return l.handle;
    }

    /**
     * The number of armed timers and tickers; exact when nothing happens meanwhile. One that is running and was armed
     * again counts from the end of its run.
     *
     * @return how many firings are to come
     */
    public long pending() {
        long n = 0;
        for (TimerQueue q : queues) {
            n += q.pending();
        }
        return n;
    }

    /**
     * What this scheduler has done so far. Cheap enough to be called each second.
     *
     * @return a snapshot
     */
    public TimerStats stats() {
        List<TimerStats.Worker> each = new ArrayList<>();
        synchronized (crew) {
            for (TimerQueue q : queues) {
                each.add(q.stats());
            }
            TimerStats.Worker past = gone;
            for (TimerQueue q : closedLately) {
                past = TimerStats.sum(past, q.stats());
            }
            return TimerStats.of(List.copyOf(each), past, monitor == null ? 0 : monitor.rescues(),
                    crew.sparesStarted());
        }
    }

    /**
     * Whether {@link #close()} or {@link #shutdownNow()} has been called.
     *
     * @return true if no timer can be armed any more
     */
    public boolean isClosed() {
        return closed;
    }

    /**
     * Takes no more timers, drops those that have not fired, and waits for the callbacks in progress; called by a
     * callback it does not wait for that one, nor for others that have called this method. If the waiting thread is
     * interrupted it stops waiting, with its interrupt flag set. Closing again does no harm.
     *
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    @Override
    public void close() {
        closeQueues();
        awaitRuns();
    }

    /**
     * Takes no more timers, stops all that have not fired and returns them. Does not wait for callbacks in progress;
     * {@link #close()} afterwards does.
     *
     * @return the one-shot timers that were armed, in no particular order; they will not run and cannot be reset.
     *     Tickers are stopped but not returned
     * @throws IllegalStateException if this is the {@linkplain #shared() shared} scheduler
     */
    public List<Timer> shutdownNow() {
        List<Timer> timers = new ArrayList<>();
        for (TimerNode t : closeQueues()) {
            if (t instanceof Timer timer) {
                timers.add(timer);
            }
        }
        return timers;
    }

    /**
     * Name and size, for people.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        int attached = loops.all().length;
        return "TimerScheduler[" + options.name + ", " + workers.length + " workers"
                + (attached == 0 ? "" : ", " + attached + " loops") + (closed ? ", closed]" : "]");
    }

    // ---- closing ----

    /*
     * Each queue is closed under its lock; then the timers that are running are looked at. A timer is claimed under
     * its queue's lock, and from that moment its Run tells it (first a driver's, then perhaps a Handoff that is
     * registered before the driver lets go of it). So a timer that was claimed before its queue was closed is found
     * here with its next arming in its word, unless its run ended before: then its push found the inbox closed, and
     * it was left with its queue, which is asked last.
     */
    private List<TimerNode> closeQueues() {
        if (options.kind == Kind.SHARED) {
            throw new IllegalStateException("the shared scheduler cannot be closed");
        }
        List<TimerNode> unfired = new ArrayList<>();
        synchronized (crew) {
            if (closed) {
                return unfired;
            }
            closed = true; // from now on the crew takes nobody
        }
        closeAll(queues, t -> true, unfired); // no loop is attached or detached any more
        for (Driver d : crew.drivers()) {
            d.wake();
        }
        for (LoopDriver l : loops.all()) {
            l.wake();
        }
        if (monitor != null) {
            monitor.wake();
        }
        abandon(unfired);
        List<SchedulerExecutor> open;
        synchronized (crew) {
            open = List.copyOf(views);
        }
        open.forEach(SchedulerExecutor::shutdown);
        return unfired;
    }

    /** Tells those who wait for timers that were collected as unfired. */
    void abandon(List<TimerNode> unfired) {
        waiting.values().forEach(Signal::run);
        unfired.forEach(TimerNode::abandoned);
    }

    int workers() {
        return workers.length;
    }

    TimerQueue newQueue(int index) {
        boolean manual = options.clock instanceof ManualClock;
        return new TimerQueue(index, timeline, this, new TimerHeap(), admission, manual);
    }

    /** Under crew. */
    void addQueue(TimerQueue q) {
        TimerQueue[] more = Arrays.copyOf(queues, queues.length + 1);
        more[queues.length] = q;
        queues = more;
    }

    /** Under crew. One queue is closed, and forgotten. */
    void closeQueue(TimerQueue q, List<TimerNode> unfired) {
        List<TimerQueue> rest = new ArrayList<>(Arrays.asList(queues));
        rest.remove(q);
        queues = rest.toArray(new TimerQueue[0]);
        closeAll(new TimerQueue[] {q}, t -> t.queue == q, unfired);
        closedLately.add(q);
        if (closedLately.size() > CLOSED_KEPT) {
            gone = TimerStats.sum(gone, closedLately.remove().stats());
        }
    }

    /** {@code theirs}: of what runs, the timers to look at. */
    private void closeAll(TimerQueue[] closing, Predicate<TimerNode> theirs, List<TimerNode> unfired) {
        for (TimerQueue q : closing) {
            q.close(unfired);
        }
        forEachRun(t -> {
            if (theirs.test(t)) {
                t.queue.collectRunning(t, unfired);
            }
        });
        for (TimerQueue q : closing) {
            q.collectLate(unfired);
        }
    }

    /** Looks at what runs: every timer that was claimed before, unless its run has ended; others perhaps. */
    void forEachRun(Consumer<TimerNode> look) {
        for (Driver d : crew.drivers()) {
            look(d, look);
        }
        for (LoopDriver l : loops.all()) {
            look(l, look);
        }
        for (Handoff h : handoffs) { // after the drivers: registered before a driver lets go
            look(h, look);
        }
        if (stepped != null) {
            look(stepped, look);
        }
    }

    private static void look(Run run, Consumer<TimerNode> look) {
        TimerNode t = run.nodeAcquire();
        if (t != null) {
            look.accept(t);
        }
    }

    private void awaitRuns() {
        List<Run> mine = runsOfCaller();
        synchronized (crew) {
            if (!mine.isEmpty()) {
                mine.forEach(run -> run.inClose = true);
                crew.notifyAll();
            }
            try {
                while (mustWait(!mine.isEmpty())) {
                    crew.wait();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean mustWait(boolean insideCallback) {
        for (Driver d : crew.drivers()) {
            if (!d.inClose) {
                return true;
            }
        }
        VarHandle.fullFence(); // between closed and the look at runs: pairs with LoopDriver.ended
        for (LoopDriver l : loops.all()) {
            if (!l.inClose && l.nodeAcquire() != null) { // its thread lives on
                return true;
            }
        }
        for (Handoff h : handoffs) {
            // What has not begun may wait in the executor for the very thread that closes.
            if (!h.inClose && !(insideCallback && h.runner() == null)) {
                return true;
            }
        }
        return false;
    }

    void ended(Handoff h) {
        handoffs.remove(h);
        if (closed) { // after the removal; a closing thread sets it before it looks
            runEnded();
        }
    }

    /** Tells those who wait in close(). */
    void runEnded() {
        synchronized (crew) {
            crew.notifyAll();
        }
    }

    // ---- what drivers and the monitor call ----

    void driverIsUp() {
        if (monitor != null) {
            monitor.driverIsUp(timeline.now());
        }
    }

    /**
     * Runs a claimed callback to its end, whatever it throws: the end must come even when memory is short. True if the
     * timer was armed again.
     */
    boolean perform(Run run) {
        TimerNode t = run.nodeOpaque();
        boolean ends = !t.isSignal(run.task);
        boolean timed = options.slowNanos < Long.MAX_VALUE;
        long began = timed ? timeline.now() : 0;
        try {
            ends &= t.fire(run.task, run.deadline, run.claimedAt);
        } catch (Throwable e) {
            reportThrown(t, run.lateness(), e);
        }
        if (timed) {
            long ran = timeline.now() - began;
            if (ran > options.slowNanos) {
                reportSlow(t, run.lateness(), ran);
            }
        }
        return ends && t.queue.endRun(t);
    }

    /** Gives a claimed firing to the executor; false if it must run here: no task of the user's, or no room for it. */
    boolean handOff(Run claimed) {
        if (claimed.task instanceof Signal) {
            return false;
        }
        Handoff h = null;
        try {
            h = new Handoff(this, claimed);
            handoffs.add(h);
            options.executor.execute(h);
            return true;
        } catch (Throwable e) {
            if (h != null && !h.take()) {
                return true; // it ran, or is running
            }
            reportThrown(claimed.nodeOpaque(), claimed.lateness(), e);
            if (h != null) {
                ended(h);
            }
            return false;
        }
    }

    // A listener harms nobody either.

    private void reportThrown(TimerNode t, long lateness, Throwable thrown) {
        try {
            options.listener.threw(t, lateness, thrown);
        } catch (Throwable e) {
            reportUncaught(e);
        }
    }

    private void reportSlow(TimerNode t, long lateness, long ran) {
        try {
            options.listener.slow(t, lateness, ran);
        } catch (Throwable e) {
            reportUncaught(e);
        }
    }

    /** Racy: {@code t}, which may be null, and its lateness are of the run that is meant or, if that ended, the next. */
    void reportStall(TimerNode t, long lateness, long blocked) {
        if (t != null) {
            try {
                options.listener.stalled(t, lateness, blocked);
            } catch (Throwable e) {
                reportUncaught(e);
            }
        }
    }

    /** A loop has not come by since {@code first} fell due, so long ago. */
    void reportStall(LoopDriver l, TimerNode first, long late) {
        try {
            options.listener.loopStalled(l.handle, first, late);
        } catch (Throwable e) {
            reportUncaught(e);
        }
    }

    void reportWakeup(LoopDriver l, Throwable thrown) {
        try {
            options.listener.wakeupThrew(l.handle, thrown);
        } catch (Throwable e) {
            reportUncaught(e);
        }
    }

    static void reportUncaught(Throwable e) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable hopeless) {
            // The handler of the last resort has failed: there is nobody left to tell.
            return;
        }
    }

    // ---- what timers ask ----

    TimerQueue here() {
        Thread t = Thread.currentThread();
        Driver d = driverOf(t);
        if (d != null && d.home() != null) {
            return d.home();
        }
        LoopDriver l = loops.of(t);
        if (l != null) {
            return l.queue;
        }
        // Consecutive ids spread best without any mixing.
        long id = t.getId();
        return mask >= 0 ? workers[(int) id & mask]
                : workers.length == 0 ? loops.any(id) : workers[(int) Long.remainderUnsigned(id, workers.length)];
    }

    /** The driver of this scheduler that a thread carries, or null. */
    private Driver driverOf(Thread t) {
        if (t instanceof DriverThread d) {
            return d.driver.scheduler == this ? d.driver : null;
        }
        return options.threadFactory == null ? null : crew.driverOf(t);
    }

    /** More than one if the executor runs callbacks on the thread that hands them over. */
    private List<Run> runsOfCaller() {
        Thread t = Thread.currentThread();
        List<Run> runs = new ArrayList<>();
        for (Driver d : crew.drivers()) {
            if (d.runner() == t) {
                runs.add(d);
            }
        }
        for (LoopDriver l : loops.all()) {
            if (l.runner() == t && l.isRunning()) {
                runs.add(l);
            }
        }
        for (Handoff h : handoffs) {
            if (h.runner() == t) {
                runs.add(h);
            }
        }
        if (stepped != null && stepped.runner() == t) {
            runs.add(stepped);
        }
        return runs;
    }

    /** Whether the calling thread is inside a callback of such a timer. */
    boolean isRunByCaller(Predicate<TimerNode> timer) {
        return runsOfCaller().stream().map(Run::nodeOpaque).anyMatch(timer);
    }

    /** Waits on a signal, so that closing the scheduler ends the wait. */
    boolean await(Signal signal, BooleanSupplier taken, long nanos) throws InterruptedException {
        Thread me = Thread.currentThread();
        waiting.put(me, signal); // before the first look at closed
        try {
            return signal.await(taken, nanos);
        } finally {
            waiting.remove(me);
        }
    }

    void checkAwaitable(TimerQueue q, boolean cancelled) {
        if (cancelled) {
            throw new CancellationException("it was cancelled, so it will never fire");
        }
        if (closed) {
            throw new CancellationException("its scheduler is closed, so it will never fire");
        }
        if (q.isClosed()) {
            throw new CancellationException("its loop is closed, so it will never fire");
        }
    }

    // ---- a manual clock's steps ----

    /** The run of whatever thread advances the clock. */
    private static final class Stepped extends Run {
        private volatile Thread runner;

        @Override
        Thread runner() {
            return runner;
        }
    }

    /** Nanoseconds of the clock until the next timer is due that no loop runs; Long.MAX_VALUE if none will ever be. */
    long nanosUntilNext() {
        TimerQueue q = soonest();
        return q == null ? Long.MAX_VALUE : Math.max(0, q.earliestLive() - timeline.now());
    }

    private TimerQueue soonest() {
        TimerQueue soonest = null;
        long when = Timeline.NEVER;
        for (TimerQueue q : queues) {
            long w = q.owner() == null ? q.earliestLive() : Timeline.NEVER;
            if (w < when) {
                when = w;
                soonest = q;
            }
        }
        return soonest;
    }

    /** Runs the first due timer on this thread, as a driver would. */
    boolean runOneDue() {
        Stepped run = stepped;
        TimerQueue q = soonest();
        if (q == null) {
            return false;
        }
        q.lock();
        try {
            if (!q.claimDue(timeline.now(), run, false)) {
                return false;
            }
        } finally {
            q.unlock();
        }
        run.runner = Thread.currentThread();
        try {
            if (options.executor == null || !handOff(run)) {
                perform(run);
            }
        } finally {
            run.runner = null;
            run.end();
        }
        return true;
    }

    /** Collects the settings of a {@link TimerScheduler}. Not safe for use by several threads. */
    public static final class Builder {
        private String name = "timers";
        private int workers = -1;
        private int maxDrivers;
        private ThreadFactory threadFactory;
        private boolean daemon = true;
        private ClassLoader contextClassLoader;
        private Executor executor;
        private TimerListener listener = new TimerListener() {};
        private long slowNanos = Long.MAX_VALUE;
        private long maxPending = Long.MAX_VALUE;
        private NanoClock clock = NanoClock.system();
        private boolean monitor = true;
        private long stallNanos = 1_000_000;
        private boolean earlyPark = true;
        private boolean tightSlack = true;

        private Builder() {}

        static int defaultWorkers() {
            return Integer.highestOneBit(Math.min(4, Runtime.getRuntime().availableProcessors()));
        }

        /**
         * The name that appears in thread names. Default: {@code timers}.
         *
         * @param name any text
         * @return this
         * @throws NullPointerException if {@code name} is null
         */
        public Builder name(String name) {
            this.name = Check.notNull(name, "name");
            return this;
        }

        /**
         * How many workers, each a heap with a driver thread. Default: the available processors, at most 4, rounded
         * down to a power of two. With one worker callbacks run strictly one after the other, in the order of
         * deadlines. A scheduler with a {@link ManualClock} has one at most.
         *
         * <p>Zero: the scheduler consists of the {@linkplain TimerScheduler#attach loops} that are attached to it, and
         * starts no thread at all. A timer that is armed by a thread without a loop goes to one of the loops; if there
         * is none, or it closes at that very moment, the timer is rejected.
         *
         * @param workers at least 0; a power of two spreads threads a little more cheaply
         * @return this
         * @throws IllegalArgumentException if {@code workers} is less than 0
         */
        public Builder workers(int workers) {
            this.workers = Check.atLeast(workers, 0, "workers");
            return this;
        }

        /**
         * How many driver threads there may be, spare ones included. Spare drivers are started while all others are
         * held up by callbacks and timers are due; they go away after some idle seconds. Default: {@code workers + 16},
         * but 1 if there is one worker.
         *
         * @param maxDrivers at least the number of workers
         * @return this
         * @throws IllegalArgumentException if {@code maxDrivers} is less than 1; {@link #build} throws it if it is less
         *     than the number of workers
         */
        public Builder maxDrivers(int maxDrivers) {
            this.maxDrivers = Check.atLeast(maxDrivers, 1, "maxDrivers");
            return this;
        }

        /**
         * Makes the drivers' and the monitor's threads, which then keep the name, the daemon status and the context
         * class loader that the factory gives them. Default: own threads.
         *
         * @param threadFactory must return new threads that have not been started
         * @return this
         * @throws NullPointerException if {@code threadFactory} is null
         */
        public Builder threadFactory(ThreadFactory threadFactory) {
            this.threadFactory = Check.notNull(threadFactory, "threadFactory");
            return this;
        }

        /**
         * Whether the scheduler's own threads let the JVM exit. Default: true.
         *
         * @param daemon false if the JVM must not exit before the scheduler is closed
         * @return this
         */
        public Builder daemon(boolean daemon) {
            this.daemon = daemon;
            return this;
        }

        /**
         * The context class loader of the scheduler's own threads. Default: null, so that a timer keeps no application
         * alive in a container.
         *
         * @param contextClassLoader may be null
         * @return this
         */
        public Builder contextClassLoader(ClassLoader contextClassLoader) {
            this.contextClassLoader = contextClassLoader;
            return this;
        }

        /**
         * Runs callbacks elsewhere than on the drivers. A timer still never overlaps itself: it is armed again when
         * its callback has returned. If the executor rejects a callback, the listener hears of it and the driver runs
         * it. One that drops a callback silently leaves its timer running for ever, and {@code close} waiting for it.
         * Default: inline, on the drivers.
         *
         * @param executor where callbacks run
         * @return this
         * @throws NullPointerException if {@code executor} is null
         */
        public Builder executor(Executor executor) {
            this.executor = Check.notNull(executor, "executor");
            return this;
        }

        /**
         * Who hears of callbacks that throw or take long. Default: one that hands exceptions to the thread's
         * uncaught-exception handler.
         *
         * @param listener is called by several threads at the same time
         * @return this
         * @throws NullPointerException if {@code listener} is null
         */
        public Builder listener(TimerListener listener) {
            this.listener = Check.notNull(listener, "listener");
            return this;
        }

        /**
         * Callbacks that take longer than this are reported to the listener. Measuring costs two readings of the clock
         * per callback. Default: not measured.
         *
         * @param threshold zero or more
         * @return this
         * @throws NullPointerException if {@code threshold} is null
         * @throws IllegalArgumentException if {@code threshold} is negative
         */
        public Builder slowCallback(Duration threshold) {
            this.slowNanos = Check.notNegative(threshold, "threshold");
            return this;
        }

        /**
         * How many timers may be armed at a time; arming one more throws {@code RejectedExecutionException}. The bound
         * is exact, at the price of one contended counter. Default: no bound.
         *
         * @param maxPending at least 1
         * @return this
         * @throws IllegalArgumentException if {@code maxPending} is less than 1
         */
        public Builder maxPending(long maxPending) {
            if (maxPending < 1) {
                throw new IllegalArgumentException("maxPending must be at least 1, but is " + maxPending);
            }
            this.maxPending = maxPending;
            return this;
        }

        /**
         * The time source. With a {@link ManualClock} there are no threads: callbacks run inside its {@code advance}.
         * Default: {@link NanoClock#system()}.
         *
         * @param clock a monotonic clock
         * @return this
         * @throws NullPointerException if {@code clock} is null
         */
        public Builder clock(NanoClock clock) {
            this.clock = Check.notNull(clock, "clock");
            return this;
        }

        /**
         * Whether a monitor thread hands the timers of a driver that is held up by a callback to others. Without it
         * nothing is lost, but such timers wait until a driver comes along for another reason. Default: true.
         *
         * @param monitor false for no monitor, hence no spare drivers
         * @return this
         */
        public Builder monitor(boolean monitor) {
            this.monitor = monitor;
            return this;
        }

        /**
         * For how long the monitor must have seen the same callback running before it hands the driver's other timers
         * to another. It looks at most each millisecond. Default: 1 ms.
         *
         * @param threshold zero or more
         * @return this
         * @throws NullPointerException if {@code threshold} is null
         * @throws IllegalArgumentException if {@code threshold} is negative
         */
        public Builder stallAfter(Duration threshold) {
            this.stallNanos = Check.notNegative(threshold, "threshold");
            return this;
        }

        /**
         * Whether drivers park a little too short and spin for the rest, usually some 10 microseconds and never more
         * than 100. Has no effect where there is only one processor, or with a clock of one's own. Default: true.
         *
         * @param earlyPark false to park for the whole time
         * @return this
         */
        public Builder earlyPark(boolean earlyPark) {
            this.earlyPark = earlyPark;
            return this;
        }

        /**
         * Whether drivers ask Linux to wake them without the usual slack of 50 microseconds. Has no effect elsewhere.
         * Default: true.
         *
         * @param tightSlack false to leave the slack as it is
         * @return this
         */
        public Builder tightSlack(boolean tightSlack) {
            this.tightSlack = tightSlack;
            return this;
        }

        /**
         * Makes the scheduler and starts its threads.
         *
         * @return a new scheduler
         * @throws IllegalArgumentException if {@code maxDrivers} is less than the number of workers, or was set though
         *     there are none
         * @throws IllegalStateException if the thread factory returns null, or a thread that was started before; no
         *     thread is left behind
         */
        public TimerScheduler build() {
            return new TimerScheduler(options(Kind.ORDINARY));
        }

        private Options options(Kind kind) {
            int w = workers < 0 ? defaultWorkers() : workers;
            if (w == 0 && maxDrivers != 0) {
                throw new IllegalArgumentException("a scheduler without workers has no drivers, but maxDrivers is "
                        + maxDrivers);
            }
            int max = maxDrivers != 0 ? maxDrivers : w <= 1 ? w : w > Integer.MAX_VALUE - 16 ? w : w + 16;
            if (max < w) {
                throw new IllegalArgumentException("maxDrivers must be at least the number of workers, " + w
                        + ", but is " + max);
            }
            return new Options(name, w, max, threadFactory, daemon, contextClassLoader, executor, listener, slowNanos,
                    maxPending, clock, monitor, stallNanos, earlyPark, tightSlack, kind);
        }
    }
}
