package io.pendula.internal.engine;

import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The common base of a scheduler's parts: clock, settings, queues, the reporter, and the run of a callback. Timers, workers
 * and loops refer to this class. The subclass {@code SchedulerEngine} makes the parts.
 */
public abstract class Engine implements TimerQueue.Host {
    public final Timeline timeline;
    public final Options options;
    public final Reporter reporter;
    /** The workers' queues, then those of loops. Copied at each change, under lifecycle. */
    public volatile TimerQueue[] queues;
    /** The idle time after which each monitor, and the threads of a scheduler that endsWhenIdle, end. Tests shorten it. */
    public long idleNanos = IDLE_NANOS;
    /** The lock for threads, loops, views and closing. Closing threads wait for its notification. */
    public final Object lifecycle = new Object();
    /** Null if callbacks run on the threads that claim them. */
    public final Dispatcher dispatcher;

    /** The number of the workers' own queues. */
    public final int workers;
    /** A manual clock's advance runs due timers. */
    private final boolean isStepped;
    private final PendingLimit limit;
    /** Applied to each new task; null for none. A drain replaces it. */
    private volatile UnaryOperator<Runnable> decorator;
    /** One entry for each waiting call. */
    private final Map<Object, Receiver> waiting = new ConcurrentHashMap<>();
    /** Set under lifecycle. After that no worker starts, no loop is attached, and no detach closes a queue. */
    public volatile boolean closed;
    /** The end of the last long pause of all threads: no thread is to blame for earlier lateness. */
    public volatile long resumedAt;

    private static final long IDLE_NANOS = 3_000_000_000L;
    private static final long LOOK_NANOS = 1_000_000_000;

    public Engine(Options options) {
        this.options = options;
        this.isStepped = options.steppers != null;
        this.decorator = options.decorator;
        this.timeline = new Timeline(options.clock);
        this.reporter = options.reporters == null ? new Reporter() : options.reporters.get();
        this.limit = options.maxPending == Long.MAX_VALUE ? null : new PendingLimit(options.maxPending);
        this.dispatcher = options.executor == null ? null : new Dispatcher(this, ConcurrentHashMap.newKeySet());
        this.workers = isStepped ? Math.min(1, options.workers) : options.workers;
    }

    /** The engine of a timer. */
    public static Engine of(TimerNode t) {
        return (Engine) QueuedNode.queueOf(t).host;
    }

    // ---- properties ----

    @Override
    public final String name() {
        return options.name;
    }

    /** Whether a manual clock's advance runs the timers that no loop owns. */
    public final boolean isStepped() {
        return isStepped && workers > 0;
    }

    /** Whether its threads end after some seconds without armed timers, and start again when needed. */
    public final boolean endsWhenIdle() {
        return options.isShared;
    }

    @Override
    public final boolean isClosed() {
        return closed;
    }

    @Override
    public final long fullSweepNanos() {
        return endsWhenIdle() ? Compactor.SHARED_FULL_SWEEP_NANOS : Compactor.FULL_SWEEP_NANOS;
    }

    public final TimerQueue newQueue(int index, WakeGate gate) {
        return new TimerQueue(index, timeline, this, new TimerHeap(), limit, isStepped, gate);
    }

