package io.pendula;

import static io.pendula.MissedTicks.BURST;
import static io.pendula.MissedTicks.DELAY;
import static io.pendula.MissedTicks.SKIP;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.internal.queue.Timeline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class MissedTicksTest {
    private static final long MS = 1_000_000;

    @ParameterizedTest
    @EnumSource
    void next_onTime_isOnePeriodLater(MissedTicks policy) {
        assertEquals(110, policy.next(100, 10, 100));
        assertEquals(0, policy.missed(100, 10, 100));
    }

    @ParameterizedTest
    @CsvSource({"109, 110, 0", "110, 120, 1", "111, 120, 1", "119, 120, 1", "120, 130, 2", "155, 160, 5"})
    void next_skip_isTheFirstFutureGridPoint(long now, long next, long missed) {
        assertEquals(next, SKIP.next(100, 10, now));
        assertEquals(missed, SKIP.missed(100, 10, now));
    }

    /** The definition itself, counted out: all grid points that have passed are left out. */
    @Test
    void next_skip_matchesCountingAlongTheGrid() {
        for (long period = 1; period <= 7; period++) {
            for (long now = 50; now < 50 + 4 * period; now++) {
                long next = 50;
                long missed = -1;
                do {
                    next += period;
                    missed++;
                } while (next <= now);
                assertEquals(next, SKIP.next(50, period, now));
                assertEquals(missed, SKIP.missed(50, period, now));
            }
        }
    }

    @Test
    void next_burst_staysOnTheGridHoweverLate() {
        assertEquals(110, BURST.next(100, 10, 109));
        assertEquals(110, BURST.next(100, 10, 1_000_000));
        assertEquals(0, BURST.missed(100, 10, 1_000_000));
    }

    @Test
    void next_delay_toleratesFiveMilliseconds() {
        assertEquals(20 * MS, DELAY.next(10 * MS, 10 * MS, 15 * MS));
        assertEquals(25 * MS + 1, DELAY.next(10 * MS, 10 * MS, 15 * MS + 1));
        assertEquals(0, DELAY.missed(10 * MS, 10 * MS, 15 * MS));
    }

    /** What a late tick has passed on the old grid is never made up. */
    @Test
    void missed_delay_areTheGridPointsThatHadPassed() {
        assertEquals(0, DELAY.missed(10 * MS, 10 * MS, 20 * MS - 1));
        assertEquals(1, DELAY.missed(10 * MS, 10 * MS, 20 * MS));
        assertEquals(8, DELAY.missed(10 * MS, 10 * MS, 99 * MS));
        assertEquals(0, DELAY.missed(10 * MS, MS, 11 * MS)); // tolerated: the next one is on the grid
        assertEquals(1, DELAY.missed(10 * MS, MS, 11 * MS + 1));
    }

    @Test
    void next_delay_toleratesNoMoreThanThePeriod() {
        assertEquals(11 * MS, DELAY.next(10 * MS, MS, 11 * MS));
        assertEquals(12 * MS + 1, DELAY.next(10 * MS, MS, 11 * MS + 1));
    }

    @Test
    void next_periodOfOneNanosecond_isExact() {
        assertEquals(5_001, SKIP.next(100, 1, 5_000));
        assertEquals(4_900, SKIP.missed(100, 1, 5_000));
        assertEquals(101, BURST.next(100, 1, 5_000));
        assertEquals(5_001, DELAY.next(100, 1, 5_000));
    }

    @ParameterizedTest
    @EnumSource
    void next_beyondTheEndOfTime_isNever(MissedTicks policy) {
        long last = Timeline.NEVER - 1;
        assertEquals(Timeline.NEVER, policy.next(last, 1, last));
        assertEquals(Timeline.NEVER, policy.next(1, Long.MAX_VALUE, last));
        assertEquals(Timeline.NEVER, policy.next(last - 3, Long.MAX_VALUE, last));
        assertEquals(Timeline.NEVER, policy.next(1, Timeline.LONGEST + 1, 1));
        assertEquals(1 + Timeline.LONGEST, policy.next(1, Timeline.LONGEST, 1));
    }

    @ParameterizedTest
    @EnumSource
    void missed_hugePeriod_isZero(MissedTicks policy) {
        assertEquals(0, policy.missed(1, Long.MAX_VALUE, Timeline.NEVER - 1));
    }
}
