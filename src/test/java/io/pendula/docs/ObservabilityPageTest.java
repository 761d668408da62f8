package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.ManualClock;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.TimerListener;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/observability.md; what is about other libraries is in the adapters' tests. */
@Timeout(60)
class ObservabilityPageTest {
    @Test
    void pool_withNameAndListener() throws Exception {
        SchedulerExecutor timers = TimerExecutors.builder().threads(4).name("db")
                .slowCallback(Duration.ofMillis(50))
                .listener(TimerListener.logging()).build();

        try (timers) {
            assertEquals("ran", timers.schedule(() -> "ran", 1, TimeUnit.MILLISECONDS).get());
            assertEquals("db", timers.stats().name());
            assertEquals(4, timers.stats().maxThreads());
            assertEquals(1, timers.stats().callbacksMeasured(), "slowCallback has callbacks measured");
        }
    }

    @Test
    void lateness_sinceTheLastLook() {
        AtomicLong time = new AtomicLong();
        try (TimerScheduler scheduler = TimerScheduler.builder().workers(0).clock(time::get).build();
                TimerLoop loop = scheduler.attach(() -> {})) {
            TimerStats.Lateness before = scheduler.stats().lateness();
            Duration late = Duration.ofMillis(8);
            loop.after(Duration.ofSeconds(1), () -> {});
            time.addAndGet(Duration.ofSeconds(1).plus(late).toNanos());
            loop.runDue();

            TimerStats.Lateness now = scheduler.stats().lateness();
            long p99 = now.since(before).quantileNanos(0.99);
            before = now;

            assertEquals(late.toNanos(), p99, late.toNanos() / 8.0);
            assertEquals(0, scheduler.stats().lateness().since(before).count());
        }
    }

    private static final class Heartbeat implements Runnable {
        @Override
        public void run() {}
    }

    @Test
    void pendingByTask_printsTheClasses() {
        PrintStream console = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (TimerScheduler scheduler = TimerScheduler.builder().clock(new ManualClock()).build()) {
            for (int i = 0; i < 3; i++) {
                scheduler.after(Duration.ofHours(1), new Heartbeat());
            }
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));

            scheduler.pendingByTask().forEach((type, n) -> System.out.println(n + " " + type.getName()));

        } finally {
            System.setOut(console);
        }
        assertEquals("3 " + Heartbeat.class.getName() + System.lineSeparator(), printed.toString(StandardCharsets.UTF_8));
    }

    /** As a framework's wrapper, whose text tells whose method it calls. */
    private record Scheduled(String method) implements Runnable {
        @Override
        public void run() {}

        @Override
        public String toString() {
            return method;
        }
    }

    @Test
    void pendingBy_printsTheTexts() {
        PrintStream console = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (TimerScheduler scheduler = TimerScheduler.builder().clock(new ManualClock()).build()) {
            scheduler.after(Duration.ofHours(1), new Scheduled("com.acme.Metrics.flush"));
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));

            scheduler.pendingBy(t -> String.valueOf(t.task())).forEach((task, n) -> System.out.println(n + " " + task));

        } finally {
            System.setOut(console);
        }
        assertEquals("1 com.acme.Metrics.flush" + System.lineSeparator(), printed.toString(StandardCharsets.UTF_8));
    }
}
