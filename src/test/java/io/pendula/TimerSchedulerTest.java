package io.pendula;

import static io.pendula.LifeFixtures.assertNoRescue;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.awaitNoThreadOf;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.runInChild;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.Worker;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TimerSchedulerTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Runnable NOTHING = () -> {};

    // ---- the builder ----

    @Test
    void build_severalWorkersWithAManualClock_isRefused() {
        TimerScheduler.Builder b = TimerScheduler.builder().clock(new ManualClock()).workers(4);
        assertEquals("a scheduler with a ManualClock has one worker at most, but workers is 4",
                assertThrows(IllegalArgumentException.class, b::build).getMessage());
        b.workers(1).build().close();
    }

    @Test
    void build_defaults_areThoseDocumented() {
        try (TimerScheduler s = TimerScheduler.builder().name("defaults").build()) {
            int workers = s.engine.queues.length;
            int processors = Runtime.getRuntime().availableProcessors();
            assertEquals(Integer.highestOneBit(Math.min(4, processors)), workers);
            assertEquals(workers == 1 ? 1 : workers + 16, s.engine.options.maxThreads);
            assertEquals(Long.MAX_VALUE, s.engine.options.maxPending);
            assertEquals(Long.MAX_VALUE, s.engine.options.slowNanos);
            assertEquals(5_000_000_000L, s.engine.options.stallNanos);
            assertTrue(s.engine.options.monitor && s.engine.options.spacingNanos == 100_000 && s.engine.options.daemon);
            assertNull(s.engine.options.executor);
            assertNull(s.engine.options.clock, "the system's");
            assertTrue(s.engine.timeline.isSystem());
            assertEquals(workers, threadsOf("defaults").size());
            assertFalse(s.isClosed());
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 18", "3, 19"})
    void build_maxThreadsNotGiven_followsWorkers(int workers, int expected) {
        try (TimerScheduler s = TimerScheduler.builder().workers(workers).build()) {
            assertEquals(expected, s.engine.options.maxThreads);
            assertEquals(workers, s.engine.queues.length);
        }
    }

    static Stream<Arguments> badArguments() {
        TimerScheduler.Builder b = TimerScheduler.builder();
        return Stream.of(
                bad(IllegalArgumentException.class, "workers must be at least 0, but is -3", () -> b.workers(-3)),
                bad(IllegalArgumentException.class, "workers must be at most 1024, but is 1025", () -> b.workers(1025)),
                bad(IllegalArgumentException.class, "maxThreads must be at least 1, but is 0", () -> b.maxThreads(0)),
                bad(IllegalArgumentException.class, "maxThreads must be at most 32767, but is 2147483647",
                        () -> b.maxThreads(Integer.MAX_VALUE)),
                bad(IllegalArgumentException.class, "workers must be at least 1, as a worker hands callbacks to the"
                        + " executor, but is 0", () -> TimerScheduler.builder().workers(0).executor(Runnable::run).build()),
                bad(IllegalArgumentException.class, "maxThreads must be at least the number of workers, 4, but is 3",
                        () -> TimerScheduler.builder().maxThreads(3).workers(4).build()),
                bad(IllegalArgumentException.class, "maxPending must be at least 1, but is 0", () -> b.maxPending(0)),
                bad(IllegalArgumentException.class, "threshold must not be negative, but is PT-0.000000001S",
                        () -> b.slowCallback(Duration.ofNanos(-1))),
                bad(IllegalArgumentException.class, "threshold must not be negative, but is PT-1S",
                        () -> b.stallAfter(Duration.ofSeconds(-1))),
                bad(IllegalArgumentException.class, "spacing must not be negative, but is PT-1S",
                        () -> b.wakeSpacing(Duration.ofSeconds(-1))),
                bad(IllegalArgumentException.class, "spacing must be at most PT1H, but is PT1H0.000000001S",
                        () -> b.wakeSpacing(Duration.ofHours(1).plusNanos(1))),
                bad(NullPointerException.class, "name must not be null", () -> b.name(null)),
                bad(NullPointerException.class, "threadFactory must not be null", () -> b.threadFactory(null)),
                bad(NullPointerException.class, "executor must not be null", () -> b.executor(null)),
                bad(NullPointerException.class, "listener must not be null", () -> b.listener(null)),
                bad(NullPointerException.class, "clock must not be null", () -> b.clock(null)),
                bad(NullPointerException.class, "threshold must not be null", () -> b.slowCallback(null)),
                bad(NullPointerException.class, "threshold must not be null", () -> b.stallAfter(null)));
    }

    private static Arguments bad(Class<? extends Exception> type, String message, Executable call) {
        return Arguments.of(type, message, call);
    }

    @ParameterizedTest
    @MethodSource("badArguments")
    void builder_badArgument_namesArgumentAndValue(Class<? extends Exception> type, String message, Executable call) {
        assertEquals(message, assertThrows(type, call).getMessage());
    }

    /** An instant that the wall clock tells, in nanoseconds, is no instant of {@code now()}, and would mean never. */
    @Test
    void at_instantOfTheWallClock_isRefused() {
        long wall = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) + TimeUnit.SECONDS.toNanos(5);
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build(); TimerLoop loop = s.attach(() -> {})) {
            String message = "deadlineNanos must be an instant of now(), but " + wall + " is one of the wall clock";
            assertEquals(message, assertThrows(IllegalArgumentException.class, () -> s.at(wall, NOTHING)).getMessage());
            assertEquals(message, assertThrows(IllegalArgumentException.class, () -> loop.at(wall, NOTHING)).getMessage());
            assertEquals(0, s.pending());
            for (long never : new long[] {Long.MAX_VALUE, s.now() + Duration.ofDays(70 * 365).toNanos()}) {
                assertTrue(s.at(never, NOTHING).cancel());
            }
        }
    }

    @Test
    void arm_badArgument_namesArgumentAndArmsNothing() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            List<Arguments> calls = List.of(
                    bad(NullPointerException.class, "delay must not be null", () -> s.after(null, NOTHING)),
                    bad(NullPointerException.class, "delay must not be null", () -> s.alarm(null)),
                    bad(NullPointerException.class, "task must not be null", () -> s.after(HOUR, null)),
                    bad(NullPointerException.class, "unit must not be null", () -> s.after(1, null, NOTHING)),
                    bad(NullPointerException.class, "task must not be null",
                            () -> s.after(1, TimeUnit.HOURS, null)),
                    bad(NullPointerException.class, "period must not be null", () -> s.every(null, NOTHING)),
                    bad(NullPointerException.class, "task must not be null", () -> s.every(HOUR, null)),
                    bad(NullPointerException.class, "missedTicks must not be null",
                            () -> s.every(HOUR, (MissedTicks) null, NOTHING)),
                    bad(IllegalArgumentException.class, "period must be positive, but is PT0S",
                            () -> s.every(Duration.ZERO, NOTHING)),
                    bad(IllegalArgumentException.class, "period must be positive, but is PT-1S",
                            () -> s.alarmEvery(Duration.ofSeconds(-1))));
            for (Arguments c : calls) {
                @SuppressWarnings("unchecked")
                Class<? extends Exception> type = (Class<? extends Exception>) c.get()[0];
                assertEquals(c.get()[1], assertThrows(type, (Executable) c.get()[2]).getMessage());
            }
            assertEquals(0, s.pending());
            assertEquals(0, s.stats().armed());
        }
    }

    // ---- threads ----

    @Test
    void threads_default_areNamedDaemonsWithoutContextClassLoader() {
        try (TimerScheduler s = TimerScheduler.builder().name("t1").workers(2).build()) {
            s.engine.callWatch();
            List<Thread> threads = threadsOf("t1");
            assertEquals(Set.of("pendula-t1-worker-0", "pendula-t1-worker-1", "pendula-t1-monitor"),
                    threads.stream().map(Thread::getName).collect(Collectors.toSet()));
            for (Thread t : threads) {
                assertTrue(t.isDaemon(), t.getName());
                assertNull(t.getContextClassLoader(), t.getName());
            }
            assertFalse(s.isClosed());
        }
        awaitNoThreadOf("t1");
    }

    @Test
    void threads_daemonOffAndLoaderGiven_haveThem() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[0]);
                TimerScheduler s = TimerScheduler.builder().name("t2").workers(1).daemon(false)
                        .contextClassLoader(loader).build()) {
            AtomicReference<ClassLoader> seen = new AtomicReference<>();
            CountDownLatch ran = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                seen.set(Thread.currentThread().getContextClassLoader());
                ran.countDown();
            });
            await(ran);
            assertSame(loader, seen.get());
            assertEquals(2, threadsOf("t2").size());
            for (Thread t : threadsOf("t2")) {
                assertFalse(t.isDaemon(), t.getName());
                assertSame(loader, t.getContextClassLoader(), t.getName());
            }
        }
    }

    @Test
    void threads_monitorOff_areWorkersOnly() {
        try (TimerScheduler s = TimerScheduler.builder().name("t3").workers(2).monitor(false).build()) {
            assertEquals(2, threadsOf("t3").size());
            assertEquals(0, s.stats().overdueWakes());
        }
    }

    @Test
    void threads_factoryGiven_keepWhatTheFactoryMade() {
        LifeFixtures.NotingFactory factory = new LifeFixtures.NotingFactory("mine");
        AtomicReference<Thread> ran = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(1);
        try (TimerScheduler s = TimerScheduler.builder().name("t4").workers(2).daemon(false)
                .contextClassLoader(null).threadFactory(factory).build()) {
            s.after(Duration.ZERO, () -> {
                ran.set(Thread.currentThread());
                done.countDown();
            });
            await(done);
        }
        assertTrue(factory.threads.size() >= 2, () -> "" + factory.threads);
        assertTrue(factory.threads.contains(ran.get()));
        for (Thread t : factory.threads) {
            assertTrue(t.getName().startsWith("mine-"));
            assertTrue(t.isDaemon());
            assertSame(Thread.currentThread().getContextClassLoader(), t.getContextClassLoader());
        }
        eventually("the factory's threads end", () -> factory.threads.stream().noneMatch(Thread::isAlive));
    }

    static Stream<Arguments> badFactories() {
        Function<Runnable, Thread> none = r -> null;
        Function<Runnable, Thread> started = r -> {
            Thread t = new Thread(() -> {}, "already started");
            t.start();
            return t;
        };
        Function<Runnable, Thread> ended = r -> {
            Thread t = started.apply(r);
            try {
                t.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return t;
        };
        Function<Runnable, Thread> throwing = r -> {
            throw new SecurityException("no threads today");
        };
        Function<Runnable, Thread> failsToStart = r -> new Thread(r, "cannot start") {
            @Override
            public synchronized void start() {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        return Stream.of(0, 1).flatMap(good -> Stream.of(
                Arguments.of(good, none, IllegalStateException.class, "returned null"),
                Arguments.of(good, started, IllegalStateException.class, "not new"),
                Arguments.of(good, ended, IllegalStateException.class, "not new but TERMINATED"),
                Arguments.of(good, throwing, SecurityException.class, "no threads today"),
                Arguments.of(good, failsToStart, OutOfMemoryError.class, "unable to create native thread")));
    }

    @ParameterizedTest
    @MethodSource("badFactories")
    void build_factoryFails_tellsWhyAndLeavesNoThread(
            int good, Function<Runnable, Thread> then, Class<? extends Throwable> type, String message) {
        List<Thread> made = new ArrayList<>();
        AtomicInteger calls = new AtomicInteger();
        ThreadFactory factory = r -> {
            if (calls.getAndIncrement() < good) {
                Thread t = new Thread(r, "good");
                made.add(t);
                return t;
            }
            return then.apply(r);
        };
        Throwable e = assertThrows(type,
                () -> TimerScheduler.builder().name("bad").workers(2).threadFactory(factory).build());
        assertTrue(e.getMessage().contains(message), e.getMessage());
        if (e instanceof IllegalStateException) {
            assertTrue(e.getMessage().contains("pendula-bad-worker-" + good), e.getMessage());
        }
        assertEquals(good, made.size());
        eventually("the threads that were made end", () -> made.stream().noneMatch(Thread::isAlive));
    }

    // ---- the shared scheduler ----

    /** Exits with 0 only if nothing but arming a first timer starts a thread. */
    static final class ColdStart {
        private ColdStart() {}

        public static void main(String[] args) throws Exception {
            for (Class<?> c : List.of(Timer.class, Ticker.class, TimerScheduler.class, TimerQueue.class)) {
                Class.forName(c.getName());
            }
            TimerScheduler.builder().name("never built").workers(3);
            TimerScheduler.shared();
            check(threads() == 0, "a thread was started though nothing was armed");
            CountDownLatch ran = new CountDownLatch(2);
            Timer.after(Duration.ofMillis(1), ran::countDown);
            Ticker ticker = Ticker.every(Duration.ofMillis(1), ran::countDown);
            check(ran.await(10, TimeUnit.SECONDS), "the shared scheduler does not run");
            ticker.close();
            // A worker and the monitor; and others, where callbacks were held up while the JVM was still slow.
            int most = TimerScheduler.shared().stats().maxThreads() + 1;
            check(threads() >= 2 && threads() <= most, "threads: " + threads());
            Timer.after(Duration.ofHours(1), () -> {});
            System.out.println("workers " + TimerScheduler.shared().engine.queues.length);
        }

        private static int threads() {
            return threadsOf("shared").size() + threadsOf("never built").size();
        }

        private static void check(boolean right, String otherwise) {
            if (!right) {
                throw new AssertionError(otherwise);
            }
        }
    }

    @Test
    void shared_untilFirstUse_startsNoThreadAndThenLetsTheJvmExit() throws Exception {
        int workers = Integer.parseInt(runInChild(ColdStart.class, List.of()).replace("workers ", ""));
        assertTrue(workers >= 2);
    }

    @Test
    void shared_oneProcessor_hasTwoWorkersAllTheSame() throws Exception {
        assertEquals("workers 2", runInChild(ColdStart.class, List.of("-XX:ActiveProcessorCount=1")));
    }

    @Test
    void shared_closed_refuses() {
        TimerScheduler shared = TimerScheduler.shared();
        assertSame(shared, TimerScheduler.shared());
        assertEquals("the shared scheduler cannot be closed",
                assertThrows(IllegalStateException.class, shared::close).getMessage());
        assertThrows(IllegalStateException.class, shared::shutdownNow);
        assertFalse(shared.isClosed());
        CountDownLatch ran = new CountDownLatch(1);
        Timer.after(1, TimeUnit.MICROSECONDS, ran::countDown);
        await(ran);
    }

    // ---- where timers go ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void after_inCallback_staysOnTheWorkersWorker(boolean ownThreads) {
        TimerScheduler.Builder b = TimerScheduler.builder().workers(4).monitor(false);
        if (ownThreads) {
            b.threadFactory(new LifeFixtures.NotingFactory("home"));
        }
        try (TimerScheduler s = b.build()) {
            CountDownLatch done = new CountDownLatch(1);
            AtomicReference<Sleeper> worker = new AtomicReference<>();
            s.after(Duration.ZERO, () -> {
                for (Sleeper d : s.engine.workerPool.workers()) {
                    if (d.runner() == Thread.currentThread()) {
                        worker.set(d);
                    }
                }
                for (int i = 0; i < 100; i++) {
                    s.after(HOUR, NOTHING);
                }
                done.countDown();
            });
            await(done);
            for (int i = 0; i < 4; i++) {
                int expected = i == worker.get().home.index ? 100 : 0;
                assertEquals(expected, s.stats().queues().get(i).pending(), "worker " + i);
            }
        }
    }

    /** That would take a microsecond in a pool of a thousand threads. */
    @Test
    void after_threadsAreOfAFactory_looksAtNoWorker() {
        TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).threadFactory(r -> new Thread() {
            @Override
            public synchronized void start() {
                // No worker runs.
            }
        }).build();
        AtomicInteger looks = new AtomicInteger();
        s.engine.workerPool.knows(new Sleeper(s.engine.queues[0], false) {
            @Override
            public Thread runner() {
                looks.incrementAndGet();
                return null;
            }

            @Override
            public boolean wakeThread() {
                return true;
            }

            @Override
            public void tell(Throwable thrown) {
                throw new AssertionError(thrown);
            }
        });
        s.after(HOUR, NOTHING);
        assertEquals(0, looks.get());
        s.engine.workerPool.knows();
        s.close();
    }

    /** A server's factory may give threads back to a pool of its own. */
    @Test
    void factorysThread_workerHasEnded_isAThreadLikeAnyOther() throws Exception {
        Worker[] carried = new Worker[2];
        List<Thread> threads = new CopyOnWriteArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).monitor(false).threadFactory(body -> {
            threads.add(new Thread(() -> {
                body.run();
                carried[1] = Worker.ofFactorysThread();
            }));
            return threads.get(0);
        }).build()) {
            CountDownLatch ran = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                carried[0] = Worker.ofFactorysThread();
                ran.countDown();
            });
            await(ran);
            assertSame(s.engine.workerPool.workers()[0], carried[0]);
        }
        Fixtures.join(threads.get(0));
        assertNull(carried[1]);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    void after_otherThreads_eachUseOneWorkerAndSpread(int workers) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(workers).build();
                TimerScheduler other = TimerScheduler.builder().workers(workers).build()) {
            Set<Integer> used = new HashSet<>();
            LifeFixtures.inParallel(workers, n -> {
                Timer first = s.after(HOUR, NOTHING);
                for (int i = 0; i < 50; i++) {
                    assertSame(Fixtures.node(first).queue, Fixtures.node(s.after(HOUR, NOTHING)).queue);
                }
                int turn = s.engine.turnOf(Thread.currentThread().getId());
                assertTrue(turn < workers, "dealt in turn: " + turn);
                assertEquals(turn, Fixtures.node(first).queue.index);
                synchronized (used) {
                    used.add(Fixtures.node(first).queue.index);
                }
            });
            assertTrue(used.contains(0) && used.size() == Collections.max(used) + 1, "no worker left out: " + used);
            long inUse = s.stats().queues().stream().filter(w -> w.pending() > 0).count();
            assertEquals(used.size(), inUse);
            assertEquals(51L * workers, s.pending());
            CountDownLatch done = new CountDownLatch(1);
            // Another scheduler's worker is to this one a thread like any other.
            other.after(Duration.ZERO, () -> {
                s.after(HOUR, NOTHING);
                done.countDown();
            });
            await(done);
            assertEquals(51L * workers + 1, s.pending());
            assertEquals(0, other.pending());
        }
    }

    // ---- figures ----

    @Test
    void stats_variousUses_addUp() {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            CountDownLatch fired = new CountDownLatch(5);
            for (int i = 0; i < 5; i++) {
                s.after(Duration.ZERO, fired::countDown);
            }
            await(fired);
            Timer[] timers = new Timer[6];
            for (int i = 0; i < 6; i++) {
                timers[i] = s.after(HOUR, NOTHING);
            }
            assertTrue(timers[0].stop());
            assertTrue(timers[1].cancel());
            assertTrue(timers[2].reset(Duration.ofHours(2)));
            assertTrue(timers[3].reset(Duration.ofMinutes(2)));
            assertFalse(timers[0].reset(HOUR));
            assertEquals(5, s.pending());

            TimerStats stats = s.stats();
            assertEquals(14, stats.armed());
            assertEquals(5, stats.fired());
            assertEquals(2, stats.stopped());
            assertEquals(2, stats.resets());
            assertEquals(0, stats.unfired());
            assertEquals(5, stats.pending());
            assertEquals(0, stats.spareThreads());
            assertTrue(stats.maxLatenessNanos() > 0);
            assertEquals(2, stats.queues().size());
            assertEquals(stats.armed(), sum(stats, TimerStats.Queue::armed));
            assertEquals(stats.fired(), sum(stats, TimerStats.Queue::fired));
            assertEquals(stats.stopped(), sum(stats, TimerStats.Queue::stopped));
            assertEquals(stats.resets(), sum(stats, TimerStats.Queue::resets));
            assertEquals(stats.pending(), sum(stats, TimerStats.Queue::pending));
            assertEquals(stats.staleEntries(), sum(stats, TimerStats.Queue::staleEntries));
            assertEquals(stats.heapCapacity(), sum(stats, TimerStats.Queue::heapCapacity));
            assertEquals(stats.maxLatenessNanos(), stats.queues().stream()
                    .mapToLong(TimerStats.Queue::maxLatenessNanos).max().getAsLong());
            assertThrows(UnsupportedOperationException.class, () -> stats.queues().clear());
            assertNoRescue(s);

            assertEquals(5, s.shutdownNow().size());
            assertEquals(5, s.stats().unfired());
            assertEquals(0, s.stats().pending());
            assertEquals(14, s.stats().armed());
        }
    }

    private static long sum(TimerStats stats, java.util.function.ToLongFunction<TimerStats.Queue> figure) {
        return stats.queues().stream().mapToLong(figure).sum();
    }

    @Test
    void toString_openAndClosed_tellsNameWorkersAndState() {
        TimerScheduler s = TimerScheduler.builder().name("shown").workers(3).build();
        assertEquals("TimerScheduler[shown, 3 workers]", s.toString());
        s.close();
        assertEquals("TimerScheduler[shown, 3 workers, closed]", s.toString());
        assertTrue(s.isClosed());
    }
}
