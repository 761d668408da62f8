package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.WorkerPool;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a pool gets its threads: from factories that fail, that are slow, and that submit to the pool themselves. */
@Timeout(60)
class PoolGrowthTest {
    private final AtomicInteger calls = new AtomicInteger();

    private Thread made(Runnable body) {
        Thread t = new Thread(body);
        t.setDaemon(true);
        return t;
    }

    private ThreadFactory failingAtCall(int number) {
        return body -> {
            if (calls.incrementAndGet() == number) {
                throw new OutOfMemoryError("meant");
            }
            return made(body);
        };
    }

    @Test
    void newThread_failedOnce_tasksBehindOneThatBlocksRun() {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(4, failingAtCall(2))) {
            MonitorTest.Plug plug = new MonitorTest.Plug();
            pool.execute(plug);
            eventually("the first blocks", () -> plug.holding.get() == 1);
            CountDownLatch ran = new CountDownLatch(1);
            eventually("a task runs", () -> {
                pool.execute(ran::countDown);
                return ran.getCount() == 0;
            });
            assertEquals(1, plug.holding.get());
            plug.release.countDown();
        }
    }

    /** Its only worker never sleeps, so no first callback after a sleep tries again. */
    @Test
    void newThread_failedOnceUnderConstantLoad_poolGrowsToItsSize() {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2, failingAtCall(2))) {
            // Always overdue, and submitted once, as each submission tries again.
            pool.scheduleAtFixedRate(() -> LifeFixtures.spin(50_000), 0, 1, TimeUnit.NANOSECONDS);
            eventually("it has grown", () -> pool.engine.workerPool.workers().length == 2);
            assertEquals(3, calls.get());
            pool.shutdownNow();
        }
    }

    /** All have seen that a second thread is needed, before one of them starts it. */
    @Test
    void newThread_severalFindOutAtOnceThatItIsNeeded_poolHasNoMoreThreadsThanItMay() throws InterruptedException {
        for (int i = 0; i < Scale.of(300, 2_000); i++) {
            calls.set(0);
            SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2, failingAtCall(0));
            WorkerPool workers = pool.engine.workerPool;
            workers.ensureStarted();
            LifeFixtures.inParallel(3, n -> {
                while (workers.workers().length < 2) {
                    workers.growIfAlone(null);
                }
            });
            assertEquals(2, workers.workers().length);
            pool.shutdownNow();
        }
    }

    /** It may fail for want of memory, so no other list is made. */
    @Test
    void start_fails_listIsTheOneFromBefore() {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2, body -> {
            if (calls.incrementAndGet() == 1) {
                return made(body);
            }
            return new Thread(body) {
                @Override
                public synchronized void start() {
                    throw new OutOfMemoryError("meant");
                }
            };
        });
        WorkerPool workers = pool.engine.workerPool;
        workers.ensureStarted();
        Sleeper[] before = workers.workers();
        workers.growIfAlone(null);
        assertEquals(2, calls.get());
        assertSame(before, workers.workers());
        pool.close();
    }

    @Test
    void newThread_failsAgainAndAgain_isToldAgainAndAtMostOnceASecond() {
        List<Throwable> told = new CopyOnWriteArrayList<>();
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((t, e) -> told.add(e));
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2, body -> {
            if (calls.incrementAndGet() > 1) {
                throw new OutOfMemoryError("no more threads");
            }
            Thread t = made(body);
            t.setUncaughtExceptionHandler((thread, e) -> told.add(e));
            return t;
        })) {
            long began = System.nanoTime();
            eventually("told twice", () -> {
                pool.execute(() -> {});
                return told.size() >= 2;
            });
            long took = System.nanoTime() - began;
            assertTrue(took >= 900_000_000, "told twice within " + took / 1_000_000 + " ms");
            assertTrue(calls.get() > 3, "tried " + calls.get() + " times");
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void newThread_factorySubmitsToItsPool_poolHasNoMoreThreadsThanItMay(int size) throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicInteger hooks = new AtomicInteger();
        AtomicReference<SchedulerExecutor> pool = new AtomicReference<>();
        pool.set(TimerExecutors.newScheduledThreadPool(size, body -> {
            calls.incrementAndGet();
            try {
                pool.get().execute(hooks::incrementAndGet);
            } catch (RejectedExecutionException e) {
                assertTrue(isOver.get(), "rejected"); // the pool may grow until it is closed
            }
            return made(body);
        }));
        pool.get().submit(() -> {}).get(Fixtures.PATIENCE_SECONDS, SECONDS);
        eventually("what the factory has submitted runs", () -> calls.get() == hooks.get());
        isOver.set(true);
        assertTrue(calls.get() <= size, "called " + calls.get() + " times");
        pool.get().close();
    }

    @Test
    void newThread_firstOneFailsAfterItHasSubmitted_theNextSubmissionRunsBoth() throws Exception {
        AtomicInteger hooks = new AtomicInteger();
        AtomicReference<SchedulerExecutor> pool = new AtomicReference<>();
        pool.set(TimerExecutors.newScheduledThreadPool(1, body -> {
            if (calls.incrementAndGet() == 1) {
                pool.get().execute(hooks::incrementAndGet);
                throw new IllegalStateException("meant");
            }
            return made(body);
        }));
        try {
            pool.get().submit(() -> {});
        } catch (IllegalStateException e) {
            hooks.addAndGet(10);
        }
        pool.get().submit(() -> {}).get(Fixtures.PATIENCE_SECONDS, SECONDS);
        eventually("both have run", () -> hooks.get() == 11);
        pool.get().close();
    }

    @Test
    void threads_takeNeitherPriorityNorGroupOfTheFirstSubmitter() throws Exception {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2);
        AtomicReference<Thread> ranOn = new AtomicReference<>();
        Thread submitter = new Thread(new ThreadGroup("the submitter's"), () -> {
            CountDownLatch ran = new CountDownLatch(1);
            pool.execute(() -> {
                ranOn.set(Thread.currentThread());
                ran.countDown();
            });
            await(ran);
        });
        submitter.setPriority(Thread.MAX_PRIORITY);
        submitter.start();
        Fixtures.join(submitter);
        for (Sleeper d : pool.engine.workerPool.workers()) {
            assertEquals(Thread.NORM_PRIORITY, d.runner().getPriority());
            assertSame(Thread.currentThread().getThreadGroup(), d.runner().getThreadGroup());
        }
        assertEquals(Thread.NORM_PRIORITY, ranOn.get().getPriority());
        pool.close();
    }
}
