package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a pool: what still runs, what is cancelled, what is handed back, and when it is over. */
class ContractShutdownTest extends ContractCase {
    /** What tasks throw is meant, and need not be printed. */
    private static final ThreadFactory QUIET = body -> {
        Thread t = new Thread(body);
        t.setUncaughtExceptionHandler((thread, e) -> {});
        return t;
    };

    private final AtomicInteger runs = new AtomicInteger();
    private final Runnable task = runs::incrementAndGet;

    private ScheduledFuture<?> periodic(ScheduledExecutorService pool, boolean rate, Runnable body, long first) {
        return rate ? pool.scheduleAtFixedRate(body, first, 1_000, MICROSECONDS)
                : pool.scheduleWithFixedDelay(body, first, 1_000, MICROSECONDS);
    }

    // ---- shutdown ----

    @Test
    void awaitTermination_terminatedAndCallerInterrupted_isTrueAndKeepsTheFlag() throws Exception {
        ScheduledExecutorService pool = pool();
        get(pool.submit(task));
        finish(pool);
        Thread.currentThread().interrupt();
        try {
            assertTrue(pool.awaitTermination(1, HOURS));
        } finally {
            assertTrue(Thread.interrupted(), "the flag is gone");
        }
    }

    @Test
    void shutdown_queuedAndDelayed_stillRunAtTheirTime() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        List<Future<?>> all = new ArrayList<>();
        long start = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            all.add(pool.submit(task));
            int delay = 2 * i;
            all.add(pool.schedule(() -> {
                assertTrue(System.nanoTime() - start >= MILLISECONDS.toNanos(delay), "early");
                task.run();
            }, delay, MILLISECONDS));
            pool.execute(task);
        }
        pool.shutdown();
        pool.shutdown();
        assertTrue(pool.isShutdown());
        assertFalse(pool.isTerminated());
        open(busy);
        awaitTermination(pool);
        assertEquals(30, runs.get());
        for (Future<?> f : all) {
            assertTrue(f.isDone() && !f.isCancelled());
            f.get();
        }
        busy.forEach(hold -> assertFalse(hold.interrupted, "shutdown interrupts nobody"));
        assertEquals(List.of(), pool.shutdownNow());
    }

    @Test
    void shutdown_delayedNotKept_areCancelledAtOnce() throws Exception {
        ScheduledExecutorService pool = pool();
        keepExistingDelayedTasks(pool, false);
        Hold hold = occupy(pool, 1).get(0);
        List<ScheduledFuture<?>> delayed = List.of(pool.schedule(task, 1, HOURS),
                pool.schedule(runs::incrementAndGet, 2, HOURS));
        pool.shutdown();
        for (Future<?> f : delayed) {
            assertTrue(f.isDone() && f.isCancelled());
        }
        assertFalse(pool.isTerminated());
        hold.open();
        awaitTermination(pool);
        assertEquals(0, runs.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicWaiting_isCancelledAtOnce(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> waiting = periodic(pool, rate, task, HOURS.toMicros(1));
        ScheduledFuture<?> endless = periodic(pool, rate, task, Long.MAX_VALUE);
        pool.shutdown();
        assertTrue(waiting.isCancelled() && endless.isCancelled());
        awaitTermination(pool);
        assertEquals(0, runs.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicRunning_endsItsRunInPeace(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            hold.run();
            task.run();
        }, 0);
        await(hold.begun);
        pool.shutdown();
        assertFalse(pool.isTerminated());
        hold.open();
        awaitTermination(pool);
        assertFalse(hold.interrupted);
        assertEquals(1, runs.get());
        assertTrue(f.isCancelled());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicRunning_isNotDoneBeforeItsRunEnds(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            hold.run();
            task.run();
        }, 0);
        await(hold.begun);
        pool.shutdown();
        assertNotDone(f);
        hold.open();
        assertThrows(CancellationException.class, () -> get(f));
        assertTrue(f.isDone() && f.isCancelled());
        awaitTermination(pool);
        assertEquals(1, runs.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicRunningThrows_itsFutureTells(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool(QUIET);
        Hold hold = hold();
        RuntimeException thrown = new IllegalStateException("meant");
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            hold.run();
            throw thrown;
        }, 0);
        await(hold.begun);
        pool.shutdown();
        hold.open();
        assertSame(thrown, assertThrows(ExecutionException.class, () -> get(f)).getCause());
        assertTrue(f.isDone() && !f.isCancelled());
        awaitTermination(pool);
    }

    /** Run after run, until one run meets the shutdown; a run that ends late leaves others that are due at once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicRunsBackToBack_endsWithTheRunInProgress(boolean rate) throws Exception {
        for (int round = 0; round < 40; round++) {
            ScheduledExecutorService pool = pool();
            CountDownLatch some = new CountDownLatch(3);
            AtomicInteger late = new AtomicInteger();
            AtomicBoolean over = new AtomicBoolean();
            Runnable body = () -> {
                if (over.get()) {
                    late.incrementAndGet();
                }
                some.countDown();
            };
            ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(body, 0, 1, NANOSECONDS)
                    : pool.scheduleWithFixedDelay(body, 0, 1, NANOSECONDS);
            await(some);
            pool.shutdown();
            over.set(true);
            assertThrows(CancellationException.class, () -> get(f));
            awaitTermination(pool);
            assertTrue(late.get() <= 1, "at most the run that was about to begin, but " + late);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicContinuedBeforeItsRunEnds_goesOn(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        CountDownLatch more = new CountDownLatch(3);
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            hold.run();
            more.countDown();
        }, 0);
        await(hold.begun);
        pool.shutdown();
        continueExistingPeriodicTasks(pool, true);
        hold.open();
        await(more);
        assertFalse(f.isDone() || pool.isTerminated());
        assertTrue(f.cancel(false));
        awaitTermination(pool);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicDueBehindBusyWorkers_isCancelledAtOnce(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        ScheduledFuture<?> f = periodic(pool, rate, task, 0);
        LifeFixtures.block(MILLISECONDS.toNanos(5));
        pool.shutdown();
        assertTrue(f.isDone() && f.isCancelled());
        open(busy);
        awaitTermination(pool);
        assertEquals(0, runs.get());
    }

    private void assertNotDone(Future<?> f) {
        assertFalse(f.isDone());
        assertFalse(f.isCancelled());
        assertThrows(TimeoutException.class, () -> f.get(1, MILLISECONDS));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdown_periodicContinued_goesOnUntilCancelled(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        continueExistingPeriodicTasks(pool, true);
        AtomicReference<CountDownLatch> more = new AtomicReference<>(new CountDownLatch(3));
        ScheduledFuture<?> f = periodic(pool, rate, () -> more.get().countDown(), 0);
        await(more.get());
        pool.shutdown();
        more.set(new CountDownLatch(10));
        await(more.get());
        assertFalse(f.isDone());
        assertFalse(pool.isTerminated());
        assertTrue(f.cancel(false));
        awaitTermination(pool);
    }

    @Test
    void policy_changedAfterShutdown_takesEffect() throws Exception {
        ScheduledExecutorService pool = pool();
        continueExistingPeriodicTasks(pool, true);
        ScheduledFuture<?> periodic = pool.scheduleAtFixedRate(task, 1, 1, HOURS);
        ScheduledFuture<?> delayed = pool.schedule(task, 1, HOURS);
        pool.shutdown();
        assertFalse(periodic.isDone() || delayed.isDone() || pool.isTerminated());
        continueExistingPeriodicTasks(pool, false);
        assertTrue(periodic.isCancelled());
        assertFalse(delayed.isDone() || pool.isTerminated());
        keepExistingDelayedTasks(pool, false);
        assertTrue(delayed.isCancelled());
        awaitTermination(pool);
        assertEquals(0, runs.get());
    }

    @Test
    void shutdown_lastDelayedIsCancelled_terminates() throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> a = pool.schedule(task, 1, HOURS);
        ScheduledFuture<?> b = pool.schedule(task, Long.MAX_VALUE, NANOSECONDS);
        pool.shutdown();
        assertTrue(a.cancel(false));
        assertFalse(pool.isTerminated());
        assertTrue(b.cancel(true));
        awaitTermination(pool);
    }

    @Test
    void shutdown_neverUsed_terminatesAtOnce() throws Exception {
        for (int i = 0; i < 50; i++) {
            ScheduledExecutorService pool = pool();
            if (i % 2 == 0) {
                pool.shutdown();
            } else {
                assertEquals(List.of(), pool.shutdownNow());
            }
            awaitTermination(pool);
        }
    }

    // ---- waiting for the end ----

    @Test
    void awaitTermination_tooShort_saysSoAndNotTooEarly() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = occupy(pool, 1).get(0);
        assertFalse(pool.awaitTermination(0, NANOSECONDS));
        assertFalse(pool.isShutdown() || pool.isTerminated());
        pool.shutdown();
        for (long timeout : new long[] {0, -1, Long.MIN_VALUE}) {
            assertFalse(pool.awaitTermination(timeout, HOURS));
        }
        long start = System.nanoTime();
        assertFalse(pool.awaitTermination(10, MILLISECONDS));
        assertTrue(System.nanoTime() - start >= MILLISECONDS.toNanos(10));
        assertTrue(pool.isShutdown());
        assertFalse(pool.isTerminated());
        hold.open();
        assertTrue(pool.awaitTermination(Long.MAX_VALUE, HOURS));
        assertTrue(pool.awaitTermination(0, NANOSECONDS));
        assertTrue(pool.isTerminated());
    }

    @Test
    void awaitTermination_manyWaiters_allSeeWhatTheTasksDid() throws Exception {
        ScheduledExecutorService pool = pool();
        int[] plain = new int[100];
        for (int i = 0; i < plain.length; i++) {
            int slot = i;
            pool.schedule(() -> {
                plain[slot] = 1;
            }, 50L * i, MICROSECONDS);
        }
        LifeFixtures.inParallel(3, n -> {
            pool.shutdown();
            awaitTermination(pool);
            for (int seen : plain) {
                assertEquals(1, seen);
            }
        });
    }

    @Test
    void awaitTermination_waiterInterrupted_throws() throws Exception {
        ScheduledExecutorService pool = pool();
        occupy(pool, 1);
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            try {
                pool.awaitTermination(1, HOURS);
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        waiter.start();
        waiter.interrupt();
        join(waiter);
        assertTrue(seen.get() instanceof InterruptedException, () -> "" + seen.get());
    }

    @Test
    void threads_afterTermination_end() throws Exception {
        if (subject.ownsThreads()) {
            List<Thread> made = Collections.synchronizedList(new ArrayList<>());
            ScheduledExecutorService pool = pool(body -> {
                Thread t = new Thread(body);
                made.add(t);
                return t;
            });
            open(occupyAll(pool));
            pool.schedule(task, 1, MILLISECONDS);
            finish(pool);
            assertEquals(1, runs.get());
            assertEquals(subject.workers(), made.size());
            for (Thread t : made) {
                join(t);
            }
        }
    }

    // ---- shutdownNow ----

    @Test
    void shutdownNow_running_areInterrupted() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        assertEquals(List.of(), pool.shutdownNow());
        assertTrue(pool.isShutdown());
        awaitTermination(pool);
        busy.forEach(hold -> assertTrue(hold.interrupted));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_waiting_areHandedBackAndNeverRun(boolean afterShutdown) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        Set<Object> waiting = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < 20; i++) {
            waiting.add(pool.submit(task));
            waiting.add(pool.submit(runs::incrementAndGet));
            waiting.add(pool.schedule(task, i, MILLISECONDS));
            waiting.add(pool.schedule(runs::incrementAndGet, i, HOURS));
            Future<?> cancelled = i % 2 == 0 ? pool.submit(task) : pool.schedule(task, 1, HOURS);
            assertTrue(cancelled.cancel(i % 4 == 0));
        }
        int unnamed = 3;
        for (int i = 0; i < unnamed; i++) {
            pool.execute(task);
        }
        if (afterShutdown) {
            pool.shutdown();
        }
        List<Runnable> returned = pool.shutdownNow();
        assertEquals(waiting.size() + unnamed, returned.size());
        Set<Object> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Runnable r : returned) {
            RunnableScheduledFuture<?> f = assertInstanceOf(RunnableScheduledFuture.class, r);
            assertFalse(f.isPeriodic() || f.isDone() || f.isCancelled());
            distinct.add(f);
        }
        assertEquals(returned.size(), distinct.size());
        assertTrue(distinct.containsAll(waiting));
        awaitTermination(pool);
        assertEquals(0, runs.get());
        busy.forEach(hold -> assertTrue(hold.interrupted));
        assertEquals(List.of(), pool.shutdownNow());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_periodicWaiting_isHandedBackAndNeverRunsAgain(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> f = periodic(pool, rate, task, HOURS.toMicros(1));
        List<Runnable> returned = pool.shutdownNow();
        assertEquals(1, returned.size());
        assertTrue(returned.get(0) == f);
        assertTrue(((RunnableScheduledFuture<?>) f).isPeriodic());
        assertNotDone(f);
        awaitTermination(pool);
        assertNotDone(f);
        assertEquals(0, runs.get());
        assertTrue(f.cancel(false));
        assertFalse(f.cancel(false));
        assertTrue(f.isDone() && f.isCancelled());
        assertThrows(CancellationException.class, () -> f.get(1, MILLISECONDS));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_periodicThatHasRun_isHandedBackNotDone(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        CountDownLatch ran = new CountDownLatch(1);
        ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(ran::countDown, 0, 1, HOURS)
                : pool.scheduleWithFixedDelay(ran::countDown, 0, 1, HOURS);
        await(ran);
        eventually("it waits for its next run", () -> f.getDelay(MINUTES) > 50);
        for (Hold hold : occupyAll(pool)) {
            hold.open(); // then the run has ended, to its last step
        }
        assertEquals(List.of(f), pool.shutdownNow());
        assertNotDone(f);
        awaitTermination(pool);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_periodicDueBehindBusyWorkers_isHandedBackNotDone(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        occupyAll(pool);
        ScheduledFuture<?> f = periodic(pool, rate, task, 0);
        LifeFixtures.block(MILLISECONDS.toNanos(5));
        assertEquals(List.of(f), pool.shutdownNow());
        assertNotDone(f);
        awaitTermination(pool);
        assertNotDone(f);
        assertEquals(0, runs.get());
        assertTrue(f.cancel(true));
        assertTrue(f.isDone() && f.isCancelled());
    }

    /** It has nowhere to be put back, so it does not run: it is cancelled. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_returnedPeriodicIsRun_isCancelledInstead(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> f = periodic(pool, rate, task, HOURS.toMicros(1));
        pool.shutdownNow().get(0).run();
        assertTrue(f.isDone() && f.isCancelled());
        awaitTermination(pool);
        assertEquals(0, runs.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_periodicRunning_isInterruptedAndEnds(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            task.run();
            hold.run();
        }, 0);
        await(hold.begun);
        assertEquals(List.of(), pool.shutdownNow());
        awaitTermination(pool);
        assertTrue(hold.interrupted);
        assertEquals(1, runs.get());
        assertTrue(f.isCancelled());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_periodicRunning_isNotDoneBeforeItsRunEnds(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        Hold deaf = hold();
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            hold.run();
            deaf.run();
            task.run();
        }, 0);
        await(hold.begun);
        assertEquals(List.of(), pool.shutdownNow());
        await(deaf.begun);
        assertTrue(hold.interrupted);
        assertNotDone(f);
        assertFalse(pool.isTerminated());
        deaf.open();
        assertThrows(CancellationException.class, () -> get(f));
        awaitTermination(pool);
        assertEquals(1, runs.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shutdownNow_periodicRunningThrows_itsFutureTells(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool(QUIET);
        Hold hold = hold();
        RuntimeException thrown = new IllegalStateException("meant");
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            hold.run();
            throw thrown;
        }, 0);
        await(hold.begun);
        assertEquals(List.of(), pool.shutdownNow());
        assertSame(thrown, assertThrows(ExecutionException.class, () -> get(f)).getCause());
        assertTrue(f.isDone() && !f.isCancelled());
        awaitTermination(pool);
    }

    // ---- from inside ----

    @Test
    void shutdown_insideATask_restStillRuns() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicBoolean terminated = new AtomicBoolean();
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch known = new CountDownLatch(1);
        Future<?> f = pool.schedule(() -> {
            await(known);
            pool.shutdown();
            terminated.set(pool.awaitTermination(5, MILLISECONDS) || pool.isTerminated());
            interrupted.set(Thread.currentThread().isInterrupted());
            return null;
        }, 2, MILLISECONDS);
        ScheduledFuture<?> later = pool.schedule(task, 20, MILLISECONDS);
        known.countDown();
        get(f);
        get(later);
        awaitTermination(pool);
        assertFalse(terminated.get(), "it cannot have ended while a task runs");
        assertFalse(interrupted.get());
        assertEquals(1, runs.get());
    }

    @Test
    void shutdownNow_insideATask_interruptsItTooAndTerminates() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicReference<List<Runnable>> returned = new AtomicReference<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch known = new CountDownLatch(1);
        pool.execute(() -> {
            await(known);
            returned.set(pool.shutdownNow());
            interrupted.set(Thread.interrupted());
        });
        ScheduledFuture<?> later = pool.schedule(task, 1, HOURS);
        known.countDown();
        awaitTermination(pool);
        assertEquals(List.of(later), returned.get());
        assertTrue(interrupted.get());
        assertEquals(0, runs.get());
    }
}
