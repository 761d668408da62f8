package io.pendula.fray;

import io.pendula.SchedulerExecutor;
import io.pendula.Timer;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Pools, views, futures, and the ends of schedulers and executors. */
final class ExecutorScenarios {
    private ExecutorScenarios() {}

    static void addTo(Map<String, Bed.Scenario> all) {
        all.put("pool-grows-to-its-size", ExecutorScenarios::poolGrowsToItsSize);
        all.put("pool-of-two-is-needed-twice", ExecutorScenarios::poolOfTwoIsNeededTwice);
        all.put("future-cancelled", ExecutorScenarios::futureCancelled);
        all.put("future-interrupted", ExecutorScenarios::futureInterrupted);
        all.put("future-with-several-that-wait", ExecutorScenarios::futureWithSeveralThatWait);
        all.put("periodic-task-cancelled", ExecutorScenarios::periodicTaskCancelled);
        all.put("pool-shut-down-beside-submissions", ExecutorScenarios::poolShutDownBesideSubmissions);
        all.put("pool-shut-down-now", ExecutorScenarios::poolShutDownNow);
        all.put("view-shut-down-beside-submissions", ExecutorScenarios::viewShutDownBesideSubmissions);
        all.put("view-and-its-scheduler-closed", ExecutorScenarios::viewAndItsSchedulerClosed);
        all.put("close-beside-resets", ExecutorScenarios::closeBesideResets);
        all.put("close-beside-near-resets", ExecutorScenarios::closeBesideNearResets);
        all.put("close-beside-a-run", ExecutorScenarios::closeBesideARun);
        all.put("close-in-callbacks", ExecutorScenarios::closeInCallbacks);
    }

    /** As many tasks at once as there are threads, and no more threads than there may be. */
    static void poolGrowsToItsSize(Bed bed) throws InterruptedException {
        AtomicInteger made = new AtomicInteger();
        CountDownLatch together = new CountDownLatch(3);
        try (SchedulerExecutor pool = bed.pool(3).threadFactory(task -> {
            made.incrementAndGet();
            return new Thread(task);
        }).build()) {
            for (int i = 0; i < 3; i++) {
                bed.thread(() -> pool.execute(() -> {
                    together.countDown();
                    try {
                        together.await();
                    } catch (InterruptedException e) {
                        bed.fail(e);
                    }
                }));
            }
            together.await();
            bed.join();
        }
        bed.check(made.get() <= 3, "a pool of 3 has made " + made + " threads");
    }

    static void poolOfTwoIsNeededTwice(Bed bed) throws InterruptedException {
        CountDownLatch second = new CountDownLatch(1);
        try (SchedulerExecutor pool = bed.pool(2).build()) {
            Bed.Shot first = bed.shot();
            first.arm(0, delay -> pool.schedule(() -> {
                try {
                    second.await();
                } catch (InterruptedException e) {
                    bed.fail(e);
                }
                first.run();
            }, delay));
            Bed.Shot other = bed.shot();
            bed.thread(() -> other.arm(30, delay -> pool.schedule(() -> {
                other.run();
                second.countDown();
            }, delay)));
            first.await();
            bed.join();
        }
    }

    /** What cancel says and what get says agree. */
    static void futureCancelled(Bed bed) throws Exception {
        AtomicBoolean cancelled = new AtomicBoolean();
        try (SchedulerExecutor pool = bed.pool(1).build()) {
            Future<String> f = pool.submit(() -> "value");
            bed.thread(() -> {
                if (f.cancel(false)) {
                    cancelled.set(true);
                }
            });
            String got;
            try {
                got = f.get();
            } catch (CancellationException e) {
                got = null;
            }
            bed.join();
            bed.check(f.isDone() && f.isCancelled() == cancelled.get() && cancelled.get() == (got == null),
                    "cancelled: " + cancelled + ", but got " + got);
        }
    }

    /** An interrupt is for the task that is cancelled, and not for the next. */
    static void futureInterrupted(Bed bed) throws Exception {
        try (SchedulerExecutor pool = bed.pool(1).build()) {
            Future<?> f = pool.submit(Thread::yield);
            Future<Boolean> next = pool.submit(() -> Thread.currentThread().isInterrupted());
            bed.thread(() -> f.cancel(true));
            bed.check(!next.get(), "the next task was interrupted");
            bed.join();
        }
    }

    static void futureWithSeveralThatWait(Bed bed) throws Exception {
        try (SchedulerExecutor pool = bed.pool(2).build()) {
            Future<Integer> f = pool.schedule(() -> 7, Duration.ofNanos(10_000));
            for (int i = 0; i < 2; i++) {
                bed.thread(() -> bed.check(f.get() == 7, "another value"));
            }
            bed.check(f.get(2, TimeUnit.SECONDS) == 7, "another value");
            bed.join();
        }
    }

    static void periodicTaskCancelled(Bed bed) throws Exception {
        AtomicInteger running = new AtomicInteger();
        try (SchedulerExecutor pool = bed.pool(2).build()) {
            ScheduledFuture<?> f = pool.scheduleAtFixedRate(() -> {
                bed.check(running.incrementAndGet() == 1, "runs twice at once");
                Thread.yield();
                running.decrementAndGet();
            }, 0, 20, TimeUnit.MICROSECONDS);
            Thread.sleep(1);
            bed.thread(() -> f.cancel(false));
            try {
                f.get();
                bed.check(false, "get of a periodic task has returned");
            } catch (CancellationException e) {
                // as it must be
            }
            bed.join();
        }
        bed.check(running.get() == 0, "the executor has ended before the run");
    }

