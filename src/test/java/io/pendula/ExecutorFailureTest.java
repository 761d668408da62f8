package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.executor.ScheduledTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A step of an executor fails: the others are done all the same, or by the next call. */
@Timeout(60)
class ExecutorFailureTest {
    private static final Runnable NOTHING = () -> {};
    private static final long HOUR = HOURS.toNanos(1);

    private final ManualClock clock = new ManualClock();
    private final AtomicInteger runs = new AtomicInteger();

    /** A task of this class has failed. */
    private boolean hasFailed;

    /** One of its steps fails, of the first task that comes to it. */
    private final class Fails extends ScheduledTask<Void> {
        private final String step;

        Fails(SchedulerExecutor executor, Runnable task, long period, String step) {
            super(executor.engine.queues[0], task, executor.tracker, period, false);
            this.step = step;
        }

        private void at(String reached) {
            if (!hasFailed && reached.equals(step)) {
                hasFailed = true;
                throw new OutOfMemoryError("the test allows no more memory");
            }
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            at("cancel");
            return super.cancel(mayInterruptIfRunning);
        }

        @Override
        protected void settled() {
            at("settled");
        }
    }

    // ---- a shutdown ----

    @Test
    void shutdown_failsBeforeItCancelsWhatItRefuses_shutdownNowDoes() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            Fails task = view.tracker.submit(new Fails(view, NOTHING, HOUR, "cancel"), HOUR);
            assertThrows(OutOfMemoryError.class, view::shutdown);
            assertFalse(task.isDone());
            assertEquals(List.of(), view.shutdownNow());
            assertTrue(task.isCancelled());
            assertTrue(view.isTerminated());
        }
    }

    @Test
    void shutdownNow_failsAtATaskThatAShutdownWaitsFor_theNextOneTerminates() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            Fails task = view.tracker.submit(new Fails(view, NOTHING, 0, "settled"), HOUR);
            view.shutdown();
            assertThrows(OutOfMemoryError.class, view::shutdownNow);
            assertEquals(List.of(task), view.shutdownNow());
            assertTrue(view.isTerminated());
        }
    }

    @Test
    void shutdownNow_failsAtATaskJustGivenBack_theNextCallReturnsIt() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            Set<Future<?>> tasks = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                tasks.add(view.tracker.submit(new Fails(view, runs::incrementAndGet, 0, "settled"), 10));
            }
            assertThrows(OutOfMemoryError.class, view::shutdownNow, "at the first");
            clock.advance(Duration.ofNanos(10)); // the others are claimed
            List<Runnable> returned = view.shutdownNow();
            assertEquals(1, returned.size());
            tasks.removeIf(Future::isCancelled);
            assertEquals(tasks, Set.copyOf(returned));
            assertTrue(view.isTerminated());
            returned.forEach(Runnable::run);
            assertEquals(1, runs.get());
        }
    }

    @Test
    void shutdownNow_failsAndATaskIsCancelledThen_isNotReturned() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(view.schedule(NOTHING, 1, HOURS));
            }
            view.tracker.unstarted = new ShortList<>(2);
            assertThrows(OutOfMemoryError.class, view::shutdownNow);
            all.forEach(f -> assertTrue(f.cancel(false)));
            view.tracker.unstarted = new ArrayList<>(view.tracker.unstarted);
            assertEquals(List.of(), view.shutdownNow());
            assertTrue(view.isTerminated());
        }
    }

    /** What is asked of the policy fails when the task is claimed. */
    @Test
    void claim_admissionFails_taskIsDoneWithThat() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            boolean[] fails = new boolean[1];
            ScheduledTask<Void> task = view.tracker.submit(new ScheduledTask<>(view.engine.queues[0], runs::incrementAndGet,
                    view.tracker, 0, false) {
                @Override
                public boolean isPeriodic() {
                    if (fails[0]) {
                        throw new StackOverflowError("the test allows no more stack");
                    }
                    return super.isPeriodic();
                }
            }, HOUR);
            view.shutdown();
            fails[0] = true;
            clock.advance(Duration.ofHours(1));
            assertTrue(task.isDone());
            assertInstanceOf(StackOverflowError.class, assertThrows(ExecutionException.class, task::get).getCause());
            assertEquals(0, runs.get());
            assertTrue(view.isTerminated());
        }
    }

    @Test
    void close_interruptedAndItsShutdownNowFails_flagIsSetAllTheSame() throws Exception {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1);
        pool.schedule(NOTHING, 1, HOURS);
        pool.tracker.unstarted = new ShortList<>(0);
        Thread.currentThread().interrupt();
        assertThrows(OutOfMemoryError.class, pool::close);
        assertTrue(Thread.interrupted());
        pool.tracker.unstarted = new ArrayList<>();
        assertEquals(1, pool.shutdownNow().size());
        assertTrue(pool.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
    }

    // ---- threads that refuse to be interrupted ----

    private static SchedulerExecutor poolOfStubborn(int threads) {
        return TimerExecutors.newScheduledThreadPool(threads, body -> {
            Thread t = new LifeFixtures.Uninterruptible(body, 0);
            t.setDaemon(true);
            return t;
        });
    }

    /** Without a limit, as its end would wake a thread that nothing else has woken. */
    private static Future<?> blocked(SchedulerExecutor pool, CountDownLatch go) {
        CountDownLatch begun = new CountDownLatch(1);
        Future<?> task = pool.submit(() -> {
            begun.countDown();
            go.await();
            return null;
        });
        LifeFixtures.await(begun);
        return task;
    }

    @Test
    void shutdownNow_interruptsThrow_eachIsToldAndTheListReturned() throws Exception {
        SchedulerExecutor pool = poolOfStubborn(2);
        CountDownLatch go = new CountDownLatch(1);
        Future<?> first = blocked(pool, go);
        Future<?> second = blocked(pool, go);
        Future<?> waiting = pool.schedule(NOTHING, 1, HOURS);
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        List<Runnable> returned = new ArrayList<>();
        Thread closer = new Thread(() -> returned.addAll(pool.shutdownNow()));
        closer.setUncaughtExceptionHandler((thread, e) -> told.add(e));
        closer.start();
        closer.join();
        assertEquals(List.of(waiting), returned);
        assertEquals(2, told.size(), told::toString);
        told.forEach(e -> assertInstanceOf(SecurityException.class, e));
        go.countDown();
        first.get(Fixtures.PATIENCE_SECONDS, SECONDS);
        second.get(Fixtures.PATIENCE_SECONDS, SECONDS);
        assertTrue(pool.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
    }

    @Test
    void cancel_interruptThrows_threadsThatWaitAreWokenAllTheSame() throws Exception {
        SchedulerExecutor pool = poolOfStubborn(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<?> task = blocked(pool, go);
        CountDownLatch woken = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            assertThrows(CancellationException.class, task::get);
            woken.countDown();
        });
        waiter.start();
        LifeFixtures.eventually("it waits", () -> String.valueOf(LockSupport.getBlocker(waiter)).contains("CountDownLatch"));
        assertThrows(SecurityException.class, () -> task.cancel(true));
        assertTrue(task.isCancelled());
        LifeFixtures.await(woken);
        go.countDown();
        pool.close();
    }
}
