package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static io.pendula.LoopFixtures.runElsewhere;
import static io.pendula.LoopFixtures.settle;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Bell;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * When the wakeup of a loop is called: for what is due earlier than the loop will wake up, once for each wait, and never
 * else. The thread of the test is the loop's; it "waits" from a call of nanosUntilNext to its next call.
 */
@Timeout(60)
class LoopWakeupTest {
    private final Bell bell = new Bell();
    private final WakeupListener heard = new WakeupListener();
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).workers(0).listener(heard).build();
    private final TimerLoop loop = timers.attach(bell);
    private final AtomicInteger runs = new AtomicInteger();

    private static class WakeupListener implements TimerListener {
        record Failed(TimerLoop loop, Throwable thrown) {}

        final Queue<Failed> failures = new ConcurrentLinkedQueue<>();

        @Override
        public void wakeupThrew(TimerLoop loop, Throwable thrown) {
            failures.add(new Failed(loop, thrown));
        }
    }

    private Timer armElsewhere(long nanos) {
        return elsewhere(() -> loop.after(ns(nanos), runs::incrementAndGet));
    }

    // ---- when it is called ----

    @Test
    void arm_earlierThanTheWait_callsItOnce() {
        armElsewhere(1_000);
        assertEquals(1_000, loop.nanosUntilNext());
        assertEquals(0, bell.rings());
        armElsewhere(999);
        assertEquals(1, bell.rings());
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 1_001, 2_000, Long.MAX_VALUE})
    void arm_notEarlierThanTheWait_doesNotCallIt(long nanos) {
        armElsewhere(1_000);
        assertEquals(1_000, loop.nanosUntilNext());
        armElsewhere(nanos);
        assertEquals(0, bell.rings());
        assertEquals(1_000, loop.nanosUntilNext());
    }

    @Test
    void arm_whileItWaitsForEver_callsItForAnyDeadline() {
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        armElsewhere(Long.MAX_VALUE);
        assertEquals(0, bell.rings(), "never is not earlier than for ever");
        armElsewhere(1_000_000_000_000L);
        assertEquals(1, bell.rings());
    }

    /** A sleep of an hour is divided for a worker; a loop is called for what is a little earlier. */
    @Test
    void arm_littleEarlierThanALongWait_callsIt() {
        armElsewhere(HOUR.toNanos());
        assertEquals(HOUR.toNanos(), loop.nanosUntilNext());
        armElsewhere(HOUR.toNanos() - 1);
        assertEquals(1, bell.rings());
    }

    @Test
    void arm_afterTheFirstCall_doesNotCallItAgainBeforeTheNextWait() {
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        armElsewhere(100);
        assertEquals(1, bell.rings());
        for (int i = 99; i > 0; i--) {
            armElsewhere(i);
        }
        assertEquals(0, bell.rings());
        assertEquals(0, loop.runDue());
        armElsewhere(0);
        assertEquals(0, bell.rings(), "it is up");
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(1, loop.runDue());
        assertEquals(1, loop.nanosUntilNext());
        armElsewhere(0);
        assertEquals(1, bell.rings());
    }

    @Test
    void arm_loopIsUp_neverCallsIt() {
        armElsewhere(0);
        assertEquals(0, bell.rings(), "it has never waited");
        assertEquals(1, loop.runDue());
        armElsewhere(0);
        assertEquals(0, bell.rings(), "it has polled");
        assertEquals(0, loop.nanosUntilNext(), "so it must not wait");
        armElsewhere(0);
        assertEquals(0, bell.rings());
        assertEquals(2, loop.runDue());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void arm_afterSelect_doesNotCallIt() throws Exception {
        try (Selector selector = Selector.open()) {
            selector.wakeup();
            loop.select(selector);
            armElsewhere(0);
            assertEquals(0, bell.rings(), "the wait is over");
        }
    }

    @Test
    void arm_byTheLoopsOwnThread_callsItWhenItIsTakenToWait() {
        loop.after(ns(1_000), NOTHING);
        loop.after(ns(10), NOTHING);
        assertEquals(0, bell.rings());
        assertEquals(10, loop.nanosUntilNext());
        loop.after(ns(20), NOTHING);
        assertEquals(0, bell.rings());
        loop.after(ns(5), NOTHING);
        assertEquals(1, bell.rings(), "or its wait would be too long");
        assertEquals(5, loop.nanosUntilNext());
    }

    @Test
    void arm_inCallback_doesNotCallIt() {
        loop.after(ns(10), () -> {
            loop.after(NOW, NOTHING);
            timers.after(NOW, NOTHING);
            runElsewhere(() -> loop.after(NOW, NOTHING));
        });
        assertEquals(10, loop.nanosUntilNext());
        clock.advance(ns(10));
        assertEquals(1, loop.runDue());
        assertEquals(0, bell.rings());
        assertEquals(0, loop.nanosUntilNext());
    }

    @Test
    void every_earlierThanTheWait_callsIt() {
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        Ticker ticker = elsewhere(() -> loop.every(ns(10), NOTHING));
        assertEquals(1, bell.rings());
        assertEquals(10, loop.nanosUntilNext());
        assertTrue(elsewhere(ticker::stop));
        assertEquals(0, bell.rings());
    }

    // ---- resets ----

    @Test
    void reset_earlierThanTheWait_callsIt() {
        Timer first = armElsewhere(1_000);
        Timer last = armElsewhere(5_000);
        assertEquals(1_000, loop.nanosUntilNext());
        assertTrue(elsewhere(() -> last.reset(ns(2_000))));
        assertEquals(0, bell.rings(), "earlier than it was, but not than the wait");
        assertTrue(elsewhere(() -> last.reset(ns(500))));
        assertEquals(1, bell.rings());
        assertEquals(500, loop.nanosUntilNext());
        assertTrue(elsewhere(() -> first.reset(ns(9_000))));
        assertTrue(elsewhere(() -> last.reset(ns(8_000))));
        assertEquals(0, bell.rings(), "later: the loop wakes up in vain, or not");
        assertEquals(8_000, settle(loop));
    }

    @Test
    void reset_stoppedOrFired_callsItIfEarlier() {
        Timer stopped = armElsewhere(100);
        Timer fired = armElsewhere(0);
        assertEquals(1, loop.runDue());
        assertTrue(stopped.stop());
        assertEquals(Long.MAX_VALUE, settle(loop));
        bell.rings();
        assertFalse(elsewhere(() -> stopped.reset(ns(100))));
        assertEquals(1, bell.rings());
        assertEquals(100, loop.nanosUntilNext());
        assertFalse(elsewhere(() -> fired.reset(ns(50))));
        assertEquals(1, bell.rings());
        assertEquals(50, loop.nanosUntilNext());
    }

    /** With a clock that keeps no order a reset does not file the timer first. */
    @Test
    void reset_stillInTheInbox_callsItIfEarlier() {
        long[] time = {1};
        try (TimerScheduler s = TimerScheduler.builder().clock(() -> time[0]).workers(0).build();
                TimerLoop l = s.attach(bell)) {
            l.after(ns(1_000), NOTHING);
            assertEquals(1_000, l.nanosUntilNext());
            Timer inbox = elsewhere(() -> l.after(ns(2_000), NOTHING));
            Timer stopped = elsewhere(() -> l.after(ns(2_000), NOTHING));
            assertEquals(0, bell.rings());
            assertTrue(elsewhere(() -> inbox.reset(ns(1_500))));
            assertEquals(0, bell.rings());
            assertTrue(elsewhere(() -> inbox.reset(ns(700))));
            assertEquals(1, bell.rings());
            assertEquals(700, l.nanosUntilNext());
            assertTrue(stopped.stop());
            assertFalse(elsewhere(() -> stopped.reset(ns(600))));
            assertEquals(1, bell.rings());
            assertEquals(600, l.nanosUntilNext());
            time[0] += 600;
            assertEquals(1, l.runDue());
        }
    }

    @Test
    void stop_anyTimer_doesNotCallIt() {
        Timer first = armElsewhere(10);
        Timer second = armElsewhere(20);
        assertEquals(10, loop.nanosUntilNext());
        assertTrue(elsewhere(first::stop));
        assertTrue(elsewhere(second::cancel));
        assertEquals(0, bell.rings());
        assertEquals(Long.MAX_VALUE, settle(loop));
    }

    // ---- by whom ----

    @Test
    void arm_byTheScheduler_callsTheLoopsItGoesTo() {
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        runElsewhere(() -> timers.after(ns(10), NOTHING)); // there is only this loop to go to
        assertEquals(1, bell.rings());
        assertEquals(10, loop.nanosUntilNext());
        Alarm none = elsewhere(() -> timers.alarm(ns(5)));
        assertEquals(1, bell.rings());
        assertTrue(none.isPending());
    }

    @Test
    void wakeup_isCalledByTheArmingThread() {
        List<Thread> by = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build();
                TimerLoop l = s.attach(() -> by.add(Thread.currentThread()))) {
            assertEquals(Long.MAX_VALUE, l.nanosUntilNext());
            Thread armer = elsewhere(() -> {
                l.after(NOW, NOTHING);
                return Thread.currentThread();
            });
            assertEquals(List.of(armer), by);
        }
    }

    /** Nobody holds a lock meanwhile, so it may do what any thread may. */
    @Test
    void wakeup_usesTheScheduler_isAllowed() {
        TimerLoop[] l = new TimerLoop[1];
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build()) {
            l[0] = s.attach(() -> {
                if (!s.isClosed()) {
                    runs.incrementAndGet();
                    l[0].after(NOW, NOTHING);
                    s.stats();
                    runElsewhere(() -> s.stats());
                }
            });
            assertEquals(Long.MAX_VALUE, l[0].nanosUntilNext());
            runElsewhere(() -> l[0].after(NOW, NOTHING));
            assertEquals(1, runs.get());
            assertEquals(2, l[0].runDue());
        }
    }

    // ---- wakeups that throw ----

    @Test
    void wakeup_throws_isReportedAndTheTimerStaysArmed() {
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        bell.broken = new AssertionError("wakeup");
        Timer t = armElsewhere(100);
        assertEquals(1, bell.rings());
        assertEquals(List.of(new WakeupListener.Failed(loop, bell.broken)), List.copyOf(heard.failures));
        assertTrue(t.isPending());
        armElsewhere(200);
        assertEquals(1, bell.rings(), "nobody has been woken, so whoever comes next tries");
        armElsewhere(50);
        assertEquals(1, bell.rings());
        bell.broken = null;
        armElsewhere(40);
        assertEquals(1, bell.rings());
        armElsewhere(30);
        assertEquals(0, bell.rings(), "now it is on its way");
        assertEquals(3, heard.failures.size());
        assertEquals(30, loop.nanosUntilNext());
        clock.advance(ns(200));
        assertEquals(5, loop.runDue());
        assertEquals(5, runs.get());
    }

    @Test
    void wakeup_throwsAtAReset_theResetHolds() {
        Timer t = armElsewhere(1_000);
        assertEquals(1_000, loop.nanosUntilNext());
        bell.broken = new StackOverflowError("by hand");
        assertTrue(elsewhere(() -> t.reset(ns(10))));
        assertEquals(1, heard.failures.size());
        assertEquals(10, loop.nanosUntilNext());
    }

    @Test
    void wakeup_throwsWithoutListener_uncaughtHandlerOfTheArmingThreadHears() {
        bell.broken = new AssertionError("wakeup");
        List<Throwable> uncaught = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build();
                TimerLoop l = s.attach(bell)) {
            assertEquals(Long.MAX_VALUE, l.nanosUntilNext());
            runElsewhere(() -> {
                Thread armer = Thread.currentThread();
                armer.setUncaughtExceptionHandler((t, e) -> {
                    assertSame(armer, t);
                    uncaught.add(e);
                });
                l.after(NOW, runs::incrementAndGet);
            });
            assertEquals(List.of(bell.broken), uncaught);
            assertEquals(1, l.runDue());
            bell.broken = null;
        }
    }

    @Test
    void wakeup_throwsAndSoDoesTheListener_harmsNobody() {
        bell.broken = new AssertionError("wakeup");
        IllegalStateException second = new IllegalStateException("listener");
        List<Throwable> uncaught = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).listener(new TimerListener() {
            @Override
            public void wakeupThrew(TimerLoop l, Throwable thrown) {
                throw second;
            }
        }).build(); TimerLoop l = s.attach(bell)) {
            assertEquals(Long.MAX_VALUE, l.nanosUntilNext());
            Timer t = elsewhere(() -> {
                Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
                return l.after(5, TimeUnit.NANOSECONDS, NOTHING);
            });
            assertEquals(List.of(second), uncaught);
            assertTrue(t.isPending());
            assertEquals(5, l.nanosUntilNext());
            bell.broken = null;
        }
    }

    @Test
    void wakeup_throwsAtClose_isReportedAndTheSchedulerIsClosed() {
        bell.broken = new AssertionError("wakeup");
        Timer t = armElsewhere(10);
        timers.close();
        assertEquals(1, bell.rings());
        assertEquals(1, heard.failures.size());
        assertFalse(t.isPending());
        assertEquals(Long.MAX_VALUE, LoopFixtures.settle(loop));
    }
}
