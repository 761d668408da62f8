package io.pendula.adapters.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.ExecutorServiceMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import io.pendula.adapters.Warnings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Micrometer's own wrapper around executors of Pendula, alone and beside the binder. */
class MonitoredExecutorTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Warnings warnings = new Warnings(ExecutorServiceMetrics.class);

    @AfterEach
    void listenNoMore() {
        warnings.close();
    }

    @Test
    void monitor_timesTheTasksOfAPool() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2)) {
            use(ExecutorServiceMetrics.monitor(registry, pool, "pool"), "pool");
            // What the binder is for, and what docs/adapters.md tells of.
            assertEquals(List.of("Failed to bind as " + SchedulerExecutor.class.getName() + " is unsupported."),
                    warnings.messages());
        }
    }

    @Test
    void monitor_besideTheBinder_fillsEachMeterOfADashboardForPools() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().name("io").build();
                PendulaMetrics metrics = new PendulaMetrics(timers);
                SchedulerExecutor view = timers.asScheduledExecutorService()) {
            metrics.bindTo(registry);
            use(ExecutorServiceMetrics.monitor(registry, view, "io"), "io");
            Patience.until("counted", () -> registry.get("executor.completed").functionCounter().count() >= 13);
            assertEquals(timers.stats().maxThreads(), registry.get("executor.pool.max").gauge().value());
            assertEquals(0, registry.get("executor.active").gauge().value());
        }
    }

    /** What Micrometer has of a pool of the JDK is the oracle: names, types and units. */
    @Test
    void monitor_besideTheBinder_hasEachMeterOfAPoolOfTheJdk() {
        ScheduledExecutorService jdk = Executors.newScheduledThreadPool(3);
        try (SchedulerExecutor pool = TimerExecutors.builder().threads(3).name("ours").build();
                PendulaMetrics metrics = new PendulaMetrics(pool)) {
            ExecutorServiceMetrics.monitor(registry, jdk, "jdk");
            ExecutorServiceMetrics.monitor(registry, pool, "ours");
            metrics.bindTo(registry);
            Map<String, String> expected = meters("jdk");
            assertTrue(expected.containsKey("executor.pool.core") && expected.containsKey("executor.idle"), expected::toString);
            Map<String, String> ours = meters("ours");
            ours.keySet().retainAll(expected.keySet());
            ours.remove("executor.pool.max"); // that of the JDK's pool is never used
            expected.remove("executor.pool.max");
            assertEquals(expected, ours);
            assertEquals(3, registry.get("executor.pool.max").tags("name", "ours").gauge().value());
        } finally {
            jdk.shutdown();
        }
    }

    /** With their types, units and, as nothing has run, equal values. */
    private Map<String, String> meters(String name) {
        Map<String, String> meters = new TreeMap<>();
        for (Meter meter : registry.getMeters()) {
            if (name.equals(meter.getId().getTag("name"))) {
                List<Double> values = new ArrayList<>();
                meter.measure().forEach(measured -> values.add(measured.getValue()));
                meters.put(meter.getId().getName(), meter.getId().getType() + " " + meter.getId().getBaseUnit() + " " + values);
            }
        }
        return meters;
    }

    private void use(ScheduledExecutorService monitored, String name) throws Exception {
        int count = 10;
        CountDownLatch ran = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            monitored.execute(ran::countDown);
        }
        Patience.await(ran);
        long start = System.nanoTime();
        assertEquals("done", monitored.schedule(() -> "done", 20, TimeUnit.MILLISECONDS).get());
        Patience.assertElapsed(20, start, System.nanoTime());
        CountDownLatch ticks = new CountDownLatch(2);
        ScheduledFuture<?> ticker = monitored.scheduleAtFixedRate(ticks::countDown, 0, 1, TimeUnit.MILLISECONDS);
        Patience.await(ticks);
        ticker.cancel(false);
        Timer timer = registry.get("executor").tags("name", name).timer();
        Patience.until("timed", () -> timer.count() >= count + 3);
        assertEquals(1, registry.get("executor.scheduled.once").tags("name", name).counter().count());
        assertEquals(1, registry.get("executor.scheduled.repetitively").tags("name", name).counter().count());
        assertEquals(count, registry.get("executor.idle").tags("name", name).timer().count());
    }
}
