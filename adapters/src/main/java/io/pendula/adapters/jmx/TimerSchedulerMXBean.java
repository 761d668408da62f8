package io.pendula.adapters.jmx;

import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.util.Map;

/**
 * What JMX shows of a {@link TimerScheduler} or of a pool beside the figures of {@link TimerStats}. Each of those is an
 * attribute too, of the name of its method with a capital, as {@code StaleEntries}, of type {@code long}; a console or
 * {@code getAttribute} reads it. All have a description and a unit. Attributes that are read together belong to one
 * snapshot. All but the name throw {@link IllegalStateException} once the scheduler was collected.
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

    /** {@return the firings of the last minute, or since the last reading but one if that is longer ago} */
    @Described(value = "the firings of the last minute, or since the last reading but one if that is longer ago",
            unit = "timers")
    long getRecentFirings();

    /** {@return of the recent firings, the mean lateness in milliseconds; 0 if there were none} */
    @Described(value = "of the recent firings, the mean lateness in milliseconds; 0 if there were none", unit = "ms")
    double getRecentLatenessMean();

    /** {@return of the recent firings, the median lateness in milliseconds; 0 if there were none} */
    @Described(value = "of the recent firings, the median lateness in milliseconds; 0 if there were none", unit = "ms")
    double getRecentLatenessP50();

    /** {@return of the recent firings, the 99th percentile of lateness in milliseconds; 0 if there were none} */
    @Described(value = "of the recent firings, the 99th percentile of lateness in milliseconds; 0 if there were none",
            unit = "ms")
    double getRecentLatenessP99();

    /** {@return of the recent firings, the largest lateness in milliseconds; 0 if there were none} */
    @Described(value = "of the recent firings, the largest lateness in milliseconds; 0 if there were none", unit = "ms")
    double getRecentLatenessMax();

    /**
     * Counts what is pending by the class of the task: shows at once whose timers leak. Walks through all timers.
     *
     * @return counts by the names of classes
     */
    @Described("counts what is pending by the class of the task: shows at once whose timers leak")
    Map<String, Long> pendingByTask();
}
