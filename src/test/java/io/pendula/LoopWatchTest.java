package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The monitor sleeps while all sleep. Whatever makes a loop's thread anything but a sleeper must keep it up or wake it,
 * else nobody notices that the loop is late. Each test lets it fall asleep for good first.
 */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class LoopWatchTest {
    private static final Runnable NO_WAIT = () -> {};
    private static final Duration SOON = Duration.ofMillis(10);

    private final Thread me = Thread.currentThread();
    private final CountDownLatch ran = new CountDownLatch(1);
    private final AtomicReference<Thread> on = new AtomicReference<>();

    private void note() {
        on.set(Thread.currentThread());
        ran.countDown();
    }

    private static TimerScheduler scheduler(String name) {
        // Until it has reported the absent loop the monitor looks again and again.
        return TimerScheduler.builder().name(name).workers(1).stallAfter(Duration.ofMillis(20)).build();
    }

    private void armElsewhere(TimerLoop loop) throws InterruptedException {
        Thread t = new Thread(() -> loop.after(SOON, this::note));
        t.start();
        t.join();
    }

    /** Until the monitor and all workers wait without a timeout. */
    private static void awaitStillness(String name) {
        eventually("all are asleep for good", () -> threadsOf(name).stream()
                .allMatch(t -> t.getState() == Thread.State.WAITING));
    }

    /** The loop's thread is busy elsewhere until a worker has run its timer. */
    private void awaitHelp() {
        await(ran);
        assertNotEquals(me, on.get());
    }

    @Test
    void attach_whileMonitorSleeps_lateLoopIsNoticed() {
        try (TimerScheduler s = scheduler("watch-attach")) {
            awaitStillness("watch-attach");
            try (TimerLoop loop = s.attachShared(NO_WAIT)) {
                loop.after(SOON, this::note);
                awaitHelp();
            }
        }
    }

    @Test
    void hook_calledButLoopDoesNotPoll_lateLoopIsNoticed() throws InterruptedException {
        try (TimerScheduler s = scheduler("watch-hook"); TimerLoop loop = s.attachShared(NO_WAIT)) {
            assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
            awaitStillness("watch-hook");
            armElsewhere(loop);
            awaitHelp();
        }
    }

    @Test
    void runDue_takesQueueBackWhileMonitorSleeps_lateLoopIsNoticedAgain() {
        try (TimerScheduler s = scheduler("watch-back"); TimerLoop loop = s.attachShared(NO_WAIT)) {
            CountDownLatch first = new CountDownLatch(1);
            loop.after(SOON, first::countDown);
            await(first); // on a worker, which keeps the queue from now on
            awaitStillness("watch-back");
            loop.runDue();
            loop.after(SOON, this::note);
            awaitHelp();
        }
    }

    @Test
    void detach_toStuckSuccessorWhileMonitorSleeps_timerRunsElsewhere() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        TimerScheduler s = TimerScheduler.builder().name("watch-successor").workers(2).build();
        TimerLoop loop = s.attachShared(NO_WAIT);
        try {
            Timer plug = new OneShotTimer(s.engine.queues[0], () -> { // at home with the worker that is the first successor
                held.countDown();
                try {
                    release.await(); // with a timeout it would not look asleep
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            Fixtures.node(plug).queue.arm(Fixtures.node(plug), s.engine.timeline.now());
            await(held);
            assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
            eventually("the workers wait, and the monitor for its look each second", () -> threadsOf("watch-successor")
                    .stream().allMatch(t -> t.getState() == (t.getName().endsWith("-monitor")
                            ? Thread.State.TIMED_WAITING : Thread.State.WAITING)));
            armElsewhere(loop);
            loop.close();
            assertTrue(ran.await(5, TimeUnit.SECONDS), "waits for the stuck successor");
        } finally {
            release.countDown();
            s.close();
        }
    }
}
