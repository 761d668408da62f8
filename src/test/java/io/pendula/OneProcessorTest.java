package io.pendula;

import static io.pendula.LifeFixtures.runInChild;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The default scheduler where the JVM has one processor, hence one worker. */
@Timeout(60)
class OneProcessorTest {
    static final class Blocked {
        private Blocked() {}

        public static void main(String[] args) throws InterruptedException {
            try (TimerScheduler s = TimerScheduler.builder().build()) {
                CountDownLatch release = new CountDownLatch(1);
                CountDownLatch held = new CountDownLatch(1);
                s.after(Duration.ZERO, () -> {
                    held.countDown();
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                held.await();
                CountDownLatch ran = new CountDownLatch(1);
                s.after(Duration.ofMillis(1), ran::countDown);
                // While the only worker's worker is in the other callback.
                boolean inTime = ran.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS);
                release.countDown();
                System.out.println(s.engine.options.workers + " of " + s.engine.options.maxThreads + (inTime ? "" : ", not run"));
            }
        }
    }

    @Test
    void build_oneProcessor_callbackBlocks_spareWorkerRunsTheOthers() throws Exception {
        assertEquals("1 of 17", runInChild(Blocked.class, List.of("-XX:ActiveProcessorCount=1")));
    }

    @Test
    void build_oneWorkerAskedFor_staysSequential() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            assertEquals(1, s.engine.options.maxThreads);
        }
        try (TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(3).build()) {
            assertEquals(3, s.engine.options.maxThreads);
        }
    }
}
