package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Alarms that ring once. */
@Timeout(60)
class AlarmTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    private void advance(long millis) {
        clock.advance(ms(millis));
    }

    private static void assertNamesTimeout(Executable call) {
        assertEquals("timeout must not be null", assertThrows(NullPointerException.class, call).getMessage());
    }

    // ---- waiting ----

    private static FutureTask<Boolean> start(Alarm t) {
        FutureTask<Boolean> waiter = new FutureTask<>(() -> {
            t.await();
            return true;
        });
        Thread thread = new Thread(waiter);
        thread.setDaemon(true);
        thread.start();
        Fixtures.awaitWaiting(thread);
        return waiter;
    }

    private static boolean get(FutureTask<Boolean> waiter) throws InterruptedException, TimeoutException {
        try {
            return waiter.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof CancellationException) {
                return false;
            }
            throw new AssertionError(e);
        }
    }

    @Test
    void await_firedBefore_takesTheFiringOnce() throws InterruptedException {
        Alarm t = timers.alarm(ms(5));
        assertFalse(t.await(Duration.ZERO));
        advance(5);
        assertFalse(t.isPending());
        assertTrue(t.await(Duration.ZERO));
        assertFalse(t.await(Duration.ZERO));
        assertFalse(t.await(ms(-1)));
    }

    @Test
    void await_waiting_returnsWhenItFires() throws Exception {
        Alarm t = timers.alarm(ms(5));
        FutureTask<Boolean> waiter = start(t);
        advance(5);
        assertTrue(get(waiter));
        assertFalse(t.await(Duration.ZERO));
    }

    @Test
    void await_timeout_isNoShorter() throws InterruptedException {
        Alarm t = timers.alarm(ms(5));
        long began = System.nanoTime();
        assertFalse(t.await(ms(3)));
        assertTrue(System.nanoTime() - began >= 3_000_000);
    }

    @Test
    void await_realClock_isNotEarly() throws InterruptedException {
        long began = System.nanoTime();
        Alarm.after(ms(3)).await();
        assertTrue(System.nanoTime() - began >= 3_000_000);
    }

    @Test
    void await_nullTimeout_isNamed() {
        assertNamesTimeout(() -> timers.alarm(ms(5)).await(null));
    }

    @Test
    void stop_firingNotReceived_takesItAway() throws InterruptedException {
        Alarm t = timers.alarm(ms(5));
        advance(5);
        assertTrue(t.stop());
        assertFalse(t.stop());
        assertFalse(t.await(Duration.ZERO));
    }

    @Test
    void reset_firingNotReceived_takesItAway() throws InterruptedException {
        Alarm t = timers.alarm(ms(5));
        advance(5);
        assertTrue(t.reset(ms(2)));
        assertFalse(t.await(Duration.ZERO));
        advance(2);
        assertTrue(t.await(Duration.ZERO));
        assertFalse(t.reset(ms(1)));
    }

    @Test
    void await_stoppedMeanwhile_waitsForTheNextArming() throws Exception {
        Alarm t = timers.alarm(ms(5));
        FutureTask<Boolean> waiter = start(t);
        assertTrue(t.stop());
        advance(10);
        assertFalse(waiter.isDone());
        assertFalse(t.reset(ms(1)));
        advance(1);
        assertTrue(get(waiter));
    }

    @Test
    void await_cancelled_throws() throws Exception {
        Alarm t = timers.alarm(ms(5));
        FutureTask<Boolean> waiter = start(t);
        assertTrue(t.cancel());
        assertFalse(get(waiter));
        assertThrows(CancellationException.class, t::await);
        assertThrows(CancellationException.class, () -> t.await(ms(1)));
    }

    @Test
    void await_firingCancelled_throws() {
        Alarm t = timers.alarm(ms(5));
        advance(5);
        assertTrue(t.cancel());
        assertThrows(CancellationException.class, t::await);
    }

    @Test
    void await_schedulerClosed_throws() throws Exception {
        Alarm t = timers.alarm(ms(5));
        FutureTask<Boolean> waiter = start(t);
        timers.close();
        assertFalse(get(waiter));
        assertThrows(CancellationException.class, () -> t.await(ms(1)));
    }

    @Test
    void await_firedBeforeClose_isStillReceived() throws InterruptedException {
        Alarm t = timers.alarm(ms(5));
        advance(5);
        timers.close();
        t.await();
        assertThrows(CancellationException.class, t::await);
    }

    @Test
    void await_twoWaitersOneFiring_oneGetsIt() throws Exception {
        Alarm t = timers.alarm(ms(5));
        FutureTask<Boolean> a = start(t);
        FutureTask<Boolean> b = start(t);
        advance(5);
        Fixtures.awaitTrue(() -> a.isDone() || b.isDone());
        assertFalse(t.await(Duration.ZERO));
        t.cancel();
        assertTrue(get(a) ^ get(b));
    }

    @Test
    void await_interrupted_throws() {
        Alarm t = timers.alarm(ms(5));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, t::await);
        assertTrue(t.isPending());
    }
}
