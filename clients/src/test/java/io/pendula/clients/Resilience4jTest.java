package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import io.github.resilience4j.timelimiter.event.TimeLimiterEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Resilience4j times calls out and spaces retries with the executor that each call is given. */
class Resilience4jTest {
    private static final long LIMIT = 100;
    private static final long PAUSE = 30;

    private final Queue<TimeLimiterEvent.Type> events = new ConcurrentLinkedQueue<>();

    private TimeLimiter limiter(Duration limit) {
        TimeLimiter limiter = TimeLimiter.of(TimeLimiterConfig.custom()
                .timeoutDuration(limit)
                .build());
        limiter.getEventPublisher().onEvent(e -> events.add(e.getEventType()));
        return limiter;
    }

    private Map<TimeLimiterEvent.Type, Long> eventCounts() {
        return events.stream().collect(Collectors.groupingBy(e -> e, Collectors.counting()));
    }

    private static Retry retry(int attempts) {
        return Retry.of("test", RetryConfig.custom()
                .maxAttempts(attempts)
                .waitDuration(Duration.ofMillis(PAUSE))
                .build());
    }

    private static Throwable failure(CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class,
                () -> stage.toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS)).getCause();
    }

    @ParameterizedTest
    @EnumSource
    void timeLimiter_endsEachSlowCallOnce_andNoFastOne(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            int calls = 200;
            TimeLimiter limiter = limiter(Duration.ofMillis(LIMIT));
            List<CompletionStage<Integer>> limited = new ArrayList<>();
            Queue<Long> lives = new ConcurrentLinkedQueue<>();
            AtomicInteger onTimerThread = new AtomicInteger();
            BitSet answered = new BitSet();
            for (int i = 0; i < calls; i++) {
                long start = System.nanoTime();
                CompletableFuture<Integer> answer = new CompletableFuture<>();
                limited.add(limiter.executeCompletionStage(subject.executor, () -> answer));
                answer.whenComplete((value, thrown) -> {
                    if (thrown != null) {
                        lives.add(System.nanoTime() - start);
                        onTimerThread.addAndGet(subject.isOwnThread() ? 1 : 0);
                    }
                });
                if (i % 2 == 0) {
                    answered.set(i, answer.complete(i)); // false if this thread was held up for so long
                }
            }
            for (int i = 0; i < calls; i++) {
                if (answered.get(i)) {
                    assertEquals(i, Patience.get(limited.get(i).toCompletableFuture()));
                } else {
                    assertInstanceOf(TimeoutException.class, failure(limited.get(i)));
                }
            }
            subject.letPass(2 * LIMIT);
            long fast = answered.cardinality();
            assertTrue(fast > 0);
            assertEquals(Map.of(TimeLimiterEvent.Type.SUCCESS, fast, TimeLimiterEvent.Type.TIMEOUT, calls - fast),
                    eventCounts());
            assertEquals(calls - fast, lives.size());
            lives.forEach(nanos -> Patience.assertElapsed(LIMIT, 0, nanos));
            assertTrue(onTimerThread.get() > 0);
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeLimiter_onAFuture_interruptsTheTaskAndNotTheNext(ExecutorKind kind) throws Exception {
        try (Subject subject = kind.open(1)) {
            TimeLimiter limiter = limiter(Duration.ofMillis(LIMIT));
            CountDownLatch never = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            long start = System.nanoTime();
            Callable<Boolean> blocked = () -> {
                try {
                    return never.await(Patience.SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    throw e;
                }
            };
            assertThrows(TimeoutException.class,
                    () -> limiter.executeFutureSupplier(() -> subject.executor.submit(blocked)));
            Patience.assertElapsed(LIMIT, start, System.nanoTime());
            Patience.await(interrupted);
            Callable<String> next = () -> Thread.interrupted() ? "disturbed" : "undisturbed";
            assertEquals("undisturbed", limiter(Duration.ofSeconds(Patience.SECONDS))
                    .executeFutureSupplier(() -> subject.executor.submit(next)));
            assertEquals(List.of(TimeLimiterEvent.Type.TIMEOUT, TimeLimiterEvent.Type.SUCCESS), List.copyOf(events));
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void retry_spacesItsAttempts_untilOneSucceeds(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Retry retry = retry(5);
            Queue<Long> attempts = new ConcurrentLinkedQueue<>();
            AtomicInteger onTimerThread = new AtomicInteger();
            Supplier<CompletionStage<String>> call = () -> {
                attempts.add(System.nanoTime());
                onTimerThread.addAndGet(subject.isOwnThread() ? 1 : 0);
                return attempts.size() < 4
                        ? CompletableFuture.failedFuture(new IOException("attempt " + attempts.size()))
                        : CompletableFuture.completedFuture("answer");
            };
            assertEquals("answer",
                    Patience.get(retry.executeCompletionStage(subject.executor, call).toCompletableFuture()));
            assertEquals(4, attempts.size());
            assertEquals(3, onTimerThread.get());
            Patience.assertSpaced(PAUSE, List.copyOf(attempts));
            assertEquals(1, retry.getMetrics().getNumberOfSuccessfulCallsWithRetryAttempt());
            assertEquals(0, retry.getMetrics().getNumberOfFailedCallsWithRetryAttempt());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void retry_givesUpAfterItsLastAttempt(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Retry retry = retry(3);
            Queue<Long> attempts = new ConcurrentLinkedQueue<>();
            CompletionStage<String> end = retry.executeCompletionStage(subject.executor, () -> {
                attempts.add(System.nanoTime());
                return CompletableFuture.failedFuture(new IOException("attempt " + attempts.size()));
            });
            assertEquals("attempt 3", assertInstanceOf(IOException.class, failure(end)).getMessage());
            subject.letPass(2 * PAUSE);
            assertEquals(3, attempts.size());
            Patience.assertSpaced(PAUSE, List.copyOf(attempts));
            assertEquals(1, retry.getMetrics().getNumberOfFailedCallsWithRetryAttempt());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void retryOfLimitedCalls_timesOutEachAttemptThatIsSlow(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            TimeLimiter limiter = limiter(Duration.ofMillis(LIMIT));
            Retry retry = retry(4);
            List<Long> attempts = new ArrayList<>();
            Supplier<CompletionStage<Integer>> call = limiter.decorateCompletionStage(subject.executor, () -> {
                attempts.add(System.nanoTime());
                int attempt = attempts.size();
                return attempt < 3 ? new CompletableFuture<>() : CompletableFuture.completedFuture(attempt);
            });
            assertEquals(3, Patience.get(retry.executeCompletionStage(subject.executor, call).toCompletableFuture()));
            Patience.assertSpaced(LIMIT + PAUSE, attempts);
            subject.letPass(2 * LIMIT);
            assertEquals(Map.of(TimeLimiterEvent.Type.TIMEOUT, 2L, TimeLimiterEvent.Type.SUCCESS, 1L), eventCounts());
            subject.assertLeftRunning(0);
        }
    }
}
