package io.pendula;

import static io.pendula.LifeFixtures.LOST_SECONDS;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.spin;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The next timer is armed within microseconds of the last firing, that is while the worker goes to sleep, or the loop
 * begins to wait. A lazy producer never meets that moment: this one spins. There is no monitor and no other traffic to
 * make good for a wake-up that is lost.
 *
 * <p>The critical moment lies between the worker's look into its inbox and its publishing until when it sleeps. In
 * half of the rounds it is made longer by stale entries at the top of the heap, which the worker cleans away in between.
 */
@Tag("stress")
@Timeout(60)
class LostWakeUpTest {
    private static final long ROUND_TIME = Scale.of(100_000_000, 400_000_000);
    private static final int FEWEST_ROUNDS = 200;
    private static final int STALE = 200;

    private final Timer[] dying = new Timer[STALE];
    private volatile long fired;
    private Timer timer;

    /** How the firing of a round is brought about. */
    enum Way {
        ARM {
            @Override
            void bringAbout(LostWakeUpTest test, TimerScheduler s) {
                s.after(0, TimeUnit.NANOSECONDS, test::fire);
            }
        },
        RESET_FIRED {
            @Override
            void bringAbout(LostWakeUpTest test, TimerScheduler s) {
                test.timer.reset(0, TimeUnit.NANOSECONDS);
            }
        },
        RESET_WAITING_EARLIER {
            @Override
            void bringAbout(LostWakeUpTest test, TimerScheduler s) {
                assertTrue(!test.timer.reset(1, TimeUnit.HOURS));
                spin(ThreadLocalRandom.current().nextLong(20_000)); // until it is filed, or not quite
                assertTrue(test.timer.reset(0, TimeUnit.NANOSECONDS));
            }
        },
        REVIVE_QUEUED {
            @Override
            void bringAbout(LostWakeUpTest test, TimerScheduler s) {
                assertTrue(!test.timer.reset(1, TimeUnit.HOURS));
                assertTrue(test.timer.stop());
                spin(ThreadLocalRandom.current().nextLong(3_000));
                assertTrue(!test.timer.reset(0, TimeUnit.NANOSECONDS));
            }
        },
        RESET_AND_SLEEP_A_LITTLE {
            @Override
            void bringAbout(LostWakeUpTest test, TimerScheduler s) {
                test.timer.reset(ThreadLocalRandom.current().nextLong(60_000), TimeUnit.NANOSECONDS);
            }
        };

        abstract void bringAbout(LostWakeUpTest test, TimerScheduler s);
    }

    private void fire() {
        fired++; // by one worker at a time
    }

    @ParameterizedTest
    @CsvSource({
        "ARM, false", "ARM, true",
        "RESET_FIRED, false", "RESET_FIRED, true",
        "RESET_WAITING_EARLIER, false", "RESET_WAITING_EARLIER, true",
        "REVIVE_QUEUED, false", "REVIVE_QUEUED, true",
        "RESET_AND_SLEEP_A_LITTLE, false", "RESET_AND_SLEEP_A_LITTLE, true",
    })
    void arm_whileTheWorkerGoesToSleep_isNeverMissed(Way way, boolean spaced) {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).monitor(false)
                .wakeSpacing(spaced ? Duration.ofNanos(150_000) : Duration.ZERO).build()) {
            timer = s.after(0, TimeUnit.NANOSECONDS, this::fire);
            spinAgainst(s, way, spaced ? "spaced" : "exact");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ARM, SELECT", "ARM, PARK", "ARM, POLL", "RESET_FIRED, SELECT", "RESET_FIRED, PARK",
        "RESET_WAITING_EARLIER, SELECT", "RESET_WAITING_EARLIER, PARK", "REVIVE_QUEUED, SELECT", "REVIVE_QUEUED, PARK",
        "RESET_AND_SLEEP_A_LITTLE, PARK", "RESET_AND_SLEEP_A_LITTLE, POLL",
    })
    void arm_whileTheLoopGoesToWait_isNeverMissed(Way way, LoopThread.Way wait) {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build();
                LoopThread loop = new LoopThread(s, wait)) {
            timer = loop.loop.after(0, TimeUnit.NANOSECONDS, this::fire);
            spinAgainst(s, way, "loop that waits by " + wait);
        }
    }

    /** The timer of the test has been armed for the present. */
    private void spinAgainst(TimerScheduler s, Way way, String what) {
        Timer lead = s.after(0, TimeUnit.NANOSECONDS, this::fire);
        for (int i = 0; i < STALE; i++) {
            dying[i] = s.after(1, TimeUnit.HOURS, () -> {});
        }
        long expected = 2;
        awaitFired(expected, way);
        long end = System.nanoTime() + ROUND_TIME;
        long rounds = 0;
        long worst = 0;
        for (; rounds < FEWEST_ROUNDS || System.nanoTime() - end < 0; rounds++) {
            if (ThreadLocalRandom.current().nextBoolean()) {
                leaveDeadEntries(s);
            }
            lead.reset(0, TimeUnit.NANOSECONDS);
            awaitFired(++expected, way);
            spin(ThreadLocalRandom.current().nextLong(3_000));
            long began = System.nanoTime();
            way.bringAbout(this, s);
            awaitFired(++expected, way);
            worst = Math.max(worst, System.nanoTime() - began);
        }
        figure("lost wake-ups, %s, %s: none in %d rounds, worst %.2f ms", way, what, rounds,
                LifeFixtures.millis(worst));
        assertEquals(expected, s.stats().fired());
    }

    private void leaveDeadEntries(TimerScheduler s) {
        for (Timer t : dying) {
            t.reset(1, TimeUnit.HOURS);
        }
        s.pending(); // files them
        for (Timer t : dying) {
            assertTrue(t.stop());
        }
    }

    private void awaitFired(long count, Way way) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LOST_SECONDS / 2);
        for (int i = 0; fired < count; i++) {
            if (i > 1_000_000) {
                LockSupport.parkNanos(1_000_000); // it looks lost: no need to heat the room
            }
            if (System.nanoTime() - end > 0) {
                fail(way + ": firing " + count + " never came");
            }
            Thread.onSpinWait();
        }
        assertEquals(count, fired);
    }
}
