package io.pendula.adapters.docs;

import io.opentelemetry.context.Context;
import io.pendula.TimerScheduler;
import java.util.Map;
import org.slf4j.MDC;

/** Schedulers whose callbacks have the context of the thread that made the timer. */
final class Contexts {
    private Contexts() {}

    /** For OpenTelemetry's traces and baggage. */
    static TimerScheduler.Builder traced(TimerScheduler.Builder builder) {
        builder.decorate(task -> Context.current().wrap(task));
        return builder;
    }

    /** For the keys of SLF4J's MDC, which Logback and Log4j print. */
    static TimerScheduler.Builder diagnosed(TimerScheduler.Builder builder) {
        builder.decorate(Contexts::withMdc);
        return builder;
    }

    static Runnable withMdc(Runnable task) {
        Map<String, String> context = MDC.getCopyOfContextMap();        // of the thread that makes the timer
        return () -> {
            Map<String, String> before = MDC.getCopyOfContextMap();     // of the thread that runs the callback
            restore(context);
            try {
                task.run();
            } finally {
                restore(before);
            }
        };
    }

    private static void restore(Map<String, String> context) {
        if (context == null) {
            MDC.clear();
        } else {
            MDC.setContextMap(context);
        }
    }
}
