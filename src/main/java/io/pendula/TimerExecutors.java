package io.pendula;

import java.util.concurrent.ThreadFactory;

/**
 * Makes executors that take the place of those of {@link java.util.concurrent.Executors}: change that one word, and
 * keep the rest.
 *
 * <pre>{@code
 * ScheduledExecutorService timers = TimerExecutors.newScheduledThreadPool(4);
 * }</pre>
 *
 * <p>What they do, and in what little they differ, is told by {@link SchedulerExecutor}.
 */
public final class TimerExecutors {
    private TimerExecutors() {}

    /**
     * An executor that runs up to {@code workers} tasks at the same time, and never more. Its threads are started
     * when they are needed, are no daemons, and have the context class loader of the calling thread.
     *
     * @param workers the number of threads, at least 1
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 1
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers) {
        return TimerScheduler.newPool(Check.atLeast(workers, 1, "workers"), null);
    }

    /**
     * As {@link #newScheduledThreadPool(int)}, with threads of one's own.
     *
     * @param workers the number of threads, at least 1
     * @param threadFactory must return new threads that have not been started. If the first one cannot be had, the
     *     submission that needed it throws, and nothing is queued; of a later one the default uncaught-exception
     *     handler is told
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 1
     * @throws NullPointerException if {@code threadFactory} is null
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers, ThreadFactory threadFactory) {
        Check.notNull(threadFactory, "threadFactory");
        return TimerScheduler.newPool(Check.atLeast(workers, 1, "workers"), threadFactory);
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
     * @param threadFactory must return a new thread that has not been started
     * @return a new executor
     * @throws NullPointerException if {@code threadFactory} is null
     */
    public static SchedulerExecutor newSingleThreadScheduledExecutor(ThreadFactory threadFactory) {
        return newScheduledThreadPool(1, threadFactory);
    }
}
