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
     * @param workers the number of threads, at least 0, which means as much as 1: a task needs a thread to run. It is
     *     started by the first submission, and ends, other than in the JDK's pool of that size, with the executor
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 0
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers) {
        return newPool(workers, null);
    }

    private static SchedulerExecutor newPool(int workers, ThreadFactory threadFactory) {
        return TimerScheduler.newPool(Math.max(1, Check.atLeast(workers, 0, "workers")), threadFactory);
    }

    /**
     * As {@link #newScheduledThreadPool(int)}, with threads of one's own.
     *
     * @param workers the number of threads, at least 0, which means as much as 1
     * @param threadFactory must return new platform threads that have not been started. If the first one cannot be had,
     *     the submission that needed it throws, and nothing is queued; of a later one the default uncaught-exception
     *     handler is told. It is called by one thread at a time: by the first submission, for which those that come
     *     meanwhile wait, and then by the worker that finds that it needs another; while it is slow, the others go on
     * @return a new executor
     * @throws IllegalArgumentException if {@code workers} is less than 0, or if {@code threadFactory} is the JDK's
     *     factory of virtual threads. Of another that makes them the first submission throws it: a worker must wake up
     *     when a task is due, and a virtual thread depends on others for that. To run tasks on virtual threads, use a
     *     view of a scheduler with an {@link TimerScheduler.Builder#executor executor} of them
     * @throws NullPointerException if {@code threadFactory} is null
     */
    public static SchedulerExecutor newScheduledThreadPool(int workers, ThreadFactory threadFactory) {
        Check.notNull(threadFactory, "threadFactory");
        return newPool(workers, threadFactory);
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
}
