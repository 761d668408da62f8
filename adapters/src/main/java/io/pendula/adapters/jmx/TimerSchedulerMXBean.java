package io.pendula.adapters.jmx;

import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.util.Map;

/**
 * The attributes and operations of a {@link TimerScheduler} or a pool in JMX, in addition to the figures of
 * {@link TimerStats}. Each figure is also an attribute of type {@code long}, named as its method with a capital letter,
 * for example {@code StaleEntries}. All have a description, and most have a unit. Attributes that are read together
 * belong to one snapshot. When the scheduler has been garbage-collected, all except the name throw
 * {@link IllegalStateException}.
 *
 * @since 0.1
 */
public interface TimerSchedulerMXBean {
    /** {@return the scheduler's name} */
    @Described("the scheduler's name")
    String getName();

    /** {@return whether the scheduler is closed, or the pool shut down} */
    @Described("whether the scheduler is closed, or the pool shut down")
    boolean isClosed();

    /** {@return the number of firings in the last one to two minutes, or since the last reading but one if longer} */
    @Described(value = "the number of firings in the last one to two minutes, or since the last reading but one if longer",
            unit = "timers")
    long getRecentFirings();

    /** {@return the mean lateness of the recent firings, in milliseconds; 0 if there were none} */
    @Described(value = "the mean lateness of the recent firings, in milliseconds; 0 if there were none", unit = "ms")
    double getRecentLatenessMean();

    /** {@return the median lateness of the recent firings, in milliseconds; 0 if there were none} */
    @Described(value = "the median lateness of the recent firings, in milliseconds; 0 if there were none", unit = "ms")
    double getRecentLatenessP50();

    /** {@return the 99th percentile of the lateness of the recent firings, in milliseconds; 0 if there were none} */
    @Described(value = "the 99th percentile of the lateness of the recent firings, in milliseconds; 0 if there were none",
            unit = "ms")
    double getRecentLatenessP99();

    /** {@return the largest lateness of the recent firings, in milliseconds; 0 if there were none} */
    @Described(value = "the largest lateness of the recent firings, in milliseconds; 0 if there were none", unit = "ms")
    double getRecentLatenessMax();

    /**
     * Counts pending timers by the class of the task, for example to find a leak. Walks through all timers.
     *
     * @return the number of pending timers for each class name
     */
    @Described("counts pending timers by the class of the task, for example to find a leak")
    Map<String, Long> pendingByTask();
}
