package io.pendula.internal.executor;

import io.pendula.internal.engine.Call;
import io.pendula.internal.engine.Options;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A task of an executor: a timer and a future in one object. The timer's word is also the future's state, so the CAS that
 * decides every other transition also decides completion and cancellation.
 */
public class ScheduledTask<V> extends QueuedNode implements RunnableScheduledFuture<V> {
    /*
     * The word as the future's state. In a state *CANCELLED* the future is cancelled, and done even while the task runs.
     * With NO_STATUS it is done. The exception is a periodic task without an outcome (isOver), which was given back or is
     * about to be cancelled. In all other states it is not done. The outcome is written before the CAS that ends the run.
     * Wait: a waiting thread creates the latch, then reads the word; a thread that ends the task changes the word, then
     * reads the latch. Both are volatile, so one of the two sees the other.
     *
     * Start and cancel: the run writes runner, then reads the word; a cancel changes the word, then reads runner. So if the
     * cancel finds no thread to interrupt, the run finds that it must not start. An interrupting thread replaces the runner
     * by INTERRUPTING, delivers the interrupt, then puts the runner back. The run ends only after it has taken its own
     * thread out of runner. So an interrupt never hits the thread's next work.
     *
     * Shutdown, see ShutdownTracker: a thread that runs the task replaces the null in runner with itself. A shutdownNow()
     * that gives the task back replaces it with RETURNED. A thread that is about to cancel the task replaces it with
     * REFUSED. The first to replace it owns the task and does the rest. So no shutdown touches a run that has begun: a
     * periodic task is cancelled when the run ends, unless the run throws. A worker that has claimed the task finds the
     * mark before the call. A task that was given back stays unchanged (RUNNING if it was claimed) until its receiver runs
     * or cancels it.
     */

    private static final Object INTERRUPTING = "interrupting";
    private static final Object RETURNED = "returned";
    private static final Object REFUSED = "refused";
    /**
     * The last run has ended. Never replaced, because a worker may still be about to call a returned task that it has
     * claimed.
     */
    private static final Object ENDED = "ended";

