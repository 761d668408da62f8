package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Views end on their own and leave the scheduler and each other alone; a closed scheduler ends them all. */
@Timeout(60)
class ExecutorViewTest {
    private static final Runnable NOTHING = () -> {};
    private static final TimerListener QUIET = new TimerListener() {
        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {}
    };

    private static void awaitTermination(SchedulerExecutor view) throws InterruptedException {
        assertTrue(view.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
        assertTrue(view.isShutdown() && view.isTerminated());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_ofAView_leavesTheSchedulerAndOtherViews(boolean now) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            SchedulerExecutor ended = s.asScheduledExecutorService();
            SchedulerExecutor other = s.asScheduledExecutorService();
            Timer timer = s.after(Duration.ofHours(1), NOTHING);
            CountDownLatch ticks = new CountDownLatch(1_000);
            s.every(Duration.ofMillis(1), ticks::countDown);
            ScheduledFuture<?> theirs = other.schedule(NOTHING, 1, HOURS);
            ScheduledFuture<?> periodic = other.scheduleAtFixedRate(NOTHING, 1, 1, HOURS);
            ScheduledFuture<?> own = ended.schedule(NOTHING, 1, HOURS);
            ScheduledFuture<?> ownPeriodic = ended.scheduleWithFixedDelay(NOTHING, 1, 1, HOURS);
            if (now) {
                assertEquals(2, ended.shutdownNow().size());
                assertFalse(own.isDone());
                assertFalse(ownPeriodic.isDone() || ownPeriodic.isCancelled());
            } else {
                ended.shutdown();
                assertTrue(ownPeriodic.isDone() && ownPeriodic.isCancelled());
                assertFalse(ended.isTerminated());
                assertTrue(own.cancel(false));
            }
            awaitTermination(ended);
            assertThrows(RejectedExecutionException.class, () -> ended.execute(NOTHING));
            assertFalse(other.isShutdown() || s.isClosed());
            assertFalse(theirs.isDone() || periodic.isDone());
            assertTrue(timer.isPending());
            long before = ticks.getCount();
            LifeFixtures.eventually("it ticks on", () -> ticks.getCount() < before);
            assertEquals(1, other.schedule(() -> 1, 1, MILLISECONDS).get());
            assertEquals(3, other.shutdownNow().size() + (timer.stop() ? 1 : 0));
        }
    }

