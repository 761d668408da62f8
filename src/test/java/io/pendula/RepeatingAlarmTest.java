package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Alarms that ring again and again. */
@Timeout(60)
class RepeatingAlarmTest {
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

    @Test
    void await_severalTicks_keepsOneAndCountsTheOthers() throws InterruptedException {
        Alarm k = timers.alarmEvery(ms(10));
        assertFalse(k.await(Duration.ZERO));
        advance(10);
        assertTrue(k.await(Duration.ZERO));
        assertFalse(k.await(Duration.ZERO));
        assertEquals(0, k.missed());
        advance(30);
        assertEquals(2, k.missed());
        k.await();
        assertFalse(k.await(ms(-1)));
        assertEquals(1, timers.pending());
    }

    @Test
    void missed_closed_doesNotFall() {
        Alarm k = timers.alarmEvery(ms(10));
        advance(30);
        assertEquals(2, k.missed());
        k.close();
        assertEquals(2, k.missed());
    }

    @Test
    void await_waiting_returnsAtTheTick() throws Exception {
        Alarm k = timers.alarmEvery(ms(10));
        FutureTask<Void> waiter = new FutureTask<>(() -> {
            k.await();
            return null;
        });
        Thread thread = new Thread(waiter);
        thread.start();
        Fixtures.awaitWaiting(thread);
        advance(10);
        waiter.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(0, k.missed());
    }

    @Test
    void await_realClock_isNotEarly() throws InterruptedException {
        long began = System.nanoTime();
        try (Alarm k = Alarm.every(ms(2))) {
            for (int i = 1; i <= 3; i++) {
                k.await();
                assertTrue(System.nanoTime() - began >= i * 2_000_000L);
            }
        }
    }

    @Test
    void stop_tickKept_discardsIt() throws InterruptedException {
        Alarm k = timers.alarmEvery(ms(10));
        advance(10);
        assertTrue(k.stop());
        assertFalse(k.await(Duration.ZERO));
        assertFalse(k.reset(ms(10)));
        assertFalse(k.await(Duration.ZERO));
        advance(10);
        assertTrue(k.await(Duration.ZERO));
    }

    @Test
    void reset_tickKept_discardsIt() throws InterruptedException {
        Alarm k = timers.alarmEvery(ms(10));
        advance(10);
        assertTrue(k.reset(ms(5)));
        assertFalse(k.await(Duration.ZERO));
        advance(5);
        assertTrue(k.await(Duration.ZERO));
        assertEquals(1, k.missed());
    }

    @Test
    void missed_ticksAreReceivedTakenAwayOrDropped_eachIsCountedOnce() throws InterruptedException {
        Alarm k = timers.alarmEvery(ms(10));
        int received = 0;
        int fired = 0;
        for (int i = 0; i < 60; i++) {
            fired += (int) clock.advance(ms(10));
            switch (i % 5) {
                case 0 -> k.reset(ms(i % 3 == 0 ? 5 : 10));
                case 1 -> k.stop();
                case 2 -> k.reset(ms(10));
                default -> received += k.await(Duration.ZERO) ? 1 : 0;
            }
        }
        k.stop();
        assertTrue(received > 10, "received " + received);
        assertEquals(fired - received, k.missed());
    }

    /** An alarm on a queue of its own; its clock calls back once, in the middle of what reads it. */
    private static final class Alone {
        long now = 100;
        Runnable inTheMiddle;
        final TimerQueue queue = new TimerQueue(0, new Timeline(this::read), null, new TimerHeap(), null, false,
                new WakeGate());
        final PeriodicAlarm alarm = new PeriodicAlarm(queue, 10);
        final Receiver.Ticks signal = (Receiver.Ticks) alarm.work();

        Alone() {
            queue.arm(alarm, queue.timeline.deadlineIn(10));
        }

        private long read() {
            Runnable hook = inTheMiddle;
            inTheMiddle = null;
            if (hook != null) {
                hook.run();
            }
            return now;
        }

        /** The firing that is due after so long, or null. */
        Fixtures.Claim claimAfter(long nanos) {
            now += nanos;
            Fixtures.Claim run = new Fixtures.Claim();
            Inside.lock(queue).lock();
            try {
                InsideInbox.drain(queue);
                return Inside.claimDue(queue, queue.timeline.now(), run) ? run : null;
            } finally {
                Inside.lock(queue).unlock();
            }
        }

        void run(Fixtures.Claim claimed) {
            alarm.fire(claimed.task, claimed.deadline);
            queue.endRun(alarm);
        }

