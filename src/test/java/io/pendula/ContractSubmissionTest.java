package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which submissions are taken, which are refused, and that a refused one leaves nothing behind. */
class ContractSubmissionTest extends ContractCase {
    private final AtomicInteger runs = new AtomicInteger();

    private final Runnable runnable = runs::incrementAndGet;
    private final Callable<Integer> callable = runs::incrementAndGet;

    @Test
    void submit_eachForm_givesItsResult() throws Exception {
        ScheduledExecutorService pool = pool();
        CountDownLatch executed = new CountDownLatch(1);
        pool.execute(executed::countDown);
        await(executed);
        assertNull(get(pool.submit(NOTHING)));
        assertEquals("given", get(pool.submit(NOTHING, "given")));
        assertEquals("called", get(pool.submit(() -> "called")));
        assertNull(get(pool.submit(() -> null)));
        assertNull(get(pool.schedule(NOTHING, 1, MILLISECONDS)));
        assertEquals("later", get(pool.schedule(() -> "later", 1, MILLISECONDS)));
        assertIdle(pool);
    }

    @Test
    void submit_eachForm_returnsAScheduledFuture() throws Exception {
        ScheduledExecutorService pool = pool();
        for (Future<?> f : List.of(pool.submit(NOTHING), pool.submit(NOTHING, 1), pool.submit(() -> 1))) {
            ScheduledFuture<?> scheduled = assertInstanceOf(ScheduledFuture.class, f);
            assertTrue(scheduled.getDelay(NANOSECONDS) <= 0);
            get(f);
        }
    }

    @Test
    void submit_null_throwsAndQueuesNothing() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Executable> calls = List.of(
                () -> pool.execute(null),
                () -> pool.submit((Runnable) null),
                () -> pool.submit(null, "result"),
                () -> pool.submit((Callable<?>) null),
                () -> pool.schedule((Runnable) null, 0, MILLISECONDS),
                () -> pool.schedule((Callable<?>) null, 0, MILLISECONDS),
                () -> pool.schedule(runnable, 0, null),
                () -> pool.schedule(callable, 0, null),
                () -> pool.scheduleAtFixedRate(null, 0, 1, MILLISECONDS),
                () -> pool.scheduleAtFixedRate(runnable, 0, 1, null),
                () -> pool.scheduleWithFixedDelay(null, 0, 1, MILLISECONDS),
                () -> pool.scheduleWithFixedDelay(runnable, 0, 1, null),
                () -> pool.invokeAll(null),
                () -> pool.invokeAll(null, 1, MILLISECONDS),
                () -> pool.invokeAll(Arrays.asList((Callable<Integer>) null)),
                () -> pool.invokeAll(Arrays.asList((Callable<Integer>) null), 1, MILLISECONDS),
                () -> pool.invokeAll(List.of(callable), 1, null),
                () -> pool.invokeAny(null),
                () -> pool.invokeAny(null, 1, MILLISECONDS),
                () -> pool.invokeAny(Arrays.asList((Callable<Integer>) null)),
                () -> pool.invokeAny(List.of(callable), 1, null));
        for (Executable call : calls) {
            assertThrows(NullPointerException.class, call);
        }
        assertIdle(pool);
        assertEquals(0, runs.get());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void schedulePeriodic_periodNotPositive_throwsAndQueuesNothing(long period) throws Exception {
        ScheduledExecutorService pool = pool();
        for (TimeUnit unit : TimeUnit.values()) {
            assertThrows(IllegalArgumentException.class, () -> pool.scheduleAtFixedRate(runnable, 0, period, unit));
            assertThrows(IllegalArgumentException.class, () -> pool.scheduleWithFixedDelay(runnable, 0, period, unit));
        }
        assertIdle(pool);
        assertEquals(0, runs.get());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void schedule_noDelayInAnyUnit_runsSoon(long delay) throws Exception {
        ScheduledExecutorService pool = pool();
        for (TimeUnit unit : TimeUnit.values()) {
            get(pool.schedule(runnable, delay, unit));
            get(pool.schedule(callable, delay, unit));
            for (boolean rate : new boolean[] {true, false}) {
                CountDownLatch ran = new CountDownLatch(1);
                ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(ran::countDown, delay, 1, HOURS)
                        : pool.scheduleWithFixedDelay(ran::countDown, delay, 1, HOURS);
                await(ran);
                assertTrue(f.cancel(false));
            }
        }
        finish(pool);
        assertEquals(2 * TimeUnit.values().length, runs.get());
    }

    @ParameterizedTest
    @EnumSource(TimeUnit.class)
    void schedule_endlessDelayInAnyUnit_neverRunsAndHarmsNobody(TimeUnit unit) throws Exception {
        ScheduledExecutorService pool = pool();
        List<ScheduledFuture<?>> never = List.of(
                pool.schedule(runnable, Long.MAX_VALUE, unit),
                pool.schedule(callable, Long.MAX_VALUE, unit),
                pool.scheduleAtFixedRate(runnable, Long.MAX_VALUE, 1, unit),
                pool.scheduleAtFixedRate(runnable, Long.MAX_VALUE, Long.MAX_VALUE, unit),
                pool.scheduleWithFixedDelay(runnable, Long.MAX_VALUE, 1, unit),
                pool.scheduleWithFixedDelay(runnable, Long.MAX_VALUE, Long.MAX_VALUE, unit));
        for (int i = 0; i < 3; i++) {
            get(pool.submit(NOTHING));
            get(pool.schedule(NOTHING, 500 * i, TimeUnit.MICROSECONDS));
        }
        for (ScheduledFuture<?> f : never) {
            assertFalse(f.isDone());
            assertTrue(f.getDelay(TimeUnit.DAYS) > 365 * 10, () -> "in " + f.getDelay(TimeUnit.DAYS) + " days");
            assertTrue(f.cancel(false));
        }
        assertIdle(pool);
        assertEquals(0, runs.get());
    }

    @ParameterizedTest
    @EnumSource(TimeUnit.class)
    void schedulePeriodic_endlessPeriodInAnyUnit_runsOnce(TimeUnit unit) throws Exception {
        for (boolean rate : new boolean[] {true, false}) {
            ScheduledExecutorService pool = pool();
            CountDownLatch ran = new CountDownLatch(1);
            Runnable task = () -> {
                runs.incrementAndGet();
                ran.countDown();
            };
            ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(task, 0, Long.MAX_VALUE, unit)
                    : pool.scheduleWithFixedDelay(task, 0, Long.MAX_VALUE, unit);
            await(ran);
            eventually("the next run is far away", () -> f.getDelay(TimeUnit.DAYS) > 365 * 10);
            get(pool.schedule(NOTHING, 1, MILLISECONDS));
            assertFalse(f.isDone());
        }
        assertEquals(2, runs.get());
    }

    @Test
    void schedule_noDelay_neverRunsInsideTheCall() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicBoolean calling = new AtomicBoolean();
        AtomicBoolean nested = new AtomicBoolean();
        List<Future<?>> inner = new ArrayList<>();
        get(pool.submit(() -> {
            Thread worker = Thread.currentThread();
            calling.set(true);
            for (long delay : new long[] {0, -1, Long.MIN_VALUE}) {
                inner.add(pool.schedule(() -> {
                    if (calling.get() && Thread.currentThread() == worker) {
                        nested.set(true);
                    }
                }, delay, NANOSECONDS));
            }
            calling.set(false);
        }));
        for (Future<?> f : inner) {
            get(f);
        }
        assertFalse(nested.get());
    }

