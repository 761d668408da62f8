package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.block;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.figure;
import static io.pendula.LifeFixtures.inParallel;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Timeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Go's own tests of its timers check, each of which stands for a bug that its runtime once had. */
@Timeout(60)
class GoTrapsTest {
    private static final Duration NOW = Duration.ZERO;
    private static final Runnable NOTHING = () -> {};

    private final TimerScheduler timers = TimerScheduler.builder().workers(2).build();

    @AfterEach
    void close() {
        timers.close();
    }

    // ---- one-shots ----

    @Test
    void after_chainOfCallbacksThatBlock_goesOn() {
        CountDownLatch left = new CountDownLatch(10);
        Runnable link = new Runnable() {
            @Override
            public void run() {
                left.countDown();
                if (left.getCount() > 0) {
                    timers.after(NOW, this);
                    block(20_000_000);
                }
            }
        };
        timers.after(NOW, link);
        await(left);
    }

    @Test
    void stop_beforeDue_neverFiresAndTheSecondStopIsFalse() {
        AtomicBoolean fired = new AtomicBoolean();
        Timer t = timers.after(Duration.ofHours(1), () -> fired.set(true));
        CountDownLatch passed = new CountDownLatch(1);
        Timer soon = timers.after(Duration.ofMillis(50), () -> fired.set(true));
        assertTrue(soon.stop());
        assertFalse(soon.stop());
        timers.after(Duration.ofMillis(60), passed::countDown);
        await(passed);
        assertTrue(t.stop());
        assertFalse(t.stop());
        assertFalse(fired.get());
    }

    /** If all are armed before the first is due: what is armed late may come after what is due already. */
    @Test
    void after_slotsInAnyOrder_fireInOrderOfDeadlines() throws Exception {
        int[] slots = {5, 3, 6, 6, 6, 1, 1, 2, 7, 9, 4, 8, 0};
        try (TimerScheduler one = TimerScheduler.builder().workers(1).build()) {
            long slotNanos = 10_000_000;
            ContractCase.inTimeAtLeastOnce(() -> {
                Queue<Integer> order = new ConcurrentLinkedQueue<>();
                Queue<Long> early = new ConcurrentLinkedQueue<>();
                CountDownLatch done = new CountDownLatch(slots.length);
                long first = System.nanoTime() + slotNanos;
                for (int slot : slots) {
                    long due = first + slot * slotNanos;
                    one.after(due - System.nanoTime(), TimeUnit.NANOSECONDS, () -> {
                        if (System.nanoTime() - due < 0) {
                            early.add(System.nanoTime() - due);
                        }
                        order.add(slot);
                        done.countDown();
                    });
                }
                boolean inTime = System.nanoTime() - first < 0;
                await(done);
                List<Integer> sorted = new ArrayList<>(order);
                sorted.sort(null);
                if (inTime) {
                    assertEquals(sorted, List.copyOf(order));
                }
                assertEquals(slots.length, order.size());
                assertEquals(List.of(), List.copyOf(early));
                return inTime;
            });
        }
    }

    @Test
    void stop_fromAHundredThreadsAtHalfTime_noneFires() throws Exception {
        AtomicInteger fired = new AtomicInteger();
        AtomicInteger stopped = new AtomicInteger();
        inParallel(100, n -> {
            Timer t = timers.after(Duration.ofSeconds(3), fired::incrementAndGet);
            Thread.sleep(20);
            if (t.stop()) {
                stopped.incrementAndGet();
            }
        });
        assertEquals(100, stopped.get());
        assertEquals(0, fired.get());
        assertEquals(0, timers.pending());
    }

    @Test
    void after_zeroDelayTwentyThousandTimes_eachFires() {
        int count = 20_000;
        AtomicInteger fired = new AtomicInteger();
        long began = System.nanoTime();
        for (int i = 1; i <= count; i++) {
            timers.after(NOW, fired::incrementAndGet);
            if (i % 4 == 0) { // alone, and in small heaps
                awaitCount(fired, i);
            }
        }
        awaitCount(fired, count);
        figure("%d zero timers, new: %.2f us each", count, (System.nanoTime() - began) / 1e3 / count);
        assertEquals(count, timers.stats().fired());
    }

    @Test
    void reset_zeroDelayTwentyThousandTimes_eachFires() {
        int count = 20_000;
        AtomicInteger fired = new AtomicInteger();
        Timer t = timers.after(Duration.ofHours(1), fired::incrementAndGet);
        assertTrue(t.reset(NOW));
        awaitCount(fired, 1);
        long began = System.nanoTime();
        for (int i = 2; i <= count; i++) {
            // While the callback is still returning the reset takes effect when it has.
            assertFalse(t.reset(NOW));
            awaitCount(fired, i);
        }
        figure("%d zero timers, reset: %.2f us each", count, (System.nanoTime() - began) / 1e3 / count);
        assertEquals(count, timers.stats().fired());
    }

