package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static io.pendula.LoopFixtures.runElsewhere;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where a timer goes: whatever the loop's thread arms, by whichever way, is its loop's. */
@Timeout(60)
class LoopHomeTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).workers(1).build();
    private final TimerLoop loop = timers.attachShared(NOTHING);
    private final List<String> log = new ArrayList<>();

    @Test
    void arm_onTheLoopsThread_everyMethodOfTheSchedulerArmsOnTheLoop() throws Exception {
        ScheduledExecutorService view = timers.asScheduledExecutorService();
        timers.after(ns(1), () -> log.add("after"));
        timers.after(2, TimeUnit.NANOSECONDS, () -> log.add("after unit"));
        Timer signal = timers.after(ns(3));
        Ticker every = timers.every(ns(4), () -> log.add("every"));
        Ticker policy = timers.every(ns(5), MissedTicks.BURST, () -> log.add("every policy"));
        Ticker signals = timers.every(ns(6));
        ScheduledFuture<String> called = view.schedule(() -> "called", 7, TimeUnit.NANOSECONDS);
        view.schedule(() -> log.add("schedule"), 8, TimeUnit.NANOSECONDS);
        ScheduledFuture<?> rate = view.scheduleAtFixedRate(() -> log.add("rate"), 9, 100, TimeUnit.NANOSECONDS);
        view.scheduleWithFixedDelay(() -> log.add("delay"), 10, 100, TimeUnit.NANOSECONDS);
        view.execute(() -> log.add("execute"));
        view.submit(() -> log.add("submit"));

        assertEquals(0, clock.advance(ns(10)), "none went to the worker");
        assertEquals(List.of(), log);
        assertEquals(12, loop.runDue());
        assertEquals(List.of("execute", "submit", "after", "after unit", "every", "every policy", "schedule", "rate",
                "delay"), log);
        assertTrue(signal.await(NOW));
        assertTrue(signals.await(NOW));
        assertEquals("called", called.get());
        assertTrue(every.stop());
        assertTrue(policy.stop());
        assertTrue(signals.stop());
        assertTrue(rate.cancel(false));
        view.shutdownNow();
        assertEquals(0, timers.pending());
    }

    @Test
    void arm_onTheLoopsThread_whileItRunsACallback_armsOnTheLoop() {
        loop.after(NOW, () -> {
            timers.after(NOW, () -> log.add("after"));
            timers.asScheduledExecutorService().execute(() -> log.add("execute"));
        });
        assertEquals(1, loop.runDue());
        assertEquals(0, clock.advance(NOW));
        assertEquals(2, loop.runDue());
        assertEquals(List.of("after", "execute"), log);
    }

    @Test
    void arm_byOthers_goesToTheWorkerUnlessGivenToTheLoop() {
        runElsewhere(() -> {
            timers.after(NOW, () -> log.add("worker"));
            loop.after(NOW, () -> log.add("loop"));
            loop.every(ns(10), () -> log.add("tick"));
        });
        assertEquals(1, clock.advance(ns(10)));
        assertEquals(List.of("worker"), log);
        assertEquals(2, loop.runDue());
        assertEquals(List.of("worker", "loop", "tick"), log);
    }

    @Test
    void arm_inTheWorkersCallback_staysWithTheWorker() {
        runElsewhere(() -> {
            timers.after(ns(10), () -> timers.after(NOW, () -> log.add("inner")));
            clock.advance(ns(10));
        });
        assertEquals(List.of("inner"), log);
        assertEquals(0, loop.runDue());
    }

    @Test
    void reset_byAnyThread_leavesTheTimerWhereItIs() {
        Timer mine = loop.after(ns(10), () -> log.add("mine"));
        Timer theirs = elsewhere(() -> timers.after(ns(10), () -> log.add("theirs")));
        runElsewhere(() -> mine.reset(ns(20)));
        assertTrue(theirs.reset(ns(20)));
        assertEquals(1, clock.advance(ns(20)));
        assertEquals(List.of("theirs"), log);
        assertEquals(1, loop.runDue());
        assertFalse(theirs.reset(NOW));
        assertEquals(0, loop.runDue());
        assertEquals(1, clock.advance(NOW));
        assertEquals(List.of("theirs", "mine", "theirs"), log);
    }

    @Test
    void arm_afterTheLoopIsClosed_goesToTheWorkerAgain() {
        loop.close();
        timers.after(NOW, () -> log.add("worker"));
        assertEquals(1, clock.advance(NOW));
        assertEquals(List.of("worker"), log);
    }

    @Test
    void arm_ofAnotherScheduler_isNoneOfTheLoopsBusiness() {
        try (TimerScheduler other = TimerScheduler.builder().clock(clock).build()) {
            other.after(NOW, () -> log.add("other"));
            assertEquals(0, loop.runDue());
            assertEquals(1, clock.advance(NOW));
        }
    }

    @Test
    void arm_withoutWorkers_goesToAnyLoopAndIsRejectedIfThereIsNone() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build()) {
            RejectedExecutionException e = assertThrows(RejectedExecutionException.class, () -> s.after(NOW, NOTHING));
            assertEquals("no loop is attached, and the scheduler has no workers of its own", e.getMessage());
            assertThrows(RejectedExecutionException.class, () -> s.every(HOUR, NOTHING));
            assertThrows(RejectedExecutionException.class, () -> s.after(HOUR));
            assertThrows(RejectedExecutionException.class,
                    () -> s.asScheduledExecutorService().schedule(NOTHING, 1, TimeUnit.HOURS));
            TimerLoop l = s.attachShared(NOTHING);
            runElsewhere(() -> s.after(NOW, () -> log.add("any loop")));
            assertEquals(1, l.runDue());
            assertEquals(List.of("any loop"), log);
            l.close();
            assertThrows(RejectedExecutionException.class, () -> s.after(NOW, NOTHING));
            assertEquals(1, s.stats().armed());
        }
    }

    /** Its thread attaches a loop, waits with the rest of the test, and has one visit in the end. */
    @Test
    void arm_withoutWorkersByMany_reachesSomeLoopEachTime() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build();
                TimerLoop mine = s.attachShared(NOTHING)) {
            runElsewhere(() -> {
                TimerLoop other = s.attachShared(NOTHING);
                for (int i = 0; i < 8; i++) {
                    runElsewhere(() -> s.after(NOW, NOTHING));
                }
                int theirs = other.runDue();
                assertEquals(8 - theirs, s.pending());
                other.close();
            });
            mine.runDue();
            assertEquals(8, s.stats().fired());
        }
    }

    @Test
    void executor_callbacksOfALoop_runWhereItSaysAndAreEndedThere() throws Exception {
        List<Runnable> handed = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).executor(handed::add).build()) {
            TimerLoop l = s.attachShared(NOTHING);
            Timer t = l.after(NOW, () -> log.add(Thread.currentThread().getName()));
            Ticker ticker = l.every(ns(1), () -> log.add("tick"));
            clock.advance(ns(1));
            assertEquals(2, l.runDue());
            assertEquals(List.of(), log);
            clock.advance(ns(5));
            assertEquals(0, l.runDue(), "the ticker has not ended its run");
            runElsewhere(() -> handed.forEach(Runnable::run));
            assertEquals(List.of("elsewhere", "tick"), log);
            assertFalse(t.isPending());
            assertEquals(1, l.runDue());
            assertTrue(ticker.stop());
            handed.get(2).run();
        }
    }

    @Test
    void future_ofATaskOnTheLoop_tellsWhatItThrew() {
        ScheduledFuture<?> f = timers.asScheduledExecutorService().schedule(() -> {
            throw new IllegalArgumentException("task");
        }, 1, TimeUnit.NANOSECONDS);
        clock.advance(ns(1));
        assertEquals(1, loop.runDue());
        Throwable cause = assertThrows(ExecutionException.class, f::get).getCause();
        assertSame(IllegalArgumentException.class, cause.getClass());
    }
}
