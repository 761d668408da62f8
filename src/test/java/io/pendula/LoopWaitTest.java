package io.pendula;

import static io.pendula.LifeFixtures.assertNoRescue;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.millis;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideInbox;

import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Loops that really wait, in each of the ways in which applications do: never early, never lost, never in haste. */
@Timeout(60)
class LoopWaitTest {
    private static final long[] DELAYS = {1_000, 80_000, 300_000, 700_000, 999_999, 1_000_000, 1_000_001, 1_300_000,
        1_999_999, 2_500_000, 4_100_000};
    private static final int ROUNDS_OF_ALL = 20;

    /** Checks and counts firings. */
    private static final class Check implements Runnable {
        final AtomicInteger fired = new AtomicInteger();
        final AtomicInteger early = new AtomicInteger();
        final AtomicInteger elsewhere = new AtomicInteger();
        final AtomicLong worst = new AtomicLong();
        private final Thread loop;
        private volatile long due;

        Check(Thread loop) {
            this.loop = loop;
        }

        void dueIn(long nanos) {
            due = System.nanoTime() + nanos;
        }

        @Override
        public void run() {
            long late = System.nanoTime() - due;
            if (late < 0) {
                early.incrementAndGet();
            }
            if (Thread.currentThread() != loop) {
                elsewhere.incrementAndGet();
            }
            worst.accumulateAndGet(late, Math::max);
            fired.incrementAndGet(); // last: whoever waits for it goes on
        }
    }

    @ParameterizedTest
    @CsvSource({"SELECT, 0", "SELECT, 1", "PARK, 0", "PARK, 1", "POLL, 0", "POLL, 1"})
    void wait_shortDeadlines_neverEarlyNeverLostAndWithoutHaste(LoopThread.Way way, int workers) {
        try (TimerScheduler s = TimerScheduler.builder().workers(workers).build();
                LoopThread t = new LoopThread(s, way)) {
            Check check = new Check(t.thread);
            check.dueIn(0);
            Timer timer = t.loop.after(NOW, check);
            eventually("fired", () -> check.fired.get() == 1);
            int before = t.rounds();
            int expected = 1;
            for (int i = 0; i < ROUNDS_OF_ALL; i++) {
                for (long delay : DELAYS) {
                    check.dueIn(delay);
                    timer.reset(delay, TimeUnit.NANOSECONDS);
                    int n = ++expected;
                    eventually("fired", () -> check.fired.get() == n);
                }
            }
            int firings = ROUNDS_OF_ALL * DELAYS.length;
            int rounds = t.rounds() - before;
            figure("loop that waits by %s: %d rounds, %d wakes for %d firings, worst %.2f ms late", way, rounds,
                    t.wakes(), firings, millis(check.worst.get()));
            assertEquals(0, check.early.get(), "early");
            assertEquals(0, check.elsewhere.get(), "confined");
            // One for the wakeup, one for the deadline, and now and then one that finds something to tidy up.
            assertTrue(rounds <= 4 * firings, "rounds: " + rounds);
            assertTrue(t.wakes() <= firings + 1, "wakes: " + t.wakes());
            assertEquals(firings + 1, s.stats().fired());
            assertNoRescue(s);
        }
    }

