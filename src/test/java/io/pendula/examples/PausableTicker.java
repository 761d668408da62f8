package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.Timers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A ticker whose time can be made to stand still. */
final class PausableTicker {
    private final Timers timers;
    private final Timer timer;
    private final long period;
    private boolean paused = true;
    /** The time until the next tick, and while it is not paused, the instant of that tick. */
    private long next;

    PausableTicker(Timers timers, Duration period, Runnable task) {
        this.timers = timers;
        this.timer = timers.timer(() -> {
            armNext(); // a timer that is reset in its callback fires after that, so runs never overlap
            task.run();
        });
        this.period = period.toNanos();
        this.next = this.period;
        resume();
    }

    private synchronized void armNext() {
        long now = paused ? 0 : timers.now();
        next += ((now - next) / period + 1) * period; // missed ticks are skipped
        if (!paused) {
            timer.reset(next - now, TimeUnit.NANOSECONDS);
        }
    }

    /** To end the ticker, pause it and drop it. */
    synchronized void pause() {
        if (!paused) {
            paused = true;
            timer.stop();
            next -= timers.now();
        }
    }

    synchronized void resume() {
        if (paused) {
            timer.reset(next, TimeUnit.NANOSECONDS);
            next += timers.now();
            paused = false;
        }
    }
}
