package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ContractSubjects.PendulaOnly;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where {@link SchedulerExecutor} promises more than the JDK's pool, or something else. */
class ExecutorPromisesTest extends ContractCase implements PendulaOnly {
    private final AtomicInteger runs = new AtomicInteger();
    private final Runnable task = runs::incrementAndGet;

    private SchedulerExecutor ours() {
        return (SchedulerExecutor) pool();
    }

    private static ScheduledFuture<?> periodic(ScheduledExecutorService pool, boolean rate, Runnable body, long first) {
        return rate ? pool.scheduleAtFixedRate(body, first, 1_000, MICROSECONDS)
                : pool.scheduleWithFixedDelay(body, first, 1_000, MICROSECONDS);
    }

    // ---- what a task throws ----

    private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();

    private ScheduledExecutorService listeningPool() {
        return pool(body -> {
            Thread t = new Thread(body);
            t.setUncaughtExceptionHandler((thread, e) -> {
                assertSame(thread, Thread.currentThread());
                uncaught.add(e);
            });
            return t;
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void periodic_runThrows_theHandlerHearsOfIt(boolean rate) throws Exception {
        ScheduledExecutorService pool = listeningPool();
        Error thrown = new Error("meant");
        ScheduledFuture<?> f = periodic(pool, rate, () -> {
            if (runs.incrementAndGet() == 3) {
                throw thrown;
            }
        }, 0);
        assertSame(thrown, assertThrows(ExecutionException.class, () -> get(f)).getCause());
        finish(pool);
        assertEquals(List.of(thrown), List.copyOf(uncaught));
        assertEquals(3, runs.get());
    }

    @Test
    void execute_taskThrows_theHandlerHearsOfItAndTheWorkerLives() throws Exception {
        ScheduledExecutorService pool = listeningPool();
        RuntimeException thrown = new IllegalStateException("meant");
        pool.execute(() -> {
            throw thrown;
        });
        get(pool.schedule(NOTHING, 1, MILLISECONDS));
        finish(pool);
        assertEquals(List.of(thrown), List.copyOf(uncaught));
    }

    @Test
    void submit_taskThrows_itsFutureAloneTells() throws Exception {
        ScheduledExecutorService pool = listeningPool();
        Runnable throwing = () -> {
            throw new IllegalStateException("meant");
        };
        for (Future<?> f : List.of(pool.submit(throwing), pool.submit(throwing, 1),
                pool.schedule(throwing, 1, MILLISECONDS))) {
            assertThrows(ExecutionException.class, () -> get(f));
        }
        finish(pool);
        assertEquals(List.of(), List.copyOf(uncaught));
    }

    // ---- shutdown ----

    @Test
    void policies_fromTheBeginning_areThoseOfTheJdk() {
        SchedulerExecutor pool = ours();
        assertTrue(pool.getExecuteExistingDelayedTasksAfterShutdownPolicy());
        assertFalse(pool.getContinueExistingPeriodicTasksAfterShutdownPolicy());
        pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        pool.setContinueExistingPeriodicTasksAfterShutdownPolicy(true);
        assertFalse(pool.getExecuteExistingDelayedTasksAfterShutdownPolicy());
        assertTrue(pool.getContinueExistingPeriodicTasksAfterShutdownPolicy());
    }

    @Test
    void shutdownNow_returnedTask_canBeRunByWhoeverGotIt() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        Future<Thread> queued = pool.submit(Thread::currentThread);
        ScheduledFuture<Thread> delayed = pool.schedule(Thread::currentThread, 1, HOURS);
        RuntimeException thrown = new IllegalStateException("meant");
        ScheduledFuture<?> throwing = pool.schedule(() -> {
            throw thrown;
        }, 2, HOURS);
        ScheduledFuture<?> cancelled = pool.schedule(task, 3, HOURS);
        pool.execute(task);
        List<Runnable> returned = pool.shutdownNow();
        assertEquals(5, returned.size());
        assertTrue(cancelled.cancel(false));
        for (Runnable r : returned) {
            r.run();
            r.run();
        }
        assertSame(Thread.currentThread(), queued.get());
        assertSame(Thread.currentThread(), delayed.get());
        assertSame(thrown, assertThrows(ExecutionException.class, throwing::get).getCause());
        assertTrue(cancelled.isCancelled());
        assertEquals(1, runs.get());
        open(busy);
        awaitTermination(pool);
    }

    @Test
    void shutdownNow_returnedTaskIsRunByMany_runsOnceAndWakesWaiters() throws Exception {
        for (int i = 0; i < 100; i++) {
            runs.set(0);
            ScheduledExecutorService pool = pool();
            ScheduledFuture<Integer> f = pool.schedule(runs::incrementAndGet, 1, HOURS);
            List<Runnable> returned = pool.shutdownNow();
            assertFalse(f.isDone());
            LifeFixtures.inParallel(3, n -> {
                if (n > 0) {
                    returned.get(0).run();
                }
                assertEquals(1, get(f));
            });
            assertEquals(1, runs.get());
        }
    }

    @Test
    void run_byAStranger_doesNothing() throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> waiting = pool.schedule(task, 1, HOURS);
        ScheduledFuture<?> done = pool.schedule(task, 0, HOURS);
        get(done);
        for (ScheduledFuture<?> f : List.of(waiting, done)) {
            assertInstanceOf(RunnableScheduledFuture.class, f).run();
        }
        assertEquals(1, runs.get());
        assertFalse(waiting.isDone());
    }

    /** Other than in the JDK's pool, what was taken without a future is not lost either. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void execute_racingWithShutdown_noneIsLost(boolean now) throws Exception {
        for (int round = 0; round < Scale.of(40, 200); round++) {
            ScheduledExecutorService pool = pool();
            AtomicInteger taken = new AtomicInteger();
            AtomicInteger returned = new AtomicInteger();
            CountDownLatch warm = new CountDownLatch(2);
            runs.set(0);
            LifeFixtures.inParallel(3, n -> {
                if (n == 0) {
                    await(warm);
                    LifeFixtures.spin(ThreadLocalRandom.current().nextInt(50_000));
                    if (now) {
                        returned.addAndGet(pool.shutdownNow().size());
                    } else {
                        pool.shutdown();
                    }
                    return;
                }
                for (int i = 0; i < 400; i++) {
                    try {
                        pool.execute(task);
                        taken.incrementAndGet();
                    } catch (RejectedExecutionException e) {
                        assertTrue(pool.isShutdown());
                    }
                    if (i == 5) {
                        warm.countDown();
                    }
                }
            });
            awaitTermination(pool);
            assertEquals(taken.get(), runs.get() + returned.get());
        }
    }

    // ---- close ----

    @Test
    void close_outside_waitsForAllThatWasTaken() {
        SchedulerExecutor pool = ours();
        AtomicBoolean ended = new AtomicBoolean();
        pool.schedule(() -> {
            LifeFixtures.block(1_000_000);
            ended.set(true);
        }, 2, MILLISECONDS);
        ScheduledFuture<?> periodic = pool.scheduleAtFixedRate(NOTHING, 0, 1, MILLISECONDS);
        pool.close();
        assertTrue(ended.get());
        assertTrue(pool.isTerminated());
        assertTrue(periodic.isCancelled());
        pool.close();
    }

    @Test
    void close_interrupted_stopsTheRestAndKeepsTheFlag() throws Exception {
        SchedulerExecutor pool = ours();
        Hold hold = occupy(pool, 1).get(0);
        ScheduledFuture<?> later = pool.schedule(task, 1, HOURS);
        AtomicBoolean flag = new AtomicBoolean();
        Thread closer = new Thread(() -> {
            pool.close();
            flag.set(Thread.currentThread().isInterrupted());
        });
        closer.start();
        closer.interrupt();
        join(closer);
        assertTrue(flag.get());
        assertTrue(hold.interrupted);
        assertTrue(pool.isTerminated());
        assertFalse(later.isDone());
        assertEquals(0, runs.get());
    }

    @Test
    void close_insideATask_doesNotWaitForIt() throws Exception {
        SchedulerExecutor pool = ours();
        CountDownLatch closed = new CountDownLatch(1);
        ScheduledFuture<?> later = pool.schedule(task, 5, MILLISECONDS);
        pool.execute(() -> {
            pool.close();
            assertFalse(pool.isTerminated());
            closed.countDown();
        });
        await(closed);
        get(later);
        awaitTermination(pool);
        assertEquals(1, runs.get());
    }

    // ---- deadlines that are far apart ----

    /** A deadline in the farthest future and one that has passed are compared the right way round, in any order. */
    @Test
    void schedule_endlessDelaysBesideNone_noneOfTheseIsLost() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicBoolean over = new AtomicBoolean();
        LifeFixtures.inParallel(2, n -> {
            if (n == 0) {
                for (int i = 0; !over.get(); i++) {
                    pool.schedule(NOTHING, Long.MAX_VALUE - i % 7, NANOSECONDS).cancel(false);
                }
                return;
            }
            for (int i = 0; i < 5_000; i++) {
                get(pool.schedule(task, i % 3 - 1, NANOSECONDS));
            }
            over.set(true);
        });
        assertEquals(5_000, runs.get());
    }

