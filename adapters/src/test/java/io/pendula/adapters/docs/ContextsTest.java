package io.pendula.adapters.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ImplicitContextKeyed;
import io.pendula.ManualClock;
import io.pendula.SchedulerExecutor;
import io.pendula.Timer;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** The context of a trace, and that of a log, go with a timer. */
@Timeout(60)
class ContextsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final List<String> seen = new ArrayList<>();

    @AfterEach
    void clear() {
        MDC.clear();
    }

    private TimerScheduler scheduler(UnaryOperator<TimerScheduler.Builder> context) {
        return context.apply(TimerScheduler.builder().clock(clock)).build();
    }

    private static void inSpan(int number, Runnable body) {
        Span span = Span.wrap(SpanContext.create("%032x".formatted(number), "%016x".formatted(number),
                TraceFlags.getSampled(), TraceState.getDefault()));
        in(span, body);
    }

    private static void in(ImplicitContextKeyed part, Runnable body) {
        Context.current().with(part).wrap(body).run();
    }

    private static long current() {
        SpanContext context = Span.current().getSpanContext();
        return context.isValid() ? Long.parseUnsignedLong(context.getSpanId(), 16) : 0;
    }

    @Test
    void trace_ofTheThreadThatArms_isCurrentInTheCallback_andInNoOther() {
        try (TimerScheduler timers = scheduler(Contexts::traced)) {
            inSpan(1, () -> timers.after(SECOND, () -> seen.add("1: " + current())));
            in(Baggage.builder().put("user", "ann").build(), () ->
                    timers.after(SECOND, () -> seen.add("user: " + Baggage.current().getEntryValue("user"))));
            timers.after(SECOND, () -> seen.add("none: " + current()));
            inSpan(2, () -> {
                clock.advance(SECOND); // the callbacks run on this thread
                assertEquals(2, current());
            });
            assertEquals(List.of("1: 1", "user: ann", "none: 0"), seen);
        }
    }

    @Test
    void trace_ofATicker_isThatOfItsMaker_inEachTick() {
        try (TimerScheduler timers = scheduler(Contexts::traced)) {
            inSpan(3, () -> timers.every(SECOND, () -> seen.add("" + current())));
            clock.advance(Duration.ofSeconds(3));
            assertEquals(List.of("3", "3", "3"), seen);
        }
    }

    @Test
    void trace_afterAReset_isStillThatOfTheMaker() {
        try (TimerScheduler timers = scheduler(Contexts::traced)) {
            List<Timer> made = new ArrayList<>();
            inSpan(4, () -> made.add(timers.after(SECOND, () -> seen.add("" + current()))));
            inSpan(5, () -> made.get(0).reset(SECOND));
            clock.advance(SECOND);
            assertEquals(List.of("4"), seen);
        }
    }

    @Test
    void trace_ofAnExecutorsTask_onAThreadOfTheScheduler() throws Exception {
        try (TimerScheduler timers = Contexts.traced(TimerScheduler.builder().workers(1)).build();
                SchedulerExecutor view = timers.asScheduledExecutorService()) {
            CompletableFuture<Long> executed = new CompletableFuture<>();
            List<Future<Long>> scheduled = new ArrayList<>();
            inSpan(6, () -> {
                view.execute(() -> executed.complete(current()));
                scheduled.add(view.schedule(() -> current(), 1, TimeUnit.MILLISECONDS));
            });
            assertEquals(6, executed.get(Patience.SECONDS, TimeUnit.SECONDS));
            assertEquals(6, scheduled.get(0).get(Patience.SECONDS, TimeUnit.SECONDS));
            assertEquals(0, view.schedule(() -> current(), 1, TimeUnit.MILLISECONDS).get());
        }
    }

    /** What the decorator is for. */
    @Test
    void trace_withoutTheDecorator_isLost() {
        try (TimerScheduler timers = scheduler(builder -> builder)) {
            inSpan(7, () -> timers.after(SECOND, () -> seen.add("" + current())));
            clock.advance(SECOND);
            assertEquals(List.of("0"), seen);
        }
    }

    @Test
    void mdc_ofTheThreadThatArms_isThereInTheCallback_andGoneAfterwards() {
        try (TimerScheduler timers = scheduler(Contexts::diagnosed)) {
            MDC.put("request", "8");
            Timer timer = timers.after(SECOND, () -> {
                seen.add(MDC.get("request"));
                MDC.put("left", "behind");
            });
            MDC.put("request", "9");
            timer.reset(SECOND);
            MDC.clear();
            timers.after(SECOND, () -> seen.add("" + MDC.get("request")));
            MDC.put("request", "10"); // the callbacks run on this thread
            clock.advance(SECOND);
            assertEquals(List.of("8", "null"), seen);
            assertEquals("10", MDC.get("request"));
            assertNull(MDC.get("left"));
        }
    }

    @Test
    void mdc_isRestored_ifTheCallbackThrows() {
        Runnable throwing = Contexts.withMdc(() -> {
            MDC.put("left", "behind");
            throw new IllegalStateException("meant");
        });
        MDC.put("request", "11");
        try {
            throwing.run();
        } catch (IllegalStateException e) {
            assertEquals("meant", e.getMessage());
        }
        assertNull(MDC.get("left"));
        assertEquals("11", MDC.get("request"));
    }

    /** One worker runs the callbacks of two requests, one after the other. */
    @Test
    void mdc_ofTwoThreads_onOneWorker() throws Exception {
        try (TimerScheduler timers = Contexts.diagnosed(TimerScheduler.builder().workers(1)).build()) {
            List<CompletableFuture<String>> answers = List.of(new CompletableFuture<>(), new CompletableFuture<>());
            for (int i = 0; i < 2; i++) {
                int request = i;
                Thread thread = new Thread(() -> {
                    MDC.put("request", "" + request);
                    timers.after(Duration.ofMillis(5), () -> answers.get(request).complete(MDC.get("request")));
                });
                thread.start();
                thread.join();
            }
            for (int i = 0; i < 2; i++) {
                assertEquals("" + i, answers.get(i).get(Patience.SECONDS, TimeUnit.SECONDS));
            }
            CompletableFuture<String> none = new CompletableFuture<>();
            timers.after(Duration.ZERO, () -> none.complete("" + MDC.get("request")));
            assertEquals("null", none.get(Patience.SECONDS, TimeUnit.SECONDS));
        }
    }
}
