package io.pendula.fray;

import static java.util.concurrent.TimeUnit.MICROSECONDS;

import io.pendula.Alarm;
import io.pendula.ManualClock;
import io.pendula.Ticker;
import io.pendula.Timer;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that do something to one timer or one clock at once. */
final class RaceScenarios {
    private static final Duration SOON = Duration.ofNanos(20_000);

    private RaceScenarios() {}

    static void addTo(Map<String, Bed.Scenario> all) {
        all.put("stop-reset-fire", RaceScenarios::stopResetFire);
        all.put("reset-beside-the-run", RaceScenarios::resetBesideTheRun);
        all.put("cancel-and-await", RaceScenarios::cancelAndAwait);
        all.put("one-firing-two-receivers", RaceScenarios::oneFiringTwoReceivers);
        all.put("two-ticks-two-receivers", RaceScenarios::twoTicksTwoReceivers);
        all.put("ticker-reset-twice", RaceScenarios::tickerResetTwice);
        all.put("most-that-may-be-armed", RaceScenarios::mostThatMayBeArmed);
        all.put("executor-that-rejects", RaceScenarios::executorThatRejects);
        all.put("future-and-its-timeout", RaceScenarios::futureAndItsTimeout);
        all.put("manual-clock", RaceScenarios::manualClock);
    }

    /** Each arming ends in one run, or one call says that it has taken it back. */
    static void stopResetFire(Bed bed) throws InterruptedException {
        AtomicInteger ended = new AtomicInteger();
        try (TimerScheduler s = bed.scheduler(1).build()) {
            Timer t = s.after(SOON, ended::incrementAndGet);
            bed.thread(() -> ended.addAndGet(t.stop() ? 1 : 0));
            bed.thread(() -> ended.addAndGet(t.reset(SOON) ? 1 : 0));
            ended.addAndGet(t.reset(Bed.FAR) ? 1 : 0);
            bed.join();
            ended.addAndGet(t.stop() ? 1 : 0);
        }
        bed.check(ended.get() == 3, "3 armings have ended " + ended + " times");
    }

    /** A timer never runs twice at once, and is armed again as often as it was reset. */
    static void resetBesideTheRun(Bed bed) throws InterruptedException {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        try (TimerScheduler s = bed.scheduler(2).build()) {
            Timer t = s.after(Duration.ZERO, () -> {
                bed.check(running.incrementAndGet() == 1, "the timer runs twice at once");
                ended.incrementAndGet();
                running.decrementAndGet();
            });
            for (int i = 0; i < 2; i++) {
                bed.thread(() -> ended.addAndGet(t.reset(Duration.ZERO) ? 1 : 0));
            }
            bed.join();
            ended.addAndGet(t.stop() ? 1 : 0);
        }
        bed.check(ended.get() == 3, "3 armings have ended " + ended + " times");
    }

    static void cancelAndAwait(Bed bed) throws InterruptedException {
        AtomicInteger running = new AtomicInteger();
        try (TimerScheduler s = bed.scheduler(1).build()) {
            Timer t = s.after(Duration.ZERO, () -> {
                running.incrementAndGet();
                Thread.yield();
                running.decrementAndGet();
            });
            for (int i = 0; i < 2; i++) {
                bed.thread(() -> {
                    bed.check(t.cancelAndAwait(Duration.ofSeconds(5)), "the end of the run was not seen");
                    bed.check(running.get() == 0, "the run goes on");
                });
            }
            bed.join();
        }
    }

    /** Each firing goes to one receiver. */
    static void oneFiringTwoReceivers(Bed bed) throws InterruptedException {
        CountDownLatch first = new CountDownLatch(1);
        try (TimerScheduler s = bed.scheduler(1).build()) {
            Alarm t = s.alarm(SOON);
            for (int i = 0; i < 2; i++) {
                bed.thread(() -> {
                    t.await();
                    first.countDown();
                });
            }
            first.await();
            t.reset(SOON);
            bed.join();
            bed.check(!t.stop(), "two receivers, and a third firing is left");
        }
    }

