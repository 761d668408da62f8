package io.pendula;

import io.pendula.internal.queue.Timeline;

/**
 * The policy of a {@link Ticker} for ticks that became due while the ticker could not run. This happens if its callback
 * takes longer than the period, or if no worker gets a processor. The first of these ticks runs late, as soon as possible.
 * The policy applies to the ticks after it. The three policies are those of Tokio's {@code MissedTickBehavior}.
 *
 * @since 0.1
 */
public enum MissedTicks {
    /**
     * The ticks after the late one that have become due are skipped and counted. The next tick is the next future point of
     * the original grid (first deadline plus a multiple of the period). The default.
     */
    SKIP,

    /**
     * All missed ticks run one after the other, without a pause, until the ticker has caught up with its grid. On a
     * {@link TimerLoop} one of them runs in each call of {@code runDue}, so that the thread can return to its I/O. Meanwhile
     * {@code nanosUntilNext} is 0, so that the loop does not wait.
     */
    BURST,

    /**
     * A late tick shifts all later ones: the next tick comes one period after the late one, and the grid starts again
     * there. The points of the old grid that had passed by then are skipped and counted. A tick that is late by at most
     * 5 milliseconds, and by at most the period, does not shift the grid. Otherwise the usual delays of the operating
     * system would make every ticker drift.
     */
    DELAY;

    private static final long TOLERATED_LATENESS = 5_000_000;

    /** The deadline that follows {@code deadline}, which was fired at {@code now}. */
    long next(long deadline, long period, long now) {
        long onGrid = Timeline.plus(deadline, period);
        long late = now - deadline;
        if (this == SKIP) { // no switch: it needs another class, and loading that delays the first tick
            return late < period ? onGrid : Timeline.plus(now, period - late % period);
        }
        return keepsGrid(period, late) ? onGrid : Timeline.plus(now, period);
    }

    private boolean keepsGrid(long period, long late) {
        return this == BURST || this == DELAY && late <= Math.min(period, TOLERATED_LATENESS);
    }

    /** The grid points after {@code deadline} that {@link #next} leaves out. */
    long missed(long deadline, long period, long now) {
        long late = now - deadline;
        return keepsGrid(period, late) ? 0 : late / period;
    }
}
