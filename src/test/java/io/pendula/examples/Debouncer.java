package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.Timers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Runs an action when no event has come for a while, or when the first one has waited for the longest time. */
// tag::recipe[]
final class Debouncer implements AutoCloseable {
    private final Timers timers;
    private final Timer timer;
    private final long quiet;
    private final long longest;
    /** When the first event of this series came. */
    private long first;

    Debouncer(Timers timers, Duration quiet, Duration longest, Runnable action) {
        this.timers = timers;
        this.timer = timers.timer(action);
        this.quiet = quiet.toNanos();
        this.longest = longest.toNanos();
    }

    /** Any thread may call this, the action too. */
    synchronized void event() {
        long now = timers.now();
        if (!timer.isPending()) {
            first = now;
        }
        timer.reset(Math.min(quiet, longest - (now - first)), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        timer.cancel();
    }
}
// end::recipe[]
