package io.pendula.examples;

import io.pendula.Alarm;
import io.pendula.MissedTicks;
import io.pendula.Ticker;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/** Flushes a counter at a fixed rate, by a callback; and does something at each beat of a loop of one's own. */
public final class MetricsTicker {
    private MetricsTicker() {}

    static Ticker flushing(LongAdder requests, Duration period, LongConsumer sink, TimerScheduler timers) {
        // tag::readme[]
        Ticker flush = timers.every(period, MissedTicks.SKIP, () -> sink.accept(requests.sumThenReset()));
        // end::readme[]
        return flush;
    }

    static void eachBeat(TimerScheduler timers, Duration period, int beats, Runnable step)
            throws InterruptedException {
        // tag::readme[]
        try (Alarm beat = timers.alarmEvery(period)) {
            for (int i = 0; i < beats; i++) {
                beat.await();
                step.run();
            }
        }
        // end::readme[]
    }

    /**
     * Counts for a while and flushes the count to the console.
     *
     * @param args none
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        LongAdder requests = new LongAdder();
        LongAdder flushed = new LongAdder();
        CountDownLatch all = new CountDownLatch(20);
        try (TimerScheduler timers = TimerScheduler.builder().name("metrics").build();
                Ticker flush = flushing(requests, Duration.ofMillis(20), count -> {
                    flushed.add(count);
                    for (long i = 0; i < count; i++) {
                        all.countDown();
                    }
                }, timers)) {
            eachBeat(timers, Duration.ofMillis(2), 20, requests::increment);
            all.await();
            System.out.println("flushed " + flushed + " requests, missed ticks: " + flush.missed());
        }
    }
}
