package io.pendula.internal.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A clock of the user's without its longest leaps, as of a board that believes that it is 1970 until its clock is set: a
 * leap must not take a scheduler beyond the time that it can count. {@code ManualClock} refuses that.
 */
public final class SteadyClock implements LongSupplier {
    /*
     * A reading is what the clock says less what was skipped. A thread reads skipped, then the clock. So if it sees that
     * something was skipped, its reading comes after that leap: no reading lacks a leap that it has not made. A thread
     * that reads skipped before the leap, and the clock after it, sees the leap, and looks under the monitor. If its own
     * reading is from before a leap that was noticed meanwhile, it takes what was seen since: the clock has been there.
     */

    private static final long DAY = TimeUnit.DAYS.toNanos(1);
    private static final long YEAR = 365 * DAY;
    /** A leap that ends later after the start is shortened. */
    private static final long HORIZON = 18 * YEAR;

    private final LongSupplier clock;
    private final long start;
    private volatile long skipped;
    /** A reading, of a day ago at most if there was one since. */
    private volatile long seen;

    public SteadyClock(LongSupplier clock) {
        this.clock = clock;
        this.start = clock.getAsLong();
        this.seen = start;
    }

    @Override
    public long getAsLong() {
        long before = skipped; // before the clock, see above
        long reading = clock.getAsLong();
        return reading - before - seen <= DAY ? reading - before : look(reading);
    }

    /** The clock seems to have leapt, or was not read for long. */
    public synchronized long look(long reading) {
        long ahead = reading - skipped - seen;
        if (ahead > YEAR && reading - skipped - start > HORIZON) {
            skipped += ahead - YEAR;
            ahead = YEAR;
        }
        seen += Math.max(0, ahead);
        return seen;
    }
}
