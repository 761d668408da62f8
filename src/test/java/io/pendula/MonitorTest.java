package io.pendula;

import static io.pendula.LifeFixtures.assertNoRescue;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.block;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.millis;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.StallWatch;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class MonitorTest {
    private static final Duration NOW = Duration.ZERO;

    /** Occupies workers until released. */
    static final class Plug implements Runnable {
        final CountDownLatch release = new CountDownLatch(1);
        final AtomicInteger holding = new AtomicInteger();

        @Override
        public void run() {
            holding.incrementAndGet();
            await(release);
            holding.decrementAndGet();
        }

        void hold(TimerScheduler s, int workers) {
            for (int i = 0; i < workers; i++) {
                s.after(NOW, this);
                int n = i + 1;
                eventually(n + " workers held", () -> holding.get() == n);
            }
        }
    }

    @Test
    void allWorkersBlocked_timersDueRunOnASpareThatGoesAwayAgain() {
        try (TimerScheduler s = TimerScheduler.builder().name("spare").workers(2).maxThreads(3).build()) {
            Plug plug = new Plug();
            plug.hold(s, 2);
            Queue<Long> late = new ConcurrentLinkedQueue<>();
            Queue<String> on = new ConcurrentLinkedQueue<>();
            CountDownLatch done = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                long delay = i * 2_000_000L;
                long due = System.nanoTime() + delay;
                s.after(delay, TimeUnit.NANOSECONDS, () -> {
                    late.add(System.nanoTime() - due);
                    on.add(Thread.currentThread().getName());
                    done.countDown();
                });
            }
            await(done);
            assertEquals(2, plug.holding.get());
            long worst = late.stream().mapToLong(Long::longValue).max().getAsLong();
            long[] sorted = late.stream().mapToLong(Long::longValue).sorted().toArray();
            figure("all workers blocked, timers run on a spare: lateness p50 %.2f ms, max %.2f ms",
                    millis(sorted[sorted.length / 2]), millis(worst));
            assertTrue(worst <= 500_000_000, "late by " + millis(worst) + " ms");
            assertTrue(on.stream().allMatch("pendula-spare-spare-0"::equals), on::toString);
            eventually("it is counted", () -> s.stats().spareThreads() == 1);

            // Occupies the spare too: now there are as many workers as there may be.
            Plug last = new Plug();
            last.hold(s, 1);
            AtomicBoolean ran = new AtomicBoolean();
            s.after(NOW, () -> ran.set(true));
            block(100_000_000);
            assertEquals(3, s.engine.workerPool.workers().length);
            assertEquals(1, s.stats().spareThreads());
            assertTrue(!ran.get(), "nobody was free to run it");

            long released = System.nanoTime();
            last.release.countDown();
            plug.release.countDown();
            eventually("the waiting timer ran", ran::get);
            eventually("the spare is gone", () -> s.engine.workerPool.workers().length == 2);
            assertTrue(System.nanoTime() - released >= Worker.SPARE_IDLE_NANOS - 1_000_000_000, "left too early");
            eventually("its thread ended",
                    () -> threadsOf("spare").stream().noneMatch(t -> t.getName().contains("spare-spare")));
        }
    }

    /** The spare has left, and waits for the lock under which it is taken from the list. */
    @Test
    void spareEnds_lastFreeWorkerBlocksMeanwhile_timersRunOnANewSpare() {
        AtomicLong leap = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(3).stallAfter(Duration.ofHours(1))
                .clock(() -> System.nanoTime() + leap.get()).build()) {
            Plug held = new Plug();
            Plug released = new Plug();
            held.hold(s, 1);
            released.hold(s, 1);
            eventually("there is a spare", () -> s.engine.workerPool.workers().length == 3);
            Sleeper spare = s.engine.workerPool.workers()[2];
            released.release.countDown();
            eventually("another worker sleeps as the poller", () -> {
                spare.call(); // it hands the role back
                Sleeper poller = s.engine.standby.poller();
                return poller != spare && poller.asleep;
            });
            Plug last = new Plug();
            synchronized (s.engine.lifecycle) {
                leap.set(2 * Worker.SPARE_IDLE_NANOS);
                spare.call();
                eventually("it is leaving", () -> spare.runner().getState() == Thread.State.BLOCKED);
                last.hold(s, 1);
            }
            CountDownLatch ran = new CountDownLatch(1);
            s.after(NOW, ran::countDown);
            try {
                await(ran);
            } finally {
                held.release.countDown();
                last.release.countDown();
            }
        }
    }

    @Test
    void allWorkersBlockedAgainAndAgain_workersStayWithinBound() {
        int max = 5;
        try (TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(max).build()) {
            AtomicInteger running = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            CountDownLatch done = new CountDownLatch(40);
            for (int i = 0; i < 40; i++) {
                s.after(NOW, () -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    block(15_000_000);
                    running.decrementAndGet();
                    done.countDown();
                });
            }
            await(done);
            figure("40 callbacks of 15 ms, 2 workers, maxThreads %d: %d ran at once", max, most.get());
            assertTrue(most.get() <= max, "at once: " + most);
            assertTrue(most.get() > 2, "no spare helped");
            assertTrue(s.engine.workerPool.workers().length <= max);
            assertTrue(s.stats().spareThreads() <= max - 2);
        }
    }

    @Test
    void oneWorkerWithTwoWorkers_spareRunsWhileTheFirstIsBlocked() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(2).build()) {
            Plug plug = new Plug();
            plug.hold(s, 1);
            CountDownLatch ran = new CountDownLatch(10);
            for (int i = 0; i < 10; i++) {
                s.after(i, TimeUnit.MILLISECONDS, ran::countDown);
            }
            await(ran);
            plug.release.countDown();
        }
    }

    @Test
    void spareThreadCannotBeMade_isToldAndNothingIsLost() {
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        AtomicInteger made = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        AtomicReference<TimerScheduler> scheduler = new AtomicReference<>();
        Queue<Long> counted = new ConcurrentLinkedQueue<>();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(3).threadFactory(r -> {
            if (!(r instanceof StallWatch) && made.incrementAndGet() > 2) { // two workers, which guard each other
                counted.add(scheduler.get().stats().spareThreads());
                refused.incrementAndGet();
                throw new OutOfMemoryError("no more threads");
            }
            Thread t = new Thread(r);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
            return t;
        }).build()) {
            scheduler.set(s);
            Plug plug = new Plug();
            plug.hold(s, 2);
            CountDownLatch ran = new CountDownLatch(1);
            s.after(NOW, ran::countDown);
            eventually("tried again", () -> refused.get() >= 3);
            plug.release.countDown();
            await(ran);
            assertTrue(uncaught.size() >= 1, "told " + uncaught.size());
            assertEquals(Set.of(0L), Set.copyOf(counted));
            assertEquals(0, s.stats().spareThreads());
        }
    }

    /** The guard wakes up long before the callback counts as stalled. */
    @Test
    void callbackLasts_guardCallsTheMonitor_isReported() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = TimerScheduler.builder().name("lasts").workers(2).stallAfter(Duration.ofSeconds(2))
                .listener(heard).build()) {
            BooleanSupplier isMonitorGone =
                    () -> threadsOf("lasts").stream().noneMatch(t -> t.getName().endsWith("-monitor"));
            s.after(Duration.ofHours(1), () -> {});
            CountDownLatch fired = new CountDownLatch(1);
            s.after(NOW, fired::countDown); // before this one the guard is called, as another timer is armed
            await(fired);
            Standby standby = s.engine.standby;
            eventually("poller and guard sleep, not for ever", () -> {
                Sleeper guard = standby.guardAsleep(standby.poller());
                return standby.poller().asleep && guard != null && guard.until < Timeline.NEVER;
            });
            eventually("the first callback's look is over", isMonitorGone);
            Plug plug = new Plug();
            plug.hold(s, 1);
            eventually("it is reported", () -> heard.stalled.size() == 1);
            plug.release.countDown();
            eventually("the monitor's thread has ended", isMonitorGone);
        }
    }

    @Test
    void monitorOff_workerBlocks_nothingIsLost() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).monitor(false).build()) {
            List<CountDownLatch> blocks = new ArrayList<>();
            CountDownLatch ran = new CountDownLatch(2_000);
            LifeFixtures.inParallel(2, n -> {
                CountDownLatch began = new CountDownLatch(1);
                s.after(NOW, () -> {
                    began.countDown();
                    block(50_000_000);
                });
                for (int i = 0; i < 1_000; i++) {
                    s.after(i * 20L, TimeUnit.MICROSECONDS, ran::countDown);
                }
                await(began);
                synchronized (blocks) {
                    blocks.add(began);
                }
            });
            await(ran);
            assertEquals(2, blocks.size());
            assertEquals(2_002, s.stats().fired());
            assertEquals(0, s.stats().spareThreads());
        }
    }

    @Test
    void noWorkerBlocks_mixedLoad_rescuesNobody() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(4).build()) {
            int perThread = 3_000;
            CountDownLatch ran = new CountDownLatch(2 * perThread);
            AtomicLong ticks = new AtomicLong();
            Ticker ticker = s.every(Duration.ofMillis(1), ticks::incrementAndGet);
            LifeFixtures.inParallel(2, n -> {
                for (int i = 0; i < perThread; i++) {
                    Timer t = s.after(Duration.ofHours(1), ran::countDown);
                    t.reset(i % 700, TimeUnit.MILLISECONDS);
                    LifeFixtures.spin(2_000);
                }
            });
            await(ran);
            ticker.stop();
            assertTrue(ticks.get() > 0);
            assertNoRescue(s);
            assertEquals(0, s.stats().spareThreads());
        }
    }

    /** Counted in about two tries of five: else the poller has begun a tick before, or a helper has found it. */
    @Test
    void sleepingWorker_wakeUpWithheld_isRescuedAndCounted() throws Exception {
        ContractCase.atLeastOnce(25, () -> {
            try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
                TimerQueue quiet = s.engine.queues[0];
                TimerQueue busy = s.engine.queues[1];
                AtomicLong ticks = new AtomicLong();
                PeriodicTimer ticker = new PeriodicTimer(busy, ticks::incrementAndGet, 1_000_000, MissedTicks.SKIP);
                busy.arm(ticker, s.engine.timeline.deadlineIn(0)); // a worker that is up keeps the monitor up
                quiet.arm(new OneShotTimer(quiet, () -> { }), s.engine.timeline.deadlineIn(3_600_000_000_000L));
                eventually("that is filed, so the poller looks there once a second",
                        () -> quiet.due.arrivals() == Timeline.NEVER);
                CountDownLatch ran = new CountDownLatch(1);
                OneShotTimer lost = new OneShotTimer(quiet, ran::countDown);
                InsideInbox.beginMoving(lost, s.engine.timeline.deadlineIn(0));
                assertNull(InsideInbox.push(quiet, lost)); // what arming does, but for the wake-up
                await(ran);
                ticker.close();
                assertTrue(ticks.get() > 0);
                return s.stats().overdueWakes() == 1;
            }
        });
    }

    /** The close's permit is used up while the monitor reads the clock, before the one or the other of its sleeps. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void close_monitorIsAboutToSleep_itsThreadEnds(int reading) throws Exception {
        AtomicReference<Thread> monitor = new AtomicReference<>();
        AtomicInteger readings = new AtomicInteger();
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        TimerScheduler s = TimerScheduler.builder().workers(1).stallAfter(Duration.ofMillis(20)).clock(() -> {
            if (Thread.currentThread() == monitor.get() && readings.incrementAndGet() == reading) {
                reached.countDown();
                await(goOn);
                LockSupport.parkNanos(1); // returns at once, with the permit
            }
            return System.nanoTime();
        }).threadFactory(r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            if (r instanceof StallWatch) {
                monitor.set(t);
            }
            return t;
        }).build();
        s.engine.idleNanos = Duration.ofDays(1).toNanos();
        s.engine.callWatch();
        await(reached);
        s.close();
        eventually("no worker is up", () -> s.engine.workerPool.isEmpty());
        goOn.countDown();
        Fixtures.join(monitor.get());
    }
}
