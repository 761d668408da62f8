package io.pendula.adapters.pekko;

import com.typesafe.config.Config;
import io.pendula.TimerHandle;
import io.pendula.TimerScheduler;
import java.io.Closeable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.AbstractScheduler;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.Scheduler;
import org.apache.pekko.actor.SchedulerException;
import org.apache.pekko.event.LoggingAdapter;
import scala.concurrent.ExecutionContext;
import scala.concurrent.duration.FiniteDuration;

/**
 * A scheduler for an actor system. It runs ask timeouts, timers of actors, heartbeats and failure detectors of a
 * cluster, and everything that is scheduled by {@code system.scheduler()}.
 *
 * <pre>{@code
 * pekko.scheduler.implementation = io.pendula.adapters.pekko.PendulaScheduler
 * pendula.pekko.workers = 1    # optional
 * }</pre>
 *
 * <p>There is no tick, so {@code pekko.scheduler.tick-duration} has no effect. If no timer is armed, the system is not
 * woken; if none is due, it wakes up once a second. With a delay of more than 18 years, a task never runs. Tasks run on
 * the {@link ExecutionContext} that is given for each; the scheduler's threads only pass them on. A task without a
 * delay is passed on at once, by the calling thread.
 *
 * <p>If memory is short, scheduling may throw a {@link RejectedExecutionException} although the scheduler is open. A
 * repeated task that cannot be armed again for that reason ends, and its executor gets the exception, as if the task
 * had thrown it.
 *
 * <p>All methods may be called by any thread at any time.
 *
 * @since 0.1
 */
public final class PendulaScheduler extends AbstractScheduler implements Closeable {
    private static final String WORKERS = "pendula.pekko.workers";

    private final TimerScheduler timers;
    private final LoggingAdapter log;

    /**
     * Called by the actor system.
     *
     * @param config the configuration of the system; {@code pendula.pekko.workers} is the number of workers, 1 by
     *     default
     * @param log receives exceptions of tasks that run when this scheduler is closed
     * @param threadFactory creates the threads
     * @throws IllegalArgumentException if the number of workers is less than 1 or more than 1,024
     */
    public PendulaScheduler(Config config, LoggingAdapter log, ThreadFactory threadFactory) {
        int workers = config.hasPath(WORKERS) ? config.getInt(WORKERS) : 1;
        if (workers < 1) {
            throw new IllegalArgumentException(WORKERS + " must be at least 1, but is " + workers);
        }
        this.log = log;
        this.timers = TimerScheduler.builder().name("pekko").workers(workers).threadFactory(threadFactory).build();
    }

    /** For tests, which choose the clock and the bound. */
    PendulaScheduler(TimerScheduler timers, LoggingAdapter log) {
        this.timers = timers;
        this.log = log;
    }

    /**
     * Returns the scheduler behind this object, to observe it.
     *
     * @return the scheduler; only the actor system may close it
     */
    public TimerScheduler timers() {
        return timers;
    }

    @Override
    public Cancellable scheduleOnce(FiniteDuration delay, Runnable runnable, ExecutionContext executor) {
        return arm(new OnceTask(runnable, executor), delay.toNanos());
    }

    /** Called by {@code scheduleAtFixedRate}. */
    @Override
    @SuppressWarnings("deprecation") // there is no other place for it in Pekko 1
    public Cancellable schedule(FiniteDuration initialDelay, FiniteDuration interval, Runnable runnable,
            ExecutionContext executor) {
        return repeat(initialDelay, interval, true, runnable, executor);
    }

    @Override
    public Cancellable scheduleWithFixedDelay(FiniteDuration initialDelay, FiniteDuration delay, Runnable runnable,
            ExecutionContext executor) {
        return repeat(initialDelay, delay, false, runnable, executor);
    }

    private Cancellable repeat(FiniteDuration initialDelay, FiniteDuration interval, boolean fixedRate,
            Runnable runnable, ExecutionContext executor) {
        long nanos = interval.toNanos();
        if (nanos <= 0) {
            throw new IllegalArgumentException("the interval must be more than zero, but is " + interval);
        }
        RepeatedTask task = new RepeatedTask(this, runnable, executor, nanos, fixedRate);
        task.start(initialDelay.toNanos());
        return task;
    }

    /** Arms a task, or hands it over now if it has no delay. */
    OnceTask arm(OnceTask task, long delayNanos) {
        try {
            if (delayNanos > 0) {
                task.armed(timers.after(delayNanos, TimeUnit.NANOSECONDS, task));
                return task;
            }
        } catch (RejectedExecutionException e) {
            if (timers.isClosed()) {
                throw closed(e);
            }
            throw e; // memory is short, which must not look like the end of the system
        }
        if (timers.isClosed()) {
            throw closed(null);
        }
        task.run();
        return task;
    }

    /** Of the kind by which Pekko tells that a system shuts down from other failures. */
    private static IllegalStateException closed(RejectedExecutionException cause) {
        SchedulerException reason = new SchedulerException("the scheduler is closed");
        if (cause != null) {
            reason.addSuppressed(cause);
        }
        return new IllegalStateException(reason.getMessage(), reason);
    }

    /**
     * Returns a million: the maximum number of runs of a task in a second. This is more than a cluster needs, so the
     * cluster does not start its own scheduler.
     */
    @Override
    public double maxFrequency() {
        return 1e6;
    }

    /**
     * Rejects new tasks. Waiting tasks that must {@linkplain Scheduler.TaskRunOnClose run on close} run on the calling
     * thread; all others are dropped. Does not wait for tasks in progress.
     */
    @Override
    public void close() {
        for (TimerHandle timer : timers.shutdownNow()) {
            if (timer.task() instanceof OnceTask task) {
                task.close(log);
            }
        }
    }
}