    private static void awaitCount(AtomicInteger counter, int count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LifeFixtures.LOST_SECONDS);
        while (counter.get() < count) {
            assertTrue(System.nanoTime() - end < 0, () -> "only " + counter + " of " + count);
            Thread.onSpinWait();
        }
    }

    @Test
    void reset_modifiedEarlierManyTimes_firesAtOnce() {
        AtomicInteger fired = new AtomicInteger();
        Timer t = timers.after(Duration.ofHours(1), fired::incrementAndGet);
        for (int i = 1; i <= 300; i++) {
            for (int j = 0; j < 10; j++) {
                t.stop();
                t.reset(Duration.ofMinutes(10 - j));
            }
            t.stop();
            t.reset(Duration.ofMillis(-1));
            awaitCount(fired, i);
        }
        assertEquals(300, fired.get());
    }

    @Test
    void reset_randomScripts_eachZeroResetFires() {
        int count = 100;
        List<Timer> all = new ArrayList<>();
        AtomicInteger[] fired = new AtomicInteger[count];
        for (int i = 0; i < count; i++) {
            fired[i] = new AtomicInteger();
            all.add(timers.after(Duration.ofHours(1), fired[i]::incrementAndGet));
        }
        ThreadLocalRandom r = ThreadLocalRandom.current();
        int zeros = 0;
        int[] expected = new int[count];
        for (int step = 0; step < 11; step++) {
            for (int i = 0; i < count; i++) {
                Timer t = all.get(i);
                switch (r.nextInt(5)) {
                    case 0 -> t.reset(Duration.ofHours(2));
                    case 1 -> t.reset(Duration.ofMinutes(1 + r.nextInt(30)));
                    case 2 -> t.stop();
                    case 3 -> {
                        t.reset(NOW);
                        expected[i]++;
                        zeros++;
                    }
                    default -> t.reset(Duration.ofHours(1));
                }
            }
            for (int i = 0; i < count; i++) {
                int n = i;
                eventually("zero resets fire", () -> fired[n].get() == expected[n]);
            }
        }
        assertTrue(zeros > 0);
        assertEquals(zeros, timers.stats().fired());
    }

    /** Go lost the value of some timers for which Stop or Reset had said that it was on its way. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stopOrReset_false_theFiringReallyComes(boolean reset) throws Exception {
        AtomicInteger refused = new AtomicInteger();
        inParallel(32, n -> {
            for (int i = 0; i < 60; i++) {
                CountDownLatch first = new CountDownLatch(1);
                AtomicInteger fired = new AtomicInteger();
                Timer t = timers.after(1, TimeUnit.MILLISECONDS, () -> {
                    fired.incrementAndGet();
                    first.countDown();
                });
                LifeFixtures.block(ThreadLocalRandom.current().nextLong(700_000, 1_300_000));
                boolean prevented = reset ? t.reset(Duration.ofHours(1)) : t.stop();
                if (!prevented) {
                    refused.incrementAndGet();
                    await(first);
                }
                assertEquals(reset, t.stop());
                assertEquals(prevented ? 0 : 1, fired.get());
            }
        });
        figure("%s came too late for %d of %d timers", reset ? "reset" : "stop", refused.get(), 32 * 60);
        assertEquals(0, timers.pending());
    }

    // ---- periods and delays that overflow ----

    @Test
    void every_overlongPeriod_harmsNoOtherTimer() {
        AtomicInteger wrong = new AtomicInteger();
        List<Ticker> tickers = new ArrayList<>();
        for (MissedTicks policy : MissedTicks.values()) {
            for (Duration period : List.of(Duration.ofNanos(Long.MAX_VALUE), Duration.ofSeconds(Long.MAX_VALUE),
                    Duration.ofNanos(Long.MAX_VALUE / 2), Duration.ofNanos(Timeline.NEVER - 1))) {
                tickers.add(timers.every(period, policy, wrong::incrementAndGet));
            }
        }
        Timer never = timers.after(Long.MAX_VALUE, TimeUnit.DAYS, wrong::incrementAndGet);
        Ticker turned = timers.every(Duration.ofMillis(1), MissedTicks.BURST, NOTHING);
        assertTrue(turned.reset(Duration.ofNanos(Long.MAX_VALUE)));
        CountDownLatch fired = new CountDownLatch(200);
        for (int i = 0; i < 200; i++) {
            timers.after(i * 50L, TimeUnit.MICROSECONDS, fired::countDown);
        }
        timers.after(Long.MIN_VALUE, TimeUnit.DAYS, fired::countDown);
        await(fired);
        assertEquals(0, wrong.get());
        assertTrue(never.isPending());
        assertTrue(never.remaining().compareTo(Duration.ofDays(365)) > 0);
        tickers.forEach(t -> assertTrue(t.stop()));
        assertTrue(never.stop());
    }

    // ---- tickers ----

    @Test
    void ticker_resetToTwiceThePeriod_keepsBothRatesThenIsSilent() {
        AtomicInteger ticks = new AtomicInteger();
        long began = System.nanoTime();
        Ticker ticker = timers.every(Duration.ofMillis(5), ticks::incrementAndGet);
        eventually("ten ticks", () -> ticks.get() >= 10);
        assertTrue(System.nanoTime() - began >= 50_000_000, "early");
        int before = ticks.get();
        long reset = System.nanoTime();
        assertTrue(ticker.reset(Duration.ofMillis(10)));
        eventually("five more", () -> ticks.get() >= before + 6); // one may have been under way
        assertTrue(System.nanoTime() - reset >= 50_000_000, "early");
        assertTrue(ticker.stop());
        eventually("not running", () -> timers.pending() == 0);
        int last = ticks.get();
        CountDownLatch later = new CountDownLatch(1);
        timers.after(Duration.ofMillis(40), later::countDown);
        await(later);
        assertTrue(ticks.get() <= last + 1); // a run that had begun
        assertFalse(ticker.stop());
    }

    @Test
    void teardown_stopRightAfterTheFirstTick_doesNotHang() throws Exception {
        for (int i = 0; i < 300; i++) {
            Alarm ticker = timers.alarmEvery(Duration.ofNanos(100_000));
            ticker.await();
            assertTrue(ticker.stop());
            assertFalse(ticker.stop());
            assertFalse(ticker.await(NOW), "a stale tick");
        }
        assertEquals(0, timers.pending());
    }

    @Test
    void ticker_manyWaiters_eachTickWakesOne() throws Exception {
        AtomicLong taken = new AtomicLong();
        try (Alarm ticker = timers.alarmEvery(Duration.ofNanos(1_000))) {
            inParallel(10, n -> {
                for (int i = 0; i < 50; i++) {
                    ticker.await();
                    taken.incrementAndGet();
                }
            });
        }
        assertEquals(500, taken.get());
        assertTrue(timers.stats().fired() >= 500);
    }

    @Test
    void timer_manyWaitersAndRacingResets_eachFiringGoesToOne() throws Exception {
        Alarm t = timers.alarm(Duration.ofHours(1));
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong taken = new AtomicLong();
        AtomicLong armed = new AtomicLong(1);
        AtomicLong replaced = new AtomicLong();
        inParallel(6, n -> {
            if (n < 2) {
                for (int i = 0; i < 2_000; i++) {
                    if (t.reset(Duration.ofNanos(1))) {
                        replaced.incrementAndGet();
                    }
                    armed.incrementAndGet();
                    LifeFixtures.spin(2_000);
                }
                over.set(true);
            } else {
                while (!over.get()) {
                    if (t.await(Duration.ofMillis(1))) {
                        taken.incrementAndGet();
                    }
                }
            }
        });
        boolean last = t.await(Duration.ofMillis(200));
        assertEquals(armed.get(), replaced.get() + taken.get() + (last ? 1 : 0));
        assertFalse(t.await(NOW));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void ticker_oneNanosecondUnderGarbageCollection_ticksOn(int readers) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong taken = new AtomicLong();
        try (Alarm ticker = timers.alarmEvery(Duration.ofNanos(1))) {
            inParallel(readers + 1, n -> {
                if (n == readers) {
                    for (int i = 0; i < Scale.of(4, 8); i++) {
                        System.gc();
                    }
                    eventually("ticks taken", () -> taken.get() >= 100);
                    over.set(true);
                    return;
                }
                while (!over.get()) {
                    if (ticker.await(Duration.ofMillis(5))) {
                        taken.incrementAndGet();
                    }
                }
            });
            assertTrue(ticker.stop());
        }
        assertTrue(taken.get() >= 100);
    }

    @Test
    void after_tenInSequence_takeAsLongAsTheirDelays() throws Exception {
        long began = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            timers.alarm(Duration.ofMillis(5)).await();
        }
        assertTrue(System.nanoTime() - began >= 50_000_000, "early");
    }

    /** A worker that is kept busy by tasks that arm one another must not starve another timer. */
    @Test
    void after_oneWorkerWithAPingPongOfCallbacks_othersRun() {
        try (TimerScheduler one = TimerScheduler.builder().workers(1).build()) {
            AtomicBoolean over = new AtomicBoolean();
            AtomicLong pings = new AtomicLong();
            CountDownLatch ended = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                one.after(NOW, new Runnable() {
                    @Override
                    public void run() {
                        pings.incrementAndGet();
                        if (!over.get()) {
                            one.after(NOW, this);
                        } else {
                            ended.countDown();
                        }
                    }
                });
            }
            CountDownLatch ran = new CountDownLatch(20);
            for (int i = 0; i < 20; i++) {
                one.after(i, TimeUnit.MILLISECONDS, ran::countDown);
            }
            await(ran);
            over.set(true);
            await(ended);
            assertEquals(0, one.pending());
            assertTrue(pings.get() > 20);
        }
    }
}