    /** A copy with one more element. */
    public static <T> T[] with(T[] all, T one) {
        T[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = one;
        return more;
    }

    /** A copy without {@code one}. */
    public static <T> T[] without(T[] all, T one) {
        List<T> rest = new ArrayList<>(Arrays.asList(all));
        rest.remove(one);
        return rest.toArray(Arrays.copyOf(all, 0));
    }

    /** The number of armed timers, except those whose next firing awaits the end of their run. */
    public final long pending() {
        long n = 0;
        for (TimerQueue q : queues) {
            n += q.view().pending();
        }
        return n;
    }

    // ---- implemented by SchedulerEngine ----

    /** Calls the stall watch: a callback may last, or the first timer of a loop was armed. */
    public abstract void callWatch();

    /** Passes every timer that was claimed before this call and whose run has not ended. May pass others. */
    public abstract void forEachRunning(Consumer<TimerNode> look);

    /** Whether the calling thread is inside a callback. */
    public abstract boolean isInCallback();

    // ---- pauses ----

    /** If one thread has overslept by this much, all have, and the listener is notified. */
    public static final long PAUSE_NANOS = 1_000_000_000;

    /** A thread has woken up from a sleep that should end at {@code until}. The first one after a long pause reports it. */
    public final void wokeUp(long until, long now) {
        if (now - until >= PAUSE_NANOS && isFirstToResume(until, now)) {
            reporter.tell(Event.PAUSED, null, now - until, 0, null);
        }
    }

    private synchronized boolean isFirstToResume(long until, long now) {
        if (until < resumedAt) {
            return false; // the same pause
        }
        resumedAt = now;
        return true;
    }

    // ---- callbacks ----

    /** The Runnable that runs instead of a task. */
    public final Runnable work(Runnable task) {
        UnaryOperator<Runnable> d = decorator;
        return d == null ? task : Call.decorated(d, task);
    }

    /** The same for a task with a value. */
    public final Call work(Callable<?> task) {
        UnaryOperator<Runnable> d = decorator;
        return d == null ? new Call(task) : Call.decorated(d, task);
    }

    /** From now on no timer can be made for a new task. */
    protected final void refuseTasks() {
        decorator = task -> {
            throw new RejectedExecutionException("scheduler '" + name() + "' is being drained");
        };
    }

    /** Calls the claimed task, or hands it to the executor. True if the run ends now; then the caller calls endRun. */
    public final boolean run(Firing run) {
        return (dispatcher == null || !dispatcher.handOff(run)) && runHere(run);
    }

    /** The same without the executor. Catches everything, because the run must end even if memory is short. */
    final boolean runHere(Firing run) {
        TimerNode t = run.node();
        boolean ends = !t.isReceiver(run.task);
        Throwable thrown = null;
        long began = options.slowNanos < Long.MAX_VALUE ? nowIfTold(timeline) : 0;
        try {
            ends &= t.fire(run.task, run.deadline);
        } catch (Throwable e) {
            thrown = e;
        }
        long ended = began == 0 ? 0 : nowIfTold(timeline); // before the listener, whose time is not the callback's
        if (thrown != null) {
            reporter.tell(Event.THREW, t, run.lateness(), 0, thrown);
        }
        if (ended != 0) {
            reporter.measured(ended - began);
            if (ended - began > options.slowNanos) {
                reporter.tell(Event.SLOW, t, run.lateness(), ended - began, null);
            }
        }
        return ends;
    }

    public final void endRun(Firing run) {
        TimerNode t = run.node();
        QueuedNode.queueOf(t).endRun(t);
    }

    /** The present instant; 0 if a user's clock throws, where that must not interrupt work in progress. */
    public static long nowIfTold(Timeline timeline) {
        try {
            return timeline.now();
        } catch (Throwable e) {
            Reporter.uncaught(e);
            return 0;
        }
    }

    /** Notifies threads that wait in close() or awaitTermination(). */
    public final void runEnded() {
        synchronized (lifecycle) {
            lifecycle.notifyAll();
        }
    }

    /**
     * Waits until {@code isOver}, called under lifecycle, returns true; false after {@code nanos}. After a close it checks
     * each second, because the end of a factory's thread that has not run its worker notifies no thread. The log writes its
     * lines in the time left, because the program may be about to exit.
     */
    public final boolean awaitChange(BooleanSupplier isOver, long nanos) throws InterruptedException {
        long begun = System.nanoTime();
        synchronized (lifecycle) {
            while (!isOver.getAsBoolean()) {
                long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - begun);
                if (left <= 0) {
                    return false;
                }
                left = closed ? Math.min(left, LOOK_NANOS) : left;
                lifecycle.wait(left == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(left) + 1);
            }
        }
        EventLog.awaitWritten(nanos - (System.nanoTime() - begun));
        return true;
    }

