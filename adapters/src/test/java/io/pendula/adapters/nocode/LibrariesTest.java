package io.pendula.adapters.nocode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.ListenableScheduledFuture;
import com.google.common.util.concurrent.ListeningScheduledExecutorService;
import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.SettableFuture;
import dev.failsafe.Failsafe;
import dev.failsafe.RetryPolicy;
import dev.failsafe.TimeoutExceededException;
import dev.failsafe.function.CheckedSupplier;
import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.adapters.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.eclipse.jetty.util.thread.Scheduler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jetty, Failsafe and Guava take an executor of Pendula as it is. */
@Timeout(60)
class LibrariesTest {
    private SchedulerExecutor pool;

    @BeforeEach
    void open() {
        pool = TimerExecutors.newScheduledThreadPool(2);
    }

    @AfterEach
    void close() {
        assertFalse(pool.isShutdown(), "a library has shut it down");
        assertEquals(0, pool.shutdownNow().size(), "a library has left something behind");
        pool.close();
    }

    @Test
    void jetty_scheduler_runsAndCancels() throws Exception {
        ScheduledExecutorScheduler scheduler = new ScheduledExecutorScheduler(pool);
        scheduler.start();
        CountDownLatch ran = new CountDownLatch(1);
        long start = System.nanoTime();
        scheduler.schedule(ran::countDown, 50, TimeUnit.MILLISECONDS);
        Scheduler.Task never = scheduler.schedule(() -> {
            throw new AssertionError("it was cancelled");
        }, 1, TimeUnit.HOURS);
        assertTrue(never.cancel());
        Patience.await(ran);
        Patience.assertElapsed(50, start, System.nanoTime());
        scheduler.stop();
    }

    @Test
    void failsafe_retriesWithDelays_andTimesOut() throws Exception {
        RetryPolicy<String> retry = RetryPolicy.<String>builder()
                .handle(IOException.class).withDelay(Duration.ofMillis(20)).withMaxRetries(3).build();
        AtomicInteger attempts = new AtomicInteger();
        long start = System.nanoTime();
        CompletableFuture<String> answer = Failsafe.with(retry).with(pool).getAsync(() -> {
            if (attempts.incrementAndGet() < 4) {
                throw new IOException("meant");
            }
            return "answer";
        });
        assertEquals("answer", answer.get(Patience.SECONDS, TimeUnit.SECONDS));
        Patience.assertElapsed(60, start, System.nanoTime());

        dev.failsafe.Timeout<Object> limit =
                dev.failsafe.Timeout.builder(Duration.ofMillis(50)).withInterrupt().build();
        CompletableFuture<Void> slow = Failsafe.with(limit).with(pool)
                .runAsync(() -> new CountDownLatch(1).await());
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> slow.get(Patience.SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(TimeoutExceededException.class, failure.getCause());
    }

    @Test
    void failsafe_backoffWithJitter_retriesAnAsynchronousCall() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        CheckedSupplier<CompletableFuture<String>> call = () -> attempts.incrementAndGet() < 3
                ? CompletableFuture.failedFuture(new IOException("meant"))
                : CompletableFuture.completedFuture("answer");

        RetryPolicy<String> policy = RetryPolicy.<String>builder()
                .withBackoff(Duration.ofMillis(20), Duration.ofSeconds(2)).withJitter(0.5).withMaxRetries(4).build();
        CompletableFuture<String> answer = Failsafe.with(policy).with(pool).getStageAsync(call);

        assertEquals("answer", answer.get(Patience.SECONDS, TimeUnit.SECONDS));
        assertEquals(3, attempts.get());
    }

    @Test
    void guava_listeningDecorator_andTimeoutsOfFutures() throws Exception {
        ListeningScheduledExecutorService listening = MoreExecutors.listeningDecorator(pool);
        CountDownLatch told = new CountDownLatch(1);
        long start = System.nanoTime();
        ListenableScheduledFuture<String> future = listening.schedule(() -> "value", 50, TimeUnit.MILLISECONDS);
        future.addListener(told::countDown, Runnable::run);
        assertEquals("value", future.get(Patience.SECONDS, TimeUnit.SECONDS));
        Patience.await(told);
        Patience.assertElapsed(50, start, System.nanoTime());

        SettableFuture<String> never = SettableFuture.create();
        ListenableFuture<String> limited = Futures.withTimeout(never, 50, TimeUnit.MILLISECONDS, pool);
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> limited.get(Patience.SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(TimeoutException.class, failure.getCause());
        Patience.until("cancelled", never::isCancelled); // after its limit has been told

        SettableFuture<String> soon = SettableFuture.create();
        ListenableFuture<String> inTime = Futures.withTimeout(soon, 1, TimeUnit.HOURS, pool);
        soon.set("soon");
        assertEquals("soon", inTime.get(Patience.SECONDS, TimeUnit.SECONDS));
    }
}
