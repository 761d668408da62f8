package io.pendula.examples;

import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Calls again after a failure. Each pause is drawn evenly from zero to a limit that doubles, so that callers that failed
 * together do not come back together.
 */
// tag::recipe[]
record Retry(TimerScheduler timers, RandomGenerator random, int attempts, Duration first, Duration longest) {
    <T> CompletableFuture<T> call(Supplier<CompletableFuture<T>> operation) {
        CompletableFuture<T> result = new CompletableFuture<>();
        attempt(operation, result, 1, Math.min(first.toNanos(), longest.toNanos()));
        return result;
    }

    private <T> void attempt(Supplier<CompletableFuture<T>> operation, CompletableFuture<T> result, int number,
            long limit) {
        if (result.isDone()) { // given up by the caller
            return;
        }
        begin(operation).whenComplete((value, failure) -> {
            if (failure == null) {
                result.complete(value);
            } else if (number == attempts) {
                result.completeExceptionally(failure);
            } else {
                long doubled = limit > longest.toNanos() / 2 ? longest.toNanos() : 2 * limit;
                pause(limit).whenComplete((over, broken) -> {
                    if (broken == null) {
                        attempt(operation, result, number + 1, doubled);
                    } else {
                        failure.addSuppressed(broken);
                        result.completeExceptionally(failure);
                    }
                });
            }
        });
    }

    /** Fails if the scheduler is closed, before or during the pause. */
    private CompletableFuture<Void> pause(long limit) {
        try {
            Duration drawn = Duration.ofNanos(random.nextLong(limit + 1));
            return timers.completeOnTimeout(new CompletableFuture<>(), null, drawn);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** An operation that throws, or returns null, has failed, too. */
    private static <T> CompletableFuture<T> begin(Supplier<CompletableFuture<T>> operation) {
        try {
            return Objects.requireNonNull(operation.get(), "the operation's future");
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
// end::recipe[]
