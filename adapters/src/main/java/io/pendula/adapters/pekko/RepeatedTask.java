package io.pendula.adapters.pekko;

import io.pendula.spi.TaskWrapper;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.SchedulerException;
import scala.concurrent.ExecutionContext;

/**
 * Runs a task again and again, on its executor, until it is cancelled, throws, or the scheduler is closed. If
 * the open scheduler refuses it, as memory is short, it ends, and its executor gets the exception. Never overlaps itself,
 * as it is armed again when it has run.
 */
final class RepeatedTask implements Runnable, Cancellable, TaskWrapper {
    private final PendulaScheduler scheduler;
    private final Runnable task;
    private final ExecutionContext executor;
    private final long intervalNanos;
    private final boolean fixedRate;
    /** When the next run is due. One run happens-before the next. */
    private long due;
    /** The next run; null before the first is armed. */
    private final AtomicReference<OnceTask> next = new AtomicReference<>();
    private final AtomicBoolean cancelled = new AtomicBoolean();

    RepeatedTask(PendulaScheduler scheduler, Runnable task, ExecutionContext executor, long intervalNanos,
            boolean fixedRate) {
        this.scheduler = scheduler;
        this.task = task;
        this.executor = executor;
        this.intervalNanos = intervalNanos;
        this.fixedRate = fixedRate;
    }

    /** A negative delay means now: the runs before that are not made up for. */
    void start(long delayNanos) {
        due = System.nanoTime() + Math.max(0, delayNanos);
        OnceTask first = scheduler.arm(new OnceTask(this, executor), delayNanos);
        next.compareAndSet(null, first); // fails if it has run already
    }

    @Override
    public void run() {
        if (isCancelled()) {
            return;
        }
        try {
            task.run();
            if (!isCancelled()) {
                again();
            }
        } catch (SchedulerException e) {
            // a receiver that is no more ends its messages so
        } catch (IllegalStateException e) {
            if (!(e.getCause() instanceof SchedulerException)) {
                throw e;
            }
            // the scheduler is closed
        }
    }

    private void again() {
        long delay = intervalNanos;
        if (fixedRate) {
            due += intervalNanos;
            delay = Math.max(1, due - System.nanoTime()); // not 0, which would run it in here
        }
        OnceTask following = scheduler.arm(new OnceTask(this, executor), delay);
        next.set(following);
        if (isCancelled()) {
            following.cancel(); // the cancel may have seen the one before
        }
    }

    @Override
    public boolean cancel() {
        if (!cancelled.compareAndSet(false, true)) {
            return false;
        }
        OnceTask waiting = next.get();
        if (waiting != null) {
            waiting.cancel();
        }
        OnceTask.tellCancelled(task, executor);
        return true;
    }

    @Override
    public boolean isCancelled() {
        return cancelled.get();
    }

    @Override
    public Object task() {
        return task;
    }

    @Override
    public String toString() {
        return "RepeatedTask[" + task + "]";
    }
}