    @Test
    void submit_eachForm_runsOnAWorker() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicReference<Thread> runner = new AtomicReference<>();
        CountDownLatch executed = new CountDownLatch(1);
        pool.execute(() -> {
            runner.set(Thread.currentThread());
            executed.countDown();
        });
        await(executed);
        assertNotSame(Thread.currentThread(), runner.get());
        assertNotSame(Thread.currentThread(), get(pool.submit(Thread::currentThread)));
        assertNotSame(Thread.currentThread(), get(pool.schedule(Thread::currentThread, -1, HOURS)));
    }

    private List<Executable> submissions(ScheduledExecutorService pool) {
        return List.of(
                () -> pool.execute(runnable),
                () -> pool.submit(runnable),
                () -> pool.submit(runnable, "result"),
                () -> pool.submit(callable),
                () -> pool.schedule(runnable, 0, MILLISECONDS),
                () -> pool.schedule(callable, 0, MILLISECONDS),
                () -> pool.schedule(runnable, 1, MILLISECONDS),
                () -> pool.schedule(callable, Long.MAX_VALUE, MILLISECONDS),
                () -> pool.scheduleAtFixedRate(runnable, 0, 1, MILLISECONDS),
                () -> pool.scheduleWithFixedDelay(runnable, 0, 1, MILLISECONDS),
                () -> pool.invokeAll(List.of(callable)),
                () -> pool.invokeAll(List.of(callable), 1, HOURS),
                () -> pool.invokeAny(List.of(callable)),
                () -> pool.invokeAny(List.of(callable), 1, HOURS));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void submit_afterShutdown_isRejected(boolean now) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        if (now) {
            pool.shutdownNow();
        } else {
            pool.shutdown();
        }
        for (Executable submission : submissions(pool)) {
            assertThrows(RejectedExecutionException.class, submission, "while a task may still run");
        }
        open(busy);
        awaitTermination(pool);
        for (Executable submission : submissions(pool)) {
            assertThrows(RejectedExecutionException.class, submission, "when all has ended");
        }
        assertEquals(0, runs.get());
    }

    @Test
    void submit_nullAfterShutdown_isStillANullPointer() {
        ScheduledExecutorService pool = pool();
        pool.shutdown();
        assertThrows(NullPointerException.class, () -> pool.execute(null));
        assertThrows(NullPointerException.class, () -> pool.schedule((Runnable) null, 1, HOURS));
    }
}
