package io.pendula.examples;

import io.pendula.Ticker;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Measures the lag of an event loop: how long what is handed to its thread waits. */
final class LoopLag implements AutoCloseable {
    private final TimerScheduler timers;
    private final Executor loop;
    private final LongConsumer meter;
    private final Ticker ticker;
    /** When the probe that waits was handed over; 0 if none waits. */
    private final AtomicLong since = new AtomicLong();

    /** {@code loop} runs on its thread what it is given; {@code meter} is told nanoseconds, on that thread. */
    LoopLag(TimerScheduler timers, Duration period, Executor loop, LongConsumer meter) {
        this.timers = timers;
        this.loop = loop;
        this.meter = meter;
        this.ticker = timers.every(period, this::probe);
    }

    private void probe() {
        if (since.compareAndSet(0, timers.now())) { // one at a time: a loop that is stuck gets no heap of them
            try {
                loop.execute(() -> meter.accept(timers.now() - since.getAndSet(0)));
            } catch (Throwable e) { // the loop takes nothing now, for instance
                since.set(0);
                throw e; // for the scheduler's listener
            }
        }
    }

    /** How long the present probe has waited, for a gauge that shows a loop that is stuck; 0 if none waits. */
    long waitingNanos() {
        long begun = since.get();
        return begun == 0 ? 0 : timers.now() - begun;
    }

    @Override
    public void close() {
        ticker.close();
    }
}
