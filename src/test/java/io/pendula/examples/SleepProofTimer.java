package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** Runs a task once when so much time has passed, the time in which the machine was suspended included. */
// tag::recipe[]
final class SleepProofTimer implements AutoCloseable {
    private static final Duration LOOK = Duration.ofSeconds(15);

    private final TimerScheduler timers;
    private final InstantSource clock;
    private final Instant due;
    private final long latest; // by the clock of the timers, which cannot be set back
    private final Runnable task;
    private final Timer timer;
    private boolean closed;

    SleepProofTimer(TimerScheduler timers, InstantSource clock, Duration delay, Runnable task) {
        this.timers = timers;
        this.clock = clock;
        this.due = clock.instant().plus(delay);
        this.latest = timers.now() + delay.toNanos();
        this.task = task;
        this.timer = timers.timer(this::look);
        timer.reset(untilLook());
    }

    private void look() {
        if (clock.instant().isBefore(due) && timers.now() - latest < 0) {
            lookAgain();
        } else {
            task.run();
        }
    }

    private synchronized void lookAgain() {
        if (!closed) { // a timer that was cancelled cannot be reset
            timer.reset(untilLook());
        }
    }

    private Duration untilLook() {
        Duration left = Duration.between(clock.instant(), due);
        return left.compareTo(LOOK) < 0 ? left : LOOK;
    }

    @Override
    public synchronized void close() {
        closed = true;
        timer.cancel();
    }
}
// end::recipe[]
