package io.pendula;

import static io.pendula.LifeFixtures.await;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A callback arms a timer and waits until that has fired, on a scheduler that is quiet otherwise. Such callbacks are rare:
 * between two of them there are many that arm and return. The time is the subject; each bound is for a busy machine, a
 * tenth of what a guard that is not called would take.
 */
@Timeout(60)
class ArmAndBlockTest {
    private static final int TIMES = 9;
    private static final int OTHERS_BETWEEN = 20;

    private final List<Long> late = Collections.synchronizedList(new ArrayList<>());

    /** Whether the timers that were waited for came within half a millisecond and what a busy machine adds. */
    private void assertInTime() {
        List<Long> sorted = new ArrayList<>(late);
        Collections.sort(sorted);
        LifeFixtures.figure("armed by a callback that blocks: late by %.2f ms, the median of %d",
                LifeFixtures.millis(sorted.get(TIMES / 2)), TIMES);
        assertTrue(sorted.get(TIMES / 2) < 5_000_000, () -> "late by " + sorted);
    }

    /** A chain of callbacks, each of which arms the next one, 12 ms ahead, and one that is due sooner. */
    private void runChain(ScheduledExecutorService on) {
        CountDownLatch end = new CountDownLatch(1);
        int[] number = new int[1];
        Runnable[] link = new Runnable[1];
        link[0] = () -> {
            number[0]++;
            if (late.size() == TIMES) {
                end.countDown();
                return;
            }
            on.schedule(link[0], 12, MILLISECONDS);
            if (number[0] % OTHERS_BETWEEN != 0) {
                on.schedule(() -> {}, 1, MILLISECONDS);
                return;
            }
            CountDownLatch fired = new CountDownLatch(1);
            long due = System.nanoTime() + 1_000_000;
            on.schedule(() -> {
                late.add(System.nanoTime() - due);
                fired.countDown();
            }, 1, MILLISECONDS);
            await(fired);
        };
        on.execute(link[0]);
        await(end);
        assertInTime();
    }

    @Test
    void ofAScheduler_waitsForATimerThatItHasArmed_thatComesInTime() {
        try (TimerScheduler s = TimerScheduler.builder().workers(4).build()) {
            runChain(s.asScheduledExecutorService());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void ofAPool_waitsForATaskThatItHasScheduled_thatComesInTime(int threads) {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(threads)) {
            runChain(pool);
        }
    }
}
