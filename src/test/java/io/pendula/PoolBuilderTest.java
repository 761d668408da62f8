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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** Due at 1, 2 and 3; the loop comes at 3.5. */
    @ParameterizedTest
    @CsvSource({"BURST, 3, 30", "SKIP, 1, 30", "DELAY, 1, 60"})
    void missedRuns_ofAFixedRate_areTreatedAsThePolicySays(MissedTicks policy, int runs, long minutesToNext) {
        AtomicLong now = new AtomicLong();
        TimerScheduler.Builder b = TimerScheduler.builder().workers(0).clock(now::get);
        b.options.missedRuns = TimerExecutors.builder().missedRuns(policy).options.missedRuns;
        try (TimerScheduler s = b.build()) {
            TimerLoop loop = s.attach(() -> {});
            AtomicInteger ran = new AtomicInteger();
            ScheduledFuture<?> f = s.asScheduledExecutorService().scheduleAtFixedRate(ran::incrementAndGet,
                    Duration.ofHours(1), Duration.ofHours(1));
            now.addAndGet(TimeUnit.MINUTES.toNanos(210));
            while (loop.runDue() > 0) {
                assertTrue(ran.get() < 10);
            }
            assertEquals(runs, ran.get());
            assertEquals(minutesToNext, f.getDelay(TimeUnit.MINUTES));
            loop.close();
        }
        assertThrows(NullPointerException.class, () -> TimerExecutors.builder().missedRuns(null));
    }

    /** Both are claimed by one poll, hence by one reading of the clock, but the first takes 150 minutes. */
    @Test
    void missedRuns_longTaskBeforeARun_theRunIsLateByThat() {
        AtomicLong now = new AtomicLong();
        TimerScheduler.Builder b = TimerScheduler.builder().workers(0).clock(now::get);
        b.options.missedRuns = TimerExecutors.builder().missedRuns(MissedTicks.SKIP).options.missedRuns;
        try (TimerScheduler s = b.build(); TimerLoop loop = s.attach(() -> {})) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            view.schedule(() -> now.addAndGet(TimeUnit.MINUTES.toNanos(150)), 1, TimeUnit.HOURS);
            ScheduledFuture<?> f = view.scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.HOURS);
            now.addAndGet(TimeUnit.HOURS.toNanos(1));
            assertEquals(2, loop.runDue());
            assertEquals(30, f.getDelay(TimeUnit.MINUTES));
        }
    }

    /**
     * The first run lasts for twenty periods and a half. The second is due meanwhile; then the points of the grid that have
     * passed are left out, so that the tenth run comes after 28 periods. In a burst it would come at once.
     */
    @Test
    void missedRuns_ofARealPool_areLeftOut() throws Exception {
        long period = TimeUnit.MILLISECONDS.toNanos(20);
        try (SchedulerExecutor pool = TimerExecutors.builder().missedRuns(MissedTicks.SKIP).build()) {
            CountDownLatch ten = new CountDownLatch(10);
            AtomicLong tenth = new AtomicLong();
            long start = System.nanoTime();
            ScheduledFuture<?> f = pool.scheduleAtFixedRate(() -> {
                if (ten.getCount() == 10) {
                    LifeFixtures.block(20 * period + period / 2);
                } else if (ten.getCount() == 1) {
                    tenth.set(System.nanoTime() - start);
                }
                ten.countDown();
            }, 0, period, TimeUnit.NANOSECONDS);
            LifeFixtures.await(ten);
            assertTrue(f.cancel(false));
            assertTrue(tenth.get() >= 28 * period, () -> "the tenth run came after " + tenth);
        }
    }

    @Test
    void keepAfterFailure_runsThrow_periodGoesOnAndTheListenerHearsEach() throws Exception {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        try (SchedulerExecutor pool = TimerExecutors.builder().keepAfterFailure(true).listener(heard).build()) {
            CountDownLatch runs = new CountDownLatch(6);
            Runnable throwing = () -> {
                runs.countDown();
                throw new IllegalStateException("meant");
            };
            ScheduledFuture<?> rate = pool.scheduleAtFixedRate(throwing, Duration.ZERO, Duration.ofMillis(1));
            ScheduledFuture<?> delay = pool.scheduleWithFixedDelay(throwing, Duration.ZERO, Duration.ofMillis(1));
            LifeFixtures.await(runs);
            assertFalse(rate.isDone() || delay.isDone());
            assertTrue(rate.cancel(false) && delay.cancel(false));
            assertTrue(heard.threw.size() >= 4, () -> heard.threw.size() + " heard");
            Future<?> once = pool.schedule(throwing, Duration.ZERO);
            assertThrows(ExecutionException.class, once::get);
        }
    }

    @Test
    void schedule_byDurations_isAsByUnits() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.builder().build()) {
            AtomicInteger ran = new AtomicInteger();
            ScheduledFuture<?> run = pool.schedule((Runnable) ran::incrementAndGet, Duration.ofMillis(1));
            assertEquals(7, pool.schedule(() -> 7, Duration.ofMillis(2)).get());
            run.get();
            assertEquals(1, ran.get());
            Runnable nothing = () -> {};
            ScheduledFuture<?> rate = pool.scheduleAtFixedRate(nothing, Duration.ofHours(2), Duration.ofHours(1));
            ScheduledFuture<?> delay = pool.scheduleWithFixedDelay(nothing, Duration.ofHours(2), Duration.ofHours(1));
            assertTrue(rate.toString().contains("every 1 h") && rate.getDelay(TimeUnit.MINUTES) >= 119, rate.toString());
            assertTrue(delay.toString().contains("1 h after each run") && delay.getDelay(TimeUnit.MINUTES) >= 119);
            assertEquals("period must be positive, but is 0", assertThrows(IllegalArgumentException.class,
                    () -> pool.scheduleAtFixedRate(nothing, Duration.ZERO, Duration.ZERO)).getMessage());
            assertThrows(IllegalArgumentException.class,
                    () -> pool.scheduleWithFixedDelay(nothing, Duration.ZERO, Duration.ofNanos(-1)));
            assertThrows(NullPointerException.class, () -> pool.schedule(nothing, null));
            assertEquals(2, pool.shutdownNow().size());
            String name = pool.stats().name();
            assertEquals("the executor '" + name + "' is shut down", assertThrows(RejectedExecutionException.class,
                    () -> pool.schedule(nothing, Duration.ZERO)).getMessage());
        }
    }

    /** The JDK's pool takes any number. */
    @Test
    void newScheduledThreadPool_asManyThreadsAsThereCanBe_isAccepted() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(Integer.MAX_VALUE)) {
            assertEquals(7, pool.submit(() -> 7).get());
            assertEquals(32_767, pool.stats().maxThreads());
        }
    }

    @Test
    void builder_badArguments_throw() {
        TimerExecutors.Builder b = TimerExecutors.builder();
        assertEquals("threads must be at least 1, but is 0",
                assertThrows(IllegalArgumentException.class, () -> b.threads(0)).getMessage());
        assertEquals("threads must be at most 32767, but is 32768",
                assertThrows(IllegalArgumentException.class, () -> b.threads(32_768)).getMessage());
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
        try (TimerScheduler guarded = TimerScheduler.builder().workers(1).maxThreads(2).build();
                TimerScheduler manual = TimerScheduler.builder().clock(new ManualClock()).build()) {
            assertEquals(2, guarded.stats().coreThreads()); // the second guards the first
            assertEquals(2, guarded.stats().threads());
            assertEquals(0, manual.stats().coreThreads());
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