    @Test
    void close_ofTheScheduler_endsItsViews() throws Exception {
        TimerScheduler s = TimerScheduler.builder().workers(2).build();
        SchedulerExecutor busy = s.asScheduledExecutorService();
        SchedulerExecutor idle = s.asScheduledExecutorService();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        ScheduledFuture<String> running = busy.schedule(() -> {
            begun.countDown();
            LifeFixtures.await(go);
            return "ended";
        }, 0, HOURS);
        LifeFixtures.await(begun);
        List<ScheduledFuture<?>> waiting = List.of(busy.schedule(NOTHING, 1, HOURS), idle.schedule(NOTHING, 1, HOURS),
                busy.scheduleAtFixedRate(NOTHING, 1, 1, HOURS), idle.scheduleWithFixedDelay(NOTHING, 1, 1, HOURS));
        Thread closer = new Thread(s::close);
        closer.start();
        for (ScheduledFuture<?> f : waiting) {
            assertThrows(CancellationException.class, () -> f.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
        awaitTermination(idle);
        assertFalse(busy.isTerminated());
        assertThrows(RejectedExecutionException.class, () -> busy.execute(NOTHING));
        go.countDown();
        awaitTermination(busy);
        assertEquals("ended", running.get());
        Fixtures.join(closer);
        SchedulerExecutor late = s.asScheduledExecutorService();
        awaitTermination(late);
        assertThrows(RejectedExecutionException.class, () -> late.execute(NOTHING));
    }

    @Test
    void close_inATimersCallbackOfTheOnlyWorker_returnsAndItsTasksRunAfterwards() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            AtomicBoolean doneThen = new AtomicBoolean(true);
            AtomicReference<ScheduledFuture<?>> task = new AtomicReference<>();
            CountDownLatch closed = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                begun.countDown();
                LifeFixtures.await(go);
                view.close();
                doneThen.set(task.get().isDone());
                closed.countDown();
            });
            LifeFixtures.await(begun);
            task.set(view.schedule(() -> "ran", 1, MILLISECONDS));
            go.countDown();
            LifeFixtures.await(closed);
            assertFalse(doneThen.get());
            assertEquals("ran", task.get().get(Fixtures.PATIENCE_SECONDS, SECONDS));
            awaitTermination(view);
        }
    }

    @Test
    void close_byALoopsThreadInNoCallback_returnsAndItsTasksRunAfterwards() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            FutureTask<String> polling = new FutureTask<>(() -> {
                try (TimerLoop loop = s.attach(NOTHING)) {
                    SchedulerExecutor view = s.asScheduledExecutorService();
                    ScheduledFuture<String> task = view.schedule(() -> "ran", 0, SECONDS);
                    view.close();
                    assertTrue(view.isShutdown() && !view.isTerminated());
                    while (loop.runDue() == 0) {
                        Thread.onSpinWait();
                    }
                    assertTrue(view.isTerminated());
                    return task.get();
                }
            });
            Thread thread = new Thread(polling, "loop");
            thread.setDaemon(true);
            thread.start();
            assertEquals("ran", polling.get(LifeFixtures.LOST_SECONDS, SECONDS));
        }
    }

    @Test
    void shutdown_ofAViewOfTheSharedScheduler_endsTheViewAlone() throws Exception {
        SchedulerExecutor view = TimerScheduler.shared().asScheduledExecutorService();
        assertEquals(1, view.schedule(() -> 1, 1, MILLISECONDS).get());
        view.close();
        assertTrue(view.isTerminated());
        CountDownLatch ran = new CountDownLatch(1);
        TimerScheduler.shared().after(Duration.ZERO, ran::countDown);
        LifeFixtures.await(ran);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_besideManyTimersOfOthers_leavesThem(boolean now) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            SchedulerExecutor other = s.asScheduledExecutorService();
            List<ScheduledFuture<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                s.after(Duration.ofHours(1), NOTHING);
                other.schedule(NOTHING, 1, HOURS);
                if (i % 100 == 0) {
                    tasks.add(view.schedule(NOTHING, 1, HOURS));
                    tasks.add(view.scheduleAtFixedRate(NOTHING, 1, 1, HOURS));
                    tasks.add(view.scheduleWithFixedDelay(NOTHING, 1, 1, HOURS));
                }
            }
            view.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            if (now) {
                assertEquals(Set.copyOf(tasks), Set.copyOf(view.shutdownNow()));
            } else {
                view.shutdown();
            }
            tasks.forEach(f -> assertEquals(!now, f.isCancelled()));
            awaitTermination(view);
            assertEquals(20_000, s.pending());
        }
    }

    /** With a manual clock, as there no other thread ends, which would wake the one that waits. */
    @Test
    void awaitTermination_lastTaskOfAViewEnds_wakesTheThreadThatWaits() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            view.schedule(NOTHING, 1, HOURS);
            view.shutdown();
            FutureTask<Boolean> end = new FutureTask<>(() -> view.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS));
            Thread waiting = new Thread(end, "waiting");
            waiting.setDaemon(true);
            waiting.start();
            Fixtures.awaitTrue(() -> waiting.getState() == Thread.State.WAITING);
            clock.advance(Duration.ofHours(1));
            Fixtures.join(waiting);
            assertTrue(end.get());
        }
    }

    // ---- a view of which nothing waits ----

    /** What a view may have done before its end, so that nothing of it is left. */
    enum Use {
        NOTHING_AT_ALL {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {}
        },
        RUNS {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                view.execute(NOTHING);
                view.schedule(NOTHING, 1, MILLISECONDS);
                view.submit(() -> 1);
                view.submitWithTimeout(() -> 1, 1, HOURS, null);
                clock.advance(Duration.ofMillis(1));
            }
        },
        FAILURES {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                view.submit(() -> {
                    throw new IllegalStateException("meant");
                });
                view.scheduleAtFixedRate(() -> {
                    throw new IllegalStateException("meant");
                }, 1, 1, MILLISECONDS);
                clock.advance(Duration.ofMillis(3));
            }
        },
        CANCELLED_BEFORE_IT_IS_FILED {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                assertTrue(view.schedule(NOTHING, 1, HOURS).cancel(false));
                assertTrue(view.scheduleAtFixedRate(NOTHING, 1, 1, HOURS).cancel(true));
            }
        },
        CANCELLED_WHILE_IT_WAITS {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                ScheduledFuture<?> once = view.schedule(NOTHING, 1, HOURS);
                ScheduledFuture<?> periodic = view.scheduleWithFixedDelay(NOTHING, 1, 2, MILLISECONDS);
                clock.advance(Duration.ofMillis(10));
                assertTrue(once.cancel(true) && periodic.cancel(false));
                assertFalse(once.cancel(true) || periodic.cancel(false));
            }
        },
        CANCELLED_IN_ITS_RUN {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                AtomicReference<ScheduledFuture<?>> own = new AtomicReference<>();
                own.set(view.schedule(() -> own.get().cancel(false), 1, MILLISECONDS));
                clock.advance(Duration.ofMillis(1));
                own.set(view.scheduleAtFixedRate(() -> own.get().cancel(false), 1, 1, MILLISECONDS));
                clock.advance(Duration.ofMillis(1));
            }
        },
        REJECTED {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                ScheduledFuture<?> only = view.schedule(NOTHING, 1, HOURS);
                for (int i = 0; i < 3; i++) {
                    assertThrows(RejectedExecutionException.class, () -> view.execute(NOTHING));
                }
                assertTrue(only.cancel(false));
            }
        },
        ENDS_IN_ITS_OWN_TASK {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                view.execute(view::shutdown);
                clock.advance(Duration.ZERO);
            }
        },
        ENDS_IN_ITS_PERIODIC_TASK {
            @Override
            void of(SchedulerExecutor view, ManualClock clock) {
                ScheduledFuture<?> f = view.scheduleAtFixedRate(view::shutdownNow, 0, 1, MILLISECONDS);
                assertEquals(1, clock.advance(Duration.ofMillis(2)));
                assertTrue(f.isCancelled());
            }
        };

        abstract void of(SchedulerExecutor view, ManualClock clock);
    }

    @ParameterizedTest
    @EnumSource
    void shutdownNow_nothingOfItsOwnWaits_terminatesAtOnce(Use use) {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).maxPending(8).listener(QUIET).build()) {
            for (int i = 0; use == Use.REJECTED && i < 7; i++) { // so there is room for one
                s.after(Duration.ofHours(1), NOTHING);
            }
            SchedulerExecutor view = s.asScheduledExecutorService();
            use.of(view, clock);
            assertEquals(List.of(), view.shutdownNow());
            assertTrue(view.isTerminated());
        }
    }

    private static WeakReference<Object> rejected(SchedulerExecutor view) {
        Object payload = new Object();
        assertThrows(RejectedExecutionException.class, () -> view.execute(payload::hashCode));
        return new WeakReference<>(payload);
    }

    @Test
    void submissionIsRejected_leavesNothingBehind() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).maxPending(1).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            ScheduledFuture<?> only = view.schedule(NOTHING, 1, HOURS);
            for (int i = 0; i < 1_000; i++) {
                assertThrows(RejectedExecutionException.class, () -> view.execute(NOTHING));
            }
            Fixtures.awaitCollected(rejected(view));
            assertEquals(List.of(only), view.shutdownNow());
            assertTrue(view.isTerminated());
        }
    }

    // ---- with a clock that the test moves ----

    /** The numbers are exact here: how many runs of each kind a span of time brings, and in which order. */
    @Test
    void manualClock_oneShotsAndPeriodic_runWhenTheClockSaysSo() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            List<String> ran = new ArrayList<>();
            view.schedule(() -> ran.add("late"), 30, MILLISECONDS);
            view.schedule(() -> ran.add("early"), 10, MILLISECONDS);
            view.execute(() -> ran.add("now"));
            ScheduledFuture<?> cancelled = view.schedule(() -> ran.add("cancelled"), 20, MILLISECONDS);
            assertEquals(List.of(), ran);
            assertEquals(1, clock.advance(Duration.ZERO));
            assertTrue(cancelled.cancel(true));
            assertEquals(1, clock.advance(Duration.ofMillis(29)));
            assertEquals(List.of("now", "early"), ran);
            assertEquals(1, clock.advance(Duration.ofMillis(1)));
            assertEquals(List.of("now", "early", "late"), ran);

            int[] runs = new int[2];
            ScheduledFuture<?> rate = view.scheduleAtFixedRate(() -> runs[0]++, 5, 10, MILLISECONDS);
            ScheduledFuture<?> delay = view.scheduleWithFixedDelay(() -> runs[1]++, 0, 7, MILLISECONDS);
            clock.advance(Duration.ofMillis(100));
            assertEquals(10, runs[0]);
            assertEquals(15, runs[1]);
            assertEquals(5, rate.getDelay(MILLISECONDS));
            assertEquals(5, delay.getDelay(MILLISECONDS));
            view.shutdown();
            assertTrue(rate.isCancelled() && delay.isCancelled() && view.isTerminated());
            assertEquals(0, clock.advance(Duration.ofHours(1)));
        }
    }

    /** The flag was meant for the run, not for the thread that the application lends. */
    @Test
    void cancel_ownRunOnALoop_leavesNoInterruptFlag() {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            TimerLoop loop = s.attach(() -> { });
            AtomicReference<ScheduledFuture<?>> own = new AtomicReference<>();
            AtomicBoolean interrupted = new AtomicBoolean();
            own.set(s.asScheduledExecutorService().schedule(() -> {
                own.get().cancel(true);
                interrupted.set(Thread.currentThread().isInterrupted());
            }, 0, TimeUnit.NANOSECONDS));
            while (loop.runDue() == 0) {
                Thread.onSpinWait();
            }
            assertTrue(interrupted.get());
            assertFalse(Thread.interrupted());
            loop.close();
        }
    }
}
