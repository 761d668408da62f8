package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.block;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.millis;
import static io.pendula.LifeFixtures.threadsOf;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops whose thread is busy elsewhere while their timers are due: who helps, who must not, and who is told. */
@Timeout(60)
class LateLoopTest {
    /** Generous: a worker comes after some 16 ms on a machine that has a processor to give. */
    private static final long BOUND_NANOS = 2_000_000_000;
    private static final Duration TICK = Duration.ofMillis(2);

    private static TimerScheduler.Builder scheduler(String name, int workers) {
        return TimerScheduler.builder().name(name).workers(workers).stallAfter(Duration.ofMillis(1));
    }

    /** Where and how late firings were. */
    private static final class Firings {
        final Queue<Thread> on = new ConcurrentLinkedQueue<>();
        final AtomicLong worst = new AtomicLong();
        final AtomicInteger early = new AtomicInteger();

        Runnable dueIn(long delay, CountDownLatch done) {
            long due = System.nanoTime() + delay;
            return () -> {
                long late = System.nanoTime() - due;
                early.addAndGet(late < 0 ? 1 : 0);
                worst.accumulateAndGet(late, Math::max);
                on.add(Thread.currentThread());
                done.countDown();
            };
        }
    }

    // ---- workers help ----

    private static void runOneOn(LoopThread t) {
        CountDownLatch ran = new CountDownLatch(1);
        t.loop.after(NOW, ran::countDown);
        await(ran);
    }

    // ---- nobody may help ----

    private static final class StallListener implements TimerListener {
        record Stall(TimerLoop loop, Object timer, long lateness, Thread by) {}

        record Stuck(Object timer, long lateness, long blocked, long at) {}

        /** A busy machine may stall others, too. */
        List<Stall> stallsFor(Object timer) {
            return loops.stream().filter(x -> x.timer() == timer).toList();
        }

        List<Stuck> stucksIn(Object timer) {
            return callbacks.stream().filter(x -> x.timer() == timer).toList();
        }

        final Queue<Stall> loops = new ConcurrentLinkedQueue<>();
        final Queue<Stuck> callbacks = new ConcurrentLinkedQueue<>();

        @Override
        public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
            loops.add(new Stall(loop, timer, latenessNanos, Thread.currentThread()));
        }

        @Override
        public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            callbacks.add(new Stuck(timer, latenessNanos, blockedNanos, System.nanoTime()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void confined_heldUp_nobodyStealsAndTheListenerHearsOncePerStall(LoopThread.Way way) {
        StallListener heard = new StallListener();
        try (TimerScheduler s = scheduler("late-confined", 2).listener(heard).build();
                LoopThread t = new LoopThread(s, way)) {
            for (int stall = 0; stall < 3; stall++) {
                Firings firings = new Firings();
                CountDownLatch release = t.holdUp();
                CountDownLatch done = new CountDownLatch(2);
                Timer first = t.loop.after(1, TimeUnit.MILLISECONDS, firings.dueIn(1_000_000, done));
                t.loop.after(2, TimeUnit.MILLISECONDS, firings.dueIn(2_000_000, done));
                eventually("the stall is reported", () -> !heard.stallsFor(first).isEmpty());
                block(60_000_000); // long enough to be looked at again, and for workers to be tempted
                assertEquals(2, done.getCount(), "somebody stole");
                release.countDown();
                await(done);
                assertEquals(1, heard.stallsFor(first).size());
                StallListener.Stall news = heard.stallsFor(first).get(0);
                assertSame(t.loop, news.loop());
                assertTrue(news.lateness() >= 1_000_000, () -> "lateness " + news.lateness());
                assertTrue(news.lateness() <= BOUND_NANOS, () -> "lateness " + news.lateness());
                assertEquals("pendula-late-confined-monitor", news.by().getName());
                assertTrue(firings.on.stream().allMatch(x -> x == t.thread), () -> "on " + firings.on);
                runOneOn(t);
            }
            assertEquals(0, s.stats().stolen());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void confined_heldUp_whatWasStoppedOrPutOffBefore_isNotLate(boolean putOff) {
        StallListener heard = new StallListener();
        try (TimerScheduler s = scheduler("late-gone", 1).listener(heard).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.PARK)) {
            Timer gone = t.loop.after(50, TimeUnit.MILLISECONDS, NOTHING);
            runOneOn(t); // both are filed by this
            CountDownLatch release = t.holdUp();
            if (putOff) {
                gone.reset(1, TimeUnit.HOURS);
            } else {
                gone.stop();
            }
            block(60_000_000);
            Timer late = t.loop.after(NOW, NOTHING);
            eventually("the stall is reported", () -> !heard.stallsFor(late).isEmpty());
            release.countDown();
            assertEquals(List.of(), heard.stallsFor(gone));
        }
    }

    @Test
    void confined_otherWorkersBusy_nobodySteals() {
        try (TimerScheduler s = scheduler("late-busy", 2).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.PARK)) {
            AtomicLong ticks = new AtomicLong();
            Ticker busy = s.every(Duration.ofMillis(1), ticks::incrementAndGet);
            CountDownLatch release = t.holdUp();
            AtomicBoolean ran = new AtomicBoolean();
            t.loop.after(NOW, () -> ran.set(Thread.currentThread() == t.thread));
            eventually("workers have been around", () -> ticks.get() >= 50);
            assertFalse(ran.get());
            release.countDown();
            eventually("run by its loop", ran::get);
            busy.stop();
        }
    }

    @Test
    void loopStalled_listenerThrows_monitorLivesOn() {
        AtomicInteger stalls = new AtomicInteger();
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        try (TimerScheduler s = scheduler("late-throws", 1).threadFactory(r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((x, e) -> uncaught.add(e));
            return t;
        }).listener(new TimerListener() {
            @Override
            public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
                stalls.incrementAndGet();
                throw new IllegalStateException("stalled");
            }
        }).build(); LoopThread t = new LoopThread(s, LoopThread.Way.PARK)) {
            for (int i = 1; i <= 2; i++) {
                CountDownLatch release = t.holdUp();
                t.loop.after(NOW, NOTHING);
                int n = i;
                eventually("stall " + n, () -> stalls.get() >= n && uncaught.size() >= n);
                release.countDown();
                runOneOn(t);
            }
        }
    }

