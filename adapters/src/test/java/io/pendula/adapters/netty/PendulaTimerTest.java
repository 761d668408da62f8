package io.pendula.adapters.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Warnings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What the timer does with its own threads out of the way: the clock is stepped. */
class PendulaTimerTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler scheduler = TimerScheduler.builder().name("manual").clock(clock).build();
    private final PendulaTimer timer = new PendulaTimer(scheduler);
    private final Calls calls = new Calls();

    /** Notes each call. */
    private static final class Calls implements TimerTask {
        final List<Timeout> runs = new ArrayList<>();
        final List<Timeout> cancellations = new ArrayList<>();

        @Override
        public void run(Timeout timeout) {
            runs.add(timeout);
        }

        @Override
        public void cancelled(Timeout timeout) {
            cancellations.add(timeout);
        }
    }

    private static List<Timeout> hooked(Timeout timeout) {
        return TimerKind.HAS_HOOK ? List.of(timeout) : List.of();
    }

    @Test
    void newTimeout_runsOnceWithItsHandle_whenDue() {
        Timeout timeout = timer.newTimeout(calls, 10, TimeUnit.MILLISECONDS);
        assertSame(timer, timeout.timer());
        assertSame(calls, timeout.task());
        clock.advance(Duration.ofMillis(10).minusNanos(1));
        assertEquals(List.of(), calls.runs);
        assertFalse(timeout.isExpired());
        clock.advance(Duration.ofNanos(1));
        assertEquals(List.of(timeout), calls.runs);
        assertTrue(timeout.isExpired());
        assertFalse(timeout.isCancelled());
        clock.advance(Duration.ofDays(1));
        assertEquals(1, calls.runs.size());
    }

    @Test
    void pendingTimeouts_areNamedByTheirTasks() {
        timer.newTimeout(calls, 1, TimeUnit.HOURS);
        assertEquals(Map.of(Calls.class, 1L), scheduler.pendingByTask());
    }

    @Test
    void newTimeout_zeroOrNegative_isDueAtOnce_butNotInTheCall() {
        timer.newTimeout(calls, 0, TimeUnit.SECONDS);
        timer.newTimeout(calls, Long.MIN_VALUE, TimeUnit.DAYS);
        assertEquals(0, calls.runs.size());
        clock.advance(Duration.ZERO);
        assertEquals(2, calls.runs.size());
    }

    @Test
    void newTimeout_hugeDelay_staysPending() {
        Timeout timeout = timer.newTimeout(calls, Long.MAX_VALUE, TimeUnit.DAYS);
        clock.advance(Duration.ofDays(365));
        assertEquals(List.of(), calls.runs);
        assertTrue(timeout.cancel());
    }

    @Test
    void newTimeout_rejectsNull() {
        assertThrows(NullPointerException.class, () -> timer.newTimeout(null, 1, TimeUnit.SECONDS));
        assertThrows(NullPointerException.class, () -> timer.newTimeout(calls, 1, null));
        assertThrows(NullPointerException.class, () -> new PendulaTimer(null));
    }

    @Test
    void cancel_pending_callsTheHookOnce_andNothingRuns() {
        Timeout timeout = timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        assertTrue(timeout.cancel());
        assertTrue(timeout.isCancelled());
        assertFalse(timeout.isExpired());
        assertEquals(0, scheduler.pending());
        assertFalse(timeout.cancel());
        clock.advance(Duration.ofSeconds(2));
        assertEquals(List.of(), calls.runs);
        assertEquals(hooked(timeout), calls.cancellations);
    }

    @Test
    void cancel_expired_isFalse_alsoInTheTask() {
        AtomicReference<Boolean> inTask = new AtomicReference<>();
        Timeout first = timer.newTimeout(timeout -> inTask.set(timeout.cancel()), 1, TimeUnit.SECONDS);
        Timeout second = timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(1));
        assertEquals(false, inTask.get());
        assertFalse(first.cancel());
        assertFalse(second.cancel());
        assertEquals(List.of(), calls.cancellations);
        assertTrue(second.isExpired());
    }

    @Test
    void task_mayArmAnotherTimeout() {
        timer.newTimeout(timeout -> timeout.timer().newTimeout(calls, 1, TimeUnit.SECONDS), 1, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(1));
        assertEquals(0, calls.runs.size());
        clock.advance(Duration.ofSeconds(1));
        assertEquals(1, calls.runs.size());
    }

    @Test
    void taskThatThrows_isLogged_andHarmsNoOther() {
        Warnings warnings = new Warnings(PendulaTimer.class);
        try {
            timer.newTimeout(timeout -> {
                throw new Exception("meant");
            }, 1, TimeUnit.SECONDS);
            timer.newTimeout(calls, 1, TimeUnit.SECONDS);
            clock.advance(Duration.ofSeconds(1));
            TimerTask badHook = new TimerTask() {
                @Override
                public void run(Timeout timeout) {}

                @Override
                public void cancelled(Timeout timeout) {
                    throw new IllegalStateException("meant, too");
                }
            };
            assertTrue(timer.newTimeout(badHook, 1, TimeUnit.SECONDS).cancel());
        } finally {
            warnings.close();
        }
        assertEquals(1, calls.runs.size());
        assertEquals(TimerKind.HAS_HOOK ? List.of("meant", "meant, too") : List.of("meant"), warnings.thrown());
    }

    @Test
    void maxPending_rejects_untilOneIsCancelled() {
        try (TimerScheduler small = TimerScheduler.builder().clock(new ManualClock()).maxPending(2).build()) {
            PendulaTimer limited = new PendulaTimer(small);
            limited.newTimeout(calls, 1, TimeUnit.SECONDS);
            Timeout second = limited.newTimeout(calls, 1, TimeUnit.SECONDS);
            assertThrows(RejectedExecutionException.class, () -> limited.newTimeout(calls, 1, TimeUnit.SECONDS));
            assertTrue(second.cancel());
            limited.newTimeout(calls, 1, TimeUnit.SECONDS);
        }
    }

    @Test
    void stop_returnsExactlyThePendingOnes_cancelled_andCallsNoHook() {
        Timeout expired = timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(1));
        Timeout cancelled = timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        assertTrue(cancelled.cancel());
        Timeout first = timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        Timeout second = timer.newTimeout(calls, 1, TimeUnit.DAYS);
        Set<Timeout> stopped = timer.stop();
        assertEquals(Set.of(first, second), stopped);
        stopped.forEach(timeout -> {
            assertTrue(timeout.isCancelled());
            assertFalse(timeout.cancel());
        });
        assertEquals(Set.of(), timer.stop());
        clock.advance(Duration.ofDays(2));
        assertEquals(List.of(expired), calls.runs);
        assertEquals(hooked(cancelled), calls.cancellations);
        assertEquals(0, scheduler.pending());
    }

    @Test
    void stop_schedulerDecorates_callsNoWrapperAndReturnsAll() {
        List<Runnable> wrapped = new ArrayList<>();
        try (TimerScheduler decorating = TimerScheduler.builder().clock(clock).decorate(task -> () -> {
            wrapped.add(task);
            throw new IllegalStateException("meant");
        }).build()) {
            PendulaTimer decorated = new PendulaTimer(decorating);
            Timeout first = decorated.newTimeout(calls, 1, TimeUnit.SECONDS);
            Timeout second = decorated.newTimeout(calls, 1, TimeUnit.DAYS);
            assertEquals(Set.of(first, second), decorated.stop());
            assertTrue(first.isCancelled() && second.isCancelled());
            assertEquals(0, decorating.pending());
        }
        assertEquals(List.of(), wrapped);
        assertEquals(List.of(), calls.runs);
    }

    @Test
    void newTimeout_stoppedOrClosed_throwsIllegalState() {
        timer.stop();
        IllegalStateException stopped =
                assertThrows(IllegalStateException.class, () -> timer.newTimeout(calls, 1, TimeUnit.SECONDS));
        assertTrue(stopped.getMessage().contains("manual"), stopped.getMessage());
        PendulaTimer other = new PendulaTimer(scheduler);
        other.newTimeout(calls, 1, TimeUnit.SECONDS); // stopping one leaves the scheduler open
        scheduler.close();
        assertThrows(IllegalStateException.class, () -> other.newTimeout(calls, 1, TimeUnit.SECONDS));
        assertThrows(IllegalStateException.class,
                () -> new PendulaTimer(scheduler).newTimeout(calls, 1, TimeUnit.SECONDS));
    }

    @Test
    void stop_byAnOwnTask_throws_byTheTaskOfAnotherTimerItWorks() {
        Timer other = new PendulaTimer(scheduler);
        Timeout never = other.newTimeout(calls, 1, TimeUnit.HOURS);
        AtomicReference<Throwable> own = new AtomicReference<>();
        AtomicReference<Set<Timeout>> others = new AtomicReference<>();
        timer.newTimeout(timeout -> {
            others.set(other.stop());
            own.set(assertThrows(IllegalStateException.class, () -> timer.stop()));
        }, 1, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(1));
        assertEquals(Set.of(never), others.get());
        assertInstanceOf(IllegalStateException.class, own.get());
        timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        assertEquals(1, timer.stop().size());
    }

    @Test
    void toString_namesTheStateAndTheTask() {
        Timeout timeout = timer.newTimeout(calls, 1, TimeUnit.SECONDS);
        assertTrue(timeout.toString().contains("pending"), timeout.toString());
        assertTrue(timeout.toString().contains("Calls"), timeout.toString());
        timeout.cancel();
        assertTrue(timeout.toString().contains("cancelled"), timeout.toString());
        assertFalse(timer.toString().contains("stopped"), timer.toString());
        timer.stop();
        assertTrue(timer.toString().contains("stopped"), timer.toString());
    }
}
