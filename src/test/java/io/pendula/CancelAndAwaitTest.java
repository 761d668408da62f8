package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same rule on all handles. TimerTest has what is a timer's alone. */
@Timeout(60)
class CancelAndAwaitTest {
    private static final Duration LONG = Duration.ofDays(1);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();

    /** Each makes one that is due in a second. */
    enum Kind {
        TIMER {
            @Override
            TimerHandle make(TimerScheduler s, Runnable task) {
                return s.after(SECOND, task);
            }
        },
        TICKER {
            @Override
            TimerHandle make(TimerScheduler s, Runnable task) {
                return s.every(SECOND, task);
            }
        },
        TASK {
            @Override
            TimerHandle make(TimerScheduler s, Runnable task) {
                return TimerHandle.of(s.asScheduledExecutorService().schedule(task, SECOND));
            }
        },
        FIXED_RATE {
            @Override
            TimerHandle make(TimerScheduler s, Runnable task) {
                return TimerHandle.of(s.asScheduledExecutorService().scheduleAtFixedRate(task, SECOND, SECOND));
            }
        },
        FIXED_DELAY {
            @Override
            TimerHandle make(TimerScheduler s, Runnable task) {
                return TimerHandle.of(s.asScheduledExecutorService().scheduleWithFixedDelay(task, SECOND, SECOND));
            }
        };

        abstract TimerHandle make(TimerScheduler s, Runnable task);
    }

    private TimerScheduler scheduler() {
        return TimerScheduler.builder().clock(clock).build();
    }

