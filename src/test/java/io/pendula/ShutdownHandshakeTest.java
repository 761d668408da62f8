package io.pendula;

import static io.pendula.LifeFixtures.LOST_SECONDS;
import static io.pendula.LifeFixtures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A few short timers, then a shutdown: the last of them ends the pool, whoever runs it, and nobody else will. A pool
 * that misses that moment stays for ever, or until something polls.
 */
@Tag("stress")
@Timeout(120)
class ShutdownHandshakeTest {
    private static final int TASKS = 5;
    /** By each of two threads. */
    private static final int TIMES = Scale.of(500, 2_500);

    private final AtomicLong longest = new AtomicLong();

    private void handshake(int workers) throws InterruptedException {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(workers);
        AtomicIntegerArray runs = new AtomicIntegerArray(TASKS);
        for (int i = 0; i < TASKS; i++) {
            int slot = i;
            Runnable task = () -> runs.incrementAndGet(slot);
            if (r.nextInt(8) == 0) {
                pool.execute(task);
            } else {
                pool.schedule(task, r.nextInt(400_000), TimeUnit.NANOSECONDS);
            }
        }
        if (r.nextInt(4) == 0) {
            pool.scheduleAtFixedRate(() -> {}, 0, 50, TimeUnit.MICROSECONDS);
        }
        LifeFixtures.spin(r.nextInt(300_000));
        long start = System.nanoTime();
        pool.shutdown();
        boolean ended = pool.awaitTermination(LOST_SECONDS, TimeUnit.SECONDS);
        longest.accumulateAndGet(System.nanoTime() - start, Math::max);
        assertTrue(ended, () -> "a pool of " + workers + " does not end; runs: " + runs + ", " + pool);
        assertTrue(pool.isTerminated());
        for (int i = 0; i < TASKS; i++) {
            assertEquals(1, runs.get(i), "runs of a task");
        }
    }

    @Test
    void shutdown_afterAFewShortTimersAgainAndAgain_terminatesSoon() throws Exception {
        LifeFixtures.inParallel(2, n -> {
            for (int i = 0; i < TIMES; i++) {
                handshake(i % 2 == 0 ? 1 : 2 + i / 2 % 3);
            }
        });
        figure("the longest of %d terminations took %.1f ms", 2 * TIMES, LifeFixtures.millis(longest.get()));
    }
}
