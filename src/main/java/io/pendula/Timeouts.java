package io.pendula;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/** Timeouts of futures. A future that completes first cancels its timer, so that nothing is left of either. */
final class Timeouts {
    private Timeouts() {}

    /** Completes a future when its time is over, and is told when the future has completed. */
    private static final class Timeout<T> implements Runnable, BiConsumer<T, Throwable> {
        private final CompletableFuture<T> future;
        /** Completes the future with {@link #value}; else exceptionally. */
        private final boolean withValue;
        private final T value;
        private final long nanos;
        private final String name;
        /** Set before the future is asked to tell of its completion. */
        private Timer timer;

        Timeout(CompletableFuture<T> future, boolean withValue, T value, long nanos, String name) {
            this.future = future;
            this.withValue = withValue;
            this.value = value;
            this.nanos = nanos;
            this.name = name;
        }

        void armOn(SchedulerEngine engine) {
            timer = OneShotTimer.arm(engine, nanos, this);
            future.whenComplete(this);
        }

        @Override
        public void run() {
            if (withValue) {
                future.complete(value);
            } else {
                future.completeExceptionally(new TimeoutException("not completed within "
                        + Texts.duration(nanos) + ", says scheduler '" + name + "'"));
            }
        }

        @Override
        public void accept(T result, Throwable thrown) {
            timer.cancel();
        }

        @Override
        public String toString() {
            return "timeout of " + future;
        }
    }

    static <T> CompletableFuture<T> arm(SchedulerEngine engine, CompletableFuture<T> future, boolean withValue,
            T value, long nanos) {
        if (!future.isDone()) {
            new Timeout<>(future, withValue, value, nanos, engine.options.name).armOn(engine);
        }
        return future;
    }

    /** Hands what it executes to another executor, later. */
    private record Delayed(SchedulerEngine engine, long nanos, Executor executor) implements Executor {
        @Override
        public void execute(Runnable command) {
            Check.notNull(command, "command");
            OneShotTimer.arm(engine, nanos, new Submission(executor, command));
        }

        @Override
        public String toString() {
            return "delayedExecutor[" + Texts.duration(nanos) + ", scheduler " + engine.options.name + "]";
        }
    }

    /** Stands for the command that it hands over. */
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

    static Executor delayed(SchedulerEngine engine, long nanos, Executor executor) {
        return new Delayed(engine, nanos, executor);
    }
}
