package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.Claim;
import io.pendula.internal.engine.Call;
import io.pendula.internal.executor.ScheduledTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What other threads do between two steps of a task or of an executor, one step at a time. */
@Timeout(60)
class ExecutorStepsTest {
    private static final Runnable NOTHING = () -> {};

    private final AtomicInteger runs = new AtomicInteger();

    // ---- a task ----

    @Test
    void cancel_betweenTheClaimAndTheStart_doesNotRun() throws Throwable {
        Fixtures.Rig rig = new Fixtures.Rig(false);
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            ScheduledTask<Void> task = new ScheduledTask<>(rig.queue, runs::incrementAndGet,
                    new SchedulerExecutor(s.engine, false).tracker, 0, false);
            rig.queue.arm(task, 500);
            Claim run = rig.claim(500);
            assertNotNull(run);
            assertTrue(task.cancel(false));
            assertTrue(task.fire(run.task, run.deadline));
            rig.queue.endRun(task);
            assertEquals(0, runs.get());
            assertTrue(task.isCancelled());
        }
    }

    @Test
    void cancel_severalThreadsWait_allLeave() throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            ScheduledFuture<?> f = s.asScheduledExecutorService().schedule(NOTHING, 1, HOURS);
            List<Thread> waiters = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Thread t = new Thread(() -> assertThrows(CancellationException.class, f::get));
                t.setDaemon(true);
                waiters.add(t);
                t.start();
                Fixtures.awaitWaiting(t);
            }
            assertTrue(f.cancel(false));
            for (Thread t : waiters) {
                t.join(LifeFixtures.LOST_SECONDS * 1_000);
                assertFalse(t.isAlive(), "it waits on");
            }
        }
    }

    @Test
    void ended_cancelledOrNot_keepsNoTask() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            ScheduledTask<?> ran = (ScheduledTask<?>) view.schedule(NOTHING, 1, MILLISECONDS);
            ScheduledTask<?> cancelled = (ScheduledTask<?>) view.schedule(NOTHING, 2, MILLISECONDS);
            assertTrue(cancelled.cancel(false));
            clock.advance(Duration.ofMillis(2));
            assertNull(ran.work());
            assertNull(cancelled.work());
        }
    }

    /** It rests then as a task that has run to its end; but a periodic one never ends well. */
    @Test
    void periodic_schedulerIsClosedInItsRun_isCancelled() {
        ManualClock clock = new ManualClock();
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        Future<?> f = s.asScheduledExecutorService().scheduleAtFixedRate(() -> {
            runs.incrementAndGet();
            s.shutdownNow();
        }, 1, 1, MILLISECONDS);
        clock.advance(Duration.ofMillis(1));
        assertEquals(1, runs.get());
        assertTrue(f.isDone() && f.isCancelled());
        assertThrows(CancellationException.class, f::get);
    }

    /** Its scheduler is closed at one of the looks at the word while it is given back. */
    private static final class ClosedMeanwhile extends ScheduledTask<Integer> {
        private final Runnable close;
        private int looksUntilThen;

        ClosedMeanwhile(SchedulerExecutor view, Callable<Integer> task, Runnable close) {
            super(view.engine.currentQueue(), new Call(task), view.tracker, 0, false);
            this.close = close;
        }

        @Override
        public long wordVolatile() {
            long w = super.wordVolatile();
            if (looksUntilThen > 0 && --looksUntilThen == 0) {
                close.run();
            }
            return w;
        }
    }

    /** At the first look no shutdownNow() has it yet; at the second it has it, but has not stopped it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void giveBack_schedulerIsClosedMeanwhile_isGivenBackOrCancelledNeverBoth(int looks) throws Exception {
        TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).build();
        SchedulerExecutor view = s.asScheduledExecutorService();
        ClosedMeanwhile task = new ClosedMeanwhile(view, runs::incrementAndGet, s::shutdownNow);
        view.tracker.submit(task, HOURS.toNanos(1));
        task.looksUntilThen = looks;
        boolean isGivenBack = task.giveBack();
        assertEquals(0, task.looksUntilThen, "it was closed");
        assertEquals(looks == 2, isGivenBack);
        assertEquals(!isGivenBack, task.isCancelled());
        assertTrue(view.isTerminated());
        task.run();
        assertEquals(isGivenBack ? 1 : 0, runs.get());
        if (isGivenBack) {
            assertEquals(1, task.get());
        } else {
            assertThrows(CancellationException.class, task::get);
        }
    }

    // ---- an executor ----

    @Test
    void shutdown_lastTaskEnds_executorHasTerminated() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            view.schedule(runs::incrementAndGet, 1, MILLISECONDS);
            view.schedule(runs::incrementAndGet, 2, MILLISECONDS);
            view.shutdown();
            clock.advance(Duration.ofMillis(1));
            assertFalse(view.isTerminated());
            clock.advance(Duration.ofMillis(1));
            assertTrue(view.isTerminated());
            assertEquals(2, runs.get());
        }
    }

    @Test
    void shutdownNow_periodicWaits_isHandedBackNotCancelled() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            ScheduledFuture<?> f = view.scheduleAtFixedRate(runs::incrementAndGet, 1, 1, MILLISECONDS);
            assertEquals(List.of(f), view.shutdownNow());
            assertFalse(f.isDone() || f.isCancelled());
            clock.advance(Duration.ofMillis(3));
            assertEquals(0, runs.get());
        }
    }

    /** The listener is called when the callback has ended, and the run has not. */
    @Test
    void shutdownNow_periodicRunIsAboutToEnd_getWaitsForTheReceiver() throws Exception {
        List<Runnable> returned = new ArrayList<>();
        AtomicReference<SchedulerExecutor> executor = new AtomicReference<>();
        TimerListener listener = new TimerListener() {
            @Override
            public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
                returned.addAll(executor.get().shutdownNow());
            }
        };
        try (TimerScheduler s = TimerScheduler.builder().workers(0).clock(new AtomicLong()::incrementAndGet)
                .slowCallback(Duration.ZERO).listener(listener).build(); TimerLoop loop = s.attach(NOTHING)) {
            executor.set(s.asScheduledExecutorService());
            ScheduledFuture<?> f = executor.get().scheduleAtFixedRate(runs::incrementAndGet, 0, 1, HOURS);
            assertThrows(TimeoutException.class, () -> f.get(0, SECONDS)); // makes the latch that others wait at
            assertEquals(1, loop.runDue());
            assertEquals(List.of(f), returned);
            assertFalse(f.isDone());
            assertThrows(TimeoutException.class, () -> f.get(0, SECONDS));
            returned.get(0).run();
            assertTrue(f.isCancelled());
            assertThrows(CancellationException.class, f::get);
            assertTrue(executor.get().isTerminated());
            assertEquals(1, runs.get());
        }
    }

    @Test
    void shutdownNow_taskRuns_isInterrupted() {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1);
        pool.execute(() -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await(2 * LifeFixtures.LOST_SECONDS, SECONDS);
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
        });
        LifeFixtures.await(begun);
        assertEquals(List.of(), pool.shutdownNow());
        LifeFixtures.await(interrupted);
        pool.close();
    }

    /** The second call comes before the thread that has claimed the returned task finds that it must not call it. */
    @Test
    void shutdownNow_twiceBetweenAClaimAndItsCall_waitsOnlyForWhatRuns() throws Exception {
        Thread me = Thread.currentThread();
        AtomicReference<SchedulerExecutor> view = new AtomicReference<>();
        AtomicReference<SchedulerExecutor.Task<?>> task = new AtomicReference<>();
        List<List<Runnable>> returned = new ArrayList<>();
        NanoClock clock = () -> { // read before each call
            if (Thread.currentThread() == me && task.get() != null && !task.get().isPending() && returned.isEmpty()) {
                returned.add(view.get().shutdownNow());
                returned.add(view.get().shutdownNow());
            }
            return System.nanoTime();
        };
        TimerListener listener = new TimerListener() {
            @Override
            public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {}
        };
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean goes = new AtomicBoolean();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).clock(clock).slowCallback(Duration.ZERO)
                .listener(listener).build()) {
            view.set(s.asScheduledExecutorService());
            view.get().execute(() -> {
                begun.countDown();
                while (!goes.get()) { // whether interrupted or not
                    Thread.yield();
                }
            });
            LifeFixtures.await(begun);
            try (TimerLoop loop = s.attach(NOTHING)) {
                task.set((SchedulerExecutor.Task<?>) view.get().schedule(runs::incrementAndGet, 0, SECONDS));
                loop.runDue();
            }
            goes.set(true);
            assertEquals(List.of(List.of(task.get()), List.of()), returned);
            assertEquals(0, runs.get());
            assertTrue(view.get().awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
        }
    }

    /** Something happens when the submitting thread reads the time: it has found the executor open, and arms next. */
    private static final class SteppedClock implements NanoClock {
        private Runnable step;

        @Override
        public long nanoTime() {
            Runnable now = step;
            step = null;
            if (now != null) {
                now.run();
            }
            return System.nanoTime();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void submit_executorIsShutDownBeforeThePush_isRejectedAndLeavesNothing(boolean now) {
        SteppedClock clock = new SteppedClock();
        try (TimerScheduler s = TimerScheduler.builder().workers(0).clock(clock).build();
                TimerLoop loop = s.attach(NOTHING)) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            clock.step = now ? view::shutdownNow : view::shutdown;
            assertThrows(RejectedExecutionException.class, () -> view.schedule(NOTHING, 1, HOURS));
            assertTrue(view.isTerminated());
            assertEquals(0, s.pending());
            assertEquals(0, loop.runDue());
        }
    }

    /** The loop's hook is called when the task was pushed. Another task goes on, so the executor does not terminate. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void submit_executorIsShutDownAfterThePush_isRejectedIfTheTaskMayNotWait(boolean mayWait) {
        AtomicReference<Runnable> hook = new AtomicReference<>(NOTHING);
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build();
                TimerLoop loop = s.attach(() -> hook.getAndSet(NOTHING).run())) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            view.setExecuteExistingDelayedTasksAfterShutdownPolicy(mayWait);
            view.setContinueExistingPeriodicTasksAfterShutdownPolicy(true);
            view.scheduleAtFixedRate(NOTHING, 2, 2, HOURS);
            loop.nanosUntilNext();
            hook.set(view::shutdown);
            if (mayWait) {
                assertFalse(view.schedule(NOTHING, 1, SECONDS).isDone());
            } else {
                assertThrows(RejectedExecutionException.class, () -> view.schedule(NOTHING, 1, SECONDS));
            }
            assertTrue(view.isShutdown());
            assertFalse(view.isTerminated());
            assertEquals(mayWait ? 2 : 1, s.pending());
        }
    }
}
