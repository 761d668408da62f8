package io.pendula;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.standby.Sleeper;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A worker that was the poller goes on in its batch, drains what a thread has just pushed, and blocks in it, before that
 * thread has looked at the gate. The poller sleeps. What is armed now must wake it.
 */
@Timeout(60)
class FormerPollerTest {
    /** So long the first callback takes: its worker is held up, but its batch is not over. */
    private static final long HELD_UP_NANOS = 2 * Sleeper.HELD_UP_NANOS;
    /** Up to then time passes in this test: less than a sleep takes that ends by itself. */
    private static final long END_NANOS = 20_000_000;

    private final AtomicLong clock = new AtomicLong(1);
    private final Thread test = Thread.currentThread();
    private final Semaphore firstMayEnd = new Semaphore(0);
    private final Semaphore blockedMayEnd = new Semaphore(0);
    private volatile Thread first;
    private volatile Thread second;
    private volatile boolean isBlocked;
    private TimerScheduler scheduler;

    /** Holds up the thread of the test that arms it, when it has pushed it and looks at its word again. */
    private final class HeldTimer extends QueuedNode {
        private int looks;

        HeldTimer(TimerQueue queue, Runnable task) {
            super(queue, task);
        }

        @Override
        public long wordVolatile() {
            if (Thread.currentThread() == test && ++looks == 2) {
                firstMayEnd.release();
                LifeFixtures.eventually("the first worker has drained it, or sleeps", () -> isBlocked || isAsleep(first));
            }
            return super.wordVolatile();
        }
    }

    private boolean isAsleep(Thread worker) {
        return Arrays.stream(scheduler.engine.standby.sleepers()).anyMatch(w -> w.runner() == worker && w.asleep);
    }

    /** In a callback: by several tries, as another worker may be up, and run it at its home. */
    private void holdUpThePoller(TimerScheduler s) {
        do {
            firstMayEnd.release(first == null ? 0 : 1);
            LifeFixtures.eventually("both sleep: what is armed then calls the poller alone",
                    () -> Arrays.stream(s.engine.standby.sleepers()).allMatch(w -> w.asleep));
            first = null;
            s.after(Duration.ZERO, () -> {
                first = Thread.currentThread();
                firstMayEnd.acquireUninterruptibly();
            });
            LifeFixtures.eventually("a worker is in a callback", () -> first != null);
        } while (s.engine.standby.poller().runner() != first);
    }

    @Test
    void arm_formerPollerBlocksInWhatItHasDrained_wakesThePoller() {
        TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(2).monitor(false).clock(clock::get).build();
        scheduler = s;
        try {
            Timer far = s.after(Duration.ofHours(1), () -> { });
            holdUpThePoller(s);
            far.stop(); // the new poller is to sleep for ever
            s.after(Duration.ZERO, () -> second = Thread.currentThread());
            clock.addAndGet(HELD_UP_NANOS);
            LifeFixtures.eventually("the guard has taken over, and sleeps", () -> second != null
                    && s.engine.standby.poller().runner() == second && isAsleep(second));

            assertNotSame(first, second);
            TimerQueue queue = s.engine.currentQueue();
            queue.reset(new HeldTimer(queue, () -> {
                isBlocked = true;
                blockedMayEnd.acquireUninterruptibly(); // longer than the test waits
            }), s.now());
            LifeFixtures.eventually("a worker is blocked", () -> isBlocked);
            CountDownLatch fired = new CountDownLatch(1);
            s.after(0, NANOSECONDS, fired::countDown);
            Sleeper poller = s.engine.standby.poller();
            assertTrue(poller.isCalled() || !poller.asleep || fired.getCount() == 0, "it sleeps on");
            LifeFixtures.eventually("it runs on the other worker", () -> {
                clock.updateAndGet(now -> Math.min(now + HELD_UP_NANOS, END_NANOS));
                return fired.getCount() == 0;
            });
        } finally {
            firstMayEnd.release();
            blockedMayEnd.release();
            s.close();
        }
    }
}