    private static void block(CountDownLatch until) {
        try {
            Fixtures.await(until);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T call(Callable<T> call) {
        try {
            return call.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Thread start(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @ParameterizedTest
    @EnumSource
    void cancelAndAwait_notRunning_isTrueAtOnceAndForGood(Kind kind) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (TimerScheduler s = scheduler()) {
            TimerHandle t = kind.make(s, runs::incrementAndGet);
            assertTrue(t.cancelAndAwait(Duration.ZERO));
            assertTrue(t.cancelAndAwait(LONG));
            assertFalse(t.isPending());
            clock.advance(SECOND);
            assertEquals(0, runs.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelAndAwait_running_waitsForTheEnd(Kind kind) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        try (TimerScheduler s = scheduler()) {
            TimerHandle t = kind.make(s, () -> {
                inside.countDown();
                block(leave);
                runs.incrementAndGet();
            });
            Thread runner = start(() -> clock.advance(SECOND));
            Fixtures.await(inside);
            assertFalse(t.cancelAndAwait(Duration.ZERO));
            assertFalse(t.cancelAndAwait(Duration.ofMillis(1)));
            FutureTask<Integer> waits = new FutureTask<>(() -> t.cancelAndAwait(LONG) ? runs.get() : -1);
            Fixtures.awaitWaiting(start(waits));
            leave.countDown();
            assertEquals(1, waits.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
            Fixtures.join(runner);
            clock.advance(SECOND);
            assertEquals(1, runs.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelAndAwait_inOwnCallback_doesNotWait(Kind kind) {
        AtomicReference<TimerHandle> self = new AtomicReference<>();
        AtomicReference<Boolean> answer = new AtomicReference<>();
        try (TimerScheduler s = scheduler()) {
            self.set(kind.make(s, () -> answer.set(call(() -> self.get().cancelAndAwait(LONG)))));
            clock.advance(SECOND);
            assertEquals(false, answer.get());
            clock.advance(SECOND);
            assertFalse(self.get().isPending());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelAndAwait_interrupted_hasCancelledAllTheSame(Kind kind) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        try (TimerScheduler s = scheduler()) {
            TimerHandle t = kind.make(s, () -> {
                inside.countDown();
                block(leave);
            });
            Thread runner = start(() -> clock.advance(SECOND));
            Fixtures.await(inside);
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> t.cancelAndAwait(LONG));
            leave.countDown();
            Fixtures.join(runner);
            assertFalse(t.isPending());
        }
    }

    /** Real time, as both must be inside at once. Neither callback ends before both have their answers. */
    @ParameterizedTest
    @EnumSource
    void cancelAndAwait_twoThatWaitForEachOther_endAtTheirLimits(Kind kind) throws Exception {
        TimerHandle[] both = new TimerHandle[2];
        CyclicBarrier inside = new CyclicBarrier(2);
        CountDownLatch made = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(2);
        Boolean[] answers = new Boolean[2];
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            for (int i = 0; i < 2; i++) {
                int me = i;
                both[i] = kind.make(s, () -> {
                    block(made);
                    call(() -> inside.await(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
                    answers[me] = call(() -> both[1 - me].cancelAndAwait(Duration.ofMillis(20)));
                    answered.countDown();
                    block(answered);
                });
            }
            made.countDown();
            Fixtures.await(answered);
            assertEquals(List.of(false, false), Arrays.asList(answers));
            assertTrue(both[0].cancelAndAwait(LONG) & both[1].cancelAndAwait(LONG));
        }
    }

    @Test
    void cancelAndAwait_anAlarm_endsTheWaitsOfThreads() throws Exception {
        try (TimerScheduler s = scheduler()) {
            for (Alarm a : List.of(s.alarm(SECOND), s.alarmEvery(SECOND))) {
                clock.advance(SECOND);
                assertTrue(a.cancelAndAwait(Duration.ZERO));
                assertThrows(java.util.concurrent.CancellationException.class, a::await);
            }
        }
    }

    // ---- a task that was claimed, and is not called ----

    private final Queue<Runnable> executor = new ArrayDeque<>();

    @Test
    void cancelAndAwait_waitsInTheExecutor_isTrueAtOnceAndNeverCalled() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).executor(executor::add).build()) {
            TimerHandle t = Kind.TASK.make(s, runs::incrementAndGet);
            clock.advance(SECOND);
            assertTrue(t.cancelAndAwait(Duration.ZERO));
            executor.remove().run();
            assertEquals(0, runs.get());
        }
    }

    private RunnableScheduledFuture<?> givenBack(TimerScheduler s, Runnable task) {
        SchedulerExecutor view = s.asScheduledExecutorService();
        Future<?> f = view.schedule(task, SECOND);
        clock.advance(SECOND);
        assertEquals(List.of(f), view.shutdownNow());
        return (RunnableScheduledFuture<?>) f;
    }

    @Test
    void cancelAndAwait_givenBack_isTrueAtOnce() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).executor(executor::add).build()) {
            RunnableScheduledFuture<?> f = givenBack(s, () -> {});
            assertTrue(TimerHandle.of(f).cancelAndAwait(Duration.ZERO));
            assertTrue(f.isCancelled());
            executor.remove().run();
        }
    }

    @Test
    void cancelAndAwait_byWhatItsReceiverRuns_doesNotWait() {
        AtomicReference<RunnableScheduledFuture<?>> self = new AtomicReference<>();
        AtomicReference<Boolean> answer = new AtomicReference<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).executor(executor::add).build()) {
            self.set(givenBack(s, () -> answer.set(call(() -> TimerHandle.of(self.get()).cancelAndAwait(LONG)))));
            self.get().run();
            assertEquals(false, answer.get());
            executor.remove().run();
        }
    }

    // ---- the handle of a future ----

    @Test
    void of_aFutureOfAnExecutor_isItself() {
        try (TimerScheduler s = scheduler()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            for (Future<?> f : List.of(view.submit(() -> {}), view.submit(() -> 1), view.schedule(() -> 1, SECOND),
                    view.submitWithTimeout(() -> 1, 1, TimeUnit.SECONDS, null))) {
                assertSame(f, TimerHandle.of(f));
            }
        }
    }

    @Test
    void of_anotherFuture_isRefused() {
        assertEquals("a future of a SchedulerExecutor has a handle, but not a java.util.concurrent.FutureTask",
                assertThrows(IllegalArgumentException.class, () -> TimerHandle.of(new FutureTask<>(() -> 1)))
                        .getMessage());
        assertEquals("future must not be null",
                assertThrows(NullPointerException.class, () -> TimerHandle.of(null)).getMessage());
    }
}
