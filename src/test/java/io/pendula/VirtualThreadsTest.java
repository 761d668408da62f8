package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.internal.scheduler.StallWatch;
import io.pendula.internal.util.VirtualThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Virtual threads drive no timers; they call all methods, and run callbacks as an executor. Needs Java 21. */
@Timeout(60)
class VirtualThreadsTest {
    private static final Runnable NOTHING = () -> {};

    /** By reflection, as this is compiled for Java 17. */
    private static ThreadFactory virtualThreads() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "there are virtual threads");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }

    private static void assertRefused(Throwable e) {
        assertEquals("threadFactory must make platform threads, but makes virtual ones; to run callbacks on virtual"
                + " threads, build a scheduler with an executor(...) of them", e.getMessage());
    }

    // ---- on any Java ----

    @Test
    void isVirtual_platformThreads_false() {
        assertFalse(VirtualThreads.isVirtual(Thread.currentThread()));
        assertFalse(VirtualThreads.isVirtual(new Thread(NOTHING) {}));
        assertFalse(VirtualThreads.isVirtual(
                ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(ForkJoinPool.commonPool())));
        ThreadFactory ofTheJdk = Executors.defaultThreadFactory();
        assertSame(ofTheJdk, VirtualThreads.refusedFrom(ofTheJdk));
        ThreadFactory own = Thread::new;
        assertSame(own, VirtualThreads.refusedFrom(own));
    }

    // ---- as workers ----

    @Test
    void threadFactory_theJdksOwnOfVirtualThreads_isRefusedAtOnce() throws Exception {
        ThreadFactory virtual = virtualThreads();
        assertRefused(assertThrows(IllegalArgumentException.class,
                () -> TimerScheduler.builder().threadFactory(virtual)));
        assertRefused(assertThrows(IllegalArgumentException.class,
                () -> TimerExecutors.newScheduledThreadPool(2, virtual)));
        assertRefused(assertThrows(IllegalArgumentException.class,
                () -> TimerExecutors.newSingleThreadScheduledExecutor(virtual)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void build_factoryThatMakesAVirtualThread_isRefusedAndLeavesNoThread(int platformThreads) throws Exception {
        ThreadFactory virtual = virtualThreads();
        List<Thread> made = new ArrayList<>();
        ThreadFactory mixed = body -> {
            Thread t = made.size() < platformThreads ? new Thread(body) : virtual.newThread(body);
            made.add(t);
            return t;
        };
        TimerScheduler.Builder b = TimerScheduler.builder().workers(2).threadFactory(mixed);
        assertRefused(assertThrows(IllegalArgumentException.class, b::build));
        assertEquals(platformThreads + 1, made.size());
        for (Thread t : made.subList(0, platformThreads)) {
            Fixtures.join(t);
        }
        assertEquals(Thread.State.NEW, made.get(platformThreads).getState());
    }

    /** The third thread is made when there is something to watch. */
    @Test
    void callWatch_factoryThatMakesAVirtualThread_isToldAndTimersRun() throws Exception {
        ThreadFactory virtual = virtualThreads();
        List<Thread> made = new ArrayList<>();
        ThreadFactory mixed = body -> {
            Thread t = body instanceof StallWatch ? virtual.newThread(body) : new Thread(body);
            made.add(t);
            return t;
        };
        List<Throwable> told = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(2).threadFactory(mixed).build()) {
            Thread caller = new Thread(s.engine::callWatch);
            caller.setUncaughtExceptionHandler((t, e) -> told.add(e));
            caller.start();
            Fixtures.join(caller);
            assertEquals(1, told.size());
            assertRefused(told.get(0));
            assertEquals(Thread.State.NEW, made.get(2).getState());
            CountDownLatch ran = new CountDownLatch(1);
            s.after(1, MILLISECONDS, ran::countDown);
            LifeFixtures.await(ran);
        }
    }

    @Test
    void pool_factoryThatMakesAVirtualThread_submissionIsRefusedAndQueuesNothing() throws Exception {
        ThreadFactory virtual = virtualThreads();
        AtomicBoolean wrong = new AtomicBoolean(true);
        AtomicInteger runs = new AtomicInteger();
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2,
                body -> wrong.get() ? virtual.newThread(body) : new Thread(body))) {
            assertRefused(assertThrows(IllegalArgumentException.class, () -> pool.execute(runs::incrementAndGet)));
            assertRefused(assertThrows(IllegalArgumentException.class,
                    () -> pool.schedule(runs::incrementAndGet, 1, MILLISECONDS)));
            wrong.set(false);
            assertEquals(7, pool.schedule(() -> 7, 2, MILLISECONDS).get(Fixtures.PATIENCE_SECONDS, SECONDS));
        }
        assertEquals(0, runs.get());
    }

    // ---- as callers ----

    @Test
    void callers_virtualThreads_mayCallAllMethods() throws Exception {
        ThreadFactory virtual = virtualThreads();
        int callers = 200;
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        CountDownLatch done = new CountDownLatch(callers);
        AtomicInteger fired = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build();
                SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2)) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            for (int i = 0; i < callers; i++) {
                virtual.newThread(() -> {
                    try {
                        call(s, List.of(pool, view), fired);
                    } catch (Throwable e) {
                        failures.add(e);
                    } finally {
                        done.countDown();
                    }
                }).start();
            }
            Fixtures.await(done);
            assertEquals(List.of(), List.copyOf(failures));
            Fixtures.awaitTrue(() -> fired.get() == callers);
            assertEquals(0, s.pending());
        }
    }

    private static void call(TimerScheduler s, List<SchedulerExecutor> executors, AtomicInteger fired)
            throws Exception {
        s.after(Duration.ofMillis(1), fired::incrementAndGet);
        Timer stopped = s.after(Duration.ofHours(1), NOTHING);
        assertTrue(stopped.reset(Duration.ofHours(2)));
        assertTrue(stopped.stop());
        assertTrue(s.alarm(Duration.ofMillis(2)).await(Duration.ofSeconds(Fixtures.PATIENCE_SECONDS)));
        CountDownLatch ran = new CountDownLatch(1);
        Timer awaited = s.after(Duration.ZERO, ran::countDown);
        assertTrue(ran.await(Fixtures.PATIENCE_SECONDS, SECONDS));
        awaited.cancelAndAwait(Duration.ofSeconds(Fixtures.PATIENCE_SECONDS));
        for (SchedulerExecutor e : executors) {
            assertEquals(5, e.submit(() -> 5).get(Fixtures.PATIENCE_SECONDS, SECONDS));
            assertTrue(e.scheduleAtFixedRate(NOTHING, 1, 1, HOURS).cancel(true));
        }
    }

    // ---- as the executor of callbacks ----

    @Test
    void newVirtualThreadScheduledExecutor_tenThousandTasksBlock_allAreInside() throws Exception {
        if (Runtime.version().feature() < 21) {
            assertThrows(UnsupportedOperationException.class, TimerExecutors::newVirtualThreadScheduledExecutor);
            return;
        }
        int tasks = 10_000;
        CountDownLatch inside = new CountDownLatch(tasks);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger elsewhere = new AtomicInteger();
        SchedulerExecutor pool = TimerExecutors.newVirtualThreadScheduledExecutor();
        for (int i = 0; i < tasks; i++) {
            pool.schedule(() -> {
                elsewhere.addAndGet(VirtualThreads.isVirtual(Thread.currentThread()) ? 0 : 1);
                inside.countDown();
                LifeFixtures.await(go);
            }, i % 20, MILLISECONDS);
        }
        Fixtures.await(inside);
        pool.shutdown();
        assertFalse(pool.isTerminated());
        go.countDown();
        assertTrue(pool.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
        assertEquals(0, elsewhere.get());
    }

    @Test
    void executor_ofVirtualThreads_runsCallbacksAndTasksThere() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "there are virtual threads");
        ExecutorService perTask = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
                .invoke(null);
        try (TimerScheduler s = TimerScheduler.builder().workers(2).executor(perTask).build()) {
            int blocked = 500; // at a time, and far more than there are workers
            CountDownLatch inside = new CountDownLatch(blocked);
            CountDownLatch go = new CountDownLatch(1);
            AtomicInteger elsewhere = new AtomicInteger();
            for (int i = 0; i < blocked; i++) {
                s.after(Duration.ofMillis(1), () -> {
                    elsewhere.addAndGet(VirtualThreads.isVirtual(Thread.currentThread()) ? 0 : 1);
                    inside.countDown();
                    LifeFixtures.await(go);
                });
            }
            Fixtures.await(inside);
            SchedulerExecutor view = s.asScheduledExecutorService();
            assertTrue(view.submit(() -> VirtualThreads.isVirtual(Thread.currentThread()))
                    .get(Fixtures.PATIENCE_SECONDS, SECONDS));
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            Future<?> waits = view.submit(() -> {
                begun.countDown();
                try {
                    Thread.sleep(HOURS.toMillis(1));
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
            });
            Fixtures.await(begun);
            assertTrue(waits.cancel(true));
            Fixtures.await(interrupted);
            AtomicInteger within = new AtomicInteger();
            AtomicInteger overlaps = new AtomicInteger();
            CountDownLatch ticks = new CountDownLatch(50);
            Ticker ticker = s.every(Duration.ofNanos(20_000), MissedTicks.BURST, () -> {
                overlaps.addAndGet(within.getAndIncrement() == 0 ? 0 : 1);
                Thread.yield();
                within.decrementAndGet();
                ticks.countDown();
            });
            Fixtures.await(ticks);
            ticker.stop();
            go.countDown();
            view.close();
            assertEquals(0, elsewhere.get());
            assertEquals(0, overlaps.get());
        } finally {
            perTask.shutdown();
        }
    }
}
