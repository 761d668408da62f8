package io.pendula;

import io.pendula.internal.engine.Options;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.VirtualThreads;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes executors that take the place of those of {@link java.util.concurrent.Executors}: change that one word, and
 * keep the rest.
 *
 * <pre>{@code
 * ScheduledExecutorService timers = TimerExecutors.newScheduledThreadPool(4);
 * }</pre>
 *
 * <p>With a name, and a listener that is told of slow tasks:
 *
 * <pre>{@code
 * SchedulerExecutor timers = TimerExecutors.builder().threads(4).name("db").slowCallback(Duration.ofMillis(50))
 *         .listener(TimerListener.logging()).build();
 * ...
 * TimerStats stats = timers.stats();
 * }</pre>
 *
 * <p>What they do, and in what little they differ, is told by {@link SchedulerExecutor}.
 *
 * @since 0.1
 */
public final class TimerExecutors {
    private static final AtomicInteger POOLS = new AtomicInteger();

    private TimerExecutors() {}

    /**
     * Starts the configuration of an executor that has a name, a listener or other settings of its own.
     *
     * @return a builder with all defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * An executor that runs up to {@code workers} tasks at the same time, and never more. Its threads are started
     * when they are needed, are no daemons, and have the context class loader of the calling thread.
     *
     * @param workers the number of threads, at least 0, which means as much as 1: a task needs a thread to run. It is
     *     started by the first submission, and ends, other than in the JDK's pool of that size, with the executor. More
     *     than 32,767 mean as much as that
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
     * As {@link #newScheduledThreadPool(int)}, with threads of one's own.
     *
     * @param workers the number of threads, at least 0, which means as much as 1
     * @param threadFactory must return new platform threads that have not been started. If the first one cannot be had,
     *     the submission that needed it throws, and nothing of it is queued; of a later one the uncaught-exception
     *     handler of the thread that called the factory is told, and later submissions and tasks try again. It must
     *     not block: it is called by the first submission, then by a worker that is about to run a task, after a failure
     *     by a later submission, too, and by one thread at a time. It may submit to the pool; if it fails then to make the first thread, what
     *     it has submitted runs, and {@code close} returns, only after a later submission has got its thread
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 0, or if {@code threadFactory} is the JDK's
     *     factory of virtual threads. Of another that makes them the first submission throws it: a worker must wake up
     *     when a task is due, and a virtual thread depends on others for that. To run tasks on virtual threads, use a
     *     view of a scheduler with an {@link TimerScheduler.Builder#executor executor} of them
     * @throws NullPointerException if {@code threadFactory} is null
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers, ThreadFactory threadFactory) {
        return ofSize(workers).threadFactory(threadFactory).build();
    }

    /**
     * An executor with one thread: tasks run strictly one after the other, in the order of their deadlines and, among
     * equal ones, of submission.
     *
     * @return a new executor
     */
    public static SchedulerExecutor newSingleThreadScheduledExecutor() {
        return newScheduledThreadPool(1);
    }

    /**
     * As {@link #newSingleThreadScheduledExecutor()}, with a thread of one's own.
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
     * An executor that runs each task on a virtual thread of its own, so that any number of tasks may block. One platform
     * thread sees to their times. Needs Java 21 or later.
     *
     * @return a new executor
     * @throws UnsupportedOperationException if this Java has no virtual threads
     */
    public static SchedulerExecutor newVirtualThreadScheduledExecutor() {
        return builder().executor(VirtualThreads.onePerTask()).build();
    }

    /**
     * Collects the settings of an executor with threads of its own. May be used for several executors; not safe for use
     * by several threads.
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
         * How many tasks run at the same time, at most. Default: 1, so that tasks run strictly one after the other. With
         * an {@link #executor} it is how many threads hand tasks over to that, for which 1 will do.
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
         * What {@code scheduleAtFixedRate} does about runs that could not begin in time, as after a long run, or a
         * suspension of the machine. Default: {@link MissedTicks#BURST}, as the JDK's pool: they are caught up, one after
         * the other.
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
         * Whether a periodic task goes on after a run that has thrown. The {@link #listener} is told of each of them, or
         * else the thread's uncaught-exception handler; the future ends only if it is cancelled. Default: false, as the
         * JDK's pool: such a run is the last one.
         *
         * @param keep true to let them go on
         * @return this
         */
        public Builder keepAfterFailure(boolean keep) {
            options.keepsAfterFailure = keep;
            return this;
        }

        /**
         * How long each run may take. One that takes longer is interrupted, as by {@code cancel(true)}: that run and nothing
         * that its thread does afterwards. The {@link #listener} is notified ({@link TimerListener#timedOut}), or else the
         * run is logged. Only the run is ended, and only if it heeds the interrupt: the future is not cancelled, and
         * completes with what the task returns or throws. A periodic task goes on with its next period, also if the
         * interrupted run throws; what it throws is reported to the listener.
         *
         * <p>The limit is a timer of the {@linkplain TimerScheduler#shared() shared} scheduler, as this executor's threads may
         * all be blocked. If it cannot be armed, the run ends with that exception before the task begins. Default: no limit.
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
         * Makes the executor. Its threads are started when they are needed.
         *
         * @return a new executor
         */
        public SchedulerExecutor build() {
            Options pool = options.copy(); // what has not been set gets its default at each build
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
