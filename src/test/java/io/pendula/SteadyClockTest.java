package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.engine.SteadyClock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A clock of the user's that leaps by years. */
@Timeout(60)
class SteadyClockTest {
    private static final long YEAR = Duration.ofDays(365).toNanos();

    private final AtomicLong now = new AtomicLong(5);

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1, Long.MIN_VALUE})
    void leap_pastTheHorizon_countsAsAYear(long start) {
        now.set(start);
        SteadyClock clock = new SteadyClock(now::get);
        assertEquals(start, clock.getAsLong());
        now.addAndGet(56 * YEAR);
        assertEquals(start + YEAR, clock.getAsLong());
        now.addAndGet(10);
        assertEquals(start + YEAR + 10, clock.getAsLong());
        now.addAndGet(3 * YEAR);
        assertEquals(start + 4 * YEAR + 10, clock.getAsLong(), "that ends before it");
        now.addAndGet(20 * YEAR);
        assertEquals(start + 5 * YEAR + 10, clock.getAsLong());
    }

    @Test
    void leap_beforeTheHorizon_countsAsItIs() {
        SteadyClock clock = new SteadyClock(now::get);
        now.addAndGet(17 * YEAR);
        assertEquals(5 + 17 * YEAR, clock.getAsLong());
    }

    @Test
    void clockGoesOn_pastTheHorizon_countsAsItIs() {
        SteadyClock clock = new SteadyClock(now::get);
        for (int i = 1; i <= 60; i++) {
            now.addAndGet(YEAR / 2);
            assertEquals(5 + i * (YEAR / 2), clock.getAsLong());
        }
    }

    @Test
    void clockStepsBack_staysAsItIs() {
        SteadyClock clock = new SteadyClock(now::get);
        now.addAndGet(-3 * YEAR);
        assertEquals(5 - 3 * YEAR, clock.getAsLong());
    }

    /** Else what that thread arms would be due at once. */
    @Test
    void leap_noticedByAnotherThreadMeanwhile_thisOneDoesNotFallBehind() {
        SteadyClock clock = new SteadyClock(now::get);
        long reading = now.addAndGet(Duration.ofDays(2).toNanos()); // after so long a thread looks
        now.addAndGet(56 * YEAR);
        long other = clock.getAsLong();
        assertEquals(5 + YEAR, other);
        assertEquals(other, clock.look(reading));
    }

    @Test
    void schedulersClock_isSetFrom1970To2026_timersGoOn() {
        AtomicLong ahead = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().workers(2).clock(() -> System.nanoTime() + ahead.get()).build()) {
            AtomicInteger ticks = new AtomicInteger();
            s.every(Duration.ofMillis(1), ticks::incrementAndGet);
            CountDownLatch pending = new CountDownLatch(1);
            s.after(Duration.ofDays(300), pending::countDown);
            eventually("it ticks", () -> ticks.get() > 0);
            ahead.set(56 * YEAR);
            LifeFixtures.await(pending);
            int before = ticks.get();
            eventually("it ticks on", () -> ticks.get() > before + 2);
            CountDownLatch fired = new CountDownLatch(1);
            Timer t = s.after(Duration.ofMillis(1), fired::countDown);
            LifeFixtures.await(fired);
            assertTrue(t.remaining().isZero());
        }
    }
}
