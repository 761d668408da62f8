package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Runs an action at the first event and, while more come, once in each interval; the last event is never lost. */
// tag::recipe[]
final class Throttle implements AutoCloseable {
    private final TimerScheduler timers;
    private final Timer timer;
    private final long intervalNanos;
    /** When the action may run again. */
    private long next = Long.MIN_VALUE;

    Throttle(TimerScheduler timers, Duration interval, Runnable action) {
        this.timers = timers;
        timer = timers.timer(action);
        intervalNanos = interval.toNanos();
    }

    /** Any thread may call this, the action too. */
    synchronized void event() {
        if (!timer.isPending()) {
            long now = timers.now();
            long at = Math.max(now, next);
            timer.reset(at - now, TimeUnit.NANOSECONDS);
            next = at > Long.MAX_VALUE - intervalNanos ? Long.MAX_VALUE : at + intervalNanos;
        }
    }

    @Override
    public void close() {
        timer.cancel();
    }
}
// end::recipe[]
