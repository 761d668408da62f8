package io.pendula.adapters.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.ExecutorServiceMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Micrometer's own wrapper around executors of Pendula, alone and beside the binder. */
class MonitoredExecutorTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Logger log = Logger.getLogger(ExecutorServiceMetrics.class.getName());
    private final ConcurrentLinkedQueue<String> warnings = new ConcurrentLinkedQueue<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            warnings.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        log.addHandler(handler);
        log.setUseParentHandlers(false);
    }

    @AfterEach
    void listenNoMore() {
        log.removeHandler(handler);
        log.setUseParentHandlers(true);
    }

    @Test
    void monitor_timesTheTasksOfAPool() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2)) {
            use(ExecutorServiceMetrics.monitor(registry, pool, "pool"), "pool");
            // What the binder is for, and what docs/adapters.md tells of.
            assertEquals(List.of("Failed to bind as " + SchedulerExecutor.class.getName() + " is unsupported."),
                    List.copyOf(warnings));
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
