package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A limit for each run of an executor's tasks. */
@Timeout(60)
class RunTimeoutTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final AtomicReference<Thread> runner = new AtomicReference<>();
    private final LifeFixtures.Heard heard = new LifeFixtures.Heard() {
        @Override
        public void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {
            super.timedOut(timer, latenessNanos, ranNanos);
            runner.set(timer.runner());
        }
    };
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final TimerScheduler scheduler = limited();
    /** Its tasks run on {@link #threads}, and the test advances the clock beside them. */
    private final SchedulerExecutor view = scheduler.asScheduledExecutorService();
    private final Semaphore begun = new Semaphore(0);
    /** That of the last run. */
    private volatile Thread blocked;

    /** No builder with a clock has the limit. */
    private TimerScheduler limited() {
        TimerScheduler.Builder b = TimerScheduler.builder().clock(clock).listener(heard).executor(threads);
        b.options.runNanos = SECOND.toNanos();
        return b.build();
    }

    @AfterEach
    void close() {
        threads.shutdownNow(); // first, as a run that nothing has interrupted would keep the close waiting
        scheduler.close();
    }

    /** Blocks until it is interrupted. */
    private Object block() throws InterruptedException {
        blocked = Thread.currentThread();
        begun.release();
        new CountDownLatch(1).await();
        return "never";
    }

    private void blockAndThrow() {
        try {
            block();
        } catch (InterruptedException e) {
            throw new IllegalStateException("ended", e);
        }
    }

    private void advanceOnceItBlocks(Duration time) throws InterruptedException {
        begun.acquire();
        clock.advance(time);
    }

    @Test
    void run_longerThanTheLimit_isInterruptedAndTheFutureHasWhatItThrows() throws Exception {
        Callable<Object> task = this::block;
        Future<Object> f = view.schedule(task, SECOND);
        clock.advance(SECOND);
        advanceOnceItBlocks(SECOND.minusNanos(1));
        assertFalse(f.isDone());
        assertEquals(0, heard.timedOut.size());
        assertEquals(1, scheduler.pendingByTask().get(task.getClass()));
        assertSame(task, ((TimerHandle) f).task());

        clock.advance(Duration.ofNanos(1));

        assertEquals(InterruptedException.class, assertThrows(ExecutionException.class, f::get).getCause().getClass());
        assertFalse(f.isCancelled());
        assertEquals(new LifeFixtures.Heard.News(f, 0, SECOND.toNanos()), heard.timedOut.poll());
        assertEquals(0, heard.timedOut.size());
        assertEquals(0, heard.threw.size());
        assertSame(blocked, runner.get());
        assertEquals(1, scheduler.stats().callbacksTimedOut());
        assertEquals(0, scheduler.pending());
    }

    @Test
    void run_returnsAfterTheInterrupt_theFutureHasItsValue() throws Exception {
        Future<Object> f = view.submit(() -> {
            assertThrows(InterruptedException.class, this::block);
            return "late";
        });
        clock.advance(Duration.ZERO);
        advanceOnceItBlocks(SECOND);
        assertEquals("late", f.get());
    }

    @Test
    void run_inTime_leavesNothing() throws Exception {
        Future<String> f = view.submit(() -> "quick");
        clock.advance(Duration.ZERO);
        assertEquals("quick", f.get());
        assertEquals(0, scheduler.pending());
        clock.advance(SECOND);
        assertEquals(0, heard.timedOut.size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void periodicTask_runIsInterruptedAndThrows_goesOn(boolean isFixedRate) throws Exception {
        ScheduledFuture<?> f = isFixedRate ? view.scheduleAtFixedRate(this::blockAndThrow, Duration.ZERO, SECOND.multipliedBy(3))
                : view.scheduleWithFixedDelay(this::blockAndThrow, Duration.ZERO, SECOND.multipliedBy(2));
        for (int i = 1; i <= 3; i++) {
            clock.advance(i == 1 ? Duration.ZERO : SECOND.multipliedBy(2));
            advanceOnceItBlocks(SECOND);
            int runs = i;
            eventually("it is told", () -> heard.threw.size() == runs && scheduler.pending() == 1);
            assertEquals(runs, heard.timedOut.size());
            assertFalse(f.isDone());
        }
        assertTrue(heard.threw.stream().allMatch(n -> n.timer() == f && ((Throwable) n.what()).getMessage().equals("ended")));
        assertTrue(f.cancel(false));
    }

    @Test
    void periodicTask_throwsInTime_ends() {
        ScheduledFuture<?> f = view.scheduleAtFixedRate(() -> {
            throw new IllegalStateException("in time");
        }, SECOND, SECOND);
        clock.advance(SECOND);
        assertEquals("in time", assertThrows(ExecutionException.class, f::get).getCause().getMessage());
        assertEquals(1, heard.threw.size());
    }

    @Test
    void cancelOfARun_beforeTheLimit_interruptsAndLeavesNothing() throws Exception {
        Future<Object> f = view.submit(this::block);
        clock.advance(Duration.ZERO);
        begun.acquire();
        assertTrue(f.cancel(true));
        eventually("the limit is gone", () -> scheduler.pending() == 0);
        clock.advance(SECOND);
        assertEquals(0, heard.timedOut.size());
        assertFalse(blocked.isInterrupted());
    }

    @Test
    void submitWithTimeout_hasBothLimits() throws Exception {
        Future<Object> f = view.submitWithTimeout(this::block, 10, TimeUnit.SECONDS, null);
        clock.advance(Duration.ZERO);
        advanceOnceItBlocks(SECOND);
        assertThrows(ExecutionException.class, f::get);
        assertEquals(1, heard.timedOut.size());
        eventually("the other limit is cancelled, after the future is done", () -> scheduler.pending() == 0);
    }

    // ---- pools ----

    /** The only thread is blocked, so another scheduler's has to interrupt it. */
    @Test
    void pool_allThreadsBlocked_areInterruptedNotEarlyAndRunTheNextTask() throws Exception {
        AtomicInteger decorated = new AtomicInteger();
        try (SchedulerExecutor pool = TimerExecutors.builder().runTimeout(Duration.ofMillis(50)).listener(heard).decorate(task -> {
            decorated.incrementAndGet();
            return task;
        }).build()) {
            long begin = System.nanoTime();
            Future<Object> f = pool.submit(this::block);
            Future<Boolean> next = pool.submit(Thread::interrupted);
            assertThrows(ExecutionException.class, f::get);
            assertTrue(System.nanoTime() - begin >= 50_000_000);
            assertFalse(next.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
            assertSame(f, heard.timedOut.poll().timer());
            assertEquals(0, heard.timedOut.size());
            assertEquals(1, pool.stats().callbacksTimedOut());
            pool.execute(this::blockAndThrow);
            eventually("told", () -> heard.threw.size() == 1);
            assertEquals(3, decorated.get());
        }
    }

    @Test
    void pool_withoutALimit_hasTheTaskItself() {
        Runnable task = () -> {};
        try (SchedulerExecutor pool = TimerExecutors.builder().build()) {
            Future<?> f = pool.schedule(task, 1, TimeUnit.HOURS);
            assertSame(task, Fixtures.node(f).work());
            f.cancel(false);
        }
    }

    @Test
    void runTimeout_wrongArguments_areNamed() {
        TimerExecutors.Builder b = TimerExecutors.builder();
        assertEquals("limit must not be null",
                assertThrows(NullPointerException.class, () -> b.runTimeout(null)).getMessage());
        assertEquals("limit must be positive, but is PT0S",
                assertThrows(IllegalArgumentException.class, () -> b.runTimeout(Duration.ZERO)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> b.runTimeout(Duration.ofNanos(-1)));
    }
}
