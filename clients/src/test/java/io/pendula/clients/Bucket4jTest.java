package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bucket4j's calls that wait for their tokens, with a timer each. */
class Bucket4jTest {
    private static final int CAPACITY = 5;
    private static final long REFILL = 10;

    private static Bucket bucket(Duration refill) {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(CAPACITY).refillGreedy(1, refill))
                .withNanosecondPrecision()
                .build();
    }

    /** 100,000 calls that wait, up to a second, for a token each. */
    static void waitForTokens(ScheduledExecutorService executor) {
        Bucket bucket = bucket(Duration.ofNanos(10_000));
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            waiting.add(bucket.asScheduler().consume(1, executor));
        }
        waiting.forEach(Patience::get);
    }

    @ParameterizedTest
    @EnumSource
    void consume_endsWhenItsTokenHasCome_andNotBefore(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            int calls = 30;
            Map<Integer, Long> instants = new ConcurrentHashMap<>();
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            long start = System.nanoTime();
            Bucket bucket = bucket(Duration.ofMillis(REFILL));
            for (int i = 0; i < calls; i++) {
                int call = i;
                waiting.add(bucket.asScheduler().consume(1, subject.executor)
                        .thenRun(() -> instants.put(call, System.nanoTime())));
            }
            waiting.forEach(Patience::get);
            assertEquals(calls, instants.size());
            instants.forEach((call, end) ->
                    Patience.assertElapsed(Math.max(0, call + 1 - CAPACITY) * REFILL, start, end));
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void tryConsume_thatWouldWaitTooLong_isRefusedWithoutATimer(ExecutorKind kind) {
        try (Subject subject = kind.open(1)) {
            Bucket bucket = bucket(Duration.ofHours(1));
            assertTrue(bucket.tryConsume(CAPACITY));
            CompletableFuture<Boolean> call =
                    bucket.asScheduler().tryConsume(1, Duration.ofMinutes(50), subject.executor);
            assertFalse(call.getNow(true));
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelledCall_leavesItsTimer_andAClosedExecutorFailsTheNext(ExecutorKind kind) {
        try (Subject subject = kind.open(1)) {
            Bucket bucket = bucket(Duration.ofHours(1));
            assertTrue(bucket.tryConsume(CAPACITY));
            assertTrue(bucket.asScheduler().consume(1, subject.executor).cancel(true));
            subject.assertLeftRunning(1);
            CompletableFuture<Void> late = bucket.asScheduler().consume(1, subject.executor);
            assertInstanceOf(RejectedExecutionException.class,
                    assertThrows(ExecutionException.class, late::get).getCause());
        }
    }
}
