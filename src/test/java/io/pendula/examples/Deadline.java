package io.pendula.examples;

import io.pendula.Timers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

/** The instant at which a request must be answered. */
// tag::recipe[]
record Deadline(Timers timers, long instant) {
    static Deadline in(Timers timers, Duration limit) {
        return new Deadline(timers, Math.addExact(timers.now(), limit.toNanos()));
    }

    /** For a call that gets a part of the time. Never later than this deadline. */
    Deadline within(Duration limit) {
        return new Deadline(timers, Math.min(instant, in(timers, limit).instant));
    }

    Duration remaining() {
        return Duration.ofNanos(Math.max(0, instant - timers.now()));
    }

    void check() throws TimeoutException {
        if (remaining().isZero()) {
            throw new TimeoutException("the deadline has passed");
        }
    }

    /** Fails the future with a TimeoutException if it is not complete by then. */
    <T> CompletableFuture<T> limit(CompletableFuture<T> call) {
        return timers.orTimeout(call, remaining());
    }
}
// end::recipe[]
