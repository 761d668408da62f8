package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/troubleshooting.md, and that docs/tuning.md has all settings. */
@Timeout(60)
class TroubleshootingPageTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();

    @Test
    void lateness_betweenTwoSnapshots() {
        timers.every(Duration.ofSeconds(1), () -> {});

        TimerStats before = timers.stats();
        clock.advance(Duration.ofSeconds(10));
        TimerStats after = timers.stats();
        TimerStats.Lateness recent = after.lateness().since(before.lateness());
        long p99 = recent.quantileNanos(0.99);      // of the last ten seconds

        assertEquals(10, recent.count());
        assertTrue(p99 >= 0);
    }

    private static final class RequestTimeout implements Runnable {
        @Override
        public void run() {}
    }

    private final List<String> reported = new ArrayList<>();

    private void report(String line) {
        reported.add(line);
    }

    @Test
    void pendingByTask_namesTheClassOfTheLeak() {
        for (int i = 0; i < 3; i++) {
            timers.after(Duration.ofSeconds(60), new RequestTimeout());
        }

        Map<Class<?>, Long> pending = timers.pendingByTask();
        pending.forEach((type, count) -> report(count + " " + type.getName()));

        assertEquals(List.of("3 " + RequestTimeout.class.getName()), reported);
    }

    /** A thread dump shows the names that the page tells. */
    @Test
    void workers_haveTheNamesOfThePage() throws InterruptedException {
        List<String> names = new ArrayList<>();
        CountDownLatch named = new CountDownLatch(1);
        try (TimerScheduler orders = TimerScheduler.builder().name("orders").workers(1).build()) {
            orders.after(Duration.ZERO, () -> {
                names.add(Thread.currentThread().getName());
                named.countDown();
            });
            assertTrue(named.await(30, TimeUnit.SECONDS));
        }
        assertEquals(List.of("pendula-orders-worker-0"), names);
    }

    @Test
    void tuning_namesEachSettingOfTheBuilder() {
        String page = String.join("\n", Pages.lines(Path.of("docs/tuning.md")));
        Set<String> missing = new TreeSet<>();
        for (Method m : TimerScheduler.Builder.class.getMethods()) {
            if (m.getDeclaringClass() == TimerScheduler.Builder.class && !m.getName().equals("build")
                    && !page.contains("`" + m.getName() + "`")) {
                missing.add(m.getName());
            }
        }
        assertEquals(Set.of(), missing);
    }
}
