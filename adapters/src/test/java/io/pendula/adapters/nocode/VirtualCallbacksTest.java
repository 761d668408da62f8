package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Callbacks on virtual threads, each of its own, so that any number may block. */
@Timeout(60)
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualCallbacksTest {
    /** Compiled for Java 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    @Test
    void tenThousandCallbacks_blockAtTheSameTime() throws Exception {
        int count = 10_000;
        ExecutorService virtual = virtualThreads();
        CountDownLatch all = new CountDownLatch(count);
        AtomicInteger virtualRuns = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(count);
        try (TimerScheduler timers = TimerScheduler.builder().name("virtual").executor(virtual).build()) {
            for (int i = 0; i < count; i++) {
                timers.after(Duration.ofMillis(10), () -> {
                    all.countDown();
                    Patience.await(all); // none goes on before all have begun
                    virtualRuns.addAndGet(Thread.currentThread().toString().startsWith("VirtualThread") ? 1 : 0);
                    done.countDown();
                });
            }
            Patience.await(done);
            assertEquals(count, virtualRuns.get());
        }
        virtual.shutdown();
    }
}
