package io.pendula.adapters.jraft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.alipay.sofa.jraft.core.Scheduler;
import com.alipay.sofa.jraft.util.LogScheduledThreadPoolExecutor;
import com.alipay.sofa.jraft.util.RepeatedTimer;
import com.alipay.sofa.jraft.util.timer.DefaultRaftTimerFactory;
import com.alipay.sofa.jraft.util.timer.RaftTimerFactory;
import com.alipay.sofa.jraft.util.timer.Timeout;
import com.alipay.sofa.jraft.util.timer.Timer;
import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import io.pendula.adapters.Warnings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The factory's timers: on a clock that is stepped, and what JRaft builds of them beside JRaft's own. */
@org.junit.jupiter.api.Timeout(60)
class RaftTimerTest {
    private static final class OnScheduler extends PendulaRaftTimerFactory {
        OnScheduler(TimerScheduler scheduler) {
            super(scheduler);
        }
    }

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler scheduler = TimerScheduler.builder().name("raft").clock(clock).build();
    private final RaftTimerFactory factory = new OnScheduler(scheduler);
    private final List<Timeout> ran = new ArrayList<>();

    private List<Timer> allKinds() {
        return List.of(factory.getElectionTimer(true, "e"), factory.getVoteTimer(true, "v"),
                factory.getStepDownTimer(true, "d"), factory.getSnapshotTimer(true, "s"), factory.createTimer("c"));
    }

    @Test
    void timeouts_ofEachKind_runWhenDueWithTheirHandle() {
        List<Timeout> armed = new ArrayList<>();
        for (Timer timer : allKinds()) {
            Timeout timeout = timer.newTimeout(ran::add, 10, TimeUnit.MILLISECONDS);
            assertSame(timer, timeout.timer());
            armed.add(timeout);
        }
        clock.advance(Duration.ofMillis(10).minusNanos(1));
        assertEquals(List.of(), ran);
        clock.advance(Duration.ofNanos(1));
        assertEquals(armed, ran);
        assertTrue(armed.stream().allMatch(timeout -> timeout.isExpired() && !timeout.isCancelled() && !timeout.cancel()));
        clock.advance(Duration.ofDays(1));
        assertEquals(armed.size(), ran.size());
    }

    @Test
    void cancel_preventsTheRun_once() {
        Timeout timeout = factory.createTimer("c").newTimeout(ran::add, 1, TimeUnit.SECONDS);
        assertTrue(timeout.cancel());
        assertFalse(timeout.cancel());
        assertTrue(timeout.isCancelled());
        assertEquals(0, scheduler.pending());
        clock.advance(Duration.ofSeconds(2));
        assertEquals(List.of(), ran);
    }

    /** Groups share a timer of JRaft's; here stopping one group's leaves the others' alone. */
    @Test
    void stop_endsWhatWasArmedThroughIt_andNothingElse() {
        Timer one = factory.getElectionTimer(true, "same");
        Timer other = factory.getElectionTimer(true, "same");
        assertNotSame(one, other);
        Timeout mine = one.newTimeout(ran::add, 1, TimeUnit.SECONDS);
        Timeout others = other.newTimeout(ran::add, 1, TimeUnit.SECONDS);
        assertEquals(Set.of(mine), one.stop());
        assertEquals(Set.of(), one.stop());
        assertTrue(mine.isCancelled());
        clock.advance(Duration.ofSeconds(1));
        assertEquals(List.of(others), ran);
        assertThrows(IllegalStateException.class, () -> one.newTimeout(ran::add, 1, TimeUnit.SECONDS));
        other.newTimeout(ran::add, 1, TimeUnit.SECONDS);
        assertEquals(1, scheduler.pending());
        assertTrue(one.toString().contains("same") && one.toString().contains("stopped"), one::toString);
    }

    @Test
    void stop_schedulerDecorates_callsNoWrapperAndReturnsAll() {
        List<Runnable> wrapped = new ArrayList<>();
        try (TimerScheduler decorating = TimerScheduler.builder().clock(clock).decorate(task -> () -> {
            wrapped.add(task);
            throw new IllegalStateException("meant");
        }).build()) {
            Timer timer = new OnScheduler(decorating).createTimer("c");
            Timeout first = timer.newTimeout(ran::add, 1, TimeUnit.SECONDS);
            Timeout second = timer.newTimeout(ran::add, 1, TimeUnit.DAYS);
            assertEquals(Set.of(first, second), timer.stop());
            assertTrue(first.isCancelled() && second.isCancelled());
        }
        assertEquals(List.of(), wrapped);
        assertEquals(List.of(), ran);
    }

    @Test
    void taskThatThrows_isLogged_andHarmsNoOther() {
        Timer timer = factory.createTimer("c");
        timer.newTimeout(timeout -> {
            throw new Exception("meant");
        }, 1, TimeUnit.SECONDS);
        Timeout after = timer.newTimeout(ran::add, 1, TimeUnit.SECONDS);
        Warnings warnings = new Warnings(RaftTimer.class);
        try {
            clock.advance(Duration.ofSeconds(1));
        } finally {
            warnings.close();
        }
        assertEquals(List.of(after), ran);
        assertEquals(List.of("meant"), warnings.thrown());
        assertEquals(List.of("A task of the timer c threw."), warnings.messages());
    }

