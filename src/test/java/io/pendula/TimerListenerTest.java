package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.block;
import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TimerListenerTest {
    private static final Duration NOW = Duration.ZERO;

    /** As ThreadDeath was: an Error that ends a thread unless it is caught. */
    private static final class LikeThreadDeath extends Error {
        private static final long serialVersionUID = 1;
    }

    static Stream<Throwable> throwables() {
        return Stream.of(new IllegalStateException("x"), new IOException("checked"), new OutOfMemoryError("by hand"),
                new StackOverflowError("by hand"), new LikeThreadDeath(), new AssertionError("x"),
                new InterruptedException("x"), new NoClassDefFoundError("x"));
    }

    private static TimerScheduler.Builder oneWorker(TimerListener listener) {
        return TimerScheduler.builder().workers(1).listener(listener);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable e) throws T {
        throw (T) e;
    }

    private static void runsOne(TimerScheduler s) {
        CountDownLatch ran = new CountDownLatch(1);
        s.after(NOW, ran::countDown);
        await(ran);
    }

    // ---- threw ----

    @ParameterizedTest
    @MethodSource("throwables")
    void threw_anyThrowable_isHeardAndTheWorkerLivesOn(Throwable e) {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).build()) {
            Thread worker = s.engine.workerPool.workers()[0].runner();
            Timer t = s.after(NOW, () -> TimerListenerTest.<RuntimeException>sneak(e));
            runsOne(s);
            assertEquals(1, heard.threw.size());
            assertSame(t, heard.threw.peek().timer());
            assertSame(e, heard.threw.peek().what());
            assertTrue(heard.threw.peek().lateness() >= 0);
            assertFalse(t.reset(NOW), "it has fired");
            runsOne(s);
            assertEquals(2, heard.threw.size());
            assertTrue(worker.isAlive());
            assertSame(worker, s.engine.workerPool.workers()[0].runner());
            assertEquals(0, heard.slow.size());
        }
    }

    @Test
    void threw_realStackOverflow_harmsNobody() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).build()) {
            for (int i = 0; i < 20; i++) {
                s.after(NOW, TimerListenerTest::overflow);
                runsOne(s);
            }
            assertEquals(20, heard.threw.size());
            assertTrue(heard.threw.stream().allMatch(n -> n.what() instanceof StackOverflowError));
            assertEquals(0, s.pending());
        }
    }

    private static void overflow() {
        overflow();
        Thread.onSpinWait(); // no tail call
    }

    @Test
    void threw_ticker_ticksOn() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).build()) {
            AtomicInteger ticks = new AtomicInteger();
            Ticker ticker = s.every(Duration.ofMillis(1), () -> {
                throw new IllegalStateException("tick " + ticks.incrementAndGet());
            });
            eventually("five ticks", () -> heard.threw.size() >= 5);
            assertTrue(ticker.stop());
            assertTrue(heard.threw.stream().allMatch(n -> n.timer() == ticker));
        }
    }

    @Test
    void threw_listenerThrowsItself_goesToTheUncaughtHandler() {
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        IllegalArgumentException second = new IllegalArgumentException("listener");
        try (TimerScheduler s = oneWorker(new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
                throw second;
            }

            @Override
            public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
                throw new StackOverflowError("slow");
            }
        }).slowCallback(Duration.ZERO).threadFactory(handledBy((t, e) -> uncaught.add(e))).build()) {
            s.after(NOW, () -> {
                block(10_000);
                throw new IllegalStateException("callback");
            });
            runsOne(s);
            assertSame(second, uncaught.poll());
            assertEquals("slow", uncaught.poll().getMessage());
        }
    }

    @Test
    void threw_handlerThrowsToo_workerLivesOnAndTheHandlerIsNotCalledForThat() {
        Queue<Throwable> handled = new ConcurrentLinkedQueue<>();
        TimerScheduler.Builder builder = TimerScheduler.builder().workers(1).threadFactory(handledBy((t, e) -> {
            handled.add(e);
            throw new IllegalStateException("handler");
        }));
        IllegalStateException thrown = new IllegalStateException("callback");
        for (int i = 1; i <= 2; i++) { // without a listener, then with one that leaves it at the default
            try (TimerScheduler s = builder.build()) {
                s.after(NOW, () -> {
                    throw thrown;
                });
                runsOne(s);
                assertEquals(1, s.engine.workerPool.workers().length);
                assertEquals(Collections.nCopies(i, thrown), List.copyOf(handled));
            }
            builder.listener(new TimerListener() {});
        }
    }

    @Test
    void threw_noListener_goesToTheUncaughtHandlerOfTheWorker() {
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        Queue<Thread> on = new ConcurrentLinkedQueue<>();
        IllegalStateException thrown = new IllegalStateException("callback");
        try (TimerScheduler s = TimerScheduler.builder().workers(1).threadFactory(handledBy((t, e) -> {
            on.add(t);
            uncaught.add(e);
        })).build()) {
            s.after(NOW, () -> {
                throw thrown;
            });
            runsOne(s);
            assertSame(thrown, uncaught.poll());
            assertSame(s.engine.workerPool.workers()[0].runner(), on.poll());
            assertTrue(s.engine.workerPool.workers()[0].runner().isAlive());
        }
    }

    private static ThreadFactory handledBy(Thread.UncaughtExceptionHandler handler) {
        return r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler(handler);
            return t;
        };
    }

    // ---- slow ----

    @Test
    void slow_callbackOverThreshold_isHeardWithItsTime() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).slowCallback(Duration.ofMillis(20)).build()) {
            Timer t = s.after(NOW, () -> block(30_000_000));
            runsOne(s);
            assertSame(t, heard.slow.peek().timer());
            assertTrue((long) heard.slow.peek().what() >= 30_000_000);
            assertTrue(heard.slow.peek().lateness() >= 0);
            assertEquals(0, heard.threw.size());
        }
    }

    @Test
    void slow_callbackUnderThreshold_isNotHeard() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).slowCallback(Duration.ofMinutes(1)).build()) {
            s.after(NOW, () -> block(5_000_000));
            runsOne(s);
            assertEquals(0, heard.slow.size());
        }
    }

    @Test
    void slow_callbackThatAlsoThrows_bothAreHeard() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).slowCallback(Duration.ofMillis(1)).build()) {
            s.after(NOW, () -> {
                block(3_000_000);
                throw new IllegalStateException("late and wrong");
            });
            runsOne(s);
            assertEquals(1, heard.threw.size());
            assertTrue(heard.slow.size() >= 1);
        }
    }

    @Test
    void threw_listenerTakesLong_itsTimeIsNotTheCallbacks() {
        AtomicLong ahead = new AtomicLong();
        LifeFixtures.Heard heard = new LifeFixtures.Heard() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
                ahead.addAndGet(Duration.ofHours(1).toNanos());
                super.threw(timer, latenessNanos, thrown);
            }
        };
        try (TimerScheduler s = oneWorker(heard).slowCallback(Duration.ofMinutes(1))
                .clock(() -> System.nanoTime() + ahead.get()).build()) {
            s.after(NOW, () -> {
                throw new IllegalStateException("at once");
            });
            runsOne(s);
            assertEquals(1, heard.threw.size());
            assertEquals(List.of(), List.copyOf(heard.slow));
            assertTrue(s.stats().callbackNanos() < Duration.ofMinutes(1).toNanos(), () -> s.stats().toString());
        }
    }

    @Test
    void slow_clockThrowsWhenTheCallbackEnds_isNotMeasured() {
        AtomicBoolean throwsOnce = new AtomicBoolean();
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).monitor(false).slowCallback(Duration.ZERO)
                .threadFactory(handledBy((t, e) -> uncaught.add(e))).clock(() -> {
                    if (throwsOnce.compareAndSet(true, false)) {
                        throw new IllegalStateException("clock");
                    }
                    return System.nanoTime();
                }).build()) {
            s.after(NOW, () -> throwsOnce.set(true));
            eventually("the clock has thrown", () -> !uncaught.isEmpty());
            assertEquals(0, s.stats().callbacksMeasured());
            assertEquals(0, s.stats().callbackNanos());
        }
    }

    // ---- stalled ----

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void stalled_callbackBlocks_isHeardOncePerRunFromTheMonitor(int workers) {
        Queue<String> on = new ConcurrentLinkedQueue<>();
        LifeFixtures.Heard heard = new LifeFixtures.Heard() {
            @Override
            public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
                on.add(Thread.currentThread().getName());
                super.stalled(timer, latenessNanos, blockedNanos);
            }
        };
        try (TimerScheduler s = TimerScheduler.builder().name("stall").workers(workers).listener(heard)
                .stallAfter(Duration.ofMillis(5)).build()) {
            CountDownLatch returned = new CountDownLatch(1);
            Timer t = s.after(NOW, () -> {
                eventually("stall reported", () -> !heard.stalled.isEmpty());
                block(30_000_000); // long enough to be looked at again
                returned.countDown();
            });
            await(returned);
            runsOne(s);
            assertEquals(1, heard.stalled.size());
            assertSame(t, heard.stalled.peek().timer());
            assertTrue((long) heard.stalled.peek().what() >= 5_000_000);
            assertTrue(heard.stalled.peek().lateness() >= 0);
            assertEquals("pendula-stall-monitor", on.peek());
        }
    }

    /** The second callback follows on the first, so no arming thread finds a worker asleep and wakes the monitor. */
    @Test
    void stalled_nextOfAWorkerThatDoesNotSleepBetween_isHeard() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (TimerScheduler s = oneWorker(heard).name("next").stallAfter(Duration.ofMillis(5)).build()) {
            CountDownLatch second = new CountDownLatch(1);
            s.after(NOW, () -> {
                eventually("stall reported", () -> heard.stalled.size() == 1);
                Fixtures.awaitWaiting(LifeFixtures.threadsOf("next").stream()
                        .filter(t -> t.getName().endsWith("-monitor")).findAny().orElseThrow());
                s.after(NOW, () -> {
                    eventually("second stall reported", () -> heard.stalled.size() == 2);
                    second.countDown();
                });
            });
            await(second);
        }
    }

    @Test
    void stalled_listenerThrows_monitorLivesOn() {
        AtomicInteger stalls = new AtomicInteger();
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        try (TimerScheduler s = oneWorker(new TimerListener() {
            @Override
            public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
                stalls.incrementAndGet();
                throw new IllegalStateException("stalled");
            }
        }).stallAfter(Duration.ofMillis(5)).threadFactory(handledBy((t, e) -> uncaught.add(e))).build()) {
            for (int i = 1; i <= 2; i++) {
                int n = i;
                CountDownLatch heardOf = new CountDownLatch(1);
                s.after(NOW, () -> {
                    eventually("stall " + n, () -> stalls.get() == n);
                    heardOf.countDown();
                });
                await(heardOf);
            }
            eventually("both went to the handler", () -> uncaught.size() == 2);
        }
    }

    // ---- all threads are blocked ----

    @Test
    void allBlocked_lastThreadBlocksToo_isHeardOnceUntilOneIsFree() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        AtomicInteger readings = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().name("io").workers(2).maxThreads(3).listener(heard)
                .stallAfter(Duration.ofMillis(100)).clock(() -> {
                    if (Thread.currentThread().getName().endsWith("-monitor")) {
                        readings.incrementAndGet();
                    }
                    return System.nanoTime();
                }).build()) {
            List<CountDownLatch> releases = new ArrayList<>();
            for (int i = 1; i <= 2; i++) {
                releases.add(blocked(s));
                int n = i;
                eventually(n + " stalls", () -> heard.stalled.size() == n);
            }
            for (int i = 1; i <= 2; i++) { // it may happen again
                awaitLook(readings);
                assertEquals(i - 1, heard.allBlocked.size(), "a thread is free");
                int stalls = heard.stalled.size();
                int n = i;
                releases.add(blocked(s));
                eventually("all are blocked", () -> heard.allBlocked.size() == n);
                assertEquals(stalls + 1, heard.stalled.size());
                awaitLook(readings);
                assertEquals(n, heard.allBlocked.size(), "once");
                assertEquals(n, s.stats().allBlocked());
                releases.remove(releases.size() - 1).countDown();
                eventually("a thread is free", () -> s.stats().running() == 2);
            }
            LifeFixtures.Heard.News news = heard.allBlocked.peek();
            assertEquals("io", news.timer());
            assertEquals(3, news.lateness());
            assertTrue((long) news.what() >= 100_000_000, news::toString);
            releases.forEach(CountDownLatch::countDown);
        }
    }

    /** The monitor looks when the close has let all workers go but the one that is blocked. */
    @Test
    void allBlocked_freeWorkersHaveLeftAsTheSchedulerCloses_isNotHeard() throws Exception {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        AtomicBoolean holds = new AtomicBoolean();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Thread> monitor = new AtomicReference<>();
        TimerScheduler s = TimerScheduler.builder().workers(2).listener(heard).stallAfter(Duration.ofMillis(20)).clock(() -> {
            if (holds.get() && Thread.currentThread().getName().endsWith("-monitor")) {
                monitor.set(Thread.currentThread());
                held.countDown();
                await(go);
            }
            return System.nanoTime();
        }).build();
        CountDownLatch release = blocked(s);
        eventually("a stall", () -> heard.stalled.size() == 1);
        holds.set(true);
        await(held);
        s.shutdownNow();
        eventually("the others have left", () -> s.engine.workerPool.workers().length == 1);
        go.countDown();
        monitor.get().join(LifeFixtures.LOST_SECONDS * 1_000);
        release.countDown();
        s.close();
        assertEquals(0, heard.allBlocked.size());
        assertEquals(0, s.stats().allBlocked());
    }

    /** The monitor, which reads the clock twice for each of its looks, has looked at all workers. */
    private static void awaitLook(AtomicInteger readings) {
        int before = readings.get();
        eventually("the monitor looks", () -> readings.get() >= before + 4);
    }

    /** A callback that runs until the latch is let go. */
    private static CountDownLatch blocked(TimerScheduler s) {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch began = new CountDownLatch(1);
        s.after(NOW, () -> {
            began.countDown();
            await(release);
        });
        await(began);
        return release;
    }
}
