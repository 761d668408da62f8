package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;

/** A timer whose time can be made to stand still. */
// tag::recipe[]
final class PausableTimer implements AutoCloseable {
    private final Timer timer;
    /** The time that was left when it was paused; null if it is not. */
    private Duration left;

    PausableTimer(TimerScheduler timers, Duration delay, Runnable task) {
        timer = timers.after(delay, task);
    }

    /** False if it is paused already, or has fired. */
    synchronized boolean pause() {
        Duration remaining = timer.remaining();
        if (!timer.stop()) {
            return false;
        }
        left = remaining;
        return true;
    }

    /** False if it is not paused. */
    synchronized boolean resume() {
        if (left == null) {
            return false;
        }
        timer.reset(left);
        left = null;
        return true;
    }

    @Override
    public synchronized void close() {
        left = null;
        timer.cancel();
    }
}
// end::recipe[]