        /** Whether a receiver gets the tick. */
        boolean delivers(Fixtures.Claim claimed) {
            run(claimed);
            return signal.take();
        }
    }

    @Test
    void stop_tickClaimedButNotKeptYet_discardsIt() {
        Alone s = new Alone();
        Fixtures.Claim run = s.claimAfter(10);
        assertTrue(s.alarm.stop());
        assertFalse(s.delivers(run));
        assertEquals(1, s.alarm.missed());
    }

    @Test
    void reset_tickClaimedButNotKeptYet_discardsIt() {
        Alone s = new Alone();
        Fixtures.Claim run = s.claimAfter(10);
        assertTrue(s.alarm.reset(Duration.ofNanos(3)));
        assertFalse(s.delivers(run));
        assertTrue(s.delivers(s.claimAfter(3)));
    }

    @Test
    void reset_threadIsHeldUpUntilItsFirstTick_keepsThatTick() {
        Alone s = new Alone();
        s.inTheMiddle = () -> s.inTheMiddle = () -> s.run(s.claimAfter(7)); // the second reading comes after the reset
        s.alarm.reset(Duration.ofNanos(7));
        assertTrue(s.signal.take());
        assertEquals(0, s.alarm.missed());
    }

    /** The clock throws once, at the reading that comes after the stop or the reset. */
    private static void failAtReading(Alone s, int number) {
        s.inTheMiddle = () -> {
            if (number > 1) {
                failAtReading(s, number - 1);
            } else {
                throw new IllegalStateException("meant");
            }
        };
    }

    @Test
    void stop_clockThrowsAfterIt_hasStoppedAndTakesTheKeptTickAway() {
        Alone s = new Alone();
        s.run(s.claimAfter(10));
        failAtReading(s, 1);
        assertTrue(s.alarm.stop());
        assertNull(s.inTheMiddle, "the clock has thrown");
        assertFalse(s.signal.take());
        assertEquals(1, s.alarm.missed());
        assertFalse(s.alarm.stop());
    }

    @Test
    void reset_clockThrowsAfterIt_hasResetAndTakesTheKeptTickAway() {
        Alone s = new Alone();
        s.run(s.claimAfter(10));
        failAtReading(s, 2);
        assertTrue(s.alarm.reset(Duration.ofNanos(3)));
        assertNull(s.inTheMiddle, "the clock has thrown");
        assertFalse(s.signal.take());
        assertEquals(1, s.alarm.missed());
        assertTrue(s.delivers(s.claimAfter(3)));
    }

    @Test
    void stop_resetByAnotherInTheMiddle_keepsTheTicksThatFollow() {
        Alone s = new Alone();
        s.inTheMiddle = () -> s.alarm.reset(Duration.ofNanos(7));
        assertTrue(s.alarm.stop());
        assertNull(s.claimAfter(6));
        assertTrue(s.delivers(s.claimAfter(1)));
    }

    @Test
    void reset_shorterResetByAnotherInTheMiddle_keepsTheTicksThatFollow() {
        Alone s = new Alone();
        s.inTheMiddle = () -> s.inTheMiddle = () -> s.alarm.reset(Duration.ofNanos(7));
        s.alarm.reset(Duration.ofDays(1));
        assertTrue(s.delivers(s.claimAfter(7)));
    }

    @Test
    void badArguments_areNamed() {
        assertNamesTimeout(() -> timers.alarmEvery(ms(1)).await(null));
        Alarm k = timers.alarmEvery(ms(5));
        for (Executable call : List.<Executable>of(() -> timers.alarmEvery(Duration.ZERO), () -> Alarm.every(Duration.ZERO),
                () -> k.reset(Duration.ZERO))) {
            assertEquals("period must be positive, but is PT0S",
                    assertThrows(IllegalArgumentException.class, call).getMessage());
        }
    }

    @Test
    void await_closed_throws() throws Exception {
        Alarm k = timers.alarmEvery(ms(10));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> thrown.set(assertThrows(CancellationException.class, k::await)));
        thread.start();
        Fixtures.awaitWaiting(thread);
        k.close();
        Fixtures.join(thread);
        assertNotNull(thrown.get());
        assertThrows(CancellationException.class, () -> k.await(ms(1)));
    }

    @Test
    void await_schedulerClosed_throws() throws Exception {
        Alarm k = timers.alarmEvery(ms(10));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> thrown.set(assertThrows(CancellationException.class, k::await)));
        thread.start();
        Fixtures.awaitWaiting(thread);
        timers.close();
        Fixtures.join(thread);
        assertNotNull(thrown.get());
    }
}
