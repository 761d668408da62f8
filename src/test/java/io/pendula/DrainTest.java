package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DrainTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Runnable NOTHING = () -> {};

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().name("t").clock(clock).build();
    private final List<Long> ran = new ArrayList<>();

    private void note() {
        ran.add(TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime()));
    }

    @Test
    void drain_someFallDueWithinTheLimit_runsThemAndReturnsTheRest() throws Exception {
        timers.after(SECOND, this::note);
        ScheduledFuture<?> task = timers.asScheduledExecutorService().schedule(this::note, Duration.ofSeconds(30));
        Timer later = timers.after(Duration.ofSeconds(31), this::note);
        Timer never = timers.at(Long.MAX_VALUE, this::note);
        Ticker ticker = timers.every(Duration.ofSeconds(20), this::note);

        assertEquals(Set.of(later, never, ticker), Set.copyOf(timers.drain(Duration.ofSeconds(30))));

        assertEquals(List.of(1L, 20L, 30L), ran);
        assertTrue(task.isDone());
        assertTrue(timers.isClosed());
        assertEquals(0, timers.pending());
        assertThrows(RejectedExecutionException.class, () -> timers.after(SECOND, NOTHING));
    }

    @Test
    void drain_nothingFallsDueWithinTheLimit_doesNotWait() {
        Ticker ticker = timers.every(SECOND, this::note);
        Timer later = timers.after(HOUR, this::note);
        TimerHandle daily = timers.schedule(after -> after.plusSeconds(3600), () -> Instant.EPOCH, this::note);
        assertEquals(Set.of(ticker, later, daily), Set.copyOf(timers.drain(HOUR.minusNanos(1))));
        assertEquals(0, clock.nanoTime());
        assertEquals(List.of(), timers.drain(SECOND));
    }

    @Test
    void drain_ofAnEndlessLimit_doesNotWaitForWhatIsNeverDue() {
        timers.after(HOUR, this::note);
        Timer never = timers.at(Long.MAX_VALUE, this::note);
        assertEquals(List.of(never), timers.drain(Duration.ofDays(365_000)));
        assertEquals(List.of(3600L), ran);
    }

    @Test
    void drain_meanwhile_refusesNewTasksAndLetsTimersBeReset() {
        SchedulerExecutor view = timers.asScheduledExecutorService();
        TimerGroup group = timers.group("g");
        Timer other = timers.after(HOUR, this::note);
        AtomicInteger refused = new AtomicInteger();
        timers.after(SECOND, () -> {
            List<Runnable> armings = List.of(() -> timers.after(SECOND, this::note), () -> timers.at(0, this::note),
                    () -> timers.every(SECOND, this::note), () -> group.after(SECOND, this::note), () -> view.execute(this::note),
                    () -> view.submit(() -> "value"), () -> view.scheduleAtFixedRate(this::note, SECOND, SECOND),
                    () -> timers.orTimeout(new CompletableFuture<>(), SECOND));
            for (Runnable arm : armings) {
                assertEquals("scheduler 't' is being drained",
                        assertThrows(RejectedExecutionException.class, arm::run).getMessage());
                refused.incrementAndGet();
            }
            other.reset(SECOND);
        });
        assertEquals(List.of(), timers.drain(SECOND.multipliedBy(2)));
        assertEquals(8, refused.get());
        assertEquals(List.of(2L), ran);
    }

    @Test
    void drain_byACallback_closesWithoutWaiting() {
        List<TimerHandle> left = new ArrayList<>();
        Timer later = timers.after(SECOND.multipliedBy(2), this::note);
        timers.after(SECOND, () -> left.addAll(timers.drain(HOUR)));
        clock.advance(HOUR);
        assertEquals(List.of(later), left);
        assertEquals(List.of(), ran);
    }

    @Test
    void drain_byAThreadWithALoop_closesWithoutWaiting() {
        TimerLoop loop = timers.attach(NOTHING);
        Timer timer = loop.after(SECOND, this::note);
        assertEquals(List.of(timer), timers.drain(HOUR));
        loop.close();
    }

    @Test
    void drain_wrongArgumentOrSharedScheduler_changesNothing() {
        assertThrows(NullPointerException.class, () -> timers.drain(null));
        assertThrows(IllegalArgumentException.class, () -> timers.drain(Duration.ofNanos(-1)));
        assertTrue(timers.after(SECOND, NOTHING).cancel());
        assertThrows(IllegalStateException.class, () -> TimerScheduler.shared().drain(SECOND));
        assertTrue(TimerScheduler.shared().after(HOUR, NOTHING).cancel());
        timers.close();
    }

    // ---- with threads ----

    @Test
    void drain_withThreads_returnsWhenTheLastHasRun() throws Exception {
        TimerScheduler real = TimerScheduler.builder().workers(2).build();
        CountDownLatch done = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            real.after(i, TimeUnit.MILLISECONDS, done::countDown);
        }
        Timer later = real.after(HOUR, NOTHING);
        assertEquals(List.of(later), real.drain(Duration.ofMinutes(30)));
        assertEquals(0, done.getCount());
    }

    @Test
    void drain_callbackLastsLonger_returnsAfterTheLimit() {
        TimerScheduler real = TimerScheduler.builder().workers(1).build();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        real.after(Duration.ZERO, () -> {
            started.countDown();
            LifeFixtures.await(end);
        });
        LifeFixtures.await(started);
        Timer behind = real.after(Duration.ZERO, NOTHING);
        long begun = System.nanoTime();
        assertEquals(List.of(behind), real.drain(Duration.ofMillis(50)));
        assertTrue(System.nanoTime() - begun >= 50_000_000);
        end.countDown();
        real.close();
    }

    @Test
    void drain_interrupted_closesAndKeepsTheFlag() {
        TimerScheduler real = TimerScheduler.builder().workers(1).build();
        Timer soon = real.after(Duration.ofMinutes(5), NOTHING);
        Thread.currentThread().interrupt();
        List<TimerHandle> left = real.drain(HOUR);
        assertTrue(Thread.interrupted());
        assertEquals(1, left.size());
        assertSame(soon, left.get(0));
        assertTrue(real.isClosed());
    }

    @Test
    void drain_callbacksWaitForTheBuildersExecutor_areRun() {
        ExecutorService one = Executors.newSingleThreadExecutor();
        CountDownLatch first = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        one.execute(() -> LifeFixtures.await(first));
        TimerScheduler handing = TimerScheduler.builder().clock(clock).executor(one).build();
        handing.after(Duration.ZERO, runs::incrementAndGet);
        handing.after(SECOND, first::countDown);
        clock.advance(Duration.ZERO);
        Thread drains = Thread.currentThread();
        Thread helper = new Thread(() -> {
            Fixtures.awaitWaiting(drains); // so the executor is not free before the drain has looked
            first.countDown();
        });
        helper.start();
        assertEquals(List.of(), handing.drain(HOUR));
        assertEquals(1, runs.get());
        one.shutdown();
        timers.close();
    }

    @Test
    @Tag("stress")
    void drain_whileThreadsArm_eachTaskRunsIsReturnedOrWasRefused() throws Exception {
        for (int round = 0; round < Scale.of(20, 200); round++) {
            TimerScheduler real = TimerScheduler.builder().workers(2).build();
            AtomicInteger armed = new AtomicInteger();
            AtomicInteger runs = new AtomicInteger();
            CountDownLatch warm = new CountDownLatch(2);
            Runnable armer = () -> {
                try {
                    for (int i = 0; ; i++) {
                        real.after(i % 2 == 0 ? 100 : 3_600_000_000L, TimeUnit.MICROSECONDS, runs::incrementAndGet);
                        armed.incrementAndGet();
                        if (i == 100) {
                            warm.countDown();
                        }
                    }
                } catch (RejectedExecutionException drained) {
                    warm.countDown();
                }
            };
            List<Thread> threads = List.of(new Thread(armer), new Thread(armer));
            threads.forEach(Thread::start);
            warm.await();
            int left = real.drain(Duration.ofSeconds(30)).size();
            for (Thread t : threads) {
                t.join();
            }
            assertEquals(armed.get(), left + runs.get());
            assertFalse(real.stats().pending() > 0);
        }
    }
}
