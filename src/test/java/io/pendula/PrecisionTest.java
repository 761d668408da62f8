package io.pendula;

import static io.pendula.LifeFixtures.assertNoRescue;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.workers.Parker;
import io.pendula.internal.workers.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class PrecisionTest {
    private static String slackOf(String tid) {
        try {
            return Files.readString(Path.of("/proc", tid, "timerslack_ns")).strip();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void assumeSlackCanBeSet() {
        assumeTrue(LifeFixtures.isLinuxWithProc());
        assumeTrue(Files.isWritable(Path.of("/proc", LifeFixtures.ownTid(), "timerslack_ns")));
    }

    @Test
    void tightenSlack_linux_changesTheCallingThreadAlone() throws Exception {
        assumeSlackCanBeSet();
        String mine = LifeFixtures.ownTid();
        String before = slackOf(mine);
        AtomicBoolean could = new AtomicBoolean();
        AtomicReference<String> theirs = new AtomicReference<>();
        Thread other = new Thread(() -> {
            could.set(Parker.tightenSlack());
            theirs.set(slackOf(LifeFixtures.ownTid()));
        });
        other.start();
        other.join();
        assertTrue(could.get());
        assertEquals("1", theirs.get());
        assertEquals(before, slackOf(mine));
    }

    /** Right before a deadline: each park is twice as long, up to a quarter of a second, so the twenty take more than 20 ms and not 1 ms. */
    @Test
    void park_clockStandsStill_parksLongerEachTime() {
        Parker parker = new Parker(new Timeline(() -> 1_000), false);
        SchedulerEngine engine = TimerExecutors.newScheduledThreadPool(1).engine;
        Worker sleeper = new Worker(engine.workerPool, engine.standby, null, false);
        long target = new Timeline(() -> 1_000).now() + 1;
        long began = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            parker.parkUntil(target, target, sleeper);
        }
        assertTrue(System.nanoTime() - began > 20_000_000);
        engine.shutdownNow(t -> { });
    }

    @Test
    void tightSlack_workersHaveIt() {
        assumeSlackCanBeSet();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            AtomicReference<String> seen = new AtomicReference<>();
            eventually("tight", () -> { // from the worker's first sleep on, so the first callback may be too early
                s.after(0, TimeUnit.NANOSECONDS, () -> seen.set(slackOf(LifeFixtures.ownTid())));
                return "1".equals(seen.get());
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 150", "1, 2000", "2, 0", "2, 150", "2, 2000"})
    void run_anySpacing_neverEarly(int workers, int spacingMicros) {
        try (TimerScheduler s = TimerScheduler.builder().workers(workers)
                .wakeSpacing(Duration.ofNanos(spacingMicros * 1000L)).build()) {
            long[] late = new long[300];
            for (int i = 0; i < late.length; i++) {
                int number = i;
                CountDownLatch ran = new CountDownLatch(1);
                long delay = 100_000 + i % 10 * 150_000L;
                long due = System.nanoTime() + delay;
                s.after(delay, TimeUnit.NANOSECONDS, () -> {
                    late[number] = System.nanoTime() - due;
                    ran.countDown();
                });
                await(ran);
            }
            Arrays.sort(late);
            figure("%d workers, spacing %d us: lateness p50 %d us, p90 %d us", workers, spacingMicros,
                    late[late.length / 2] / 1000, late[late.length * 9 / 10] / 1000);
            assertTrue(late[0] >= 0, "early by " + -late[0]);
            assertNoRescue(s);
        }
    }
}
