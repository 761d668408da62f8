package io.pendula.fray;

import static java.util.concurrent.TimeUnit.MICROSECONDS;

import io.pendula.Door;
import io.pendula.Timer;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Threads that arm, and workers or loops that are about to sleep, are in a callback, or end. */
final class WakeScenarios {
    /** The shared scheduler's threads end when nothing has been armed for so long. */
    private static final Duration IDLE = Duration.ofSeconds(3);

    /** So many steps of a callback let the guard that has taken over go to sleep, mostly. */
    private static final int STEPS_TO_SLEEP = 200;
    private static volatile int steps;

    /** The scenarios of the shared scheduler, of which there is one for each loading of the library. */
    static final Map<String, Bed.Scenario> OF_SHARED = Map.of("shared-threads-end", WakeScenarios::sharedThreadsEnd);

    private WakeScenarios() {}

    static void addTo(Map<String, Bed.Scenario> all) {
        all.put("arm-while-workers-sleep", WakeScenarios::armWhileWorkersSleep);
        all.put("arm-on-an-idle-scheduler", WakeScenarios::armOnAnIdleScheduler);
        all.put("arm-beside-one-worker", WakeScenarios::armBesideOneWorker);
        all.put("arm-while-locks-are-held", WakeScenarios::armWhileLocksAreHeld);
        all.put("reset-nearer-beside-a-reset", WakeScenarios::resetNearerBesideAReset);
        all.put("reset-nearer-in-the-inbox", WakeScenarios::resetNearerInTheInbox);
        all.put("rearm-what-was-stopped", WakeScenarios::rearmWhatWasStopped);
        all.put("more-than-a-batch", WakeScenarios::moreThanABatch);
        all.put("blocked-worker", WakeScenarios::blockedWorker);
        all.put("blocked-only-worker", WakeScenarios::blockedOnlyWorker);
        all.put("all-workers-blocked", WakeScenarios::allWorkersBlocked);
        all.put("former-poller-blocks", WakeScenarios::formerPollerBlocks);
        all.put("stall-is-told", WakeScenarios::stallIsTold);
        OF_SHARED.keySet().forEach(name -> all.put(name, FreshClasses.inItsOwn(name)));
        all.put("loop-with-a-hook", WakeScenarios::loopWithAHook);
        all.put("loop-with-nothing-armed", WakeScenarios::loopWithNothingArmed);
    }

    private static void nothing() {}

