package io.pendula.spi;

import io.pendula.TimerHandle;
import io.pendula.TimerScheduler;
import org.jspecify.annotations.Nullable;

/**
 * A task that wraps another task, for example an adapter's task that runs a task of another library. Texts, log lines
 * and {@link TimerScheduler#pendingByTask} then name the wrapped task. {@link TimerHandle#task()} still returns the
 * wrapper.
 *
 * @since 0.1
 */
public interface TaskWrapper {
    /**
     * Returns the wrapped task, which may itself be a wrapper. Any thread may call this method, even after the task has
     * run. It must return at once and must not acquire a lock. If it throws, the wrapper itself is named.
     *
     * @return the task; null to name the wrapper itself
     */
    @Nullable Object task();
}