    static void twoTicksTwoReceivers(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).build()) {
            Alarm t = s.alarmEvery(Duration.ofMillis(1));
            bed.thread(t::await);
            bed.thread(t::await);
            bed.join();
            t.stop();
        }
    }

    /** The ticks are those of one of the resets. */
    static void tickerResetTwice(Bed bed) throws InterruptedException {
        ManualClock clock = new ManualClock();
        List<Long> ticks = Collections.synchronizedList(new ArrayList<>());
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            long start = clock.nanoTime();
            Ticker t = s.every(Bed.FAR, () -> ticks.add(clock.nanoTime() - start));
            bed.thread(() -> t.reset(Duration.ofNanos(10)));
            t.reset(Duration.ofNanos(25));
            bed.join();
            clock.advance(Duration.ofNanos(50));
        }
        bed.check(ticks.equals(List.of(10L, 20L, 30L, 40L, 50L)) || ticks.equals(List.of(25L, 50L)),
                "ticks of two resets: " + ticks);
    }

    static void mostThatMayBeArmed(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).maxPending(1).build()) {
            Runnable nothing = () -> {};
            for (int i = 0; i < 2; i++) {
                bed.thread(() -> {
                    try {
                        Timer t = s.after(Bed.FAR, nothing);
                        bed.check(s.pending() <= 1, "more are armed than may be");
                        t.reset(SOON);
                        t.stop();
                    } catch (RejectedExecutionException e) {
                        // the other thread's is armed
                    }
                });
            }
            bed.join();
            while (s.pending() > 0) {
                Thread.sleep(1);
            }
            s.after(Bed.FAR, nothing); // throws if a permit was lost
            try {
                s.after(Bed.FAR, nothing);
                bed.check(false, "more are armed than may be");
            } catch (RejectedExecutionException e) {
                // as it must be
            }
        }
    }

    /** A callback that the executor rejects runs all the same, and none runs twice. */
    static void executorThatRejects(Bed bed) throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();
        List<Bed.Shot> shots = List.of(bed.shot(), bed.shot(), bed.shot());
        try (TimerScheduler s = bed.scheduler(2).executor(task -> {
            int n = calls.getAndIncrement();
            if (n == 0) {
                bed.thread(task::run);
            } else if (n == 1) {
                task.run();
                throw new RejectedExecutionException("it ran, but that was the last one");
            } else {
                throw new RejectedExecutionException("no more");
            }
        }).listener(new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long lateness, Throwable thrown) {} // what the executor throws
        }).build()) {
            for (Bed.Shot shot : shots) {
                bed.thread(() -> shot.armOn(s, 30));
            }
            for (Bed.Shot shot : shots) {
                shot.await();
            }
            bed.join();
        }
    }

    static void futureAndItsTimeout(Bed bed) throws InterruptedException {
        AtomicInteger completions = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        try (TimerScheduler s = bed.scheduler(1).build()) {
            CompletableFuture<String> f = new CompletableFuture<>();
            f.whenComplete((v, e) -> {
                completions.incrementAndGet();
                done.countDown();
            });
            bed.thread(() -> f.complete("value"));
            s.orTimeout(f, SOON);
            done.await();
            bed.join();
            bed.check(completions.get() == 1, "completed " + completions + " times");
            while (s.pending() > 0) { // cancelled when the future was complete
                Thread.sleep(1);
            }
        }
    }

    /** Two threads advance, a third arms; of advances at once one is refused, and no timer is lost or early. */
    static void manualClock(Bed bed) throws InterruptedException {
        ManualClock clock = new ManualClock();
        AtomicInteger ran = new AtomicInteger();
        AtomicLong advanced = new AtomicLong();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            long start = clock.nanoTime();
            for (int i = 0; i < 2; i++) {
                bed.thread(() -> {
                    try {
                        clock.advance(Duration.ofNanos(5_000));
                        advanced.addAndGet(5_000);
                    } catch (IllegalStateException e) {
                        bed.check(e.getMessage().contains("advanced already"), e.toString());
                    }
                });
            }
            for (int i = 0; i < 2; i++) {
                long due = clock.nanoTime() + 3_000;
                s.after(3, MICROSECONDS, () -> {
                    bed.check(clock.nanoTime() >= due, "ran early");
                    ran.incrementAndGet();
                });
            }
            bed.join();
            bed.check(clock.nanoTime() - start == advanced.get(), "the clock was moved by another distance");
            clock.advance(Duration.ofNanos(10_000));
            bed.check(ran.get() == 2, "2 timers ran " + ran + " times");
            bed.check(s.pending() == 0, "armed still");
        }
    }
}