    static void armWhileWorkersSleep(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(2).build()) {
            s.after(Bed.FAR, WakeScenarios::nothing);
            Bed.Shot a = bed.shot();
            Bed.Shot b = bed.shot();
            bed.thread(() -> a.armOn(s, 50));
            bed.thread(() -> b.armOn(s, 2_000));
            bed.join();
            a.await();
            b.await();
        }
    }

    static void armOnAnIdleScheduler(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(2).build()) {
            Bed.Shot a = bed.shot();
            a.armOn(s, 100);
            a.await();
            Bed.Shot b = bed.shot();
            Bed.Shot c = bed.shot();
            bed.thread(() -> b.armOn(s, 0));
            c.armOn(s, 300);
            bed.join();
            b.await();
            c.await();
        }
    }

    /** Each worker has more to run than a batch, so each leaves the other's queue to it; one has something later, too. */
    static void moreThanABatch(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(2).build()) {
            List<Bed.Shot> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(bed.shot());
            }
            Bed.Shot later = bed.shot();
            bed.thread(() -> {
                for (Bed.Shot shot : all.subList(0, 4)) {
                    shot.armOn(s, 0);
                }
                later.armOn(s, 100);
            });
            for (Bed.Shot shot : all.subList(4, 8)) {
                shot.armOn(s, 0);
            }
            bed.join();
            for (Bed.Shot shot : all) {
                shot.await();
            }
            later.await();
        }
    }

    static void armBesideOneWorker(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).build()) {
            Bed.Shot a = bed.shot();
            Bed.Shot b = bed.shot();
            bed.thread(() -> a.armOn(s, 20));
            b.armOn(s, 500);
            a.await();
            b.await();
            bed.join();
        }
    }

    /** A worker that waits for a queue's lock may use up the permit of a thread that has armed on another queue. */
    static void armWhileLocksAreHeld(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(2).build()) {
            s.after(Bed.FAR, WakeScenarios::nothing);
            bed.thread(() -> {
                for (int i = 0; i < 3; i++) {
                    s.stats();
                }
            });
            Bed.Shot a = bed.shot();
            Bed.Shot b = bed.shot();
            bed.thread(() -> a.armOn(s, 50));
            bed.thread(() -> b.armOn(s, 400));
            bed.join();
            a.await();
            b.await();
        }
    }

    /** A timer that is at rest, and two resets of it at once: one to soon, one to far. */
    static void resetNearerBesideAReset(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).build()) {
            Bed.Shot shot = bed.shot();
            Timer t = s.after(Bed.FAR, shot);
            t.stop();
            bed.thread(() -> t.reset(Bed.FAR));
            shot.arm(100, t::reset);
            bed.join();
            Duration left = t.remaining();
            if (!t.isPending() || left.compareTo(Duration.ofMinutes(1)) < 0) {
                shot.await();
            } else {
                t.stop();
            }
        }
    }

    /** So that what is armed for later stays in the inbox: the poller sleeps a second at most, and is not woken for it. */
    private static void letThePollerSleep(TimerScheduler s) throws InterruptedException {
        s.after(Bed.FAR, WakeScenarios::nothing);
        Thread.sleep(1);
    }

    /** What is in the inbox is brought forward by a CAS alone. */
    static void resetNearerInTheInbox(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(2).build()) {
            letThePollerSleep(s);
            Bed.Shot a = bed.shot();
            Bed.Shot b = bed.shot();
            bed.thread(() -> {
                Timer t = s.after(Bed.FAR, a);
                a.arm(50, t::reset);
            });
            Timer u = s.after(Bed.FAR, b);
            b.arm(100, u::reset);
            bed.join();
            a.await();
            b.await();
        }
    }

    static void rearmWhatWasStopped(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).build()) {
            letThePollerSleep(s);
            Bed.Shot a = bed.shot();
            Timer t = s.after(Bed.FAR, a);
            bed.thread(() -> s.after(Bed.FAR, WakeScenarios::nothing));
            t.stop();
            a.arm(80, t::reset);
            a.await();
            bed.join();
        }
    }

    /** A callback arms a timer, then blocks until that has run. */
    private static void armAndBlock(Bed bed, TimerScheduler s, int callbacks) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(callbacks);
        for (int i = 0; i < callbacks; i++) {
            bed.thread(() -> s.after(20, MICROSECONDS, () -> {
                Bed.Shot inner = bed.shot();
                inner.armOn(s, 50);
                try {
                    inner.await();
                } catch (InterruptedException e) {
                    bed.fail(e);
                }
                all.countDown();
            }));
        }
        all.await();
        bed.join();
    }

    static void blockedWorker(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(2).build()) {
            armAndBlock(bed, s, 1);
        }
    }

    /** A spare thread takes over. */
    static void blockedOnlyWorker(Bed bed) throws InterruptedException {
        try (TimerScheduler s = Door.monitor(bed.scheduler(1).maxThreads(2), true).build()) {
            armAndBlock(bed, s, 1);
        }
    }

    static void allWorkersBlocked(Bed bed) throws InterruptedException {
        try (TimerScheduler s = Door.monitor(bed.scheduler(2).maxThreads(4), true).build()) {
            armAndBlock(bed, s, 2);
        }
    }

    /** Others may have their turn at each access. */
    private static void letOthersStep(int times) {
        for (int i = 0; i < times; i++) {
            steps = i;
        }
    }

    /**
     * The poller is held up in a callback, so the guard takes over, runs what is due, and sleeps. The callback ends within
     * the batch, and what its worker drains then blocks. What is armed after that wakes the new poller.
     */
    static void formerPollerBlocks(Bed bed) throws InterruptedException {
        try (TimerScheduler s = bed.scheduler(1).maxThreads(2).build()) {
            letThePollerSleep(s);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch takenOver = new CountDownLatch(1);
            CountDownLatch ends = new CountDownLatch(1);
            s.after(0, MICROSECONDS, () -> {
                begun.countDown();
                while (takenOver.getCount() > 0) {
                    letOthersStep(1); // time passes as they read the clock
                }
                letOthersStep(STEPS_TO_SLEEP);
                ends.countDown();
            });
            begun.await();
            s.after(0, MICROSECONDS, takenOver::countDown);
            Bed.Shot last = bed.shot();
            CountDownLatch blocked = new CountDownLatch(1);
            bed.thread(() -> {
                ends.await();
                s.after(0, MICROSECONDS, () -> {
                    blocked.countDown();
                    try {
                        last.await();
                    } catch (InterruptedException e) {
                        bed.fail(e);
                    }
                });
            });
            blocked.await();
            last.armOn(s, 0);
            last.await();
            bed.join();
        }
    }

    static void stallIsTold(Bed bed) throws InterruptedException {
        CountDownLatch told = new CountDownLatch(2);
        TimerListener listener = new TimerListener() {
            @Override
            public void stalled(TimerHandle timer, long lateness, long nanos) {
                told.countDown();
            }
        };
        try (TimerScheduler s = Door.monitor(bed.scheduler(2), true).stallAfter(Duration.ofMillis(50)).listener(listener)
                .build()) {
            for (int i = 0; i < 2; i++) {
                long before = told.getCount();
                CountDownLatch ran = new CountDownLatch(1);
                s.after(20, MICROSECONDS, () -> {
                    while (told.getCount() == before) {
                        LockSupport.parkNanos(100_000_000);
                    }
                    ran.countDown();
                });
                ran.await();
                Thread.sleep(4_000); // the monitor ends, or is about to
            }
        }
    }

    /** The threads of the shared scheduler end when nothing is armed, just when other threads arm. */
    static void sharedThreadsEnd(Bed bed) throws InterruptedException {
        TimerScheduler.configureShared(b -> b.clock(bed.clockInMillis()));
        TimerScheduler s = TimerScheduler.shared();
        Bed.Shot first = bed.shot();
        first.armOn(s, 50);
        first.await();
        Thread.sleep(IDLE.toMillis());
        Bed.Shot a = bed.shot();
        Bed.Shot b = bed.shot();
        bed.thread(() -> a.armOn(s, 20));
        b.armOn(s, 300);
        a.await();
        b.await();
        bed.join();
    }

    private static void poll(TimerScheduler s, CountDownLatch done, TimerLoop[] made, CountDownLatch attached) {
        Thread me = Thread.currentThread();
        TimerLoop loop = s.attach(() -> LockSupport.unpark(me));
        made[0] = loop;
        attached.countDown();
        while (done.getCount() > 0) {
            long nanos = loop.nanosUntilNext();
            if (nanos == Long.MAX_VALUE) {
                LockSupport.park();
            } else if (nanos > 0) {
                LockSupport.parkNanos(nanos);
            }
            loop.runDue();
        }
        loop.close();
    }

    private static void armOnALoop(Bed bed, boolean hasFar) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(2);
        CountDownLatch attached = new CountDownLatch(1);
        TimerLoop[] loop = new TimerLoop[1];
        try (TimerScheduler s = bed.scheduler(0).build()) {
            bed.thread(() -> poll(s, done, loop, attached));
            attached.await();
            if (hasFar) {
                loop[0].after(Bed.FAR, WakeScenarios::nothing);
            }
            for (int i = 0; i < 2; i++) {
                Bed.Shot shot = bed.shot();
                bed.thread(() -> shot.arm(100, delay -> loop[0].after(delay, () -> {
                    shot.run();
                    done.countDown();
                })));
            }
            bed.join();
        }
    }

    static void loopWithAHook(Bed bed) throws InterruptedException {
        armOnALoop(bed, true);
    }

    static void loopWithNothingArmed(Bed bed) throws InterruptedException {
        armOnALoop(bed, false);
    }
}
