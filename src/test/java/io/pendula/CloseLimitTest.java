package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A close that waits for callbacks, but not for ever. */
@Timeout(60)
class CloseLimitTest {
    private static final Duration LIMIT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(50);

    private final TimerScheduler timers = TimerScheduler.builder().name("limit").workers(1).build();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void end() {
        release.countDown();
        timers.close();
    }

    private void startCallback() {
        timers.after(Duration.ZERO, () -> {
            begun.countDown();
            LifeFixtures.await(release);
        });
        LifeFixtures.await(begun);
    }

    @Test
    void close_nothingRuns_isTrueAtOnce_andTheSchedulerIsClosed() {
        Timer pending = timers.after(Duration.ofHours(1), () -> {});
        assertTrue(timers.close(Duration.ZERO) || timers.close(LONG)); // a worker may be on its way to its end
        assertTrue(timers.isClosed());
        assertFalse(pending.isPending());
        assertEquals(1, timers.stats().unfired());
        assertTrue(timers.close(Duration.ZERO));
        assertThrows(RejectedExecutionException.class, () -> timers.after(Duration.ZERO, () -> {}));
    }

    @Test
    void close_callbackLastsLonger_isFalseAfterTheLimit_andAnotherCloseWaitsAgain() throws Exception {
        startCallback();
        long start = System.nanoTime();
        assertFalse(timers.close(LIMIT));
        assertTrue(System.nanoTime() - start >= LIMIT.toNanos());
        assertTrue(timers.isClosed());
        assertFalse(timers.close(Duration.ZERO));
        CompletableFuture<Boolean> again = CompletableFuture.supplyAsync(() -> timers.close(LONG));
        release.countDown();
        assertTrue(again.get(60, TimeUnit.SECONDS));
        LifeFixtures.awaitNoThreadOf("limit");
    }

    @Test
    void close_interrupted_isFalseWithTheFlagSet() {
        startCallback();
        Thread.currentThread().interrupt();
        assertFalse(timers.close(LONG));
        assertTrue(Thread.interrupted());
    }

    @Test
    void close_insideACallback_doesNotWaitForItself() throws Exception {
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        timers.after(Duration.ZERO, () -> closed.complete(timers.close(LONG)));
        assertTrue(closed.get(60, TimeUnit.SECONDS));
    }

    @Test
    void close_callbackHasClosedAndGoesOn_othersWaitForItsEnd() throws Exception {
        CountDownLatch hasClosed = new CountDownLatch(1);
        timers.after(Duration.ZERO, () -> {
            timers.close();
            hasClosed.countDown();
            LifeFixtures.await(release);
        });
        LifeFixtures.await(hasClosed);
        assertFalse(timers.close(LIMIT));
        release.countDown();
        assertTrue(timers.close(LONG));
    }

    @Test
    void close_rejectsNonsense_andClosesNothing() {
        assertThrows(NullPointerException.class, () -> timers.close(null));
        assertThrows(IllegalArgumentException.class, () -> timers.close(Duration.ofNanos(-1)));
        assertFalse(timers.isClosed());
        assertThrows(IllegalStateException.class, () -> TimerScheduler.shared().close(LIMIT));
    }
}
