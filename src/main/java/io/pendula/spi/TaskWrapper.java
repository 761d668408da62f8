package io.pendula.spi;

import io.pendula.TimerHandle;
import io.pendula.TimerScheduler;
import org.jspecify.annotations.Nullable;

/**
 * A task that stands for another, as an adapter makes one for a task of another library. Texts, log lines and
 * {@link TimerScheduler#pendingByTask} then name the other. {@link TimerHandle#task()} is still the wrapper.
 *
 * @since 0.1
 */
public interface TaskWrapper {
    /**
     * The task that this one stands for, which may be a wrapper in turn. Called by any thread, also when the task has
     * run; it must return at once, and take no lock. If it throws, the wrapper is named itself.
     *
     * @return the task; null to be named itself
     */
    @Nullable Object task();
}