    /** A task that was submitted while its executor is shut down: accepted and run, or refused and not. */
    private static void submitBesideShutdown(Bed bed, SchedulerExecutor pool) throws InterruptedException {
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            bed.thread(() -> {
                try {
                    pool.execute(ran::incrementAndGet);
                    accepted.incrementAndGet();
                } catch (RejectedExecutionException e) {
                    // not accepted
                }
            });
        }
        pool.shutdown();
        bed.check(pool.awaitTermination(100, TimeUnit.SECONDS), "has not ended");
        bed.join();
        bed.check(ran.get() == accepted.get(), accepted + " tasks were accepted, and " + ran + " ran");
    }

    static void poolShutDownBesideSubmissions(Bed bed) throws InterruptedException {
        submitBesideShutdown(bed, bed.pool(2).build());
    }

    static void viewShutDownBesideSubmissions(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).build()) {
            submitBesideShutdown(bed, s.asScheduledExecutorService());
            Bed.Shot shot = bed.shot();
            shot.armOn(s, 10);
            shot.await();
        }
    }

    /** Each task runs, is handed back or is refused, and none twice. */
    static void poolShutDownNow(Bed bed) throws InterruptedException {
        SchedulerExecutor pool = bed.pool(2).build();
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger ends = new AtomicInteger();
        pool.execute(ends::incrementAndGet);
        accepted.incrementAndGet();
        for (int i = 0; i < 2; i++) {
            bed.thread(() -> {
                try {
                    pool.execute(ends::incrementAndGet);
                    accepted.incrementAndGet();
                } catch (RejectedExecutionException e) {
                    // not accepted
                }
            });
        }
        ends.addAndGet(pool.shutdownNow().size());
        bed.check(pool.awaitTermination(100, TimeUnit.SECONDS), "has not ended");
        bed.join();
        bed.check(ends.get() == accepted.get(), accepted + " tasks were accepted, and have ended " + ends + " times");
    }

    /** A task of a view ends though the scheduler is closed beside it. */
    static void viewAndItsSchedulerClosed(Bed bed) throws Exception {
        TimerScheduler s = bed.scheduler(1).build();
        SchedulerExecutor view = s.asScheduledExecutorService();
        AtomicInteger ran = new AtomicInteger();
        Future<?> f = view.submit(ran::incrementAndGet);
        bed.thread(() -> {
            try {
                f.get();
                bed.check(ran.get() == 1, "done, but has not run");
            } catch (CancellationException e) {
                bed.check(ran.get() == 0, "cancelled, but has run");
            }
        });
        bed.thread(view::shutdown);
        s.close();
        bed.check(view.awaitTermination(100, TimeUnit.SECONDS), "the view has not ended");
        bed.join();
    }

    /** Each arming runs, is replaced by a reset, or is told as unfired. */
    private static void resetBesideClose(Bed bed, Duration first, Duration... next) throws InterruptedException {
        TimerScheduler s = bed.scheduler(1).build();
        AtomicInteger armed = new AtomicInteger(1);
        AtomicInteger ended = new AtomicInteger();
        Timer t = s.after(first, ended::incrementAndGet);
        for (Duration d : next) {
            bed.thread(() -> {
                try {
                    ended.addAndGet(t.reset(d) ? 1 : 0);
                    armed.incrementAndGet();
                } catch (RejectedExecutionException e) {
                    // refused, so what was armed before stays
                }
            });
        }
        ended.addAndGet(s.shutdownNow().size());
        bed.join();
        s.close();
        bed.check(ended.get() == armed.get(), armed + " armings have ended " + ended + " times");
        bed.check(!t.isPending(), "armed though the scheduler is closed");
    }

    static void closeBesideResets(Bed bed) throws InterruptedException {
        resetBesideClose(bed, Bed.FAR, Bed.FAR.dividedBy(2), Bed.FAR.dividedBy(3));
    }

    /** The worker is up, and drops the entry that a reset has made stale. */
    static void closeBesideNearResets(Bed bed) throws InterruptedException {
        resetBesideClose(bed, Duration.ofNanos(200_000), Duration.ofNanos(100_000), Duration.ofNanos(30_000));
    }

    /** A close waits for the callback, and takes what that has armed. */
    static void closeBesideARun(Bed bed) throws InterruptedException {
        TimerScheduler s = bed.scheduler(1).build();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger armed = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        Timer[] own = new Timer[1];
        CountDownLatch made = new CountDownLatch(1);
        own[0] = s.after(Duration.ZERO, () -> {
            running.incrementAndGet();
            ended.incrementAndGet();
            try {
                made.await();
                armed.addAndGet(own[0].reset(Bed.FAR) ? 0 : 1);
            } catch (RejectedExecutionException e) {
                // closed before
            } catch (InterruptedException e) {
                bed.fail(e);
            }
            running.decrementAndGet();
        });
        armed.incrementAndGet();
        made.countDown();
        ended.addAndGet(s.shutdownNow().size());
        s.close();
        bed.check(running.get() == 0, "closed, and a callback runs");
        bed.check(ended.get() == armed.get(), armed + " armings have ended " + ended + " times");
    }

    static void closeInCallbacks(Bed bed) throws InterruptedException {
        TimerScheduler s = bed.scheduler(2).build();
        for (int i = 0; i < 2; i++) {
            bed.thread(() -> {
                try {
                    s.after(Duration.ofNanos(10_000), s::close);
                } catch (RejectedExecutionException e) {
                    // closed before
                }
            });
        }
        bed.join();
        s.close();
        bed.check(s.isClosed(), "not closed");
    }
}
