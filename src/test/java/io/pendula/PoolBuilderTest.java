package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pools with settings of their own, and what they tell of themselves. */
@Timeout(60)
class PoolBuilderTest {
    @Test
    void build_nameAndListener_areUsed() throws Exception {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (SchedulerExecutor pool = TimerExecutors.builder().threads(2).name("db").listener(heard)
                .slowCallback(Duration.ofMillis(5)).build()) {
            Thread t = pool.submit(Thread::currentThread).get();
            assertTrue(t.getName().startsWith("pendula-db-worker-"), t.getName());
            assertFalse(t.isDaemon());
            assertSame(Thread.currentThread().getContextClassLoader(), t.getContextClassLoader());
            TimerHandleTest.Heartbeat beat = new TimerHandleTest.Heartbeat();
            pool.execute(() -> {
                LifeFixtures.block(6_000_000);
                throw new IllegalStateException("x");
            });
            eventually("slow and thrown", () -> heard.slow.size() == 1 && heard.threw.size() == 1);
            Future<?> f = pool.schedule((Runnable) beat, 1, TimeUnit.HOURS);
            TimerStats stats = pool.stats();
            assertEquals("db", stats.name());
            assertEquals(1, stats.callbacksSlow());
            assertEquals(1, stats.callbacksThrew());
            assertTrue(stats.callbackNanos() >= 6_000_000);
            assertEquals(2, stats.fired());
            assertEquals(2, stats.lateness().count());
            assertEquals(1, stats.pending());
            assertEquals(2, stats.coreThreads());
            assertEquals(2, stats.maxThreads());
            assertEquals(Long.MAX_VALUE, stats.maxPending());
            assertTrue(stats.threads() >= 1 && stats.threads() <= 2);
            assertTrue(stats.nanosUntilNext() > TimeUnit.MINUTES.toNanos(59));
            assertEquals(Map.of(beat.getClass(), 1L), pool.pendingByTask());
            assertSame(f, pool.pendingTimers(10).get(0).timer());
            f.cancel(false);
        }
    }

    @Test
    void running_tasksInProgress_areCounted() {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(3)) {
            CountDownLatch release = new CountDownLatch(1);
            for (int i = 0; i < 3; i++) {
                pool.execute(() -> LifeFixtures.await(release));
            }
            eventually("three run", () -> pool.stats().running() == 3);
            assertEquals(3, pool.stats().threads());
            release.countDown();
            eventually("none runs", () -> pool.stats().running() == 0);
        }
    }

    @Test
    void build_defaults_areThoseOfTheFactoryMethods() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.builder().build();
                SchedulerExecutor plain = TimerExecutors.newSingleThreadScheduledExecutor()) {
            assertEquals(1, pool.stats().maxThreads());
            assertTrue(pool.stats().name().matches("pool-\\d+"), pool.stats().name());
            assertTrue(plain.stats().name().matches("pool-\\d+"), plain.stats().name());
            assertFalse(pool.stats().name().equals(plain.stats().name()));
        }
    }

    @Test
    void build_everySetting_takesEffect() throws Exception {
        TimerExecutors.Builder b = TimerExecutors.builder().daemon(true).contextClassLoader(null).maxPending(1)
                .decorate(r -> () -> {
                    Thread.currentThread().setName("decorated");
                    r.run();
                });
        try (SchedulerExecutor pool = b.build(); SchedulerExecutor second = b.name("second").build()) {
            Thread t = pool.submit(Thread::currentThread).get();
            assertEquals("decorated", t.getName());
            assertTrue(t.isDaemon());
            assertNull(t.getContextClassLoader());
            eventually("it has ended", () -> pool.stats().running() == 0);
            pool.schedule(() -> {}, 1, TimeUnit.HOURS);
            assertThrows(RejectedExecutionException.class, () -> pool.schedule(() -> {}, 1, TimeUnit.HOURS));
            assertEquals("second", second.stats().name());
            assertEquals(1, pool.stats().maxPending());
            pool.shutdownNow();
        }
        ThreadFactory own = r -> new Thread(r, "own");
        try (SchedulerExecutor pool = TimerExecutors.builder().threadFactory(own).build()) {
            assertEquals("own", pool.submit(() -> Thread.currentThread().getName()).get());
        }
    }

    @Test
    void builder_badArguments_throw() {
        TimerExecutors.Builder b = TimerExecutors.builder();
        assertEquals("threads must be at least 1, but is 0",
                assertThrows(IllegalArgumentException.class, () -> b.threads(0)).getMessage());
        assertThrows(NullPointerException.class, () -> b.name(null));
        assertEquals("name must not be empty",
                assertThrows(IllegalArgumentException.class, () -> b.name("")).getMessage());
        assertThrows(IllegalArgumentException.class, () -> TimerScheduler.builder().name(""));
        assertThrows(NullPointerException.class, () -> b.listener(null));
        assertThrows(NullPointerException.class, () -> b.threadFactory(null));
        assertThrows(NullPointerException.class, () -> b.decorate(null));
        assertThrows(IllegalArgumentException.class, () -> b.maxPending(0));
        assertThrows(IllegalArgumentException.class, () -> b.slowCallback(Duration.ofNanos(-1)));
    }

    @Test
    void scheduler_coreThreads_areItsWorkers() {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(5).maxPending(7).build();
                TimerScheduler none = TimerScheduler.builder().workers(0).build()) {
            assertEquals(2, s.stats().coreThreads());
            assertEquals(5, s.stats().maxThreads());
            assertEquals(7, s.stats().maxPending());
            assertEquals(0, none.stats().coreThreads());
        }
    }

    @Test
    void view_statistics_areItsSchedulers() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().name("s").clock(clock).build()) {
            s.after(Duration.ofHours(1), () -> {});
            SchedulerExecutor view = s.asScheduledExecutorService();
            assertEquals(s.stats().toString(), view.stats().toString());
            assertEquals("s", view.stats().name());
            assertEquals(1, view.stats().pending());
            assertEquals(1, view.pendingTimers(5).size());
        }
    }
}
