package io.pendula;

import io.pendula.internal.engine.Call;
import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.executor.ShutdownTracker;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.scheduler.SharedScheduler;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Timeouts of futures and tasks. A future that completes before its timeout cancels the timer, so that neither stays in
 * memory.
 */
final class Timeouts {
    private Timeouts() {}

    // ---- of a future ----

    /** The action when a future's time is over. */
    private record Timeout(Future<?> future, long nanos, Runnable action)
            implements Runnable, Engine.Completion, PendingTimer.Counted {
        /** The future, or the task of an executor's future. */
        @Override
        public Object countedAs() {
            return future instanceof TimerHandle task ? task.task() : future;
        }

        @Override
        public void run() {
            action.run();
        }

        /** Completes only a CompletableFuture: an executor's task ends without its timeout. */
        @Override
        public void abandoned(String closed) {
            if (future instanceof CompletableFuture<?> f) {
                f.completeExceptionally(new CancellationException(
                        closed + " was closed before the timeout of " + limit(nanos) + " was over"));
            }
        }

        @Override
        public String toString() {
            return "timeout of " + limit(nanos) + " for " + future;
        }
    }

    /** The text of a limit, for humans; 0 if the time was over at once. */
    private static String limit(long nanos) {
        return Texts.duration(Math.max(0, nanos));
    }

    static <T> CompletableFuture<T> fail(Timers timers, CompletableFuture<T> future, long nanos) {
        return arm(timers, future, nanos, () -> future.completeExceptionally(new TimeoutException("not completed within "
                + limit(nanos) + ", says " + timers)));
    }

    static <T> CompletableFuture<T> complete(Timers timers, CompletableFuture<T> future, T value, long nanos) {
        return arm(timers, future, nanos, () -> future.complete(value));
    }

    private static <T> CompletableFuture<T> arm(Timers timers, CompletableFuture<T> future, long nanos,
            Runnable completion) {
        if (!future.isDone()) {
            Timer timer = timers.after(nanos, TimeUnit.NANOSECONDS, new Timeout(future, nanos, completion));
            try {
                future.whenComplete((result, thrown) -> {
                    if (timer.isPending()) { // else it is firing, or a close returns it with its task
                        timer.cancel();
                    }
                });
            } catch (Throwable e) { // memory is short, or a subclass of CompletableFuture throws
                timer.cancel();
                throw e;
            }
        }
        return future;
    }

    // ---- of an executor's task ----

    /** A task whose timer is cancelled when the task is done or was returned by shutdownNow. */
    private static final class TimedTask<V> extends SchedulerExecutor.Task<V> {
        /**
         * Written before the task is checked. So the thread that settles the task cancels it, or the thread that has
         * written it does.
         */
        private volatile Timer timer;
        private final long nanos;
        /** The reason for the cancel. Written before the cancel, and read after it. */
        private boolean expired;

        TimedTask(Callable<V> task, ShutdownTracker tracker, long nanos) {
            super(tracker, tracker.engine.work(task), 0, false);
            this.nanos = nanos;
        }

        /** Arms a timer that is never due. Called before the submission: if the timer is rejected, the task must not run. */
        Timer armTimeout(SchedulerEngine timers, Consumer<? super Future<V>> action) {
            Runnable timeout = timers.work(new Timeout(this, nanos, () -> expire(action)));
            TimerQueue queue = timers.workersQueue(Thread.currentThread()); // not a loop's: the caller may wait for the task
            return OneShotTimer.armAt(queue, Timeline.NEVER, timeout);
        }

        /** Called after the submission, because a cancel before it would have nothing to prevent. */
        void startTimeout(Timer armed) {
            try {
                armed.reset(nanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) { // closed meanwhile: a task must not continue without its limit
                cancel(true);
                return;
            } catch (Throwable e) {
                armed.cancel();
                cancel(true);
                throw e;
            }
            timer = armed;
            if (isSettled()) {
                armed.cancel();
            }
        }

        private void expire(Consumer<? super Future<V>> action) {
            if (action == null) {
                expired = !isCancelled();
                cancel(true);
            } else if (!isDone()) {
                action.accept(this);
            }
        }

        @Override
        protected String whyCancelled() {
            return expired ? "the task was cancelled, as it was not done within " + limit(nanos) : super.whyCancelled();
        }

        @Override
        protected void settled() {
            Timer t = timer;
            if (t != null) {
                t.cancel();
            }
        }
    }

    static <V> Future<V> submit(ShutdownTracker tracker, Callable<V> task, long nanos,
            Consumer<? super Future<V>> onTimeout) {
        SchedulerEngine timers = timersFor(tracker.engine); // if that fails, nothing is submitted
        TimedTask<V> timed = new TimedTask<>(task, tracker, nanos);
        Timer timeout = timed.armTimeout(timers, onTimeout);
        try {
            tracker.submit(timed, 0);
        } catch (Throwable e) {
            timeout.cancel();
            throw e;
        }
        timed.startTimeout(timeout);
        return timed;
    }

    /** The shared scheduler, because all threads of {@code own} may be blocked; {@code own} with a {@link ManualClock}. */
    private static SchedulerEngine timersFor(SchedulerEngine own) {
        return own.stepper == null ? SharedScheduler.engine() : own;
    }

    // ---- of each run of an executor's task ----

    static Runnable limited(Runnable work, long nanos) {
        return new LimitedRun(work, nanos);
    }

    private static final class LimitedRun extends Call {
        private final Runnable work;
        private final long nanos;

        LimitedRun(Runnable work, long nanos) {
            super(taskOf(work));
            this.work = work;
            this.nanos = nanos;
        }

        @Override
        public Object call(QueuedNode timer) throws Exception {
            SchedulerEngine own = (SchedulerEngine) timer.queue.host;
            TimerQueue queue = timersFor(own).workersQueue(Thread.currentThread());
            RunLimit limit = new RunLimit(interruption -> new OneShotTimer(queue, new Timeout((Future<?>) timer, nanos, () -> {
                Firing run = own.runOf(timer);
                if (run != null) { // else it has just ended
                    own.reporter.tell(Event.TIMED_OUT, timer, run.lateness(), nanos, null);
                }
                interruption.run();
            })), nanos);
            try (limit) {
                if (work instanceof Call c) {
                    return c.call(timer);
                }
                work.run();
            } catch (Throwable e) {
                if (!limit.isOver() || timer.periodNanos() == 0) {
                    throw e;
                }
                own.reporter.tell(Event.THREW, timer, timer.latenessNanos(), 0, e); // its next period follows
            }
            return null;
        }
    }

    // ---- delayedExecutor ----

    /** Hands each command to another executor, after a delay. */
    record Delayed(Timers timers, long nanos, Executor executor) implements Executor {
        @Override
        public void execute(Runnable command) {
            Check.notNull(command, "command");
            timers.after(nanos, TimeUnit.NANOSECONDS, new Submission(executor, command));
        }

        @Override
        public String toString() {
            return "delayedExecutor[" + Texts.duration(nanos) + ", " + timers + "]";
        }
    }

    /** Represents the command that it hands over. */
    private static final class Submission extends Call {
        private final Executor executor;
        private final Runnable command;

        Submission(Executor executor, Runnable command) {
            super(command);
            this.executor = executor;
            this.command = command;
        }

        @Override
        public void run() {
            executor.execute(command);
        }
    }
}