    // ---- threads ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threadFactory_givesNoThread_submissionThrowsAndQueuesNothing(boolean throwing) throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        ThreadFactory threads = body -> {
            if (!broken.get()) {
                return new Thread(body);
            }
            if (throwing) {
                throw new IllegalStateException("no thread");
            }
            return null;
        };
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(subject.workers(), threads);
        assertThrows(RuntimeException.class, () -> pool.execute(task));
        assertThrows(RuntimeException.class, () -> pool.schedule(task, 1, MILLISECONDS));
        broken.set(false);
        get(pool.schedule(NOTHING, 2, MILLISECONDS));
        pool.close();
        assertEquals(0, runs.get());
    }

    @Test
    void newPool_badArguments_throws() {
        for (int workers : new int[] {-1, Integer.MIN_VALUE}) {
            assertEquals("workers must be at least 0, but is " + workers, assertThrows(IllegalArgumentException.class,
                    () -> TimerExecutors.newScheduledThreadPool(workers)).getMessage());
            assertThrows(IllegalArgumentException.class,
                    () -> TimerExecutors.newScheduledThreadPool(workers, Thread::new));
        }
        assertThrows(NullPointerException.class, () -> TimerExecutors.newScheduledThreadPool(1, null));
        assertThrows(NullPointerException.class, () -> TimerExecutors.newSingleThreadScheduledExecutor(null));
    }

    @Test
    void newPool_noFactory_threadsAreNoDaemons() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(subject.workers());
                SchedulerExecutor single = TimerExecutors.newSingleThreadScheduledExecutor()) {
            for (SchedulerExecutor p : List.of(pool, single)) {
                Thread t = get(p.submit(Thread::currentThread));
                assertFalse(t.isDaemon());
                assertSame(Thread.currentThread().getContextClassLoader(), t.getContextClassLoader());
                assertEquals(Thread.NORM_PRIORITY, t.getPriority());
            }
        }
    }
}
