package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Tells when nothing has been heard from a peer for too long; each message moves one timer back. */
public final class Heartbeat implements AutoCloseable {
    // tag::readme[]
    private final Duration limit;
    private final Timer silence;

    Heartbeat(TimerScheduler timers, Duration limit, Runnable peerLost) {
        this.limit = limit;
        this.silence = timers.after(limit, peerLost);
    }

    /** Throws IllegalStateException after close. */
    void heard() {
        silence.reset(limit); // until it fires, one compare-and-set: no heap, no lock, no thread woken
    }

    @Override
    public void close() {
        silence.cancel(); // for good: a message that comes meanwhile cannot arm it again
    }
    // end::readme[]

    /**
     * Hears from a peer five times, then no more.
     *
     * @param args none
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        Duration limit = Duration.ofMillis(250);
        CountDownLatch lost = new CountDownLatch(1);
        try (TimerScheduler timers = TimerScheduler.builder().name("heartbeat").build();
                Heartbeat peer = new Heartbeat(timers, limit, lost::countDown)) {
            MetricsTicker.eachBeat(timers, Duration.ofMillis(10), 5, peer::heard);
            System.out.println("five messages heard");
            lost.await();
            System.out.println("peer lost: silent for " + limit.toMillis() + " ms");
        }
    }
}
