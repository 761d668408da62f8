package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Runs an action once when no event has come for a while. An event costs one reset of one timer. */
// tag::recipe[]
final class Debouncer implements AutoCloseable {
    private final Timer timer;
    private final long quietNanos;

    Debouncer(TimerScheduler timers, Duration quiet, Runnable action) {
        timer = timers.timer(action);
        quietNanos = quiet.toNanos();
    }

    /** Any thread may call this. */
    void event() {
        timer.reset(quietNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        timer.cancel();
    }
}
// end::recipe[]
