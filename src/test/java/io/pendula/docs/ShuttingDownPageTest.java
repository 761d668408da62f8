package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.SchedulerExecutor;
import io.pendula.Ticker;
import io.pendula.TimerExecutors;
import io.pendula.TimerHandle;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/shutting-down.md. */
@Timeout(60)
class ShuttingDownPageTest {
    private final List<String> log = new CopyOnWriteArrayList<>();
    private final TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();

    private interface Server {
        void close();
    }

    private void log(String line) {
        log.add(line);
    }

    @Test
    void hook_closesTheServerThenDrains() throws InterruptedException {
        Server server = () -> log("server closed");
        timers.after(Duration.ofSeconds(5), () -> log("sent"));
        timers.after(Duration.ofHours(1), () -> log("never"));

        Thread hook = new Thread(() -> {
            server.close();                                                  // first what arms timers
            List<TimerHandle> left = timers.drain(Duration.ofSeconds(20));   // then what is due
            log(left.size() + " timers were left");
        });
        Runtime.getRuntime().addShutdownHook(hook);

        assertTrue(Runtime.getRuntime().removeShutdownHook(hook));
        hook.start();
        hook.join();
        assertEquals(List.of("server closed", "sent", "1 timers were left"), log);
    }

    @Test
    void pool_endsWithItsTasks() throws InterruptedException {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2);
        pool.schedule(() -> log("sent"), 5, TimeUnit.MILLISECONDS);
        pool.scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.HOURS);

        pool.shutdown();
        if (!pool.awaitTermination(20, TimeUnit.SECONDS)) {
            List<Runnable> left = pool.shutdownNow();
            log(left.size() + " tasks were left");
        }

        assertEquals(List.of("sent"), log);
    }

    @Test
    void test_movesTheClock() {
        timers.after(Duration.ofSeconds(5), () -> log("sent"));
        Ticker ping = timers.every(Duration.ofSeconds(1), () -> {});

        assertEquals(List.of(ping), timers.drain(Duration.ofSeconds(20)));
        assertEquals(List.of("sent"), log);
    }
}
