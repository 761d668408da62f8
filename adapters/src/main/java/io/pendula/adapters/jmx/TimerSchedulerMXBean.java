package io.pendula.adapters.jmx;

import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.util.Map;

/**
 * The figures of a {@link TimerScheduler} or of a pool as JMX shows them, each with a description and a unit; see
 * {@link TimerStats} for what they mean. Attributes that are read together belong to one snapshot. All but the name throw
 * {@link IllegalStateException} once it was collected.
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

    /** {@return how often a timer was armed} */
    @Described(value = "how often a timer was armed", unit = "timers")
    long getArmed();

    /** {@return how many of these fired} */
    @Described(value = "how many of these fired", unit = "timers")
    long getFired();

    /** {@return how many were prevented by a stop or cancel} */
    @Described(value = "how many were prevented by a stop or cancel", unit = "timers")
    long getStopped();

    /** {@return how many were replaced by a reset} */
    @Described(value = "how many were replaced by a reset", unit = "timers")
    long getResets();

    /** {@return how many were dropped or returned by closing} */
    @Described(value = "how many were dropped or returned by closing", unit = "timers")
    long getUnfired();

    /** {@return how many are still to come} */
    @Described(value = "how many are still to come", unit = "timers")
    long getPending();

    /** {@return entries of stopped timers that are not swept yet} */
    @Described(value = "entries of stopped timers that are not swept yet", unit = "entries")
    long getStaleEntries();

    /** {@return the heaps' capacity, in entries} */
    @Described(value = "the heaps' capacity, in entries", unit = "entries")
    long getHeapCapacity();

    /** {@return how many firings were run by another worker than their own} */
    @Described(value = "how many firings were run by another worker than their own", unit = "timers")
    long getStolen();

    /** {@return how many timers were found long overdue after a sleep, since a wake-up was lost} */
    @Described(value = "how many timers were found long overdue after a sleep, since a wake-up was lost", unit = "timers")
    long getOverdueWakes();

    /** {@return how many spare threads have run something} */
    @Described(value = "how many spare threads have run something", unit = "threads")
    long getSpareThreads();

    /** {@return the scheduler's threads that live} */
    @Described(value = "the scheduler's threads that live", unit = "threads")
    int getThreads();

    /** {@return how many threads there are when nothing blocks them, once each was needed} */
    @Described(value = "how many threads there are when nothing blocks them, once each was needed", unit = "threads")
    int getCoreThreads();

    /** {@return how many threads there may be} */
    @Described(value = "how many threads there may be", unit = "threads")
    int getMaxThreads();

    /** {@return how many timers may be pending at a time; 2<sup>63</sup> - 1 if there is no bound} */
    @Described(value = "how many timers may be pending at a time; 2^63 - 1 if there is no bound", unit = "timers")
    long getMaxPending();

    /** {@return callbacks in progress} */
    @Described(value = "callbacks in progress", unit = "callbacks")
    int getRunning();

    /** {@return callbacks that took longer than the builder's {@code slowCallback}} */
    @Described(value = "callbacks that took longer than the builder's slowCallback", unit = "callbacks")
    long getCallbacksSlow();

    /** {@return callbacks that threw} */
    @Described(value = "callbacks that threw", unit = "callbacks")
    long getCallbacksThrew();

    /** {@return callbacks found to block a thread, and loops found late} */
    @Described(value = "callbacks found to block a thread, and loops found late", unit = "callbacks")
    long getStalls();

    /** {@return how often all threads were found to be blocked by callbacks, so that timers waited} */
    @Described(value = "how often all threads were found to be blocked by callbacks, so that timers waited", unit = "times")
    long getAllBlocked();

    /** {@return milliseconds until the next timer is due; -1 if nothing is pending, or nothing that will ever fire} */
    @Described(value = "milliseconds until the next timer is due; -1 if nothing is pending, or nothing that will ever fire",
            unit = "ms")
    double getMillisUntilNext();

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