    /** The loop arms its own timers, so that there is no wakeup and it needs one wait for each. */
    @ParameterizedTest
    @EnumSource
    void wait_ownTimers_oneRoundForEach(LoopThread.Way way) {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build(); LoopThread t = new LoopThread(s, way)) {
            Check check = new Check(t.thread);
            int firings = ROUNDS_OF_ALL * DELAYS.length;
            CountDownLatch done = new CountDownLatch(1);
            Timer[] timer = new Timer[1];
            int[] before = new int[1];
            t.post(() -> {
                before[0] = t.rounds();
                check.dueIn(0);
                timer[0] = s.after(NOW, () -> {
                    check.run();
                    int n = check.fired.get();
                    if (n == firings) {
                        done.countDown();
                    } else {
                        check.dueIn(DELAYS[n % DELAYS.length]);
                        timer[0].reset(DELAYS[n % DELAYS.length], TimeUnit.NANOSECONDS);
                    }
                });
            });
            await(done);
            int rounds = t.rounds() - before[0];
            figure("loop that waits by %s for its own timers: %d rounds for %d firings, worst %.2f ms late", way,
                    rounds, firings, millis(check.worst.get()));
            assertEquals(0, check.early.get());
            assertTrue(rounds <= 2 * firings, "rounds: " + rounds);
            assertTrue(t.wakes() <= 1, "the first was armed while it was taken to wait still");
        }
    }

    @ParameterizedTest
    @EnumSource
    void wait_longWhenAnEarlierTimerComes_isCutShort(LoopThread.Way way) {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build(); LoopThread t = new LoopThread(s, way)) {
            Timer far = t.loop.after(HOUR, NOTHING);
            for (int i = 1; i <= 50; i++) {
                CountDownLatch ran = new CountDownLatch(1);
                eventually("waits", () -> LoopFixtures.loopWaits(s));
                long began = System.nanoTime();
                AtomicLong at = new AtomicLong();
                t.loop.after(i * 20L, TimeUnit.MICROSECONDS, () -> {
                    at.set(System.nanoTime());
                    ran.countDown();
                });
                await(ran);
                assertTrue(at.get() - began >= i * 20_000L, "early");
            }
            assertTrue(t.wakes() <= 51, () -> "wakes: " + t.wakes()); // before the stop, which may call the loop
            assertTrue(far.stop());
        }
    }

    @ParameterizedTest
    @EnumSource
    void wait_ticker_ticksOnItsGridAndNeverEarly(LoopThread.Way way) {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build(); LoopThread t = new LoopThread(s, way)) {
            long period = 1_500_000;
            AtomicInteger ticks = new AtomicInteger();
            AtomicInteger early = new AtomicInteger();
            long began = System.nanoTime();
            Ticker ticker = t.loop.every(java.time.Duration.ofNanos(period), MissedTicks.BURST, () -> {
                if (System.nanoTime() - began < ticks.incrementAndGet() * period) {
                    early.incrementAndGet();
                }
            });
            eventually("a hundred ticks", () -> ticks.get() >= 100);
            ticker.stop();
            assertEquals(0, early.get());
        }
    }

    /** Both kinds of work in one thread: bytes that arrive, and timers, each as often as the other. */
    @Test
    void select_keysAndTimers_bothAreServed() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build(); Selector selector = Selector.open()) {
            Pipe pipe = Pipe.open();
            int bytes = 200;
            Thread writer = new Thread(() -> {
                try {
                    for (int i = 0; i < bytes; i++) {
                        LifeFixtures.block(200_000);
                        pipe.sink().write(ByteBuffer.wrap(new byte[1]));
                    }
                } catch (java.io.IOException e) {
                    throw new AssertionError(e);
                }
            });
            pipe.source().configureBlocking(false);
            pipe.source().register(selector, SelectionKey.OP_READ);
            writer.start();
            int read = 0;
            int[] ticks = new int[1];
            try (TimerLoop loop = s.attach(selector::wakeup)) {
                loop.every(java.time.Duration.ofMillis(1), () -> ticks[0]++);
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LifeFixtures.LOST_SECONDS);
                while (read < bytes || ticks[0] < 10) {
                    assertTrue(System.nanoTime() < end, "read " + read + ", ticks " + ticks[0]);
                    int keys = loop.select(selector);
                    assertEquals(keys, selector.selectedKeys().size());
                    if (keys > 0) {
                        selector.selectedKeys().clear();
                        read += pipe.source().read(ByteBuffer.allocate(16));
                    }
                    loop.runDue();
                }
            }
            writer.join();
            pipe.source().close();
            pipe.sink().close();
            assertEquals(bytes, read);
        }
    }

    @Test
    void select_somethingIsDue_looksAtTheKeysWithoutWaiting() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build(); Selector selector = Selector.open();
                TimerLoop loop = s.attach(selector::wakeup)) {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            pipe.source().register(selector, SelectionKey.OP_READ);
            pipe.sink().write(ByteBuffer.wrap(new byte[1]));
            loop.after(NOW, NOTHING);
            eventually("the byte has arrived", () -> {
                try {
                    return loop.select(selector) == 1;
                } catch (java.io.IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals(1, loop.runDue(), "it was left to runDue");
            pipe.source().close();
            pipe.sink().close();
        }
    }

    @Test
    void nanosUntilNext_memoryWasShort_tellsTheHandlerOnce() {
        List<Throwable> told = new ArrayList<>();
        Thread me = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = me.getUncaughtExceptionHandler();
        me.setUncaughtExceptionHandler((t, e) -> told.add(e));
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build(); TimerLoop l = s.attach(NOTHING)) {
            InsideInbox.endShortage(l.worker.queue);
            l.nanosUntilNext();
            l.nanosUntilNext();
        } finally {
            me.setUncaughtExceptionHandler(before);
        }
        assertEquals(1, told.size());
        assertTrue(told.get(0).getMessage().startsWith("memory was short"), told.get(0)::toString);
    }
}