    @Test
    void raftScheduler_schedules_andItsShutdownLeavesOthers() {
        Scheduler one = factory.getRaftScheduler(true, 4, "r");
        Scheduler other = factory.createScheduler(4, "r");
        AtomicInteger once = new AtomicInteger();
        AtomicInteger rate = new AtomicInteger();
        AtomicInteger delay = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        one.schedule(once::incrementAndGet, 1, TimeUnit.SECONDS);
        one.scheduleAtFixedRate(rate::incrementAndGet, 2, 3, TimeUnit.SECONDS);
        one.scheduleWithFixedDelay(delay::incrementAndGet, 0, 5, TimeUnit.SECONDS);
        other.scheduleAtFixedRate(others::incrementAndGet, 1, 1, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(10)); // rate at 2, 5, 8; delay at 0, 5, 10
        assertEquals(List.of(1, 3, 3, 10), List.of(once.get(), rate.get(), delay.get(), others.get()));
        one.shutdown();
        clock.advance(Duration.ofSeconds(10));
        assertEquals(List.of(1, 3, 3, 20), List.of(once.get(), rate.get(), delay.get(), others.get()));
        assertThrows(RejectedExecutionException.class, () -> one.schedule(() -> {}, 1, TimeUnit.SECONDS));
        other.shutdown();
        assertEquals(0, scheduler.pending());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void raftScheduler_taskThatRunsOnceThrows_isLoggedAndInTheFuture(boolean ours) throws Exception {
        RaftTimerFactory kind = ours ? factory : new DefaultRaftTimerFactory();
        Scheduler one = kind.createScheduler(1, "r");
        Warnings warnings = new Warnings(ours ? RaftScheduler.class : LogScheduledThreadPoolExecutor.class);
        try {
            Future<?> future = one.schedule(() -> {
                throw new IllegalStateException("meant");
            }, 0, TimeUnit.SECONDS);
            clock.advance(Duration.ZERO);
            assertEquals("meant", assertThrows(ExecutionException.class, future::get).getCause().getMessage());
            Patience.until("it is logged", () -> !warnings.thrown().isEmpty());
        } finally {
            warnings.close();
            one.shutdown();
        }
        assertEquals(List.of("meant"), warnings.thrown());
    }

    @Test
    void raftScheduler_pendingTasks_areNamedByWhatJRaftGave() {
        Runnable task = new Runnable() {
            @Override
            public void run() {}
        };
        Scheduler one = factory.createScheduler(1, "r");
        one.schedule(task, 1, TimeUnit.HOURS);
        one.scheduleAtFixedRate(task, 1, 1, TimeUnit.HOURS);
        assertEquals(Map.of(task.getClass(), 2L), scheduler.pendingByTask());
        one.shutdown();
    }

    /** What JRaft makes of a timer for elections and votes. */
    private static final class Ticks extends RepeatedTimer {
        final AtomicInteger ticks = new AtomicInteger();
        final AtomicInteger destroyed = new AtomicInteger();

        Ticks(Timer timer) {
            super("ticks", 20, timer);
        }

        @Override
        protected void onTrigger() {
            ticks.incrementAndGet();
        }

        @Override
        protected void onDestroy() {
            destroyed.incrementAndGet();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void repeatedTimer_startStopRestartDestroy(boolean ours) {
        try (TimerScheduler real = TimerScheduler.builder().name("repeated").build()) {
            RaftTimerFactory kind = ours ? new OnScheduler(real) : new DefaultRaftTimerFactory();
            Ticks timer = new Ticks(kind.createTimer("repeated"));
            long start = System.nanoTime();
            timer.start();
            Patience.until("it ticks", () -> timer.ticks.get() >= 3);
            Patience.assertElapsed(60 - 3, start, System.nanoTime()); // a wheel counts in ticks of 1 ms
            timer.stop();
            int stopped = timer.ticks.get();
            long later = System.nanoTime();
            Patience.until("five periods have passed", () -> System.nanoTime() - later > 100_000_000);
            assertTrue(timer.ticks.get() <= stopped + 1, "one may have been running");
            int restarted = timer.ticks.get();
            timer.restart();
            Patience.until("it ticks again", () -> timer.ticks.get() >= restarted + 3);
            timer.destroy();
            Patience.until("told once", () -> timer.destroyed.get() == 1);
            int last = timer.ticks.get();
            long end = System.nanoTime();
            Patience.until("five periods have passed", () -> System.nanoTime() - end > 100_000_000);
            assertTrue(timer.ticks.get() <= last + 1, "one may have been running");
            assertEquals(1, timer.destroyed.get());
            if (ours) {
                assertEquals(0, real.pending());
            }
        }
    }
}
