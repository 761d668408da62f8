package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.LoopFixtures.Actor;
import io.pendula.LoopFixtures.Bell;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues whose loop has gone: they leave the list when nothing is armed there, and a reset brings them back. */
@Timeout(60)
class GoneLoopTest {
    private static final int MANY = 1_000;

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler withWorker = TimerScheduler.builder().clock(clock).workers(1).build();
    private final TimerScheduler loopsOnly = TimerScheduler.builder().clock(clock).workers(0).build();
    private final Actor other = new Actor("other");
    private final AtomicInteger ran = new AtomicInteger();

    @AfterEach
    void close() {
        other.close();
        withWorker.close();
        loopsOnly.close();
    }

    private Runnable count() {
        return ran::incrementAndGet;
    }

    /** So many shared loops at the same time, of threads that never run; each has {@code armed} timers. */
    private List<LoopWorker> attachMany(TimerScheduler s, int loops, int armed, long delay, List<Timer> timers) {
        List<LoopWorker> all = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            LoopWorker l = s.engine.loops.attach(new Thread(NOTHING), NOTHING, false);
            for (int n = 0; n < armed; n++) {
                timers.add(TimerLoop.of(l).after(delay, TimeUnit.NANOSECONDS, count()));
            }
            all.add(l);
        }
        return all;
    }

    private static void detachAll(TimerScheduler s, List<LoopWorker> all) {
        all.forEach(l -> assertEquals(List.of(), s.engine.loops.detach(l)));
    }

    private static int queues(TimerScheduler s) {
        return s.engine.queues.length;
    }

    // ---- leaving ----

    enum End { FIRED, STOPPED, CANCELLED, NEVER_ARMED }

    @ParameterizedTest
    @EnumSource
    void detach_manyLoopsThenNothingArmed_queuesAreThoseOfWorkersAndLoops(End end) {
        TimerLoop stays = other.call(() -> withWorker.attachShared(NOTHING));
        List<Timer> timers = new ArrayList<>();
        List<LoopWorker> all = attachMany(withWorker, MANY, end == End.NEVER_ARMED ? 0 : 2, 10, timers);
        detachAll(withWorker, all);
        assertEquals(2 + (end == End.NEVER_ARMED ? 0 : MANY), queues(withWorker));
        switch (end) {
            case FIRED -> assertEquals(2 * MANY, clock.advance(ns(10)));
            case STOPPED -> timers.forEach(t -> assertTrue(t.stop()));
            case CANCELLED -> timers.forEach(t -> assertTrue(t.cancel()));
            case NEVER_ARMED -> { }
        }
        clock.advance(ns(10));
        assertEquals(2, queues(withWorker));
        long armed = timers.size();
        assertAccount(withWorker, armed, end == End.FIRED ? armed : 0, end == End.FIRED ? 0 : armed, 0, 0);
        assertEquals(0, other.<Integer>call(stays::runDue));
    }

    /** The successor is a loop, which sees to it when it asks how long it may wait, or when it has run what was due. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void detach_manyLoopsToALoop_queuesAreThoseOfLoops(boolean asks) {
        TimerLoop successor = other.call(() -> loopsOnly.attachShared(NOTHING));
        List<LoopWorker> all = attachMany(loopsOnly, 100, 1, 10, new ArrayList<>());
        detachAll(loopsOnly, all);
        assertEquals(101, queues(loopsOnly));
        LoopWorker worker = loopsOnly.engine.loops.all()[0];
        assertTrue(worker.hasSucceeded);
        clock.advance(ns(10));
        assertEquals(100, other.<Integer>call(successor::runDue));
        if (asks) {
            assertEquals(Long.MAX_VALUE, other.call(successor::nanosUntilNext));
        }
        assertEquals(1, queues(loopsOnly));
        assertFalse(worker.hasSucceeded, "it looks at its own queue only, as before");
        assertAccount(loopsOnly, 100, 100, 0, 0, 0);
    }

    @Test
    void detach_stoppedTimersOnly_leavesAtOnce() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        loop.after(HOUR, NOTHING).stop();
        loop.after(NOW, NOTHING);
        assertEquals(1, loop.runDue());
        loop.close();
        assertEquals(1, queues(withWorker));
    }

    /** Counts what a round looks at: a worker reads the clock once for each queue that it has. */
    @Test
    void tick_afterManyLoopsHaveGone_looksAtAsManyQueuesAsBefore() throws Exception {
        AtomicLong readings = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().name("gone").workers(1).monitor(false).clock(() -> {
            readings.incrementAndGet();
            return System.nanoTime();
        }).build()) {
            long before = readingsPerTick(s, readings);
            List<Timer> timers = new ArrayList<>();
            List<LoopWorker> all = attachMany(s, MANY, 1, TimeUnit.MILLISECONDS.toNanos(1), timers);
            detachAll(s, all);
            eventually("all have run", () -> ran.get() == MANY);
            eventually("the queues have left", () -> queues(s) == 1);
            long after = readingsPerTick(s, readings);
            assertTrue(after <= before + 20, () -> "readings of the clock in a tick: " + before + ", then " + after);
            assertEquals(MANY, timers.size());
        }
    }

    /** The fewest among some ticks: what one must cost. */
    private static long readingsPerTick(TimerScheduler s, AtomicLong readings) {
        int ticks = 20;
        long[] at = new long[ticks + 1];
        CountDownLatch done = new CountDownLatch(ticks + 1);
        Ticker ticker = s.every(Duration.ofMillis(1), () -> {
            int n = (int) done.getCount();
            if (n > 0) {
                at[n - 1] = readings.get();
                done.countDown();
            }
        });
        await(done);
        ticker.stop();
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < ticks; i++) {
            fewest = Math.min(fewest, at[i] - at[i + 1]);
        }
        return fewest;
    }

    @Test
    void detach_workerNeverIdle_queuesLeaveAllTheSame() {
        try (TimerScheduler s = TimerScheduler.builder().name("gone-busy").workers(1).build()) {
            Timer[] busy = new Timer[1];
            AtomicBoolean over = new AtomicBoolean();
            CountDownLatch ended = new CountDownLatch(1);
            busy[0] = elsewhere(() -> s.after(HOUR, () -> {
                if (!over.get()) {
                    busy[0].reset(NOW);
                } else {
                    ended.countDown();
                }
            }));
            busy[0].reset(NOW);
            List<LoopWorker> all = attachMany(s, 50, 1, 1_000_000, new ArrayList<>());
            detachAll(s, all);
            eventually("the queues have left", () -> ran.get() == 50 && queues(s) == 1);
            over.set(true);
            await(ended);
        }
    }

    /** A timer that runs may arm itself again, so its queue must be there when the scheduler is closed meanwhile. */
    @Test
    void detach_whileATimerRunsElsewhere_queueStaysUntilTheRunHasEnded() {
        List<Runnable> handed = new ArrayList<>();
        TimerScheduler s = TimerScheduler.builder().clock(clock).workers(1).executor(handed::add).build();
        TimerLoop loop = s.attachShared(NOTHING);
        Timer[] self = new Timer[1];
        self[0] = loop.after(NOW, () -> self[0].reset(HOUR));
        assertEquals(1, loop.runDue());
        loop.close();
        clock.advance(ns(1));
        assertEquals(2, queues(s));
        handed.get(0).run();
        assertTrue(self[0].isPending());
        assertEquals(List.of(self[0]), s.shutdownNow());
    }

    @Test
    void detach_runHasEndedElsewhere_queueLeaves() {
        List<Runnable> handed = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(1).executor(handed::add).build()) {
            TimerLoop loop = s.attachShared(NOTHING);
            loop.after(NOW, count());
            assertEquals(1, loop.runDue());
            loop.close();
            handed.get(0).run();
            clock.advance(ns(1));
            assertEquals(1, queues(s));
        }
    }

    // ---- coming back ----

    @Test
    void reset_queueHasLeft_comesBackAndFiresAtTheDeadline() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        List<Long> at = new ArrayList<>();
        Timer fired = loop.after(NOW, () -> at.add(clock.nanoTime()));
        Timer stopped = loop.after(HOUR, () -> at.add(clock.nanoTime()));
        assertEquals(1, loop.runDue());
        stopped.stop();
        loop.close();
        assertEquals(1, queues(withWorker));
        assertTrue(Fixtures.node(fired).queue.ownership.isRetired());
        assertFalse(fired.isPending());
        assertFalse(stopped.stop());

        assertFalse(fired.reset(ns(10)));
        assertEquals(2, queues(withWorker));
        assertSame(Fixtures.node(fired).queue, withWorker.engine.queues[1]);
        assertFalse(stopped.reset(ns(20)));
        assertTrue(fired.reset(ns(15)));
        assertEquals(2, withWorker.pending());
        assertEquals(0, clock.advance(ns(14)));
        assertEquals(1, clock.advance(ns(1)));
        assertEquals(2, queues(withWorker), "one timer is armed still");
        assertEquals(1, clock.advance(ns(5)));
        assertEquals(List.of(0L, 15L, 20L), at);
        clock.advance(ns(1));
        assertEquals(1, queues(withWorker));
        assertAccount(withWorker, 5, 3, 1, 1, 0);
    }

    @Test
    void reset_queueHasLeftAndTheLoopThatHasItWaits_itIsCalled() {
        Bell bell = new Bell();
        TimerLoop successor = other.call(() -> loopsOnly.attachShared(bell));
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer t = loop.after(NOW, count());
        assertEquals(1, loop.runDue());
        loop.close();
        assertEquals(1, queues(loopsOnly));
        assertEquals(Long.MAX_VALUE, other.call(successor::nanosUntilNext));
        bell.rings();
        t.reset(ns(10));
        assertEquals(1, bell.rings());
        assertEquals(10, other.call(successor::nanosUntilNext));
        clock.advance(ns(10));
        assertEquals(1, other.<Integer>call(successor::runDue));
        assertEquals(2, ran.get());
        assertEquals(1, queues(loopsOnly));
    }

    /** With real workers, which sleep when the reset comes; none of them is late by more than a machine's hiccup. */
    @Test
    void reset_queueHasLeftAndAllSleep_firesInTime() {
        try (TimerScheduler s = TimerScheduler.builder().name("gone-back").workers(2).monitor(false).build()) {
            List<Timer> timers = new ArrayList<>();
            detachAll(s, attachMany(s, 20, 1, 0, timers));
            eventually("all have run", () -> ran.get() == 20);
            eventually("the queues have left", () -> queues(s) == 2);
            for (int round = 0; round < 50; round++) {
                int before = ran.get();
                for (Timer t : timers) {
                    assertFalse(t.reset(round * 1_000L, TimeUnit.NANOSECONDS));
                }
                eventually("all have run again", () -> ran.get() == before + 20);
            }
            eventually("the queues have left again", () -> queues(s) == 2);
            assertAccount(s, 20 * 51, 20 * 51, 0, 0, 0);
        }
    }

    @Test
    void reset_queueHasLeftAndThereIsNobody_isRejected() {
        TimerLoop successor = other.call(() -> loopsOnly.attachShared(NOTHING));
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer t = loop.after(NOW, count());
        assertEquals(1, loop.runDue());
        loop.close();
        assertEquals(List.of(), other.call(successor::detach));
        assertEquals(0, queues(loopsOnly));
        for (int i = 0; i < 2; i++) {
            assertEquals("the loop that the timer belongs to is closed",
                    assertThrows(RejectedExecutionException.class, () -> t.reset(NOW)).getMessage());
            assertFalse(t.isPending());
        }
        assertAccount(loopsOnly, 1, 1, 0, 0, 0);
    }

    @Test
    void reset_queueHasLeftAndSchedulerIsClosed_isRejected() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(1).maxPending(1).build()) {
            TimerLoop loop = s.attachShared(NOTHING);
            Timer t = loop.after(HOUR, count());
            t.stop();
            loop.close();
            assertEquals(List.of(), s.shutdownNow());
            for (int i = 0; i < 3; i++) {
                assertEquals("the scheduler is closed",
                        assertThrows(RejectedExecutionException.class, () -> t.reset(NOW)).getMessage());
            }
            assertFalse(t.isPending());
            assertAccount(s, 1, 0, 1, 0, 0);
        }
    }

    private enum Meanwhile { RETIRES_AGAIN, SCHEDULER_CLOSES }

    /** Between the come-back and the push that it is for the arming thread reads the clock, for the monitor. */
    @ParameterizedTest
    @EnumSource
    void reset_somethingHappensBetweenTheComeBackAndThePush_isArmedOrReturned(Meanwhile meanwhile) {
        Thread me = Thread.currentThread();
        AtomicInteger times = new AtomicInteger();
        AtomicReference<Runnable> meddle = new AtomicReference<>(NOTHING);
        List<Timer> returned = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().name("gone-between").workers(1).clock(() -> {
            if (Thread.currentThread() == me) {
                meddle.get().run();
            }
            return System.nanoTime();
        }).build()) {
            List<Timer> timers = new ArrayList<>();
            detachAll(s, attachMany(s, 1, 1, 0, timers));
            eventually("the queue has left", () -> ran.get() == 1 && queues(s) == 1);
            Timer t = timers.get(0);
            meddle.set(() -> {
                if (!Fixtures.node(t).queue.ownership.isRetired() && times.incrementAndGet() <= 3) {
                    if (meanwhile == Meanwhile.SCHEDULER_CLOSES) {
                        returned.addAll(s.shutdownNow());
                    } else {
                        elsewhere(() -> s.after(NOW, NOTHING)); // makes the worker look around
                        eventually("it retires again", Fixtures.node(t).queue.ownership::isRetired);
                    }
                }
            });
            if (meanwhile == Meanwhile.SCHEDULER_CLOSES) {
                assertThrows(RejectedExecutionException.class, () -> t.reset(NOW), "the close cannot wait for its own thread");
                assertEquals(List.of(), returned);
                assertFalse(t.isPending());
                assertThrows(RejectedExecutionException.class, () -> t.reset(NOW));
                assertEquals(1, ran.get());
            } else {
                assertFalse(t.reset(NOW));
                eventually("it has fired", () -> ran.get() == 2);
            }
            assertTrue(times.get() >= (meanwhile == Meanwhile.SCHEDULER_CLOSES ? 1 : 3), () -> times + " times");
            meddle.set(NOTHING);
            assertEquals(List.of(), s.shutdownNow());
            assertEquals(0, s.stats().pending());
            assertEquals(returned.size(), s.stats().unfired());
        }
    }

    // ---- what is left of them ----

    @Test
    void stats_moreQueuesHaveLeftThanAreKept_nothingIsLost() {
        List<Timer> timers = new ArrayList<>();
        long armed = 0;
        for (int round = 0; round < 3; round++) {
            int from = timers.size();
            detachAll(withWorker, attachMany(withWorker, 100, 2, 10, timers));
            for (int i = from; i < timers.size(); i += 2) {
                assertTrue(timers.get(i).stop());
            }
            assertEquals(100, clock.advance(ns(10)));
            clock.advance(ns(1));
            armed += 200;
            assertEquals(1, queues(withWorker));
            assertAccount(withWorker, armed, armed / 2, armed / 2, 0, 0);
        }
        // All come back, among them those whose figures were taken.
        for (Timer t : timers) {
            assertFalse(t.reset(ns(5)));
            assertTrue(t.reset(ns(7)));
        }
        assertEquals(301, queues(withWorker));
        assertAccount(withWorker, armed + 1200, armed / 2, armed / 2, 600, 0);
        assertEquals(600, clock.advance(ns(10)));
        clock.advance(ns(1));
        assertEquals(1, queues(withWorker));
        assertAccount(withWorker, armed + 1200, armed / 2 + 600, armed / 2, 600, 0);
        assertEquals(ran.get(), withWorker.stats().fired());
    }

    @Test
    void queuesThatHaveLeft_noTimerRefersToThem_areCollected() {
        List<WeakReference<TimerQueue>> queues = new ArrayList<>();
        List<LoopWorker> all = attachMany(withWorker, 300, 1, 10, new ArrayList<>());
        all.forEach(l -> queues.add(new WeakReference<>(l.queue)));
        detachAll(withWorker, all);
        all.clear();
        assertEquals(300, clock.advance(ns(10)));
        clock.advance(ns(1));
        eventually("all but the last few are collected", () -> {
            System.gc();
            return queues.stream().filter(q -> q.get() != null).count() <= 64;
        });
        assertAccount(withWorker, 300, 300, 0, 0, 0);
    }

    /** A timer of a loop that has gone refers to its queue; that no longer refers to the loop, hence its selector. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void timerIsKept_loopHasGone_theLoopsWakeupIsCollected(boolean confined) {
        Timer[] kept = new Timer[1];
        WeakReference<Runnable> wakeup = elsewhere(() -> {
            Bell bell = new Bell();
            TimerLoop loop = confined ? withWorker.attach(bell) : withWorker.attachShared(bell);
            kept[0] = loop.after(HOUR, NOTHING);
            kept[0].stop();
            loop.close();
            return new WeakReference<Runnable>(bell);
        });
        eventually("it is collected", () -> {
            System.gc();
            return wakeup.get() == null;
        });
        assertNull(Fixtures.node(kept[0]).queue.gate.home());
        assertFalse(kept[0].isPending());
    }

    /** Of the shared scheduler: its threads end when nothing is armed. */
    @Test
    void detachAndReset_noWorkerHasAThread_oneIsStarted() {
        TimerScheduler s = TimerScheduler.newShared(TimerScheduler.builder().name("gone-shared").workers(2));
        s.engine.idleNanos = 1_000_000;
        TimerLoop loop = s.attachShared(NOTHING);
        Timer t = loop.after(20, TimeUnit.MILLISECONDS, count());
        assertEquals(List.of(), LifeFixtures.threadsOf("gone-shared-worker"));
        loop.close();
        for (int runs = 1; runs <= 3; runs++) {
            int expected = runs;
            eventually("it has run", () -> ran.get() == expected);
            eventually("its queue and the threads are gone", () -> queues(s) == 2
                    && LifeFixtures.threadsOf("gone-shared-worker").isEmpty());
            assertFalse(t.reset(Duration.ofMillis(20)));
        }
        assertTrue(t.stop());
        assertEquals(0, s.stats().overdueWakes());
    }

    /** As a thread does that is suspended between its change of a timer's word and its count. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stats_countedAfterManyMoreLoopsHaveGone_isNotLost(boolean unreachable) throws InterruptedException {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        Timer t = loop.after(HOUR, NOTHING);
        assertTrue(t.stop());
        TimerQueue[] queue = {Fixtures.node(t).queue};
        loop.close();
        for (int i = 0; i < 100; i++) {
            withWorker.attachShared(NOTHING).close();
        }
        long stopped = withWorker.stats().stopped();
        Inside.countStale(queue[0], Inside.STOP);
        assertEquals(stopped + 1, withWorker.stats().stopped());
        if (unreachable) {
            WeakReference<TimerQueue> gone = new WeakReference<>(queue[0]);
            queue[0] = null;
            t = null;
            loop = null;
            Fixtures.awaitCollected(gone);
        } else {
            t.reset(HOUR); // which brings the queue back
            assertTrue(t.stop());
            stopped++;
        }
        withWorker.attachShared(NOTHING).close();
        assertEquals(stopped + 1, withWorker.stats().stopped());
    }
}
