package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.NanoClock;
import io.pendula.Schedule;
import io.pendula.Timer;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/testing.md. */
@Timeout(60)
class TestingPageTest {
    // What the page tests.
    /** Ends a session after some time without use. */
    static final class Session {
        private final Timer timer;
        private final Duration limit;
        private boolean expired;

        Session(TimerScheduler timers, Duration limit) {
            this.limit = limit;
            this.timer = timers.after(limit, () -> expired = true);
        }

        void use() {
            timer.reset(limit);
        }

        boolean isExpired() {
            return expired;
        }
    }

    // The page's own test begins here.
    private final ManualClock clock = new ManualClock();
    private final List<Throwable> thrown = new ArrayList<>();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).listener(new TimerListener() {
        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable t) {
            thrown.add(t); // a failed assertion in a callback, too, comes here and not to the test
        }
    }).build();

    @AfterEach
    void noCallbackHasThrown() {
        assertEquals(List.of(), thrown);
    }

    @Test
    void session_unused_expiresAtItsLimitAndNotBefore() {
        Session session = new Session(timers, Duration.ofMinutes(30));

        clock.advance(Duration.ofMinutes(30).minusNanos(1));
        assertFalse(session.isExpired());

        clock.advance(Duration.ofNanos(1));
        assertTrue(session.isExpired());
    }

    @Test
    void manualClock_advanced_hasRunTheCallback() {
        class Expiring {
            private boolean expired;

            void expire() {
                expired = true;
            }
        }
        Expiring session = new Expiring();

        ManualClock clock = new ManualClock();
        TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
        timers.after(Duration.ofSeconds(5), session::expire);
        clock.advance(Duration.ofSeconds(5));              // session.expire() has been called

        assertTrue(session.expired);
        assertEquals(TimeUnit.SECONDS.toNanos(5), clock.nanoTime());
    }

    @Test
    void assertionFailsInACallback_isFoundAfterTheTest() {
        timers.after(Duration.ZERO, () -> assertEquals("meant", "not"));
        clock.advance(Duration.ZERO);
        assertThrows(AssertionError.class, this::noCallbackHasThrown);
        thrown.clear();
    }

    @Test
    void session_used_expiresLater() {
        Session session = new Session(timers, Duration.ofMinutes(30));
        clock.advance(Duration.ofMinutes(29));
        session.use();
        clock.advance(Duration.ofMinutes(29));
        assertFalse(session.isExpired());
        assertEquals(1, clock.advance(Duration.ofMinutes(1)));      // one callback has run
    }

    @Test
    void executor_onAManualClock_isStepped() {
        List<String> log = new ArrayList<>();

        ScheduledExecutorService pool = timers.asScheduledExecutorService();
        pool.scheduleAtFixedRate(() -> log.add("poll"), 0, 10, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(30));
        assertEquals(4, log.size());                                // at 0, 10, 20 and 30 s

        pool.shutdown();
    }

    @Test
    void schedule_overTheChangeToSummerTime() {
        List<String> log = new ArrayList<>();
        ZoneId berlin = ZoneId.of("Europe/Berlin");

        Clock wall = clock.asClock(Instant.parse("2026-03-27T12:00:00Z"), berlin);
        timers.schedule(Schedule.daily(LocalTime.of(2, 30), berlin), wall, () -> log.add(LocalTime.now(wall).toString()));
        clock.advance(Duration.ofDays(3));
        assertEquals(List.of("02:30", "03:30", "02:30"), log);      // on 29 March the clocks skip 02:00 to 03:00
    }

    @Test
    void leak_isFoundByPending() {
        Session session = new Session(timers, Duration.ofMinutes(30));
        session.timer.cancel();

        assertEquals(0, timers.pending());      // nothing has been left behind
    }

    /** How often may it run? The time of the program comes from the same clock as its timers. */
    static final class Budget {
        private final NanoClock clock;
        private long begun;
        private int used;

        Budget(NanoClock clock) {
            this.clock = clock;
            this.begun = clock.nanoTime();
        }

        boolean take() {
            if (clock.nanoTime() - begun >= TimeUnit.SECONDS.toNanos(1)) {
                begun = clock.nanoTime();
                used = 0;
            }
            return ++used <= 2;
        }
    }

    @Test
    void budget_readsTheSameClock() {
        Budget budget = new Budget(clock);
        assertTrue(budget.take() && budget.take());
        assertFalse(budget.take());
        clock.advance(Duration.ofSeconds(1));
        assertTrue(budget.take());
    }
}
