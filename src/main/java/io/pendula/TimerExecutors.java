package io.pendula;

import io.pendula.internal.engine.Options;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.VirtualThreads;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Creates executors that replace those of {@link java.util.concurrent.Executors}: change the class name, and keep the rest
 * of the code.
 *
 * <pre>{@code
 * ScheduledExecutorService timers = TimerExecutors.newScheduledThreadPool(4);
 * }</pre>
 *
 * <p>With a name, and a listener that is notified of slow tasks:
 *
 * <pre>{@code
 * SchedulerExecutor timers = TimerExecutors.builder().threads(4).name("db").slowCallback(Duration.ofMillis(50))
 *         .listener(TimerListener.logging()).build();
 * ...
 * TimerStats stats = timers.stats();
 * }</pre>
 *
 * <p>{@link SchedulerExecutor} describes their rules and the few differences.
 *
 * @since 0.1
 */
public final class TimerExecutors {
    private static final AtomicInteger POOLS = new AtomicInteger();

    private TimerExecutors() {}

    /**
     * Returns a builder for an executor with a name, a listener or other settings.
     *
     * @return a builder with default settings
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Creates an executor that runs up to {@code workers} tasks at the same time, and never more. Its threads are
     * started when they are needed, are not daemons, and have the context class loader of the calling thread.
     *
     * @param workers the number of threads, at least 0. Zero is treated as 1, because a task needs a thread to run. That
     *     thread is started by the first submission and, unlike in the JDK's pool of size 0, ends with the executor. Numbers
     *     above 32,767 are treated as 32,767
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 0
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers) {
        return ofSize(workers).build();
    }

    private static Builder ofSize(int workers) {
        return builder().threads(Math.max(1, Math.min(Check.atLeast(workers, 0, "workers"), Options.MOST_THREADS)));
    }

    /**
     * Like {@link #newScheduledThreadPool(int)}, but with your own thread factory.
     *
     * <p>The factory must return new platform threads that have not been started, and must not block. It is called by
     * one thread at a time: by the first submission, then by workers that are about to run a task, and after a failure
     * also by later submissions. If it fails to create the first thread, the submission throws, and queues nothing. If
     * it fails to create a later thread, the uncaught-exception handler of the thread that called the factory is
     * notified. Later submissions and tasks try again.
     *
     * <p>The factory may submit tasks to the pool. If it then fails to create the first thread, these tasks run only
     * after a later submission has started a thread; until then, {@code close} does not return.
     *
     * @param workers the number of threads, at least 0; 0 is treated as 1
     * @param threadFactory creates the threads of the pool
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 0, or if {@code threadFactory} is the JDK's
     *     factory of virtual threads. For other factories of virtual threads, the first submission throws it. To run
     *     tasks on virtual threads, use {@link Builder#executor executor}
     * @throws NullPointerException if {@code threadFactory} is null
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers, ThreadFactory threadFactory) {
        return ofSize(workers).threadFactory(threadFactory).build();
    }

    /**
     * Creates an executor with one thread: tasks run strictly one after the other, in the order of their deadlines and,
     * among equal ones, of submission.
     *
     * @return a new executor
     */
    public static SchedulerExecutor newSingleThreadScheduledExecutor() {
        return newScheduledThreadPool(1);
    }

    /**
     * Like {@link #newSingleThreadScheduledExecutor()}, but with your own thread factory, see
     * {@link #newScheduledThreadPool(int, ThreadFactory)}.
     *
     * @param threadFactory must return a new platform thread that has not been started
     * @return a new executor
     * @throws IllegalArgumentException if {@code threadFactory} is the JDK's factory of virtual threads
     * @throws NullPointerException if {@code threadFactory} is null
     */
    public static SchedulerExecutor newSingleThreadScheduledExecutor(ThreadFactory threadFactory) {
        return newScheduledThreadPool(1, threadFactory);
    }

