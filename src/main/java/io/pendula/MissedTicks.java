package io.pendula;

import io.pendula.internal.queue.Timeline;

/**
 * What a {@link Ticker} does about ticks that fell due while it could not run: because its callback took longer than
 * the period, or because no worker got a processor. The first of these ticks runs as soon as it can, late. The policy says
 * what becomes of those after it. The three policies are those of Tokio's {@code MissedTickBehavior}.
 *
 * @since 0.1
 */
public enum MissedTicks {
    /**
     * The ticks after the late one that have fallen due are left out and counted; the next tick is the next point of the
     * original grid (first deadline plus a multiple of the period) that lies in the future. The default.
     */
    SKIP,

    /**
     * All missed ticks run one after the other, without a pause, until the ticker has caught up with its grid. On a
     * {@link TimerLoop} one of them runs in each call of {@code runDue}, so that I/O has its turn; meanwhile
     * {@code nanosUntilNext} is 0, so that the loop does not wait.
     */
    BURST,

    /**
     * A tick that runs late moves all that follow: the next one comes one period after it, and the grid starts anew
     * there. The points of the old grid that had passed by then are left out and counted. A lateness that is no more than
     * 5 milliseconds and no more than the period counts as noise of the operating system and does not move the grid, or
     * every tick would drift by it.
     */
    DELAY;

    private static final long TOLERATED_LATENESS = 5_000_000;

    /** The deadline that follows {@code deadline}, which was fired at {@code now}. */
    long next(long deadline, long period, long now) {
        long onGrid = Timeline.plus(deadline, period);
        long late = now - deadline;
        if (this == SKIP) { // no switch: that takes a class more, which the first tick would wait for
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
