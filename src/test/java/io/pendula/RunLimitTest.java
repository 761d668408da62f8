package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.internal.util.VirtualThreads;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of the thread that calls. It advances the clock itself, so it is interrupted by itself, where no other is named. */
@Timeout(60)
class RunLimitTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);

    private final ManualClock clock = new ManualClock();
    private final LifeFixtures.Heard heard = new LifeFixtures.Heard();
    private final TimerScheduler timers = TimerScheduler.builder().name("t").clock(clock).listener(heard).build();

    @AfterEach
    void close() {
        timers.close();
        assertFalse(Thread.interrupted(), "a flag is left");
    }

    private static boolean isInterrupted() {
        return Thread.currentThread().isInterrupted();
    }

    /** Starts a thread that waits for ever within a limit; completes with what the thread has found. */
    private static CompletableFuture<String> block(Timers timers, Duration time, Executor executor) throws InterruptedException {
        CountDownLatch armed = new CountDownLatch(1);
        CompletableFuture<String> ended = CompletableFuture.supplyAsync(() -> {
            RunLimit known = null;
            String end = "";
            try (RunLimit limit = timers.interruptAfter(time)) {
                known = limit;
                armed.countDown();
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                end = "interrupted, ";
            }
            return end + (known.isOver() ? "over" : "in time") + (isInterrupted() ? ", flag is set" : "");
        }, executor);
        Fixtures.await(armed);
        return ended;
    }

    private static void start(Runnable body) {
        new Thread(body).start();
    }

    // ---- one limit ----

    @Test
    void interruptAfter_blockedThread_isInterruptedWhenTheTimeIsOver() throws Exception {
        CompletableFuture<String> ended = block(timers, SECOND, RunLimitTest::start);
        clock.advance(SECOND.minusNanos(1));
        assertEquals(1, timers.pending());
        clock.advance(Duration.ofNanos(1));
        assertEquals("interrupted, over", ended.get());
        assertEquals(0, timers.pending());
    }

    @Test
    void interruptAfter_blockedVirtualThread_isInterruptedWhenTheTimeIsOver() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "there are virtual threads");
        CompletableFuture<String> ended = block(timers, SECOND, VirtualThreads.onePerTask());
        clock.advance(SECOND);
        assertEquals("interrupted, over", ended.get());
    }

    /** Real time: a worker interrupts, not early. */
    @Test
    void interruptAfter_sharedScheduler_interruptsNotEarly() throws Exception {
        long begun = System.nanoTime();
        assertEquals("interrupted, over", block(TimerScheduler.shared(), Duration.ofMillis(20), RunLimitTest::start)
                .get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertTrue(System.nanoTime() - begun >= 20_000_000);
    }

    @Test
    void close_inTime_leavesNothing() {
        RunLimit limit = timers.interruptAfter(SECOND);
        clock.advance(SECOND.minusNanos(1));
        assertFalse(isInterrupted());
        assertFalse(limit.isOver());
        limit.close();
        limit.close();
        assertEquals(0, timers.pending());
        clock.advance(HOUR);
        assertFalse(isInterrupted());
        assertFalse(limit.isOver());
    }

    @Test
    void close_late_clearsTheFlagOnce() {
        RunLimit limit = timers.interruptAfter(SECOND);
        clock.advance(SECOND);
        assertTrue(isInterrupted());
        assertTrue(limit.isOver());
        limit.close();
        assertFalse(isInterrupted());
        assertTrue(limit.isOver());
        Thread.currentThread().interrupt();
        limit.close();
        assertTrue(Thread.interrupted(), "another one's interrupt");
    }

    @Test
    void close_inTime_leavesTheInterruptOfAnother() {
        RunLimit limit = timers.interruptAfter(SECOND);
        Thread.currentThread().interrupt();
        limit.close();
        assertTrue(Thread.interrupted());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void interruptAfter_zeroOrNegative_isDueAtOnceButNotInsideTheCall(long seconds) {
        try (RunLimit limit = timers.interruptAfter(Duration.ofSeconds(seconds))) {
            assertFalse(isInterrupted());
            assertFalse(limit.isOver());
            clock.advance(Duration.ZERO);
            assertTrue(isInterrupted());
        }
    }

    @Test
    void interruptAfter_refused_leavesNothing() {
        assertEquals("limit must not be null",
                assertThrows(NullPointerException.class, () -> timers.interruptAfter(null)).getMessage());
        try (TimerScheduler full = TimerScheduler.builder().clock(clock).maxPending(1).build();
                RunLimit outer = full.interruptAfter(HOUR)) {
            assertThrows(RejectedExecutionException.class, () -> full.interruptAfter(SECOND));
            full.shutdownNow();
            assertTrue(outer.isOver());
            assertThrows(RejectedExecutionException.class, () -> full.interruptAfter(SECOND));
        }
        clock.advance(HOUR);
        assertFalse(isInterrupted());
    }

    @Test
    void close_byAnotherThread_isRefusedAndChangesNothing() throws Exception {
        try (RunLimit limit = timers.interruptAfter(SECOND)) {
            Thread me = Thread.currentThread();
            CompletableFuture<Throwable> thrown = new CompletableFuture<>();
            start(() -> thrown.complete(assertThrows(IllegalStateException.class, limit::close)));
            assertTrue(thrown.get().getMessage().startsWith("the limit of thread " + me.getName() + " cannot be closed by"));
            clock.advance(SECOND);
            assertTrue(isInterrupted());
        }
    }

    /** The clock's advance is inside interrupt() when the thread closes its limit. */
    @Test
    void close_whileTheInterruptIsBeingSent_waitsForIt() throws Exception {
        CountDownLatch armed = new CountDownLatch(1);
        CountDownLatch inInterrupt = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch sent = new CountDownLatch(1);
        AtomicBoolean closed = new AtomicBoolean();
        AtomicBoolean flag = new AtomicBoolean(true);
        Thread t = new Thread(() -> {
            RunLimit limit = timers.interruptAfter(SECOND);
            armed.countDown();
            Fixtures.awaitTrue(() -> inInterrupt.getCount() == 0);
            limit.close();
            closed.set(true);
            Fixtures.awaitTrue(() -> sent.getCount() == 0);
            flag.set(isInterrupted());
        }) {
            @Override
            public void interrupt() {
                inInterrupt.countDown();
                LifeFixtures.await(go);
                super.interrupt();
            }
        };
        t.start();
        Fixtures.await(armed);
        start(() -> {
            clock.advance(SECOND);
            sent.countDown();
        });
        LifeFixtures.eventually("it waits, or has not waited", () -> closed.get() || Arrays.stream(t.getStackTrace())
                .anyMatch(e -> e.getClassName().equals(RunLimit.class.getName()) && e.getMethodName().equals("close")));
        go.countDown();
        Fixtures.join(t);
        assertFalse(flag.get(), "an interrupt came after the close");
    }

    @Test
    void close_interruptHasThrown_doesNotWaitForEver() throws Exception {
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        Thread t = new LifeFixtures.Uninterruptible(() -> {
            try (RunLimit limit = timers.interruptAfter(SECOND)) {
                clock.advance(SECOND);
                over.complete(limit.isOver());
            }
        }, 0);
        t.start();
        assertTrue(over.get());
        Fixtures.join(t);
        assertEquals(1, heard.threw.size());
    }

    // ---- what ends before ----

    @Test
    void schedulerOrGroupIsClosed_interruptsAtOnce() throws Exception {
        TimerGroup group = timers.group("g");
        CompletableFuture<String> first = block(group, HOUR, RunLimitTest::start);
        assertEquals(1, group.cancel());
        assertEquals("interrupted, over", first.get());
        CompletableFuture<String> second = block(timers, HOUR, RunLimitTest::start);
        timers.close();
        assertEquals("interrupted, over", second.get());
    }

    @Test
    void interruptAfter_byTheLoopsOwnThread_isRefused() throws Exception {
        try (TimerLoop loop = timers.attach(() -> {})) {
            for (Timers own : new Timers[] {loop, timers, timers.group("g")}) {
                assertEquals("the timers of a loop cannot interrupt the loop's own thread, " + Thread.currentThread().getName()
                        + ", as that thread runs them",
                        assertThrows(IllegalStateException.class, () -> own.interruptAfter(SECOND)).getMessage());
            }
            assertEquals(0, timers.pending());
            CompletableFuture<String> ended = block(loop, SECOND, RunLimitTest::start);
            clock.advance(SECOND);
            assertEquals(1, loop.runDue());
            assertEquals("interrupted, over", ended.get());
        }
    }

    @Test
    void pendingByTask_aLimit_isNamed() {
        try (RunLimit limit = timers.interruptAfter(SECOND)) {
            assertFalse(limit.isOver());
            PendingTimer pending = timers.pendingTimers(2).get(0);
            assertTrue(pending.toString().contains("interrupt of thread " + Thread.currentThread().getName()), pending::toString);
            assertSame(RunLimit.class, timers.pendingByTask().keySet().iterator().next().getEnclosingClass());
        }
    }

    // ---- nesting ----

    @Test
    void nested_innerIsOver_outerGoesOn() {
        try (RunLimit outer = timers.interruptAfter(HOUR)) {
            try (RunLimit inner = timers.interruptAfter(SECOND)) {
                clock.advance(SECOND);
                assertTrue(inner.isOver());
                assertTrue(isInterrupted());
            }
            assertFalse(isInterrupted());
            assertFalse(outer.isOver());
            clock.advance(HOUR);
            assertTrue(isInterrupted());
        }
        assertFalse(isInterrupted());
    }

    @Test
    void nested_outerIsOver_innerCloseLeavesItsInterrupt() {
        try (RunLimit outer = timers.interruptAfter(SECOND)) {
            try (RunLimit inner = timers.interruptAfter(HOUR)) {
                clock.advance(SECOND);
                assertFalse(inner.isOver());
            }
            assertTrue(outer.isOver());
            assertTrue(isInterrupted());
        }
        assertFalse(isInterrupted());
    }

    @Test
    void nested_bothAreOver_innerCloseKeepsTheInterruptOfTheOuter() {
        try (RunLimit outermost = timers.interruptAfter(SECOND.multipliedBy(2))) {
            try (RunLimit outer = timers.interruptAfter(HOUR)) {
                try (RunLimit inner = timers.interruptAfter(SECOND)) {
                    clock.advance(SECOND.multipliedBy(2));
                    assertTrue(inner.isOver() && outermost.isOver());
                }
                assertTrue(isInterrupted(), "that of the outermost");
                assertFalse(outer.isOver());
            }
            assertTrue(isInterrupted(), "that of the outermost");
        }
        assertFalse(isInterrupted());
    }

    @Test
    void nested_bothAreOverAndTheInterruptHasEndedAWait_noneIsLeft() {
        try (RunLimit outer = timers.interruptAfter(SECOND)) {
            try (RunLimit inner = timers.interruptAfter(SECOND)) {
                clock.advance(SECOND);
                assertTrue(inner.isOver() && outer.isOver());
                assertThrows(InterruptedException.class, () -> Thread.sleep(1));
            }
            assertFalse(isInterrupted());
        }
    }

    @Test
    void nested_closedInTheWrongOrder_eachEndsItsOwn() {
        RunLimit outer = timers.interruptAfter(SECOND);
        RunLimit inner = timers.interruptAfter(SECOND.multipliedBy(2));
        clock.advance(SECOND);
        outer.close();
        assertFalse(isInterrupted());
        clock.advance(SECOND);
        assertTrue(isInterrupted());
        inner.close();
        assertFalse(isInterrupted(), "the outer one is closed");
        RunLimit next = timers.interruptAfter(SECOND);
        clock.advance(SECOND);
        next.close();
        assertFalse(isInterrupted(), "the outer one is closed");
    }

    // ---- in a race ----

    @Test
    @Tag("stress")
    void close_atAnyMoment_noInterruptComesLater() throws Exception {
        AtomicInteger over = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            LifeFixtures.inParallel(2, i -> {
                for (int n = 0; n < Scale.of(3_000, 100_000); n++) {
                    long micros = ThreadLocalRandom.current().nextInt(60);
                    try (RunLimit outer = s.interruptAfter(Duration.ofHours(1));
                            RunLimit limit = s.interruptAfter(Duration.ofNanos(micros * 1_000))) {
                        LifeFixtures.spin(ThreadLocalRandom.current().nextInt(60_000));
                        assertFalse(outer.isOver());
                        over.addAndGet(limit.isOver() ? 1 : 0);
                    }
                    assertFalse(isInterrupted());
                    LifeFixtures.spin(ThreadLocalRandom.current().nextInt(5_000));
                    assertFalse(isInterrupted());
                }
            });
            assertTrue(over.get() > 0);
            assertEquals(0, s.pending());
        }
    }
}
