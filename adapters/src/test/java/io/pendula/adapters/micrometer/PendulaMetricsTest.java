package io.pendula.adapters.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.ExecutorServiceMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pendula.ManualClock;
import io.pendula.MissedTicks;
import io.pendula.SchedulerExecutor;
import io.pendula.Ticker;
import io.pendula.Timer;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import io.pendula.adapters.BusyScheduler;
import io.pendula.adapters.Patience;
import io.pendula.adapters.Warnings;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PendulaMetricsTest {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    /** A registry warns of a meter that it has already. */
    private final Warnings warnings = new Warnings(MeterRegistry.class);

    @AfterEach
    void listenNoMore() {
        warnings.close();
    }

    /** The value of a sample as a scraper reads it. */
    private double scraped(String sample) {
        return Scrape.of(registry).value(sample);
    }

    @Test
    void scrape_countsOfOneSnapshot() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler timers = TimerScheduler.builder().name("io").clock(clock).build();
                PendulaMetrics metrics = new PendulaMetrics(timers)) {
            metrics.bindTo(registry);
            Timer fires = timers.after(Duration.ofSeconds(1), () -> {});
            Timer stopped = timers.after(Duration.ofSeconds(1), () -> {});
            timers.after(Duration.ofSeconds(90), () -> {});
            Ticker ticker = timers.every(Duration.ofSeconds(60), MissedTicks.SKIP, () -> {
                throw new IllegalStateException("meant");
            });
            fires.reset(Duration.ofSeconds(2));
            stopped.stop();
            withoutUncaught(() -> clock.advance(Duration.ofSeconds(60)));

            Scrape scrape = Scrape.of(registry);
            assertEquals(6, scrape.value("pendula_armed_total{name=\"io\"}"));
            assertEquals(2, scrape.value("pendula_fired_total{name=\"io\"}"));
            assertEquals(1, scrape.value("pendula_stopped_total{name=\"io\"}"));
            assertEquals(1, scrape.value("pendula_resets_total{name=\"io\"}"));
            assertEquals(0, scrape.value("pendula_unfired_total{name=\"io\"}"));
            assertEquals(2, scrape.value("pendula_pending{name=\"io\"}"));
            assertEquals(30, scrape.value("pendula_until_next_seconds{name=\"io\"}"));
            assertEquals(1, scrape.value("pendula_callbacks_threw_total{name=\"io\"}"));
            assertEquals(2, scrape.value("pendula_lateness_seconds_count{name=\"io\"}"));
            assertEquals(2, scrape.value("executor_completed_tasks_total{name=\"io\"}"));
            assertEquals(2, scrape.value("executor_queued_tasks{name=\"io\"}"));
            ticker.close();
        }
        assertEquals(0, Scrape.of(registry).names().size());
    }

    private static void withoutUncaught(Runnable action) {
        Thread me = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = me.getUncaughtExceptionHandler();
        me.setUncaughtExceptionHandler((thread, thrown) -> assertEquals("meant", thrown.getMessage()));
        try {
            action.run();
        } finally {
            me.setUncaughtExceptionHandler(before);
        }
    }

    @Test
    void lateness_ofATimerBehindABlockedThread() {
        try (TimerScheduler timers = TimerScheduler.builder().name("late").workers(1)
                        .slowCallback(Duration.ofMillis(1)).build();
                PendulaMetrics metrics = new PendulaMetrics(timers)) {
            metrics.bindTo(registry);
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch late = new CountDownLatch(1);
            timers.after(Duration.ZERO, () -> {
                blocked.countDown();
                Patience.await(release);
            });
            Patience.await(blocked);
            timers.after(Duration.ofMillis(1), late::countDown);
            long start = System.nanoTime(); // no earlier than a millisecond before the deadline
            assertEquals(1, scraped("executor_active_threads{name=\"late\"}"));
            assertEquals(1, scraped("executor_pool_max_threads{name=\"late\"}"));
            Patience.until("50 ms have passed", () -> System.nanoTime() - start > 50_000_000);
            release.countDown();
            Patience.await(late);
            Patience.until("both have ended", () -> timers.stats().callbacksMeasured() == 2);
            Scrape scrape = Scrape.of(registry);
            assertEquals(2, scrape.value("pendula_lateness_seconds_count{name=\"late\"}"));
            assertTrue(scrape.value("pendula_lateness_seconds_sum{name=\"late\"}") >= 0.049, scrape.text());
            double max = scrape.value("pendula_lateness_max_seconds{name=\"late\"}");
            assertTrue(max >= 0.049 && max < Patience.SECONDS, scrape.text());
            assertTrue(scrape.value("pendula_lateness_quantile_seconds{name=\"late\",quantile=\"0.99\"}") >= 0.04,
                    scrape.text());
            assertEquals(2, scrape.value("pendula_callbacks_measured_total{name=\"late\"}"));
            assertTrue(scrape.value("pendula_callback_seconds_total{name=\"late\"}") >= 0.049, scrape.text());
            assertTrue(scrape.value("pendula_callbacks_slow_total{name=\"late\"}") >= 1, scrape.text());
        }
    }

    /** Each sample is the figure that its name says: no two are exchanged. */
    @Test
    void scrape_ofABusyScheduler_isWhatItsStatisticsSay() {
        Map<String, ToDoubleFunction<TimerStats>> expected = new TreeMap<>();
        expected.put("executor_completed_tasks_total", TimerStats::fired);
        expected.put("executor_active_threads", TimerStats::running);
        expected.put("executor_queued_tasks", TimerStats::pending);
        expected.put("executor_queue_remaining_tasks", s -> 100_000 - s.pending());
        expected.put("executor_pool_size_threads", TimerStats::threads);
        expected.put("executor_pool_core_threads", TimerStats::coreThreads);
        expected.put("executor_pool_max_threads", TimerStats::maxThreads);
        expected.put("executor_steals_tasks_total", TimerStats::stolen);
        for (TimerStats.Figure f : TimerStats.Figure.all()) { // each has a sample, made from the table
            boolean isTime = f.unit().equals("ns");
            String name = "pendula_" + f.id().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT).replaceAll("_?nanos_?", "");
            expected.put(name + (isTime ? "_seconds" : "") + (f.isCounter() ? "_total" : ""), s -> s.get(f) / (isTime ? 1e9 : 1));
        }
        expected.remove("pendula_until_next_seconds"); // goes on between two readings
        expected.put("pendula_lateness_seconds_count", s -> s.lateness().count());
        expected.put("pendula_lateness_seconds_sum", s -> s.lateness().sumNanos() / 1e9);
        AtomicLong now = new AtomicLong();
        try (TimerScheduler timers = BusyScheduler.make();
                PendulaMetrics metrics = new PendulaMetrics(timers, "busy", Tags.empty(), s -> timers.stats(), now::get)) {
            metrics.bindTo(registry);
            for (boolean closed : new boolean[] {false, true}) {
                if (closed) {
                    assertEquals(5, timers.shutdownNow().size());
                }
                BusyScheduler.compare(timers, () -> {
                    now.addAndGet(TimeUnit.HOURS.toNanos(1)); // no snapshot is used again
                    return Scrape.of(registry);
                }, (stats, scrape) -> expected.forEach((name, figure) -> assertEquals(figure.applyAsDouble(stats),
                        scrape.value(name + "{name=\"busy\"}"), 1e-9, name)));
            }
            Set<String> others = new TreeSet<>(Scrape.of(registry).names());
            others.removeAll(expected.keySet());
            assertEquals(Set.of("pendula_until_next_seconds", "pendula_lateness_max_seconds",
                    "pendula_lateness_quantile_seconds"), others, "those have tests of their own");
        }
    }

    @Test
    void counter_closeTakesFiringsBack_doesNotFall() {
        ManualClock clock = new ManualClock();
        List<Runnable> handedOver = new ArrayList<>();
        TimerScheduler timers = TimerScheduler.builder().name("io").clock(clock).executor(handedOver::add).build();
        AtomicLong now = new AtomicLong();
        try (PendulaMetrics metrics = new PendulaMetrics(timers, "io", Tags.empty(), s -> timers.stats(), now::get)) {
            metrics.bindTo(registry);
            timers.after(Duration.ZERO, () -> {});
            clock.advance(Duration.ZERO);
            assertEquals(1, handedOver.size());
            assertEquals(1, scraped("pendula_fired_total{name=\"io\"}"));
            timers.close();
            now.addAndGet(TimeUnit.HOURS.toNanos(1)); // no snapshot is used again
            assertEquals(0, timers.stats().fired());
            assertEquals(1, scraped("pendula_fired_total{name=\"io\"}"));
            assertEquals(1, scraped("executor_completed_tasks_total{name=\"io\"}"));
            assertEquals(1, scraped("pendula_unfired_total{name=\"io\"}"));
        }
    }

    @Test
    void name_givenAlone_isTheTag() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1);
                PendulaMetrics one = new PendulaMetrics(timers, "io");
                PendulaMetrics other = new PendulaMetrics(pool, "db")) {
            one.bindTo(registry);
            other.bindTo(registry);
            assertEquals(0, registry.get("pendula.armed").tag("name", "io").functionCounter().count());
            assertEquals(0, registry.get("pendula.armed").tag("name", "db").functionCounter().count());
        }
    }

    @Test
    void pool_underItsOwnName() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.builder().threads(2).name("db").build();
                PendulaMetrics metrics = new PendulaMetrics(pool)) {
            metrics.bindTo(registry);
            assertEquals("ran", pool.schedule(() -> "ran", 1, TimeUnit.MILLISECONDS).get());
            Scrape scrape = Scrape.of(registry);
            assertEquals(1, scrape.value("executor_completed_tasks_total{name=\"db\"}"));
            assertEquals(2, scrape.value("executor_pool_max_threads{name=\"db\"}"));
        }
    }

    @Test
    void next_hasNoValue_whileNothingIsPending() {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaMetrics metrics = new PendulaMetrics(timers)) {
            metrics.bindTo(registry);
            assertTrue(Double.isNaN(scraped("pendula_until_next_seconds{name=\"timers\"}")));
        }
    }

    @Test
    void scrape_takesOneSnapshot() {
        AtomicInteger taken = new AtomicInteger();
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaMetrics metrics = new PendulaMetrics(timers, "once", Tags.of("zone", "a"), s -> {
                    taken.incrementAndGet();
                    return timers.stats();
                }, () -> 0)) { // time stands still, so no snapshot grows old
            metrics.bindTo(registry);
            int before = taken.get();
            for (int i = 1; i <= 5; i++) {
                assertTrue(Scrape.of(registry).text().contains("pendula_armed_total{name=\"once\",zone=\"a\"}"));
                assertEquals(before + i, taken.get());
            }
        }
    }

    @Test
    void bindTo_theSameNameTwice_throws_untilTheFirstIsClosed() {
        SimpleMeterRegistry simple = new SimpleMeterRegistry();
        try (TimerScheduler one = TimerScheduler.builder().name("same").clock(new ManualClock()).build();
                TimerScheduler two = TimerScheduler.builder().name("same").clock(new ManualClock()).build()) {
            PendulaMetrics first = new PendulaMetrics(one);
            first.bindTo(simple);
            PendulaMetrics second = new PendulaMetrics(two);
            IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> second.bindTo(simple));
            assertTrue(thrown.getMessage().contains("same"), thrown.getMessage());
            second.close(); // has bound nothing, so takes nothing away
            assertFalse(simple.getMeters().isEmpty());
            new PendulaMetrics(two, "other", Tags.empty()).bindTo(simple);
            first.bindTo(registry); // one binder may serve several registries
            first.close();
            first.close();
            assertEquals(0, Scrape.of(registry).names().size());
            second.bindTo(simple);
            assertEquals(0, simple.get("pendula.armed").tags("name", "same").functionCounter().count());
        }
    }

    /** The second pool has no executor.completed, so there is something to take back when its other meters are met. */
    @Test
    void bindTo_theNameOfAPoolOfTheJdk_throws_andLeavesThatPoolItsMeters() {
        for (ExecutorService pool : List.of(Executors.newScheduledThreadPool(1), Executors.newWorkStealingPool(1))) {
            SimpleMeterRegistry simple = new SimpleMeterRegistry();
            simple.config().commonTags("region", "north"); // which no binder knows of
            new ExecutorServiceMetrics(pool, "db", Tags.empty()).bindTo(simple);
            List<Meter> before = simple.getMeters();
            try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build()) {
                PendulaMetrics metrics = new PendulaMetrics(timers, "db");
                assertThrows(IllegalStateException.class, () -> metrics.bindTo(simple));
                assertEquals(Set.copyOf(before), Set.copyOf(simple.getMeters()));
                metrics.close();
                assertEquals(Set.copyOf(before), Set.copyOf(simple.getMeters()));
            }
            pool.shutdown();
        }
    }

    @Test
    void bindTo_theSameNameWithFewerTags_isNoClash() {
        SimpleMeterRegistry simple = new SimpleMeterRegistry();
        simple.config().commonTags("region", "north");
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaMetrics more = new PendulaMetrics(timers, "db", Tags.of("shard", "1"));
                PendulaMetrics fewer = new PendulaMetrics(timers, "db");
                PendulaMetrics same = new PendulaMetrics(timers, "db")) {
            more.bindTo(simple);
            int each = simple.getMeters().size();
            fewer.bindTo(simple);
            assertEquals(2 * each, simple.getMeters().size());
            assertThrows(IllegalStateException.class, () -> same.bindTo(simple));
            assertEquals(2 * each, simple.getMeters().size());
        }
    }

    @Test
    void schedulerIsCollected_thoughBound() throws InterruptedException {
        TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
        PendulaMetrics metrics = new PendulaMetrics(timers);
        metrics.bindTo(registry);
        Scrape.of(registry);
        WeakReference<TimerScheduler> gone = new WeakReference<>(timers);
        timers = null;
        Patience.until("collected", () -> {
            System.gc();
            return gone.get() == null;
        });
        Scrape.of(registry); // does not throw
        metrics.bindTo(new SimpleMeterRegistry());
        metrics.close();
        assertNull(gone.get());
        assertEquals(0, Scrape.of(registry).names().size());
    }

    @Test
    void constructor_rejectsNull() {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build()) {
            assertThrows(NullPointerException.class, () -> new PendulaMetrics((TimerScheduler) null));
            assertThrows(NullPointerException.class, () -> new PendulaMetrics(timers, null, Tags.empty()));
            assertThrows(NullPointerException.class, () -> new PendulaMetrics(timers, "name", null));
            assertThrows(NullPointerException.class, () -> new PendulaMetrics(timers).bindTo(null));
        }
    }
}
