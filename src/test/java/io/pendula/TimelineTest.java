package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimelineTest {
    private static final long NEVER = Timeline.NEVER;

    private final AtomicLong clock = new AtomicLong();

    private Timeline startingAt(long reading) {
        clock.set(reading);
        return new Timeline(clock::get);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, Long.MAX_VALUE, Long.MAX_VALUE - 5, Long.MIN_VALUE, Long.MIN_VALUE + 5})
    void now_anyStart_beginsAtOneAndCountsOn(long start) {
        Timeline t = startingAt(start);
        assertEquals(1, t.now());
        clock.addAndGet(10);
        assertEquals(11, t.now());
        clock.addAndGet(NEVER / 2);
        assertEquals(11 + NEVER / 2, t.now());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 5, Long.MIN_VALUE})
    void deadlineIn_acrossTheWrap_liesAhead(long start) {
        Timeline t = startingAt(start);
        assertEquals(101, t.deadlineIn(100));
        clock.addAndGet(50);
        assertEquals(151, t.deadlineIn(100));
        assertTrue(t.deadlineIn(100) > t.now());
    }

    @Test
    void deadlineIn_zeroOrNegative_isNow() {
        Timeline t = startingAt(7);
        clock.addAndGet(41);
        for (long delay : new long[] {0, -1, -1_000_000, Long.MIN_VALUE}) {
            assertEquals(42, t.deadlineIn(delay));
        }
    }

    @ParameterizedTest
    @EnumSource
    void deadlineIn_longestDelayOfAnyUnit_isNever(TimeUnit unit) {
        Timeline t = startingAt(-3);
        clock.addAndGet(1_000);
        assertEquals(NEVER, t.deadlineIn(Check.delay(Long.MAX_VALUE, unit)));
        assertEquals(t.now(), t.deadlineIn(Check.delay(Long.MIN_VALUE, unit)));
    }

    @Test
    void nanos_durationsBeyondTheRange_saturate() {
        assertEquals(Long.MAX_VALUE, Check.nanos(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), "delay"));
        assertEquals(Long.MIN_VALUE, Check.nanos(Duration.ofSeconds(Long.MIN_VALUE), "delay"));
        assertEquals(-1, Check.nanos(Duration.ofNanos(-1), "delay"));
        Timeline t = startingAt(0);
        assertEquals(NEVER, t.deadlineIn(Check.nanos(Duration.ofSeconds(Long.MAX_VALUE), "delay")));
        assertEquals(1, t.deadlineIn(Check.nanos(Duration.ofSeconds(Long.MIN_VALUE), "delay")));
    }

    @Test
    void nanos_null_namesTheArgument() {
        NullPointerException e = assertThrows(NullPointerException.class, () -> Check.nanos(null, "delay"));
        assertEquals("delay must not be null", e.getMessage());
    }

    @Test
    void plus_atTheEnd_saturates() {
        assertEquals(NEVER - 1, Timeline.plus(NEVER - 1 - Timeline.LONGEST, Timeline.LONGEST));
        assertEquals(NEVER, Timeline.plus(NEVER - Timeline.LONGEST, Timeline.LONGEST));
        assertEquals(NEVER, Timeline.plus(1, Timeline.LONGEST + 1));
        assertEquals(NEVER, Timeline.plus(1, Long.MAX_VALUE));
        assertEquals(NEVER, Timeline.plus(NEVER - 1, 1));
        assertEquals(NEVER, Timeline.plus(NEVER, 0));
        assertEquals(NEVER - 1, Timeline.plus(NEVER - 1, 0));
    }

    @Test
    void deadlineAt_anyDistanceFromAnyInstant_isAheadOrOver() {
        for (long now : new long[] {1, 2, 1_000_000_000, NEVER / 2, NEVER - 1}) {
            for (long delay : new long[] {NEVER, 1L << 60, 1L << 62, Long.MAX_VALUE / 2, Long.MAX_VALUE - 1, Long.MAX_VALUE}) {
                assertEquals(NEVER, Timeline.deadlineAt(now + delay), () -> now + " + " + delay);
            }
            for (long delay : new long[] {-NEVER, -(1L << 60), Long.MIN_VALUE / 2}) {
                assertEquals(1, Timeline.deadlineAt(now + delay), () -> now + " + " + delay);
            }
            assertEquals(now, Timeline.deadlineAt(now));
        }
        assertEquals(1, Timeline.deadlineAt(0));
    }

    @Test
    void now_thirtySixYearsLater_staysBeforeNeverAndRefusesTimers() {
        Timeline t = startingAt(0);
        clock.set(NEVER - 3);
        assertEquals(NEVER - 2, t.now());
        for (long reading : new long[] {NEVER - 2, NEVER - 1, NEVER, Long.MAX_VALUE - 1}) {
            clock.set(reading);
            assertEquals(NEVER - 1, t.now());
        }
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> t.deadlineIn(0));
        assertEquals("a scheduler can count 36 years of its clock, and these are over", e.getMessage());
        clock.set(NEVER - 3);
        assertEquals(1, t.left());
        assertEquals(NEVER, t.deadlineIn(2));
        assertEquals(NEVER - 1, t.deadlineIn(1));
    }

    @Test
    void now_clockStepsBack_isNeverBelowOne() {
        Timeline t = startingAt(1_000);
        clock.set(1_500);
        assertEquals(501, t.now());
        clock.set(1_200);
        assertEquals(201, t.now());
        clock.set(999);
        assertEquals(1, t.now());
        clock.set(-5_000);
        assertEquals(1, t.now());
        assertEquals(11, t.deadlineIn(10));
    }

    @Test
    void now_systemClock_advances() {
        Timeline t = new Timeline(null);
        long first = t.now();
        long began = System.nanoTime();
        while (System.nanoTime() == began) {
            Thread.onSpinWait();
        }
        assertTrue(first >= 1 && t.now() > first);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 1L << 40, (1L << 60) - 2, (1L << 60) - 1})
    void word_anyDeadline_keepsBothParts(long deadline) {
        for (int s = TimerNode.NO_STATUS; s <= TimerNode.CANCELLED_QUEUED; s++) {
            long w = TimerNode.word(deadline, s);
            assertEquals(s, TimerNode.state(w));
            assertEquals(deadline, TimerNode.deadline(w));
        }
    }
}