    // ---- stuck in a callback ----

    @Test
    void stuckInACallback_othersDue_listenerHearsOfIt() {
        StallListener heard = new StallListener();
        try (TimerScheduler s = scheduler("late-stuck", 1).listener(heard).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.SELECT)) {
            CountDownLatch release = new CountDownLatch(1);
            AtomicLong began = new AtomicLong();
            CountDownLatch ticked = new CountDownLatch(5);
            CountDownLatch begin = t.holdUp();
            Timer stuck = t.loop.after(NOW, () -> {
                began.set(System.nanoTime());
                await(release);
            });
            Ticker waits = t.loop.every(TICK, MissedTicks.BURST, ticked::countDown);
            block(300_000_000); // so that lateness and the time inside can be told apart
            begin.countDown();
            eventually("heard", () -> !heard.stucksIn(stuck).isEmpty());
            StallListener.Stuck news = heard.stucksIn(stuck).get(0);
            assertTrue(news.lateness() >= 250_000_000, () -> "lateness " + news.lateness());
            assertTrue(news.blocked() <= news.at() - began.get() + 100_000_000, () -> "has been running for "
                    + millis(news.at() - began.get()) + " ms, not " + millis(news.blocked()));
            assertTrue(news.blocked() >= 0);
            block(60_000_000);
            assertEquals(5, ticked.getCount());
            release.countDown();
            await(ticked);
            waits.stop();
            assertEquals(1, heard.stucksIn(stuck).size());
            assertTrue(!heard.stallsFor(stuck).isEmpty(), "before it began, its loop was stalled");
        }
    }

    @Test
    void stuckInACallback_nothingElseDue_listenerHearsOfItOnceEachTime() {
        StallListener heard = new StallListener();
        try (TimerScheduler s = scheduler("late-alone", 1).listener(heard).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.SELECT)) {
            for (int stall = 0; stall < 3; stall++) {
                CountDownLatch release = new CountDownLatch(1);
                Timer stuck = t.loop.after(NOW, () -> await(release));
                eventually("heard", () -> !heard.stucksIn(stuck).isEmpty());
                block(40_000_000); // long enough to be looked at again
                release.countDown();
                runOneOn(t);
                assertEquals(1, heard.stucksIn(stuck).size());
            }
        }
    }

    /** A loop that works off what has piled up is late, but no callback is stuck. */
    @Test
    void burstOfShortCallbacks_noneIsCalledStuck() {
        StallListener heard = new StallListener();
        // Much longer than a busy machine keeps a thread waiting for a processor.
        try (TimerScheduler s = scheduler("late-burst", 1).listener(heard).stallAfter(Duration.ofMillis(1_800)).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.POLL)) {
            int timers = 4_000; // two seconds
            CountDownLatch done = new CountDownLatch(timers);
            t.post(() -> {
                for (int i = 0; i < timers; i++) {
                    s.after(NOW, () -> {
                        LifeFixtures.spin(500_000);
                        done.countDown();
                    });
                }
            });
            await(done);
            assertEquals(List.of(), List.copyOf(heard.callbacks));
        }
    }

    // ---- loops help each other ----

    private static final class Whereabouts implements Runnable {
        volatile Thread thread;

        @Override
        public void run() {
            thread = Thread.currentThread();
        }
    }

    // ---- costs ----

    @Test
    void noWorkers_noThreadIsStarted() {
        try (TimerScheduler s = scheduler("late-none", 0).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.SELECT)) {
            CountDownLatch ran = new CountDownLatch(10);
            Ticker ticker = t.loop.every(Duration.ofMillis(1), ran::countDown);
            await(ran);
            CountDownLatch release = t.holdUp();
            block(30_000_000);
            assertEquals(List.of(), threadsOf("late-none"));
            assertEquals(0, s.engine.workerPool.workers().length);
            release.countDown();
            runOneOn(t);
            ticker.stop();
            assertEquals(0, s.stats().stolen());
        }
    }

    @Test
    void idleLoop_monitorAndWorkersSleepForGood() {
        try (TimerScheduler s = scheduler("late-idle", 1).build();
                LoopThread t = new LoopThread(s, LoopThread.Way.PARK)) {
            CountDownLatch ran = new CountDownLatch(1);
            t.loop.after(1, TimeUnit.MILLISECONDS, ran::countDown);
            await(ran);
            eventually("the monitor ends, all others sleep without a timeout", () -> threadsOf("late-idle").size() == 1
                    && threadsOf("late-idle").stream().allMatch(x -> x.getState() == Thread.State.WAITING)
                    && t.thread.getState() == Thread.State.WAITING);
            int rounds = t.rounds();
            for (int look = 0; look < 100; look++) {
                block(1_000_000);
                assertTrue(threadsOf("late-idle").stream().allMatch(x -> x.getState() == Thread.State.WAITING));
            }
            assertEquals(rounds, t.rounds());
        }
    }
}
