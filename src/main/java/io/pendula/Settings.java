package io.pendula;

import io.pendula.internal.engine.Options;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.VirtualThreads;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What the builders of schedulers and of executors have in common. Each setting is checked when it is set.
 *
 * @param <B> the builder itself; without a bound, as its erasure stands in the signatures of methods that a program calls
 */
abstract sealed class Settings<B> permits TimerScheduler.Builder, TimerExecutors.Builder {
    final Options options;

    Settings(Options options) {
        this.options = options;
    }

    @SuppressWarnings("unchecked") // each subclass names itself
    final B self() {
        return (B) this;
    }

    /**
     * The name that appears in thread names, statistics and logs. Default: {@code timers} for a scheduler,
     * {@code pool-} and a number for an executor.
     *
     * @param name any text but an empty one
     * @return this
     * @throws NullPointerException if {@code name} is null
     * @throws IllegalArgumentException if {@code name} is empty
     */
    public B name(String name) {
        if (Check.notNull(name, "name").isEmpty()) {
            throw new IllegalArgumentException("name must not be empty");
        }
        options.name = name;
        return self();
    }

    /**
     * Makes the threads, which then keep the name, the daemon status and the context class loader that the factory
     * gives them. Default: own threads.
     *
     * <p>It must not block. It is called by the thread that needs another one: by {@code build}, by a submission to an
     * executor, by a thread that arms or stops a timer of the shared scheduler or of a {@link TimerLoop}, by the monitor, or
     * by a worker, before a callback as a rule. What that thread does next waits for it.
     *
     * <p>Virtual threads are refused: a worker must wake up when a timer is due, and a virtual thread does so only
     * when one of the few carriers is free. Callbacks can run on them, see {@link #executor}; and virtual threads
     * may call all methods.
     *
     * @param threadFactory must return new platform threads that have not been started
     * @return this
     * @throws NullPointerException if {@code threadFactory} is null
     * @throws IllegalArgumentException if it is the JDK's factory of virtual threads; for others, a scheduler's
     *     {@code build} throws it, or an executor's first submission
     */
    public B threadFactory(ThreadFactory threadFactory) {
        options.threadFactory = VirtualThreads.refusedFrom(threadFactory);
        return self();
    }

    /**
     * Whether own threads let the JVM exit. Default: true for a scheduler; false for an executor, as for the JDK's
     * pools.
     *
     * @param daemon false if the JVM must not exit before the end of the scheduler or executor
     * @return this
     */
    public B daemon(boolean daemon) {
        options.daemon = daemon;
        return self();
    }

    /**
     * The context class loader of own threads. Default: null for a scheduler, so that a timer keeps no application
     * alive in a container; for an executor that of the thread that calls {@code build}.
     *
     * @param contextClassLoader may be null
     * @return this
     */
    public B contextClassLoader(@Nullable ClassLoader contextClassLoader) {
        options.contextClassLoader = contextClassLoader;
        options.hasContextClassLoader = true;
        return self();
    }

    /**
     * Runs callbacks elsewhere than on the workers. A timer still never overlaps itself: it is armed again when
     * its callback has returned. If the executor rejects a callback, the listener is told and the worker runs
     * it; so it does if the scheduler is closed just then. An executor that drops a callback silently leaves its timer
     * running until the scheduler is closed.
     * {@code Executors.newVirtualThreadPerTaskExecutor()} will do, if callbacks block and there may be many at a
     * time. Nothing here shuts it down. Default: inline, on the workers.
     *
     * @param executor where callbacks run
     * @return this
     * @throws NullPointerException if {@code executor} is null
     */
    public B executor(Executor executor) {
        options.executor = Check.notNull(executor, "executor");
        return self();
    }

    /**
     * Is told of callbacks that throw where no future tells it, take long or block their thread. Default: exceptions go
     * to the thread's uncaught-exception handler; slow callbacks are logged, as by {@link TimerListener#logging()}, and
     * so are callbacks that block their thread and loops that are late for longer than {@code stallAfter}. A pool has no
     * monitor, so it tells of no stalls; nor does a scheduler of those callbacks that run on its {@link #executor}.
     *
     * @param listener is called by several threads at the same time
     * @return this
     * @throws NullPointerException if {@code listener} is null
     */
    public B listener(TimerListener listener) {
        options.reporters = Listeners.reporters(Check.notNull(listener, "listener"));
        return self();
    }

    /**
     * Callbacks that take longer than this are reported to the listener. Measuring costs two readings of the
     * scheduler's clock per callback; on a {@link ManualClock} a callback takes no time. Default: not measured.
     *
     * @param threshold zero or more
     * @return this
     * @throws NullPointerException if {@code threshold} is null
     * @throws IllegalArgumentException if {@code threshold} is negative
     */
    public B slowCallback(Duration threshold) {
        options.slowNanos = Check.notNegative(threshold, "threshold");
        return self();
    }

    /**
     * How many timers may be armed at a time, or tasks wait; arming or submitting one more throws
     * {@code RejectedExecutionException}. The bound is exact, at the price of one contended counter. A
     * ticker that runs counts, and a timer that was armed again while it runs. Default: no bound.
     *
     * @param maxPending at least 1
     * @return this
     * @throws IllegalArgumentException if {@code maxPending} is less than 1
     */
    public B maxPending(long maxPending) {
        if (maxPending < 1) {
            throw new IllegalArgumentException("maxPending must be at least 1, but is " + maxPending);
        }
        options.maxPending = maxPending;
        return self();
    }

    /**
     * Wraps each task, once, when a timer is made of it: by {@code after}, {@code at} and {@code every} of a
     * scheduler and its loops, by {@code orTimeout}, {@code completeOnTimeout}, {@code delayedExecutor} and
     * {@code interruptAfter}, and by the methods of executors. For context that the callback should have from the thread
     * that has made the timer, as a trace or a diagnostic context. {@code reset} does not wrap anew, so a timer that is reset
     * by another thread keeps the context of the one that made it. A callable is given as a runnable that calls it.
     * {@link TimerHandle#task()}, texts and counts show the task itself. Default: tasks run as they are.
     *
     * @param decorator returns what is to be run in the place of its argument, never null; what it throws, the
     *     method throws that was called to arm
     * @return this
     * @throws NullPointerException if {@code decorator} is null
     */
    public B decorate(UnaryOperator<Runnable> decorator) {
        options.decorator = Check.notNull(decorator, "decorator");
        return self();
    }
}
