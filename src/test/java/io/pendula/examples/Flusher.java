package io.pendula.examples;

import io.pendula.Ticker;
import io.pendula.Timers;
import java.time.Duration;

/** Flushes each period, and a last time when it is closed, as a reporter of metrics does. */
final class Flusher {
    private final Ticker ticker;
    private final Runnable flush;

    Flusher(Timers timers, Duration period, Runnable flush) {
        this.ticker = timers.every(period, flush);
        this.flush = flush;
    }

    /** To be called once. False, and no last flush, if one is in progress for longer than {@code limit}. */
    boolean close(Duration limit) throws InterruptedException {
        boolean isOver = ticker.cancelAndAwait(limit);
        if (isOver) {
            flush.run(); // no other flush runs now, or will
        }
        return isOver;
    }
}
