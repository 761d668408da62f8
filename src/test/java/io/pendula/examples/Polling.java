package io.pendula.examples;

import io.pendula.TimerExecutors;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Asks again and again until there is an answer: code that was written for the JDK's pool, on Pendula's. */
public final class Polling {
    private Polling() {}

    /** Knows nothing of Pendula. If the source throws, the answer fails, and no poll follows. */
    static <T> CompletableFuture<T> poll(ScheduledExecutorService timers, long millis, Supplier<Optional<T>> source) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        ScheduledFuture<?> polls = timers.scheduleWithFixedDelay(() -> {
            try {
                source.get().ifPresent(answer::complete);
            } catch (Throwable e) { // the executor would end the polls, and leave the answer open
                answer.completeExceptionally(e);
            }
        }, 0, millis, TimeUnit.MILLISECONDS);
        answer.whenComplete((value, failure) -> polls.cancel(false));
        return answer;
    }

    /**
     * Polls a source that has an answer at the fifth question.
     *
     * @param args none
     */
    public static void main(String[] args) {
        // tag::readme[]
        ScheduledExecutorService timers = TimerExecutors.newScheduledThreadPool(4); // was: Executors.
        // end::readme[]
        AtomicInteger questions = new AtomicInteger();
        String answer = poll(timers, 10,
                () -> questions.incrementAndGet() < 5 ? Optional.<String>empty() : Optional.of("42")).join();
        System.out.println("answer: " + answer + " to question " + questions);
        timers.shutdown();
    }
}
