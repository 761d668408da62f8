package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

/** Fails a request that is not answered in time; the timer goes away as soon as the answer comes. */
public final class RequestTimeout {
    private RequestTimeout() {}

    static <T> CompletableFuture<T> within(Duration limit, CompletableFuture<T> request, TimerScheduler timers) {
        // tag::readme[]
        Timer timeout = timers.after(limit, () ->
                request.completeExceptionally(new TimeoutException("no answer within " + limit.toMillis() + " ms")));
        request.whenComplete((answer, failure) -> timeout.cancel());
        // end::readme[]
        return request;
    }

    /**
     * Sends one request that is answered and one that is not.
     *
     * @param args none
     */
    public static void main(String[] args) {
        try (TimerScheduler timers = TimerScheduler.builder().name("requests").build()) {
            CompletableFuture<String> answered = within(Duration.ofSeconds(30), new CompletableFuture<>(), timers);
            timers.after(Duration.ofMillis(20), () -> answered.complete("42"));
            System.out.println("answered: " + answered.join());

            CompletableFuture<String> silent = within(Duration.ofMillis(50), new CompletableFuture<>(), timers);
            System.out.println("silent: " + silent.handle((answer, failure) -> failure.getMessage()).join());
        }
    }
}
