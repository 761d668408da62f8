package io.pendula.adapters.pekko;

import io.pendula.spi.TaskWrapper;
import io.pendula.Timer;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.Scheduler;
import org.apache.pekko.actor.SchedulerException;
import org.apache.pekko.actor.SchedulerTask;
import org.apache.pekko.event.LoggingAdapter;
import scala.concurrent.ExecutionContext;
import scala.util.control.NonFatal;

/** Passes a task on once, unless it was cancelled before. The value is the task, until one of both has happened. */
final class OnceTask extends AtomicReference<Runnable> implements Runnable, Cancellable, TaskWrapper {
    private static final long serialVersionUID = 1;

    private static final Runnable PASSED_ON = () -> {};
    private static final Runnable CANCELLED = () -> {};

    private final transient ExecutionContext executor;
    /** Written once, possibly after the run. A cancel that reads null leaves a timer behind that does nothing. */
    private transient Timer timer;

    OnceTask(Runnable task, ExecutionContext executor) {
        super(task);
        this.executor = executor;
    }

    void armed(Timer armed) {
        timer = armed;
    }

    /** The task, if it is still to be had: the caller has it now, and nobody else. */
    private Runnable take(Runnable end) {
        for (Runnable task = get(); task != PASSED_ON && task != CANCELLED; task = get()) {
            if (compareAndSet(task, end)) {
                return task;
            }
        }
        return null;
    }

    @Override
    public void run() {
        Runnable task = take(PASSED_ON);
        if (task != null) {
            execute(executor, task);
        }
    }

    /** What the executor refuses is its own business. */
    private static void execute(ExecutionContext executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (Throwable e) {
            if (!NonFatal.apply(e)) {
                throw e;
            }
            executor.reportFailure(e);
        }
    }

    @Override
    public boolean cancel() {
        Runnable task = take(CANCELLED);
        if (task == null) {
            return false;
        }
        Timer armed = timer;
        if (armed != null) {
            armed.cancel();
        }
        tellCancelled(task, executor);
        return true;
    }

    static void tellCancelled(Runnable task, ExecutionContext executor) {
        if (task instanceof SchedulerTask told) {
            execute(executor, told::cancelled);
        }
    }

    @Override
    public boolean isCancelled() {
        return get() == CANCELLED;
    }

    /** Runs the task here if it must not be lost. */
    void close(LoggingAdapter log) {
        Runnable task = take(PASSED_ON);
        if (task instanceof Scheduler.TaskRunOnClose) {
            try {
                task.run();
            } catch (SchedulerException e) {
                // it wanted to go on, which is over
            } catch (Throwable e) {
                if (!NonFatal.apply(e)) { // an AssertionError is not fatal
                    throw e;
                }
                log.error(e, "a task that is to run on close threw");
            }
        }
    }

    @Override
    public Object task() {
        return get();
    }

    @Override
    public String toString() {
        return "OnceTask[" + get() + "]";
    }
}
