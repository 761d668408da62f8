package io.pendula.benchmarks.rivals;

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** What every scheduler under test can do. Handles are opaque, so that none is wrapped at the expense of the caller. */
public interface Rival extends AutoCloseable {
    Object schedule(long delayNanos, Task task);

    /** True if this call prevented the run; some libraries also say so of a run that has begun. */
    boolean cancel(Object handle);

    /** Where there is no such operation: cancel and schedule. */
    default Object reset(Object handle, long delayNanos, Task task) {
        cancel(handle);
        return schedule(delayNanos, task);
    }

    @Override
    void close();

    /** Fits all schedulers without an adapter object. */
    @FunctionalInterface
    interface Task extends Runnable, TimerTask {
        Task NOTHING = () -> {};

        @Override
        default void run(Timeout timeout) {
            run();
        }
    }
}
