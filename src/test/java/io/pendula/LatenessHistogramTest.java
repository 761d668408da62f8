package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.LatenessHistogram;
import io.pendula.internal.queue.QueueView;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The buckets, quantiles and differences of lateness; HdrHistogram with five digits is the oracle. */
@Timeout(60)
class LatenessHistogramTest {
    private static final double[] QUANTILES = {0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};

    private static long width(long nanos) {
        int b = LatenessHistogram.bucket(nanos);
        return LatenessHistogram.lowest(b + 1) - LatenessHistogram.lowest(b);
    }

    private static TimerStats.Lateness of(long... nanos) {
        LatenessHistogram h = new LatenessHistogram();
        for (long n : nanos) {
            h.record(n);
        }
        return new TimerStats.Lateness(h.snapshot());
    }

    @Test
    void bucket_everyBound_beginsTheBucketThatHasIt() {
        for (int b = 0; b < LatenessHistogram.BUCKETS; b++) {
            long low = LatenessHistogram.lowest(b);
            assertEquals(b, LatenessHistogram.bucket(low));
            assertEquals(Math.max(0, b - 1), LatenessHistogram.bucket(Math.max(0, low - 1)));
            if (b > 0 && b < LatenessHistogram.BUCKETS - 1) {
                assertTrue(width(low) <= Math.max(LatenessHistogram.UNIT, low / 8), "bucket " + b);
            }
        }
        assertEquals(LatenessHistogram.BUCKETS - 1, LatenessHistogram.bucket(Long.MAX_VALUE));
        assertTrue(LatenessHistogram.lowest(LatenessHistogram.BUCKETS - 1) > TimeUnit.MINUTES.toNanos(18));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void quantile_randomLateness_isWithinABucketOfTheOracle(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        LatenessHistogram ours = new LatenessHistogram();
        Histogram oracle = new Histogram(5);
        long sum = 0;
        int n = 1 + random.nextInt(100_000);
        for (int i = 0; i < n; i++) {
            long nanos = random.nextLong(1L << 1 + random.nextInt(39)); // all magnitudes
            ours.record(nanos);
            oracle.recordValue(nanos);
            sum += nanos;
        }
        TimerStats.Lateness lateness = new TimerStats.Lateness(ours.snapshot());
        assertEquals(n, lateness.count());
        assertEquals(sum, lateness.sumNanos());
        assertTrue(oracle.valuesAreEquivalent(oracle.getMaxValue(), lateness.maxNanos()));
        for (double q : QUANTILES) {
            long expected = oracle.getValueAtPercentile(q * 100);
            long found = lateness.quantileNanos(q);
            assertTrue(Math.abs(found - expected) <= width(expected), () -> "seed " + seed + ", quantile " + q
                    + ": expected " + expected + ", found " + found);
        }
    }

    /** As of a scheduler with three queues, of which snapshots are taken now and then. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void since_randomLatenessInSeveralQueues_isWithinABucketOfTheOracle(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<LatenessHistogram> queues = List.of(new LatenessHistogram(), new LatenessHistogram(), new LatenessHistogram());
        TimerStats.Lateness before = sum(queues);
        Histogram oracle = new Histogram(4);
        for (int snapshot = 0; snapshot < 10; snapshot++) {
            oracle.reset();
            long bound = 1L << 1 + random.nextInt(39); // the maximum of this time may be far below that since the start
            long sum = 0;
            long max = 0;
            int n = random.nextInt(5_000);
            for (int i = 0; i < n; i++) {
                long nanos = random.nextLong(bound);
                queues.get(random.nextInt(3)).record(nanos);
                oracle.recordValue(nanos);
                sum += nanos;
                max = Math.max(max, nanos);
            }
            TimerStats.Lateness now = sum(queues);
            TimerStats.Lateness between = now.since(before);
            before = now;
            assertEquals(n, between.count());
            assertEquals(sum, between.sumNanos());
            String where = "seed " + seed + ", snapshot " + snapshot + ": expected " + max + ", found " + between.maxNanos();
            assertTrue(between.maxNanos() >= max && between.maxNanos() < max + width(max), where);
            for (double q : n == 0 ? new double[0] : QUANTILES) {
                long expected = oracle.getValueAtPercentile(q * 100);
                long found = between.quantileNanos(q);
                assertTrue(Math.abs(found - expected) <= width(expected), () -> where + ", quantile " + q + ": expected "
                        + expected + ", found " + found);
            }
        }
    }

    private static TimerStats.Lateness sum(List<LatenessHistogram> queues) {
        QueueView.Snapshot all = QueueView.Snapshot.nothing();
        for (LatenessHistogram h : queues) {
            all = all.plus(new QueueView.Snapshot(QueueView.Snapshot.nothing().counts(), h.snapshot()));
        }
        return new TimerStats.Lateness(all.lateness());
    }

    /** What a scheduler records of its own firings is their lateness, each once. */
    @Test
    void stats_lateFiringsOfALoop_areWithinABucketOfTheOracle() {
        SplittableRandom random = new SplittableRandom(9);
        AtomicLong time = new AtomicLong();
        Histogram oracle = new Histogram(5);
        try (TimerScheduler s = TimerScheduler.builder().workers(0).clock(time::get).build();
                TimerLoop loop = s.attach(() -> {})) {
            TimerStats.Lateness before = s.stats().lateness();
            for (int i = 0; i < 2_000; i++) {
                long late = random.nextLong(1L << 1 + random.nextInt(35));
                loop.after(100, TimeUnit.NANOSECONDS, () -> {});
                time.addAndGet(100 + late);
                assertEquals(1, loop.runDue());
                oracle.recordValue(late);
            }
            TimerStats.Lateness found = s.stats().lateness().since(before);
            assertEquals(2_000, found.count());
            assertTrue(oracle.valuesAreEquivalent(oracle.getMaxValue(), found.maxNanos()));
            for (double q : QUANTILES) {
                long expected = oracle.getValueAtPercentile(q * 100);
                assertTrue(Math.abs(found.quantileNanos(q) - expected) <= width(expected), () -> "quantile " + q
                        + ": expected " + expected + ", found " + found);
            }
        }
    }

    @Test
    void quantile_oneValue_isThatValueToItsBucket() {
        TimerStats.Lateness one = of(1_000_000);
        assertEquals(1_000_000, one.maxNanos());
        assertEquals(1_000_000, one.quantileNanos(1));
        assertTrue(one.quantileNanos(0) <= 1_000_000 && one.quantileNanos(0) > 1_000_000 - width(1_000_000));
    }

    @Test
    void quantile_none_isZero() {
        assertEquals(0, of().quantileNanos(0.99));
        assertEquals(0, of().count());
    }

    @Test
    void quantile_notAPart_throws() {
        for (double q : new double[] {-0.001, 1.001, Double.NaN, 99}) {
            assertEquals("quantile must be from 0 to 1, but is " + q,
                    assertThrows(IllegalArgumentException.class, () -> of(1).quantileNanos(q)).getMessage());
        }
    }

    @Test
    void since_earlierSnapshot_holdsWhatCameBetween() {
        LatenessHistogram h = new LatenessHistogram();
        h.record(TimeUnit.SECONDS.toNanos(5)); // a spike at the start
        TimerStats.Lateness before = new TimerStats.Lateness(h.snapshot());
        h.record(10_000);
        h.record(20_000);
        TimerStats.Lateness between = new TimerStats.Lateness(h.snapshot()).since(before);
        assertEquals(2, between.count());
        assertEquals(30_000, between.sumNanos());
        assertTrue(between.maxNanos() >= 20_000 && between.maxNanos() < 20_000 + width(20_000));
        assertTrue(between.quantileNanos(1) >= 20_000);
        h.record(TimeUnit.SECONDS.toNanos(6));
        assertEquals(TimeUnit.SECONDS.toNanos(6), new TimerStats.Lateness(h.snapshot()).since(before).maxNanos(), "a new maximum is exact");
        assertEquals(0, before.since(before).count());
        assertEquals(0, before.since(before).maxNanos());
    }

    @Test
    void since_laterSnapshot_throws() {
        TimerStats.Lateness more = of(1, 2);
        assertThrows(IllegalArgumentException.class, () -> of(1).since(more));
        assertThrows(NullPointerException.class, () -> more.since(null));
    }

    @Test
    void stats_firingsOfAManualClock_haveTheirLatenessAndTheNextDeadline() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().name("late").clock(clock).build()) {
            assertEquals(Long.MAX_VALUE, s.stats().nanosUntilNext());
            s.after(Duration.ofMillis(1), () -> {});
            s.after(Duration.ofMillis(3), () -> {});
            s.after(Duration.ofDays(40_000), () -> {}); // never
            assertEquals(1_000_000, s.stats().nanosUntilNext());
            clock.advance(Duration.ofMillis(3));
            TimerStats stats = s.stats();
            assertEquals("late", stats.name());
            assertEquals(2, stats.lateness().count());
            assertEquals(0, stats.lateness().maxNanos());
            assertEquals(Long.MAX_VALUE, stats.nanosUntilNext());
            assertEquals(0, stats.threads());
            assertEquals(0, stats.running());
        }
    }

    @Test
    void stats_callbacksThatAreMeasured_areCountedAndSummed() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).slowCallback(Duration.ZERO)
                .listener(new LifeFixtures.Heard()).build()) {
            s.after(Duration.ZERO, () -> assertEquals(1, s.stats().running()));
            s.after(Duration.ZERO, () -> {
                throw new IllegalStateException("x");
            });
            clock.advance(Duration.ZERO);
            TimerStats stats = s.stats();
            assertEquals(2, stats.callbacksMeasured());
            assertEquals(0, stats.callbackNanos(), "the clock stands still");
            assertEquals(0, stats.callbacksSlow());
            assertEquals(1, stats.callbacksThrew());
        }
    }

    @Test
    void stats_callbackThatIsSlow_isCountedWithItsTime() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).slowCallback(Duration.ofMillis(1))
                .listener(new LifeFixtures.Heard()).build()) {
            s.after(Duration.ZERO, () -> LifeFixtures.block(5_000_000));
            LifeFixtures.eventually("measured", () -> s.stats().callbacksSlow() == 1);
            TimerStats stats = s.stats();
            assertTrue(stats.callbackNanos() >= 5_000_000, stats::toString);
            assertEquals(1, stats.threads());
            assertEquals(1, stats.coreThreads());
            assertEquals(1, stats.maxThreads());
        }
    }
}
