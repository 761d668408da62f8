package io.pendula;

import static io.pendula.LifeFixtures.assertNoRescue;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
            could.set(Sleeper.tightenSlack());
            theirs.set(slackOf(LifeFixtures.ownTid()));
        });
        other.start();
        other.join();
        assertTrue(could.get());
        assertEquals("1", theirs.get());
        assertEquals(before, slackOf(mine));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tightSlack_option_decidesForTheDrivers(boolean tight) {
        assumeSlackCanBeSet();
        String usual = slackOf(LifeFixtures.ownTid());
        try (TimerScheduler s = TimerScheduler.builder().workers(1).tightSlack(tight).build()) {
            AtomicReference<String> seen = new AtomicReference<>();
            s.after(0, TimeUnit.NANOSECONDS, () -> seen.set(slackOf(LifeFixtures.ownTid())));
            eventually("ran", () -> seen.get() != null);
            assertEquals(tight ? "1" : usual, seen.get());
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void run_anySwitches_neverEarly(boolean earlyPark, boolean tightSlack) {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).earlyPark(earlyPark).tightSlack(tightSlack)
                .build()) {
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
            figure("early park %s, tight slack %s: lateness p50 %d us, p90 %d us", earlyPark, tightSlack,
                    late[late.length / 2] / 1000, late[late.length * 9 / 10] / 1000);
            assertTrue(late[0] >= 0, "early by " + -late[0]);
            assertNoRescue(s);
        }
    }
}
