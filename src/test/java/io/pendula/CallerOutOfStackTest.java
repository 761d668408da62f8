package io.pendula;

import static io.pendula.LifeFixtures.LOST_SECONDS;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors that strike a thread between the moment at which it claims the wake of a worker and that wake. */
@Timeout(60)
class CallerOutOfStackTest {
    private static final long STACK = 256 * 1024;

    private static TimerQueue queueAlone() {
        return new TimerQueue(0, new Timeline(null), null, new TimerHeap(), null, false);
    }

    @Test
    void wakeThrows_theNextArmingWakes() {
        TimerQueue q = queueAlone();
        Error meant = new Error("meant");
        AtomicInteger wakes = new AtomicInteger();
        QueueOwner owner = () -> {
            if (wakes.incrementAndGet() == 1) {
                throw meant;
            }
        };
        Inside.lock(q).lock();
        try {
            Inside.transfer(q, owner);
        } finally {
            Inside.lock(q).unlock();
        }
        long now = q.timeline.now();
        long p = q.due.prepareToSleep(owner, now);
        assertEquals(Timeline.NEVER, p);
        assertSame(meant, assertThrows(Error.class, () -> q.arm(new OneShotTimer(q, () -> {}), now + 2)));
        q.arm(new OneShotTimer(q, () -> {}), now + 3);
        assertEquals(2, wakes.get());
        q.arm(new OneShotTimer(q, () -> {}), now + 1);
        assertEquals(2, wakes.get(), "it is up");
        assertEquals(3, q.view().pending());
    }

    /** An owner that is woken drains only if the gate says that there is something to do. */
    @Test
    void pushedThenErrorBeforeTheLookAtTheGate_theNextResetMovesTheGateAndWakes() {
        TimerQueue q = queueAlone();
        AtomicInteger wakes = new AtomicInteger();
        QueueOwner owner = wakes::incrementAndGet;
        Inside.lock(q).lock();
        try {
            Inside.transfer(q, owner);
        } finally {
            Inside.lock(q).unlock();
        }
        long now = q.timeline.now();
        assertEquals(Timeline.NEVER, q.due.prepareToSleep(owner, now));
        OneShotTimer t = new OneShotTimer(q, () -> {});
        Inside.beginMoving(t, now + 1);
        Inside.push(q, t);
        Inside.failWake(q); // what reset does when an Error strikes
        assertTrue(q.reset(t, now + 2));
        assertEquals(1, wakes.get());
        assertEquals(WakeGate.AWAKE, q.gate.pollUntil());
    }

    /** Calls itself so often, then does the work with what is left of the stack; false if that did not suffice. */
    static boolean atDepth(int depth, Runnable work) {
        if (depth == 0) {
            work.run();
            return true;
        }
        return atDepth(depth - 1, work);
    }

    static boolean fits(int depth, Runnable work) throws InterruptedException {
        AtomicBoolean fits = new AtomicBoolean();
        Thread t = new Thread(null, () -> {
            try {
                fits.set(atDepth(depth, work));
            } catch (StackOverflowError e) {
                fits.set(false);
            }
        }, "deep", STACK);
        t.start();
        t.join(TimeUnit.SECONDS.toMillis(LOST_SECONDS));
        assertTrue(!t.isAlive());
        return fits.get();
    }

    /** At each depth about the stack's end, so that the Error strikes anywhere in the arming of a timer. */
    @Test
    void arm_byThreadsWithoutStack_theWorkerIsStillWoken() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).monitor(false).build()) {
            AtomicInteger ran = new AtomicInteger();
            AtomicInteger armed = new AtomicInteger();
            Runnable arm = () -> {
                s.after(0, TimeUnit.NANOSECONDS, ran::incrementAndGet);
                armed.incrementAndGet();
            };
            for (int i = 0; i < 30_000; i++) { // once compiled, what is called last is what needs most of the stack
                awaitSleep(s.engine.queues[0]);
                atDepth(10, arm);
            }
            int deepest = deepest(arm);
            for (int depth = deepest - 60; depth < deepest + 60; depth++) {
                LifeFixtures.block(300_000); // until the worker sleeps, most of the time
                fits(depth, arm);
                CountDownLatch after = new CountDownLatch(1);
                s.after(Duration.ZERO, after::countDown);
                await(after);
                eventually("all that were armed ran", () -> ran.get() >= armed.get());
            }
        }
    }

    static int deepest(Runnable work) throws InterruptedException {
        int deepest = 1;
        for (int step = 1 << 14; step > 0; step >>= 1) {
            deepest += fits(deepest + step, work) ? step : 0;
        }
        return deepest;
    }

    /** A timer whose word says that it is in the inbox would never fire if its push had failed. */
    @Test
    void reset_byThreadsWithoutStack_theNextResetArmsTheTimer() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).monitor(false).build()) {
            AtomicInteger ran = new AtomicInteger();
            Timer[] timer = {s.after(Duration.ZERO, ran::incrementAndGet)};
            Runnable reset = () -> timer[0].reset(0, TimeUnit.NANOSECONDS);
            for (int i = 0; i < 30_000; i++) {
                atDepth(10, reset);
            }
            int deepest = deepest(reset);
            for (int depth = deepest - 60; depth < deepest + 60; depth++) {
                for (long before : new long[] {0, Long.MAX_VALUE}) { // it rests, or it waits in the heap
                    timer[0] = s.after(before, TimeUnit.NANOSECONDS, ran::incrementAndGet);
                    LifeFixtures.block(200_000);
                    fits(depth, reset);
                    LifeFixtures.block(200_000);
                    int ranBefore = ran.get();
                    timer[0].reset(0, TimeUnit.NANOSECONDS);
                    eventually("it ran", () -> ran.get() > ranBefore);
                }
            }
        }
    }

    private static void awaitSleep(TimerQueue q) {
        eventually("the worker sleeps", () -> q.gate.pollUntil() != WakeGate.AWAKE);
    }
}