    // ---- closing ----

    /**
     * Closes queues, and adds their armed timers to {@code unfired}. If this fails, for instance for lack of memory, the
     * next call does the rest.
     *
     * <p>Each queue is closed under its lock; then the running timers are checked. A timer is claimed under its queue's
     * lock, and from then on a firing refers to it. So a timer claimed before its queue was closed is found here with its
     * next arming in its word. If its run has ended before, its push found the inbox closed and left it with its queue,
     * which is asked last.
     */
    public final void closeAll(TimerQueue[] closing, List<TimerNode> unfired) {
        Throwable failure = null;
        for (TimerQueue q : closing) {
            try {
                q.closer.close(unfired);
            } catch (RuntimeException | Error e) {
                failure = e; // this queue takes no more timers, and the others must not either
            }
        }
        if (failure instanceof Error e) {
            throw e;
        } else if (failure != null) {
            throw (RuntimeException) failure;
        }
        if (dispatcher != null) { // then there are no loops, and all queues are closed
            dispatcher.takeBack(unfired);
        }
        List<TimerQueue> closed = Arrays.asList(closing);
        forEachRunning(t -> {
            TimerQueue q = QueuedNode.queueOf(t);
            if (closed.contains(q)) {
                q.closer.collectRunning(t, unfired);
            }
        });
        for (TimerQueue q : closing) {
            q.closer.collectLate(unfired);
        }
    }

    /** Notifies threads that wait for timers collected as unfired. Repeating it does no harm. */
    public final void abandon(List<TimerNode> unfired) {
        waiting.values().forEach(Receiver::run);
        unfired.forEach(TimerNode::abandoned);
    }

    /** The task of a timer that completes a user's future. */
    public interface Completion {
        /** {@code closed} has removed the timer. Completes the future, so it runs user code. */
        void abandoned(String closed);
    }

    /**
     * Completes the futures whose timeouts were collected as unfired. The caller holds no lock. Exceptions of a future's own
     * class are reported; if memory or stack is short, the next call does the rest.
     */
    public final void completeAbandoned(List<TimerNode> unfired) {
        String what = (closed ? "" : "a loop of ") + "scheduler '" + name() + "'";
        unfired.forEach(t -> completeAbandoned(t.work(), what));
    }

    /** The same for the task of one timer. {@code what} names the scheduler or loop that has removed it. */
    public static void completeAbandoned(Runnable work, String what) {
        if (Call.taskOf(work) instanceof Completion c) {
            try {
                c.abandoned(what);
            } catch (VirtualMachineError e) {
                throw e;
            } catch (Throwable e) {
                Reporter.uncaught(e);
            }
        }
    }

    // ---- alarms ----

    /** Waits for an alarm on its receiver. Closing the scheduler ends the wait. */
    public final boolean await(Receiver receiver, BooleanSupplier taken, long nanos) throws InterruptedException {
        Object call = new Object(); // a unique key for this call
        try {
            waiting.put(call, receiver); // before the first check of closed
            return receiver.await(taken, nanos);
        } finally {
            waiting.remove(call);
        }
    }

    /** Cancels the alarm and ends the waits of threads. */
    public final boolean cancel(QueuedNode t, Receiver receiver) {
        boolean prevented = t.queue.cancel(t);
        receiver.run();
        return prevented;
    }

    public final void checkAwaitable(QueuedNode t) {
        if (TimerNode.isCancelled(TimerNode.state(t.wordVolatile()))) {
            throw new CancellationException("the alarm was cancelled, so it will never ring");
        }
        if (closed) {
            throw new CancellationException("the alarm's scheduler is closed, so it will never ring");
        }
        if (t.queue.isClosed()) {
            throw new CancellationException("the alarm's loop is closed, so it will never ring");
        }
    }
}
