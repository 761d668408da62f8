package io.pendula;

import io.pendula.internal.queue.QueueView;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideCloser;
import io.pendula.internal.queue.InsideCompactor;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What other threads do between two steps of an operation on a queue, and what a queue tells of itself. */
@Timeout(60)
class TimerQueueStepsTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Rig rig = new Rig(false);
    private final TimerQueue queue = rig.queue;

    /** Steps in when the timer's word says so for the first time. */
    private boolean[] stepInOnce(SteppedTimer t, int state, Runnable step) {
        boolean[] done = {false};
        boolean[] looking = {false};
        t.stepInAtEach(() -> {
            if (!done[0] && !looking[0]) {
                looking[0] = true;
                done[0] = rig.state(t) == state;
                looking[0] = false;
                if (done[0]) {
                    step.run();
                }
            }
        });
        return done;
    }

    /** Another thread brings the timer forward, and the owner goes to sleep, before the push of a reset. */
    @Test
    void reset_anotherResetAndASleepBeforeThePush_wakesForTheEarlierOne() {
        SteppedTimer t = new SteppedTimer(queue);
        rig.arm(20 * SECOND); // what the owner sleeps for: not so long that a stale entry wakes it
        queue.arm(t, 25 * SECOND);
        rig.drain();
        rig.sleep(1);
        boolean[] done = stepInOnce(t, TimerNode.MODIFIED_EARLIER, () -> {
            assertNull(InsideInbox.inboxHead(queue), "not pushed yet");
            assertTrue(queue.reset(t, 2));
            rig.sleep(1);
        });
        assertTrue(queue.reset(t, 24 * SECOND)); // later than that sleep ends
        assertTrue(done[0]);
        assertFalse(rig.isAsleep(), "the owner sleeps on");
        assertNotNull(rig.claim(2));
    }

    @Test
    void claim_cancelledAtThatMoment_hasItsTask() {
        SteppedTimer t = new SteppedTimer(queue);
        queue.arm(t, 500);
        rig.drain();
        boolean[] done = stepInOnce(t, TimerNode.RUNNING, () -> queue.cancel(t));
        Claim run = rig.claim(500);
        assertTrue(done[0]);
        assertNotNull(run.task);
    }

    @Test
    void prepareToSleep_farDeadline_endsAtTheNextSecond() {
        rig.arm(80 * SECOND);
        assertEquals(SECOND, rig.sleep(1));
        assertEquals(2 * SECOND, rig.sleep(SECOND));
        rig.arm(75 * SECOND);
        assertTrue(rig.isAsleep(), "not earlier than the sleep, so it wakes nobody");
    }

    @Test
    void stats_lateThenInTime_keepsTheGreatestLateness() {
        rig.arm(100);
        rig.fire(150);
        rig.arm(200);
        rig.fire(210);
        assertEquals(50, queue.view().stats().lateness().max());
    }

    /** Something happens on a thread between the last look at the queue and the change of the word, or just after it. */
    private static final class Interrupted extends TimerNode {
        private final Map<Thread, Runnable> before = new ConcurrentHashMap<>();
        private final Map<Thread, Runnable> after = new ConcurrentHashMap<>();

        Interrupted() {
            super(() -> {});
        }

        /** Once, on the calling thread. */
        void beforeChange(Runnable step) {
            before.put(Thread.currentThread(), step);
        }

        /** Once, on the calling thread. */
        void afterChange(Runnable step) {
            after.put(Thread.currentThread(), step);
        }

        @Override
        public boolean casWord(long expected, long value) {
            Optional.ofNullable(before.remove(Thread.currentThread())).ifPresent(Runnable::run);
            boolean done = super.casWord(expected, value);
            Optional.ofNullable(after.remove(Thread.currentThread())).ifPresent(Runnable::run);
            return done;
        }
    }

    private Interrupted stopped(long when) {
        Interrupted t = new Interrupted();
        queue.arm(t, when);
        queue.stop(t);
        rig.drain();
        assertEquals(TimerNode.REMOVED, rig.state(t));
        return t;
    }

    private Interrupted running(long when) {
        Interrupted t = new Interrupted();
        queue.arm(t, when);
        rig.drain();
        assertNotNull(rig.claim(when));
        return t;
    }

    private void assertNothingPends(TimerNode t, int state, int unfired) {
        assertEquals(state, rig.state(t));
        assertEquals(unfired, queue.view().stats().get(QueueView.Count.UNFIRED));
        assertEquals(0, queue.view().pending());
    }

    /** A close that waits for no reset that has begun, as after a second. */
    private void closeWithoutPatience(List<TimerNode> unfired) {
        InsideCloser.setPatience(queue, 0);
        queue.closer.close(unfired);
    }

    @Test
    void reset_closeHasNotWaitedForTheChange_isRejected() {
        Interrupted t = stopped(500);
        List<TimerNode> unfired = new ArrayList<>();
        t.beforeChange(() -> closeWithoutPatience(unfired));
        assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 700));
        queue.closer.collectLate(unfired);
        assertEquals(List.of(), unfired);
        assertNothingPends(t, TimerNode.REMOVED, 0);
    }

    @Test
    void resetOfOneNeverArmed_closeHasNotWaitedForTheChange_isRejected() {
        Interrupted t = new Interrupted();
        List<TimerNode> unfired = new ArrayList<>();
        t.beforeChange(() -> closeWithoutPatience(unfired));
        assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 700));
        queue.closer.collectLate(unfired);
        assertEquals(List.of(), unfired);
        assertNothingPends(t, TimerNode.REMOVED, 0);
    }

    /** A reset that another thread has begun, and that goes on when the test says so: its next step is the change. */
    private final class BegunReset {
        private final Thread thread;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CompletableFuture<Void> goOn = new CompletableFuture<>();
        private volatile Throwable failure;

        BegunReset(Interrupted t, long when) throws InterruptedException {
            thread = new Thread(() -> {
                t.beforeChange(() -> {
                    reached.countDown();
                    goOn.join();
                });
                try {
                    queue.reset(t, when);
                } catch (Throwable e) {
                    failure = e;
                }
            });
            thread.start();
            reached.await();
        }

        void proceed() throws InterruptedException {
            goOn.complete(null);
            thread.join();
        }

        /** Null if the reset has returned. */
        Throwable failure() throws InterruptedException {
            thread.join();
            return failure;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void close_anotherThreadIsInsideAReset_waitsForItsEndAndCollectsTheTimer(boolean runs) throws Exception {
        InsideCloser.setPatience(queue, TimeUnit.MINUTES.toNanos(1));
        Interrupted t = runs ? running(500) : stopped(500);
        BegunReset begun = new BegunReset(t, 700);
        assertEquals(1, InsideCloser.resetsUnderWay(queue));
        List<TimerNode> unfired = new ArrayList<>();
        Thread closing = new Thread(() -> {
            queue.closer.close(unfired);
            queue.closer.collectRunning(t, unfired);
        });
        closing.start();
        while (closing.isAlive() && closing.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        assertTrue(closing.isAlive(), "it does not wait");
        assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 600), "one that has not begun");
        assertFalse(Inside.lock(queue).isLocked());
        assertEquals(runs ? TimerNode.RUNNING : TimerNode.REMOVED, rig.state(t));
        begun.proceed();
        closing.join();
        assertNull(begun.failure());
        assertEquals(List.of(t), unfired);
        if (runs) {
            queue.endRun(t);
        }
        assertNothingPends(t, runs ? TimerNode.NO_STATUS : TimerNode.REMOVED, 1);
    }

    /** What a thread leaves that dies inside a reset: no close waits for it for long, and none waits for ever. */
    @Test
    void close_aResetNeverEnds_waitsForASecondAtMost() throws Exception {
        InsideCloser.beginReset(queue);
        OneShotTimer t = rig.arm(500);
        List<TimerNode> unfired = new ArrayList<>();
        long begun = System.nanoTime();
        Thread closing = new Thread(() -> queue.closer.close(unfired));
        closing.setDaemon(true);
        closing.start();
        Fixtures.join(closing);
        long waited = System.nanoTime() - begun;
        assertTrue(waited >= SECOND, () -> "waited for " + waited);
        assertEquals(List.of(t), unfired);
    }

    /** The timer is armed for the same instant as before and collected, so that its word is what it was. */
    @Test
    void reset_closeHasNotWaitedAndTheWordIsAsItWas_isRejected() throws Exception {
        Interrupted t = stopped(500);
        BegunReset begun = new BegunReset(t, 500);
        assertFalse(queue.reset(t, 500));
        List<TimerNode> unfired = new ArrayList<>();
        closeWithoutPatience(unfired);
        queue.closer.collectLate(unfired);
        begun.proceed();
        assertInstanceOf(RejectedExecutionException.class, begun.failure());
        assertEquals(List.of(t), unfired);
        assertNothingPends(t, TimerNode.REMOVED, 1);
    }

    /** Armed in its run, and stopped before the run's end has pushed it. */
    @Test
    void reset_queueIsClosedWhileTheRunOfTheStoppedTimerEnds_isRejected() {
        Interrupted t = running(500);
        queue.reset(t, 600);
        List<TimerNode> unfired = new ArrayList<>();
        t.afterChange(() -> {
            assertTrue(queue.stop(t));
            t.beforeChange(() -> {
                queue.closer.close(unfired);
                queue.closer.collectRunning(t, unfired);
                queue.closer.collectLate(unfired);
            });
            assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 700));
        });
        queue.endRun(t);
        assertEquals(List.of(), unfired);
        assertNothingPends(t, TimerNode.REMOVED, 0);
    }

    /** A thread may have no stack left between the two. A count that is too high would plan full sweeps for ever. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void reset_entryOfAStoppedTimer_isTakenOffTheCountBeforeItLives(boolean isCancelled) {
        Interrupted t = new Interrupted();
        queue.arm(t, 500);
        rig.drain();
        queue.stop(t);
        assertEquals(1, rig.dead());
        t.beforeChange(() -> {
            assertEquals(0, rig.dead());
            if (isCancelled) {
                queue.cancel(t);
            }
        });
        if (isCancelled) {
            assertThrows(IllegalStateException.class, () -> queue.reset(t, 700));
        } else {
            queue.reset(t, 700);
        }
        assertEquals(isCancelled ? 1 : 0, rig.dead());
    }

    @Test
    void wantsSweep_moreStaleThanTheBound_isTrue() {
        InsideCompactor.countStale(queue, Compactor.STALE_FLOOR * InsideCompactor.STALE);
        assertFalse(queue.compactor.wantsSweep());
        InsideCompactor.countStale(queue, InsideCompactor.STALE);
        assertTrue(queue.compactor.wantsSweep());
    }

    // ---- what ends a run ----

    @Test
    void threw_listenerThrowsToo_theRunEndsAllTheSame() {
        ManualClock clock = new ManualClock();
        TimerListener listener = new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
                throw new IllegalStateException("meant");
            }
        };
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).listener(listener).build()) {
            AtomicInteger runs = new AtomicInteger();
            Timer t = s.after(Duration.ofNanos(1), () -> {
                runs.incrementAndGet();
                throw new IllegalStateException("meant");
            });
            clock.advance(Duration.ofNanos(1));
            assertFalse(t.reset(Duration.ofNanos(1)));
            clock.advance(Duration.ofNanos(1));
            assertEquals(2, runs.get());
        }
    }

    @Test
    void periodicTask_throws_endsItsPeriod() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).listener(new Fixtures.ThrownListener()).build()) {
            AtomicInteger runs = new AtomicInteger();
            Future<?> f = s.asScheduledExecutorService().scheduleAtFixedRate(() -> {
                runs.incrementAndGet();
                throw new IllegalStateException("meant");
            }, 1, 1, TimeUnit.NANOSECONDS);
            clock.advance(Duration.ofNanos(5));
            assertEquals(1, runs.get());
            assertTrue(f.isDone());
        }
    }

    // ---- no lock is held while a callback runs ----

    private static void assertLockIsFree(TimerQueue q, ExecutorService other, AtomicReference<Throwable> wrong) {
        try {
            other.submit(() -> {
                Inside.lock(q).lock();
                Inside.lock(q).unlock();
            }).get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            wrong.set(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"worker", "loop", "clock"})
    void callback_ofAnyRunner_holdsNoLock(String runner) throws Exception {
        ManualClock clock = new ManualClock();
        TimerScheduler.Builder builder = TimerScheduler.builder().workers(runner.equals("loop") ? 0 : 1);
        ExecutorService other = Executors.newSingleThreadExecutor();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        try (TimerScheduler s = runner.equals("clock") ? builder.clock(clock).build() : builder.build()) {
            TimerLoop loop = runner.equals("loop") ? s.attach(() -> { }) : null;
            TimerQueue q = s.engine.queues[0];
            s.after(Duration.ofNanos(1), () -> {
                assertLockIsFree(q, other, wrong);
                runs.incrementAndGet();
            });
            switch (runner) {
                case "loop" -> {
                    while (runs.get() == 0) {
                        loop.runDue();
                    }
                }
                case "clock" -> clock.advance(Duration.ofNanos(1));
                default -> Fixtures.awaitTrue(() -> runs.get() == 1);
            }
        } finally {
            other.shutdownNow();
        }
        assertNull(wrong.get(), () -> String.valueOf(wrong.get()));
        assertEquals(1, runs.get());
    }
}
