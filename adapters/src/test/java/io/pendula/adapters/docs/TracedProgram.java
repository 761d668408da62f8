package io.pendula.adapters.docs;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.pendula.SchedulerExecutor;
import io.pendula.Ticker;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Started with OpenTelemetry's Java agent. Submits tasks in all ways while a span is current, and prints a line for each:
 * the way, by what, and whether the span was current in the task.
 */
final class TracedProgram {
    private TracedProgram() {}

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService jdk = Executors.newScheduledThreadPool(1);
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1);
                TimerScheduler timers = TimerScheduler.builder().workers(1).build();
                SchedulerExecutor view = timers.asScheduledExecutorService()) {
            tryAll("jdk", jdk);
            tryAll("pool", pool);
            tryAll("view", view);
            print("after", "timers", told -> timers.after(Duration.ZERO, () -> told.accept(spanId())));
            Ticker[] ticker = new Ticker[1];
            print("every", "timers", told -> ticker[0] = timers.every(Duration.ofMillis(1), () -> told.accept(spanId())));
            ticker[0].close();
        }
        jdk.shutdown();
        System.out.println("END");
    }

    private static String spanId() {
        return Span.current().getSpanContext().getSpanId();
    }

    private static void tryAll(String by, ScheduledExecutorService executor) throws Exception {
        print("execute", by, told -> executor.execute(() -> told.accept(spanId())));
        print("submit-runnable", by, told -> executor.submit(() -> told.accept(spanId())));
        print("submit-callable", by, told -> executor.submit(telling(told)));
        print("schedule-runnable", by, told -> executor.schedule(() -> told.accept(spanId()), 1, TimeUnit.MILLISECONDS));
        print("schedule-callable", by, told -> executor.schedule(telling(told), 1, TimeUnit.MILLISECONDS));
        ScheduledFuture<?>[] periodic = new ScheduledFuture<?>[2];
        print("rate", by, told -> periodic[0] = executor.scheduleAtFixedRate(() -> told.accept(spanId()), 0, 1,
                TimeUnit.MILLISECONDS));
        print("delay", by, told -> periodic[1] = executor.scheduleWithFixedDelay(() -> told.accept(spanId()), 0, 1,
                TimeUnit.MILLISECONDS));
        periodic[0].cancel(false);
        periodic[1].cancel(false);
    }

    private static Callable<Void> telling(Consumer<String> told) {
        return () -> {
            told.accept(spanId());
            return null;
        };
    }

    @SuppressWarnings("try") // the scope is only opened and closed
    private static void print(String way, String by, Consumer<Consumer<String>> submit) throws Exception {
        Span span = GlobalOpenTelemetry.getTracer("pendula").spanBuilder(way).startSpan();
        if (!span.getSpanContext().isValid()) {
            throw new IllegalStateException("there is no agent that makes spans");
        }
        CompletableFuture<String> seen = new CompletableFuture<>();
        try (Scope scope = span.makeCurrent()) {
            submit.accept(seen::complete); // the first run of a periodic task
        }
        boolean kept = seen.get(Patience.SECONDS, TimeUnit.SECONDS).equals(span.getSpanContext().getSpanId());
        span.end();
        System.out.println("SPAN " + way + " " + by + " " + (kept ? "kept" : "lost"));
    }
}
