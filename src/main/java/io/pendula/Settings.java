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
 * The settings that the builders of schedulers and of executors have in common. Each value is checked when it is set.
 *
 * @param <B> the builder itself; has no bound, because its erasure is in the signatures of methods that programs call
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
     * Sets the name that appears in thread names, statistics and logs. Default: {@code timers} for a scheduler,
     * {@code pool-} and a number for an executor.
     *
     * @param name any text that is not empty
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
     * Sets the factory that creates the threads. They keep the name, the daemon status and the context class loader
     * that the factory gives them. Default: threads created by the library.
     *
     * <p>The factory must not block: the thread that needs a new one calls it and waits. That can be a thread that
     * calls {@code build}, that submits to an executor, or that arms or stops a timer of the shared scheduler or of a
     * {@link TimerLoop}. It can also be the monitor, or a worker, usually before a callback.
     *
     * <p>Virtual threads are rejected. A worker must wake up when a timer is due, and a virtual thread does so only when
     * one of the few carriers is free. Callbacks can run on virtual threads, see {@link #executor}, and virtual threads may
     * call all methods.
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
     * Sets whether the library's threads are daemons, which do not keep the JVM alive. Default: true for a scheduler;
     * false for an executor, as in the JDK's pools.
     *
     * @param daemon false if the JVM must not exit before the end of the scheduler or executor
     * @return this
     */
    public B daemon(boolean daemon) {
        options.daemon = daemon;
        return self();
    }

    /**
     * Sets the context class loader of the library's threads. Default for a scheduler: null, so that a timer keeps no
     * application alive in a container. Default for an executor: that of the thread that calls {@code build}.
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
     * Runs callbacks on an executor instead of the workers. A timer still never overlaps itself: it is armed again when
     * its callback has returned. If the executor rejects a callback, the listener is notified and the worker runs it.
     * The worker also runs it if the scheduler is closed at that moment. If an executor silently drops a callback, its
     * timer counts as running until the scheduler is closed. If many callbacks may block at a time, use
     * {@code Executors.newVirtualThreadPerTaskExecutor()} (Java 21 and later). The library never shuts the executor
     * down. Default: callbacks run on the workers.
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
     * Sets the listener. It is notified of callbacks that take long, block their thread, or throw an exception that no
     * future reports. Default: exceptions go to the thread's uncaught-exception handler. Slow callbacks are logged, as
     * by {@link TimerListener#logging()}. So are callbacks that block their thread, and loops that are late, for longer
     * than {@code stallAfter}. A pool of {@link TimerExecutors} reports no stalls, because its tasks may block; a
     * scheduler reports none for callbacks on its {@link #executor}.
     *
     * @param listener called by several threads at the same time
     * @return this
     * @throws NullPointerException if {@code listener} is null
     */
    public B listener(TimerListener listener) {
        options.reporters = Listeners.reporters(Check.notNull(listener, "listener"));
        return self();
    }

    /**
     * Sets the time above which a callback is slow and reported to the listener. Measuring costs two readings of the
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
     * Sets the maximum number of timers that are armed, or tasks that wait, at a time. Arming or submitting one more
     * throws {@code RejectedExecutionException}. The bound is exact, at the cost of one contended counter. A running
     * ticker counts, and so does a timer that was armed again while it runs. Default: no bound.
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
     * Sets a function that wraps each task once, on the thread that creates its timer. Use it to pass context, such as
     * a trace or a diagnostic context, from that thread to the callback. It applies to {@code after}, {@code at},
     * {@code every}, {@code timer} and {@code schedule} of a scheduler, its loops and groups, to {@code orTimeout},
     * {@code completeOnTimeout}, {@code delayedExecutor} and {@code interruptAfter}, and to the methods of executors. A
     * {@code reset} does not wrap again: a timer that another thread resets keeps the context of the thread that
     * created it. A callable is passed as a runnable that calls it. {@link TimerHandle#task()}, texts and counts show
     * the task itself. Default: tasks are not wrapped.
     *
     * @param decorator returns the task to run instead of its argument; must not return null. If it throws, the method
     *     that creates the timer throws the same exception
     * @return this
     * @throws NullPointerException if {@code decorator} is null
     */
    public B decorate(UnaryOperator<Runnable> decorator) {
        options.decorator = Check.notNull(decorator, "decorator");
        return self();
    }
}