    /**
     * Creates an executor that runs each task on its own virtual thread, so that any number of tasks may block. One
     * platform thread starts them when they are due. Needs Java 21 or later.
     *
     * @return a new executor
     * @throws UnsupportedOperationException if this Java has no virtual threads
     */
    public static SchedulerExecutor newVirtualThreadScheduledExecutor() {
        return builder().executor(VirtualThreads.onePerTask()).build();
    }

    /**
     * Collects the settings of an executor with its own threads. May be used to build several executors. Not safe for use by
     * multiple threads.
     *
     * @since 0.1
     */
    public static final class Builder extends Settings<Builder> {
        private Builder() {
            super(new Options());
            options.monitor = false;
            options.daemon = false;
            options.maxThreads = 1;
            options.isPool = true;
        }

        /**
         * Sets the maximum number of tasks that run at the same time. Default: 1, so that tasks run strictly one after
         * the other. With an {@link #executor} it is the number of threads that hand tasks over to it; 1 is enough for
         * that.
         *
         * @param threads from 1 to 32,767
         * @return this
         * @throws IllegalArgumentException if {@code threads} is less than 1 or more than 32,767
         */
        public Builder threads(int threads) {
            options.maxThreads = Check.within(1, threads, Options.MOST_THREADS, "threads");
            return this;
        }

        /**
         * Sets the policy of {@code scheduleAtFixedRate} for runs that could not begin on time, for example after a
         * long run or a suspension of the machine. Default: {@link MissedTicks#BURST}, as in the JDK's pool: missed
         * runs are caught up, one after the other.
         *
         * @param missedRuns the policy
         * @return this
         * @throws NullPointerException if {@code missedRuns} is null
         */
        public Builder missedRuns(MissedTicks missedRuns) {
            Check.notNull(missedRuns, "missedRuns");
            options.missedRuns = missedRuns::next;
            return this;
        }

        /**
         * Sets whether a periodic task continues after a run that has thrown. If so, each exception is reported to the
         * {@link #listener} or, without one, to the thread's uncaught-exception handler; the future ends only if it is
         * cancelled. Default: false, as in the JDK's pool: such a run is the last one.
         *
         * @param keep true to let the task continue
         * @return this
         */
        public Builder keepAfterFailure(boolean keep) {
            options.keepsAfterFailure = keep;
            return this;
        }

        /**
         * Sets the time limit of each run. A run that takes longer is interrupted, as by {@code cancel(true)}: the
         * interrupt affects nothing that its thread does afterwards. The {@link #listener} is notified
         * ({@link TimerListener#timedOut}); without one, the run is logged. Only this run ends, and only if the task
         * responds to the interrupt. The future is not cancelled: it completes with the task's result or exception. A
         * periodic task continues with its next period, even if the interrupted run throws; that exception is reported
         * to the listener.
         *
         * <p>The limit is a timer of the {@linkplain TimerScheduler#shared() shared} scheduler, because all threads of
         * this executor may be blocked. With a {@link ManualClock}, it is a timer of this executor. If it cannot be
         * armed, the run ends with the exception before the task begins. Default: no limit.
         *
         * @param limit more than zero; beyond 18 years: never
         * @return this
         * @throws NullPointerException if {@code limit} is null
         * @throws IllegalArgumentException if {@code limit} is zero or negative
         */
        public Builder runTimeout(Duration limit) {
            options.runNanos = Check.positive(limit, "limit");
            return this;
        }

        /**
         * Builds the executor. Its threads are started when they are needed.
         *
         * @return a new executor
         */
        public SchedulerExecutor build() {
            Options pool = options.copy(); // settings that were not set get their defaults at each build
            pool.workers = Integer.highestOneBit(Math.min(pool.maxThreads, Options.defaultWorkers()));
            if (pool.name == null) {
                pool.name = "pool-" + POOLS.incrementAndGet();
            }
            if (!pool.hasContextClassLoader) {
                pool.contextClassLoader = Thread.currentThread().getContextClassLoader();
            }
            return new SchedulerExecutor(new SchedulerEngine(pool.complete()), true);
        }
    }
}
