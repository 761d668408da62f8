package io.pendula.adapters;

import io.pendula.Timer;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** A scheduler that has seen everything that is counted, so that its figures are not all zero, nor all alike. */
public final class BusyScheduler {
    private BusyScheduler() {}

    /** Quiet again: of its figures, only those of its threads still change. */
    public static TimerScheduler make() {
        TimerScheduler timers = TimerScheduler.builder().name("busy").workers(1).maxThreads(4).maxPending(100_000)
                .stallAfter(Duration.ofMillis(1))
                .slowCallback(Duration.ofMillis(1)).listener(new TimerListener() {
                    @Override
                    public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {}
                }).build();
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            CountDownLatch blocked = new CountDownLatch(1);
            timers.after(Duration.ZERO, () -> {
                blocked.countDown();
                Patience.await(release);
            });
            Patience.await(blocked); // the second by a spare thread
        }
        CountDownLatch ran = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            timers.after(Duration.ofMillis(1), ran::countDown); // by another one
        }
        Patience.await(ran);
        Patience.until("the monitor has seen both", () -> timers.stats().stalls() >= 2);
        release.countDown();
        for (int i = 0; i < 4; i++) {
            timers.after(Duration.ZERO, () -> {
                throw new IllegalStateException("meant");
            });
        }
        for (int i = 0; i < 8; i++) {
            Timer timer = timers.after(Duration.ofHours(1), () -> {});
            if (i < 3) {
                timer.stop();
            } else if (i < 5) {
                timer.reset(Duration.ofHours(2));
            }
        }
        Patience.until("all has ended", () -> timers.stats().callbacksMeasured() == 26 && timers.stats().running() == 0);
        return timers;
    }

    /** Compares statistics with figures that were read between two equal snapshots of them. */
    public static <T> void compare(TimerScheduler timers, Supplier<T> read, BiConsumer<TimerStats, T> comparison) {
        Patience.until("two equal snapshots", () -> {
            TimerStats before = timers.stats();
            T figures = read.get();
            TimerStats after = timers.stats();
            if (before.threads() != after.threads() || before.heapCapacity() != after.heapCapacity()
                    || before.staleEntries() != after.staleEntries()) {
                return false;
            }
            comparison.accept(after, figures);
            return true;
        });
    }
}
