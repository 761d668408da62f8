package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.ns;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Actor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a closed loop says of its armed timers: detach returns them, close reports them once to the listener. */
@Timeout(60)
class LoopCloseTest {
    private record Report(TimerLoop loop, List<?> unfired, Thread by) {}

    private final ManualClock clock = new ManualClock();
    private final List<Report> reports = new ArrayList<>();
    private final Actor other = new Actor("other");
    private Error broken;

    @AfterEach
    void close() {
        other.close();
    }

    private TimerScheduler scheduler(int workers) {
        return TimerScheduler.builder().clock(clock).workers(workers).listener(new TimerListener() {
            @Override
            public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
                reports.add(new Report(loop, unfired, Thread.currentThread()));
                if (broken != null) {
                    throw broken;
                }
            }
        }).build();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void close_confinedLoopWithArmedTimers_stopsThemAndReportsThemOnce(int workers) {
        try (TimerScheduler s = scheduler(workers)) {
            TimerLoop another = other.call(() -> s.attach(NOTHING));
            TimerLoop loop = s.attach(NOTHING);
            Timer timer = loop.after(ns(10), NOTHING);
            Timer put = loop.after(ns(10), NOTHING);
            Ticker ticker = loop.every(ns(10), NOTHING);
            ScheduledFuture<?> task = s.asScheduledExecutorService().schedule(NOTHING, 10, TimeUnit.NANOSECONDS);
            loop.after(ns(10), NOTHING).stop();
            loop.nanosUntilNext();
            assertTrue(put.reset(HOUR));

            loop.close();
            assertEquals(1, reports.size());
            Report report = reports.get(0);
            assertSame(loop, report.loop());
            assertSame(Thread.currentThread(), report.by());
            assertEquals(Set.of(timer, put, ticker, task), new HashSet<>(report.unfired()));
            assertEquals(4, report.unfired().size());
            assertThrows(UnsupportedOperationException.class, () -> report.unfired().remove(0));
            assertFalse(timer.isPending());
            assertTrue(task.isCancelled());
            assertThrows(RejectedExecutionException.class, () -> timer.reset(NOW));

            loop.close();
            assertEquals(List.of(), loop.detach());
            assertEquals(1, reports.size(), "once");
            assertEquals(0, clock.advance(HOUR));
            assertEquals(0, other.<Integer>call(another::runDue));
            assertAccount(s, 6, 0, 1, 1, 4);
        }
        assertEquals(1, reports.size(), "the scheduler's close has nothing to report");
    }

    @Test
    void detach_confinedLoopWithArmedTimers_returnsThemAndReportsNothing() {
        try (TimerScheduler s = scheduler(1)) {
            TimerLoop loop = s.attach(NOTHING);
            Timer timer = loop.after(ns(10), NOTHING);
            Ticker ticker = loop.every(ns(10), NOTHING);
            assertEquals(Set.of(timer, ticker), Set.copyOf(loop.detach()));
            loop.close();
            assertEquals(List.of(), reports);
            assertAccount(s, 2, 0, 0, 0, 2);
        }
    }

    @Test
    void close_confinedLoopWithNothingArmed_reportsNothing() {
        try (TimerScheduler s = scheduler(0)) {
            TimerLoop loop = s.attach(NOTHING);
            loop.after(NOW, NOTHING);
            assertEquals(1, loop.runDue());
            loop.after(HOUR, NOTHING).stop();
            loop.close();
            assertEquals(List.of(), reports);
        }
    }

    @Test
    void close_byOwnCallback_reportsTheOwnNextRunToo() {
        try (TimerScheduler s = scheduler(1)) {
            TimerLoop loop = s.attach(NOTHING);
            Ticker ticker = loop.every(ns(1), loop::close);
            Timer timer = loop.after(HOUR, NOTHING);
            clock.advance(ns(1));
            assertEquals(1, loop.runDue());
            assertEquals(1, reports.size());
            assertEquals(Set.of(ticker, timer), new HashSet<>(reports.get(0).unfired()));
            assertAccount(s, 3, 1, 0, 0, 2);
        }
    }

    @Test
    void close_schedulerIsClosed_reportsNothing() {
        TimerScheduler s = scheduler(0);
        TimerLoop loop = s.attach(NOTHING);
        Timer timer = loop.after(HOUR, NOTHING);
        assertEquals(List.of(timer), s.shutdownNow());
        loop.close();
        assertEquals(List.of(), reports);
    }

    @Test
    void close_listenerThrows_uncaughtExceptionHandlerIsCalledAndTheLoopIsClosed() {
        broken = new AssertionError("meant");
        List<Throwable> uncaught = new ArrayList<>();
        try (TimerScheduler s = scheduler(0)) {
            other.run(() -> {
                Thread.currentThread().setUncaughtExceptionHandler((t, e) -> uncaught.add(e));
                TimerLoop loop = s.attach(NOTHING);
                loop.after(HOUR, NOTHING);
                loop.close();
                s.attach(NOTHING).close();
            });
            assertEquals(List.of(broken), uncaught);
            assertEquals(0, s.engine.loops.all().length);
        }
    }

    @Test
    void close_defaultListener_isSilent() {
        List<Throwable> uncaught = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build()) {
            other.run(() -> {
                Thread.currentThread().setUncaughtExceptionHandler((t, e) -> uncaught.add(e));
                TimerLoop loop = s.attach(NOTHING);
                loop.after(HOUR, NOTHING);
                loop.close();
            });
            assertEquals(List.of(), uncaught);
            assertAccount(s, 1, 0, 0, 0, 1);
        }
    }
}
