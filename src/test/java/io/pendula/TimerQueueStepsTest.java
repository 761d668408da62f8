package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.TimerState;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
        t.stepInAfterEach(() -> {
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
        SteppedTimer t = new SteppedTimer(queue, false);
        rig.arm(20 * SECOND); // what the owner sleeps for: not so long that a stale entry wakes it
        queue.arm(t, 25 * SECOND);
        rig.drain();
        rig.sleep(1);
        boolean[] done = stepInOnce(t, TimerState.MODIFIED_EARLIER, () -> {
            assertNull(Inside.inboxHead(queue), "not pushed yet");
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
        SteppedTimer t = new SteppedTimer(queue, false);
        queue.arm(t, 500);
        rig.drain();
        boolean[] done = stepInOnce(t, TimerState.RUNNING, () -> queue.cancel(t));
        Claim run = rig.claim(500);
        assertTrue(done[0]);
        assertNotNull(run.task);
    }

    @Test
    void prepareToSleep_farDeadline_endsAnEighthTooEarly() {
        rig.arm(1 + 80 * SECOND);
        assertEquals(1 + 70 * SECOND, rig.sleep(1));
        rig.arm(1 + 75 * SECOND);
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

    /** As a thread without stack leaves it: the word says that the timer is in the inbox, and posts has it. */
    @Test
    void drain_timerLeftUnpushed_isPushedAndRuns() {
        OneShotTimer t = rig.arm(500);
        rig.fire(500);
        Inside.enterPosts(queue, t);
        assertTrue(Inside.tryMove(t, 600));
        Inside.link(t, Inside.UNPUSHED);
        Inside.failPush(queue);
        assertEquals(0, rig.fire(599));
        assertEquals(1, rig.fire(600));
        assertFalse(queue.reset(t, 700), "posts has let go of it");
        assertEquals(1, rig.fire(700));
    }

    /** A stopped timer; something happens between the reset's last look at the queue and its change of the word. */
    private static final class Interrupted extends TimerNode {
        Runnable beforeChange;

        Interrupted(TimerQueue queue) {
            super(() -> {});
        }

        @Override
        protected boolean casWord(long expected, long value) {
            Runnable step = beforeChange;
            beforeChange = null;
            if (step != null) {
                step.run();
            }
            return super.casWord(expected, value);
        }
    }

    private Interrupted stopped(long when) {
        Interrupted t = new Interrupted(queue);
        queue.arm(t, when);
        queue.stop(t);
        rig.drain();
        assertEquals(TimerState.REMOVED, rig.state(t));
        return t;
    }

    @Test
    void reset_queueIsClosedBeforeTheChange_isRejectedAndLeavesNoTrace() {
        Interrupted t = stopped(500);
        List<TimerNode> unfired = new ArrayList<>();
        t.beforeChange = () -> {
            queue.close(unfired);
            queue.collectLate(unfired);
        };
        assertThrows(RejectedExecutionException.class, () -> queue.reset(t, 700));
        assertEquals(TimerState.REMOVED, rig.state(t));
        assertEquals(500, rig.deadline(t));
        assertEquals(List.of(), unfired);
        assertEquals(0, queue.view().stats().unfired());
    }

    @Test
    void reset_queueIsBeingClosedBeforeTheChange_isHandedToTheClosingThread() {
        Interrupted t = stopped(500);
        List<TimerNode> unfired = new ArrayList<>();
        t.beforeChange = () -> queue.close(unfired);
        assertFalse(queue.reset(t, 700));
        assertEquals(List.of(), unfired);
        queue.collectLate(unfired);
        assertEquals(List.of(t), unfired);
        assertEquals(1, queue.view().stats().unfired());
    }

    @Test
    void wantsSweep_moreStaleThanTheBound_isTrue() {
        Inside.countStale(queue, Compactor.STALE_FLOOR * Inside.STALE);
        assertFalse(queue.compactor.wantsSweep());
        Inside.countStale(queue, Inside.STALE);
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
