package io.pendula.adapters.jmx;

import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.util.Map;

/**
 * The figures of a {@link TimerScheduler} or of a pool as JMX shows them; see {@link TimerStats} for what they mean. Attributes that
 * are read together belong to one snapshot. All throw {@link IllegalStateException} once it was collected.
 *
 * @since 0.1
 */
public interface TimerSchedulerMXBean {
    /** {@return the scheduler's name} */
    String getName();

    /** {@return whether the scheduler is closed, or the pool shut down} */
    boolean isClosed();

    /** {@return how often a timer was armed} */
    long getArmed();

    /** {@return how many of these fired} */
    long getFired();

    /** {@return how many were prevented by a stop or cancel} */
    long getStopped();

    /** {@return how many were replaced by a reset} */
    long getResets();

    /** {@return how many were dropped or returned by closing} */
    long getUnfired();

    /** {@return how many are still to come} */
    long getPending();

    /** {@return entries of stopped timers that are not swept yet} */
    long getStaleEntries();

    /** {@return the heaps' capacity, in entries} */
    long getHeapCapacity();

    /** {@return how many firings were run by another worker than their own} */
    long getStolen();

    /** {@return how many threads the monitor woke for an overdue timer} */
    long getOverdueWakes();

    /** {@return how many spare threads were started} */
    long getSpareThreads();

    /** {@return the scheduler's threads that live} */
    int getThreads();

    /** {@return how many there are when nothing blocks them, once each was needed} */
    int getCoreThreads();

    /** {@return how many there may be} */
    int getMaxThreads();

    /** {@return how many timers may be pending at a time; 2<sup>63</sup> - 1 if there is no bound} */
    long getMaxPending();

    /** {@return callbacks in progress} */
    int getRunning();

    /** {@return callbacks that took longer than the builder's {@code slowCallback}} */
    long getCallbacksSlow();

    /** {@return callbacks that threw} */
    long getCallbacksThrew();

    /** {@return callbacks found to block a thread, and loops found late} */
    long getStalls();

    /** {@return milliseconds until the next timer is due; -1 if nothing is pending, or nothing that will ever fire} */
    double getMillisUntilNext();

    /** {@return the firings of the last minute, or since the last reading but one if that is longer ago} */
    long getRecentFirings();

    /** {@return of these firings, the mean lateness in milliseconds; 0 if there were none} */
    double getRecentLatenessMean();

    /** {@return of these firings, the median lateness in milliseconds; 0 if there were none} */
    double getRecentLatenessP50();

    /** {@return of these firings, the 99th percentile of lateness in milliseconds; 0 if there were none} */
    double getRecentLatenessP99();

    /** {@return of these firings, the largest lateness in milliseconds; 0 if there were none} */
    double getRecentLatenessMax();

    /**
     * Counts what is pending by the class of the task: shows at once whose timers leak. Walks through all timers.
     *
     * @return counts by the names of classes
     */
    Map<String, Long> pendingByTask();
}
