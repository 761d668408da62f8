package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.util.CleanThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whichever thread runs callbacks: an interrupt flag that one leaves set is not seen by the next, and stays with a
 * thread that is not the scheduler's own; and where an executor rejects callbacks, that thread runs them.
 */
@Timeout(60)
class BorrowedThreadTest {
    private static final Duration NOW = Duration.ZERO;
    private static final Runnable NOTHING = () -> {};

    private final List<Boolean> flags = new ArrayList<>();
    private final Runnable interrupting = () -> {
        flags.add(Thread.currentThread().isInterrupted());
        Thread.currentThread().interrupt();
    };

    private void assertNoneWasSeen(int callbacks) {
        assertEquals(Collections.nCopies(callbacks, false), flags);
    }

    // ---- an interrupt flag that is left set ----

    @Test
    void flagLeftSet_onALoop_isNotSeenByTheNextAndStaysWithTheLoop() {
        try (TimerScheduler s = TimerScheduler.builder().clock(new ManualClock()).workers(0).build();
                TimerLoop loop = s.attach(NOTHING)) {
            for (int i = 0; i < 3; i++) {
                loop.after(NOW, interrupting);
            }
            assertEquals(3, loop.runDue());
            assertTrue(Thread.interrupted());
            assertNoneWasSeen(3);
            loop.after(NOW, NOTHING);
            assertEquals(1, loop.runDue());
            assertFalse(Thread.interrupted(), "it is given back once");
        }
    }

    @Test
    void flagLeftSet_whileAManualClockIsAdvanced_isNotSeenByTheNextAndStaysWithTheCaller() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            s.after(Duration.ofMillis(1), interrupting);
            s.after(Duration.ofMillis(1), interrupting);
            Ticker ticker = s.every(Duration.ofMillis(2), interrupting);
            assertEquals(4, clock.advance(Duration.ofMillis(4)));
            assertTrue(Thread.interrupted());
            assertNoneWasSeen(4);
            ticker.stop();
            assertEquals(0, clock.advance(Duration.ofMillis(4)));
            assertFalse(Thread.interrupted(), "it is given back once");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void flagLeftSet_byATask_isNotSeenByTheNext(boolean view) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1).build();
                SchedulerExecutor e = view ? s.asScheduledExecutorService()
                        : TimerExecutors.newSingleThreadScheduledExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                all.add(i % 2 == 0 ? e.submit(interrupting) : e.schedule(interrupting, i * 50L,
                        MICROSECONDS));
            }
            for (Future<?> f : all) {
                f.get(Fixtures.PATIENCE_SECONDS, SECONDS);
            }
            assertNoneWasSeen(20);
        }
    }

    /** Of the JDK's kind, which clears the flag of its threads itself; and one that runs callbacks on the worker. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void flagLeftSet_onAnExecutor_isNotSeenByTheNextAndTimersGoOn(boolean onTheWorker) throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).executor(onTheWorker ? Runnable::run : threads)
                .build()) {
            CountDownLatch ran = new CountDownLatch(20);
            for (int i = 0; i < 20; i++) {
                s.after(Duration.ofNanos(50_000L * i), () -> {
                    interrupting.run();
                    ran.countDown();
                });
            }
            Fixtures.await(ran);
            assertNoneWasSeen(20);
        } finally {
            threads.shutdown();
        }
    }

    // ---- an executor that rejects ----

    private final AtomicInteger rejections = new AtomicInteger();
    private final AtomicReference<Thread> ranOn = new AtomicReference<>();

    private TimerScheduler.Builder rejecting() {
        return TimerScheduler.builder().listener(new Fixtures.ThrownListener()).executor(r -> {
            rejections.incrementAndGet();
            throw new RejectedExecutionException("full");
        });
    }

    private void noteThread() {
        ranOn.set(Thread.currentThread());
    }

    @Test
    void executorRejects_whileAManualClockIsAdvanced_theCallerRunsIt() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = rejecting().clock(clock).build()) {
            s.every(Duration.ofMillis(1), this::noteThread);
            assertEquals(3, clock.advance(Duration.ofMillis(3)));
            assertSame(Thread.currentThread(), ranOn.get());
            assertEquals(3, rejections.get());
        }
    }

    /** A view's tasks keep all their promises: they run once, on the worker, and the view ends. */
    @Test
    void executorRejects_tasksOfAView_runOnTheWorkerAndTheViewEnds() throws Exception {
        try (TimerScheduler s = rejecting().workers(2).build()) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            AtomicInteger runs = new AtomicInteger();
            for (int i = 0; i < 50; i++) {
                assertEquals(i, view.schedule(() -> runs.getAndIncrement(), i % 2, MILLISECONDS)
                        .get(Fixtures.PATIENCE_SECONDS, SECONDS));
            }
            assertTrue(view.submit(() -> Thread.currentThread() instanceof CleanThread)
                    .get(Fixtures.PATIENCE_SECONDS, SECONDS));
            CountDownLatch ticks = new CountDownLatch(5);
            ScheduledFuture<?> periodic = view.scheduleAtFixedRate(ticks::countDown, 0, 1, MILLISECONDS);
            Fixtures.await(ticks);
            ScheduledFuture<?> waiting = view.schedule(NOTHING, 1, HOURS);
            assertEquals(1, view.shutdownNow().stream().filter(waiting::equals).count());
            assertTrue(view.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
            assertFalse(waiting.isDone());
            assertEquals(50, runs.get());
            periodic.cancel(false);
            assertTrue(rejections.get() >= 56);
        }
    }

    /** It was shut down before the scheduler: what is due runs all the same, and closing does not hang. */
    @Test
    void executorIsShutDownFirst_timersGoOnAndCloseReturns() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (TimerScheduler s = TimerScheduler.builder().listener(new Fixtures.ThrownListener()).workers(1)
                .executor(threads).build()) {
            threads.shutdown();
            CountDownLatch ran = new CountDownLatch(3);
            s.every(Duration.ofMillis(1), ran::countDown);
            Fixtures.await(ran);
        }
    }
}
