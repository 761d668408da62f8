package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads arm, stop and reset their timers until the scheduler is closed under them: each arming ends exactly once. */
@Tag("stress")
@Timeout(120)
class CloseStormTest {
    private static final int ROUNDS = Scale.of(25, 120);
    private static final int THREADS = 3;
    private static final int TIMERS = 200;

    /** One thread's timer. Only that thread arms it and counts what its calls say. */
    private static final class Kept {
        final AtomicInteger runs = new AtomicInteger();
        Timer timer;
        int armings;
        int preventions;
    }

    private static void arm(TimerScheduler s, Kept k) {
        long delay = ThreadLocalRandom.current().nextInt(3000);
        k.timer = s.after(delay, TimeUnit.MICROSECONDS, k.runs::incrementAndGet);
        k.armings++;
    }

    private static void stopOrReset(Kept k) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        int dice = r.nextInt(4);
        boolean prevented = dice == 0 ? k.timer.stop()
                : k.timer.reset(r.nextInt(dice == 1 ? 200 : 4000), TimeUnit.MICROSECONDS);
        k.armings += dice == 0 ? 0 : 1;
        k.preventions += prevented ? 1 : 0;
    }

    private static void actUntilRefused(TimerScheduler s, List<Kept> mine, CountDownLatch warm) {
        try {
            for (Kept k : mine) {
                arm(s, k);
            }
            for (int i = 0; ; i++) {
                stopOrReset(mine.get(ThreadLocalRandom.current().nextInt(TIMERS)));
                if (i == 1000) {
                    warm.countDown();
                }
            }
        } catch (RejectedExecutionException e) {
            assertTrue(s.isClosed());
        }
    }

    private static void play() throws InterruptedException {
        List<List<Kept>> all = new ArrayList<>();
        List<TimerHandle> unfired;
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        TimerScheduler s = TimerScheduler.builder().workers(2).build();
        CountDownLatch warm = new CountDownLatch(THREADS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            List<Kept> mine = new ArrayList<>();
            for (int k = 0; k < TIMERS; k++) {
                mine.add(new Kept());
            }
            all.add(mine);
            Thread t = new Thread(() -> actUntilRefused(s, mine, warm), "storm " + i);
            t.setUncaughtExceptionHandler((thread, e) -> failures.add(e));
            threads.add(t);
        }
        threads.forEach(Thread::start);
        warm.await();
        unfired = s.shutdownNow();
        for (Thread t : threads) {
            t.join();
        }
        assertTrue(s.close(Duration.ofSeconds(30)), "a callback goes on");
        assertEquals(List.of(), failures);
        Set<Object> told = Collections.newSetFromMap(new IdentityHashMap<>());
        unfired.forEach(t -> assertTrue(told.add(t), "told twice as unfired"));
        for (List<Kept> mine : all) {
            for (Kept k : mine) {
                int ends = k.runs.get() + k.preventions + (told.contains(k.timer) ? 1 : 0);
                assertEquals(k.armings, ends, "armings, and their ends");
            }
        }
        assertEquals(0, s.pending());
        assertEquals(0, s.stats().overdueWakes());
    }

    @Test
    void shutdownNow_threadsArmStopAndReset_eachArmingEndsOnce() throws InterruptedException {
        for (int i = 0; i < ROUNDS; i++) {
            play();
        }
    }
}