    private static final VarHandle RUNNER = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "runner",
            VarHandle.class, ScheduledTask.class, Object.class);
    private static final VarHandle COUNTED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "counted",
            VarHandle.class, ScheduledTask.class, boolean.class);

    final ShutdownTracker tracker;
    /** In nanoseconds. Positive: a fixed rate; negative: a fixed delay; zero: runs once. */
    private final long period;
    /** The program has no reference to this future, so the task's exceptions go to the listener. */
    private final boolean unheld;
    /** Set before the interrupt; read by the run once its thread is out of runner. */
    private boolean interrupted;

    /** Whether a shutdown waits for the task. */
    @SuppressWarnings("unused") // through COUNTED
    private boolean counted;
    /**
     * Null, then the thread inside the callback (briefly INTERRUPTING), then null again, or ENDED after the last run.
     * RETURNED or REFUSED if there is no further run.
     */
    private volatile Object runner;
    /** Null until a thread waits for the end. Created under the monitor of the queue. */
    private volatile CountDownLatch end;
    /** The value, or the exception if {@link #failed}; valid only when done and not cancelled. */
    private Object outcome;
    /** A flag instead of a wrapper, because a task that throws may have left no memory for one. */
    private boolean failed;

    /** {@code task} is a {@link Call} if the future has a value. */
    public ScheduledTask(TimerQueue queue, Runnable task, ShutdownTracker tracker, long period, boolean unheld) {
        super(queue, task);
        this.tracker = tracker;
        this.period = period;
        this.unheld = unheld;
    }

    // ---- the future ----

    @Override
    public boolean isDone() {
        long w = wordVolatile();
        return isCancelled(state(w)) || state(w) == NO_STATUS && isOver();
    }

    /** A periodic task has no normal end. If it rests without an outcome, it was given back, or its scheduler is closing. */
    @Override
    protected boolean isOver() {
        return period == 0 || failed;
    }

    @Override
    public boolean isCancelled() {
        return isCancelled(state(wordVolatile()));
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (end != null || tracker.isShutdown()) { // threads wait for the steps after the abort
            HoldLock.checkDeepStack();
        }
        int was = queue.abort(this);
        if (isRunning(was)) {
            done(); // first, because interrupting a user's thread may throw
            if (mayInterruptIfRunning) {
                interrupt();
            }
        } else if (was >= 0) {
            over();
        }
        return was >= 0;
    }

    @Override
    public boolean cancel() {
        return cancel(false);
    }

    @Override
    public V get() throws InterruptedException, ExecutionException {
        if (mustWait()) {
            end.await();
        }
        return report();
    }

    @Override
    public V get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long nanos = Check.notNull(unit, "unit").toNanos(timeout);
        if (mustWait() && !end.await(nanos, TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("not done after " + timeout + " " + unit);
        }
        return report();
    }

    /** Creates the latch if the task is not done. If it is done, get() returns at once, even in an interrupted thread. */
    private boolean mustWait() {
        if (isDone()) {
            return false;
        }
        synchronized (queue) {
            if (end == null) {
                end = new CountDownLatch(1);
            }
        }
        return !isDone();
    }

    private void done() {
        CountDownLatch e = end;
        if (e != null) {
            e.countDown();
        }
        settled(); // last: it checks the stack, so it may throw
    }

    /** Called when the task is done and will not run again. */
    private void over() {
        try {
            done();
        } finally {
            tracker.gone(this); // last: the last task of a pool closes the scheduler, which may fail
        }
    }

    /** Called when {@link #isSettled} has become true: the task is done, or was given back. */
    protected void settled() {}

    protected final boolean isSettled() {
        return isDone() || runner == RETURNED;
    }

    protected String whyCancelled() {
        return "the task was cancelled";
    }

    @SuppressWarnings("unchecked") // only the result of a Call, or null for a Runnable, gets there
    private V report() throws ExecutionException {
        if (isCancelled()) {
            throw new CancellationException(whyCancelled());
        }
        if (failed) {
            throw new ExecutionException((Throwable) outcome);
        }
        return (V) outcome;
    }

    @Override
    protected String kind() {
        return "Task";
    }

    // ---- delay and order ----

    @Override
    public boolean isPeriodic() {
        return period != 0;
    }

    @Override
    public long getDelay(TimeUnit unit) {
        long due = due(wordVolatile());
        return Check.notNull(unit, "unit").convert(due == Timeline.NEVER ? Long.MAX_VALUE : due - queue.timeline.now(), TimeUnit.NANOSECONDS);
    }

    /**
     * The deadline; during a run, the latest instant at which it was due. The word of a periodic task then has the next
     * deadline.
     */
    private long due(long w) {
        boolean isInRun = period != 0 && isRunning(state(w));
        return !isInRun ? deadline(w) : deadline(w) != Timeline.NEVER ? deadline(w) - periodNanos()
                : queue.timeline.now(); // the period is too long to subtract
    }

    @Override
    public int compareTo(Delayed other) {
        if (other instanceof ScheduledTask<?> t && t.queue.timeline == queue.timeline) {
            return t == this ? 0 : Long.compare(due(wordVolatile()), t.due(t.wordVolatile()));
        }
        return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
    }

    // ---- the run ----

    /**
     * Runs a one-shot task that {@code shutdownNow} has returned, on the calling thread. Cancels a periodic one, because no
     * executor would run it again. Does nothing in any other state.
     */
    @Override
    public void run() {
        if (runner != RETURNED) {
            return;
        }
        HoldLock.checkStack(); // otherwise the run might end, and the task be done, without the call
        Runnable work = work();
        if (period != 0 || work == null) {
            cancel(false);
            return;
        }
        queue.claimStopped(this); // unless it was claimed before it was given back
        try {
            if (!call(work, RETURNED)) {
                return; // another thread runs it
            }
        } catch (Throwable e) {
            // It is the outcome.
        }
        queue.endRun(this);
    }

    @Override
    public long periodNanos() {
        return Math.abs(period);
    }

    @Override
    protected long nextAfter(long deadline, long now) {
        if (period <= 0) {
            return period == 0 ? 0 : Timeline.plus(now, -period);
        }
        Options.NextRun missed = tracker.engine.options.missedRuns;
        return missed == null ? Timeline.plus(deadline, period) : missed.next(deadline, period, presentAt(now));
    }

    @Override
    public boolean fire(Runnable claimed, long deadline) throws Throwable {
        Throwable thrown = null;
        try {
            tracker.refuseIfLate(this);
            if (!call(claimed, null)) {
                return unfire();
            }
        } catch (Throwable e) {
            thrown = e;
            if (period == 0) { // also if it was not called for lack of stack: the run ends, and the task is done
                outcome = e;
                failed = true;
            }
        }
        if (period < 0 && !failed) {
            queue.retime(this, queue.timeline.deadlineIn(-period)); // the delay counts from the end
        }
        if (thrown != null && (period != 0 || unheld) && !isCancelled()) { // after a cancel it is not reported
            throw thrown;
        }
        return true;
    }

    /** Calls the task if runner still is {@code before}; then returns true, or throws the task's exception. */
    private boolean call(Runnable claimed, Object before) throws Exception {
        Thread me = Thread.currentThread();
        if (!RUNNER.compareAndSet(this, before, me)) {
            return false;
        }
        try {
            if (isCancelled(state(wordVolatile()))) {
                return true;
            }
            if (claimed instanceof Call c) {
                outcome = c.call(this);
            } else {
                claimed.run();
            }
            return true;
        } catch (Throwable e) {
            if (period == 0 || !tracker.engine.options.keepsAfterFailure) {
                outcome = e; // published by the CAS that ends the run, like a value
                failed = true;
                if (period != 0) {
                    queue.stop(this);
                }
            }
            throw e;
        } finally {
            while (!RUNNER.compareAndSet(this, me, isOver() ? ENDED : null)) {
                Thread.onSpinWait(); // an interrupting thread is between two statements
            }
            if (interrupted) {
                interrupted = false;
                Thread.interrupted();
            }
        }
    }

    /** A claimed task that was given back or handed to the executor is not called after a cancel. */
    @Override
    protected boolean isInRun() {
        Object r = runner;
        return r == INTERRUPTING || r instanceof Thread;
    }

    @Override
    protected boolean isRunByCaller() {
        return super.isRunByCaller() || runner == Thread.currentThread(); // a task given back to the caller
    }

    /** Interrupts the run in progress, if any. */
    public void interrupt() {
        Object r = runner;
        if (r instanceof Thread t && RUNNER.compareAndSet(this, r, INTERRUPTING)) {
            interrupted = true;
            try {
                t.interrupt();
            } finally {
                runner = t;
            }
        }
    }

    @Override
    protected void ended(boolean armedAgain) {
        if (armedAgain) {
            tracker.refuseIfLate(this);
            if (runner == REFUSED) {
                cancel(false);
            }
            return;
        }
        if (!isOver()) {
            unfire(); // the scheduler was closed meanwhile, so there is no next run
        }
        if (isDone()) { // else it was given back, and cancel() does the rest
            dropTask();
            if (isCancelled()) {
                outcome = null;
            }
            over();
        }
    }

    /**
     * Called when a close has stopped the task. Cancels it, unless it runs; then the end of the run does. A shutdownNow()
     * may have found the task armed before. So a close also replaces the null in runner, and the first to replace it owns
     * the task.
     */
    @Override
    public void abandoned() {
        if (!isRunning(state(wordVolatile()))) {
            refuse();
        }
    }

    // ---- called by a shutdown ----

    /** Marks a task that is not running as given back, so that no worker runs it. False if it runs or is over. */
    public boolean giveBack() {
        if (isCancelled() || !RUNNER.compareAndSet(this, null, RETURNED)) {
            return false;
        }
        try {
            queue.stop(this); // nothing to stop if it was claimed
            settled();
        } finally { // otherwise a shutdown that has counted it would wait forever
            tracker.gone(this);
        }
        return true;
    }

    /** Cancels a task that is not running; true if this call or an earlier one did so. */
    boolean refuse() {
        if (!markRefused()) {
            return false;
        }
        cancel(false); // also if an earlier call has set the mark: it may have failed before this step
        return true;
    }

    /**
     * The first step of a refusal: keeps a task that is not running from running again. The next step is to cancel it. True
     * if this call or an earlier one did so.
     */
    boolean markRefused() {
        return RUNNER.compareAndSet(this, null, REFUSED) || runner == REFUSED;
    }

    /** Cancels a claimed task that will not be called. False if it was given back: then its receiver owns it. */
    @Override
    public boolean unfire() {
        boolean isRefused = markRefused();
        if (isRefused) {
            queue.abort(this); // a refusal leaves that to the claimed run
        }
        return isRefused;
    }

    /** Whether the task is armed or running, and was not given back. */
    boolean isLive() {
        int s = state(wordVolatile());
        return (isArmed(s) || isRunning(s)) && runner != RETURNED;
    }

    /** False if it is counted already. */
    boolean count() {
        return COUNTED.compareAndSet(this, false, true);
    }

    /** Whether it was counted. */
    boolean uncount() {
        return (boolean) COUNTED.getAndSet(this, false);
    }

    @Override
    protected String tempo() {
        return period == 0 ? "" : period > 0 ? ", every " + Texts.duration(period)
                : ", " + Texts.duration(-period) + " after each run";
    }

    @Override
    protected String status(long w) {
        int s = state(w);
        return isRunning(s) && runner != RETURNED ? "running"
                : isArmed(s) && !isRunning(s) ? dueIn(w) : "given back by a shutdown";
    }

    @Override
    public String toString() {
        return isDone() && !isCancelled() ? text("done" + tempo()) : super.toString();
    }
}
