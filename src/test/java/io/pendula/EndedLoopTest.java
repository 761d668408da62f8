package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Actor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops whose thread has ended without closing them, and what is armed on any loop where there are no workers. */
@Timeout(60)
class EndedLoopTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler withWorker = TimerScheduler.builder().clock(clock).workers(1).build();
    private final TimerScheduler loopsOnly = TimerScheduler.builder().clock(clock).workers(0).build();
    private final Actor other = new Actor("other");
    private final AtomicInteger ran = new AtomicInteger();

    @AfterEach
    void close() {
        other.close();
        withWorker.close();
        loopsOnly.close();
    }

    private Runnable count() {
        return ran::incrementAndGet;
    }

    private static int queues(TimerScheduler s) {
        return s.engine.queues.length;
    }

    private TimerLoop dead(TimerScheduler s, List<Timer> armed) {
        return elsewhere(() -> {
            TimerLoop loop = s.attach(NOTHING);
            armed.add(loop.after(ns(10), count()));
            return loop;
        });
    }

    @Test
    void arm_withoutWorkersAndALoopsThreadHasEnded_goesToALivingLoop() {
        dead(loopsOnly, new ArrayList<>());
        TimerLoop living = loopsOnly.attach(NOTHING);
        for (int i = 0; i < 4; i++) {
            elsewhere(() -> loopsOnly.after(ns(5), count()));
        }
        clock.advance(ns(10));
        assertEquals(4, LoopFixtures.runAll(living));
        living.close();
    }

    @Test
    void arm_withoutWorkersAndOnlyDeadLoops_isRejected() {
        List<Timer> armed = new ArrayList<>();
        TimerLoop dead = dead(loopsOnly, armed);
        assertEquals("no loop is attached, and the scheduler has no workers of its own",
                assertThrows(RejectedExecutionException.class, () -> loopsOnly.after(NOW, NOTHING)).getMessage());
        assertFalse(armed.get(0).isPending(), "its loop was closed when that was found out");
        assertEquals(List.of(), dead.detach());
    }

    @Test
    void arm_onALoopWhoseThreadHasEnded_isRejected() {
        TimerLoop dead = dead(withWorker, new ArrayList<>());
        String message = "the loop's thread elsewhere has ended";
        for (int i = 0; i < 2; i++) {
            assertEquals(message,
                    assertThrows(RejectedExecutionException.class, () -> dead.after(NOW, NOTHING)).getMessage());
            assertEquals(message,
                    assertThrows(RejectedExecutionException.class, () -> dead.every(HOUR, NOTHING)).getMessage());
        }
        assertEquals(0, clock.advance(ns(10)));
        assertEquals(0, withWorker.engine.loops.all().length);
        assertEquals(1, queues(withWorker));
        assertAccount(withWorker, 1, 0, 0, 0, 1);
    }

    enum Discovery { ATTACH, ARM, RESET_EARLIER }

    /** Its timers ran on a thread that is no more, and may run on no other. */
    @ParameterizedTest
    @EnumSource
    void threadHasEnded_confinedLoop_isClosedAndReportedOnceWhenThatIsFound(Discovery by) {
        List<Object> reported = new ArrayList<>();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).listener(new TimerListener() {
            @Override
            public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
                reported.addAll(unfired);
            }
        }).build()) {
            TimerLoop living = s.attach(NOTHING);
            List<Timer> armed = new ArrayList<>();
            TimerLoop dead = elsewhere(() -> {
                TimerLoop loop = s.attach(NOTHING);
                armed.add(loop.after(ns(10), count()));
                loop.nanosUntilNext();
                return loop;
            });
            assertEquals(List.of(), reported);
            switch (by) {
                case ATTACH -> other.run(() -> s.attach(NOTHING).close());
                case ARM -> {
                    for (int i = 0; i < 4; i++) {
                        elsewhere(() -> s.after(NOW, NOTHING));
                    }
                }
                case RESET_EARLIER -> assertTrue(armed.get(0).reset(ns(5)));
            }
            assertEquals(armed, reported);
            assertFalse(armed.get(0).isPending());
            assertThrows(RejectedExecutionException.class, () -> armed.get(0).reset(ns(1)));
            assertEquals(List.of(), dead.detach());
            dead.close();
            clock.advance(ns(10));
            LoopFixtures.runAll(living);
            assertEquals(0, ran.get());
            assertEquals(armed, reported, "once");
            assertEquals(1, queues(s));
            living.close();
        }
    }

    /** No other thread finds out, as there is no monitor: before it waits, or while it does. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threadHasEnded_viewIsShutDown_awaitTerminationFindsOut(boolean meanwhile) throws Exception {
        SchedulerExecutor view = loopsOnly.asScheduledExecutorService();
        Future<?> task = other.call(() -> {
            loopsOnly.attach(NOTHING);
            return view.schedule(count(), 1, TimeUnit.HOURS);
        });
        if (meanwhile) {
            view.shutdown();
            try (Actor waiting = new Actor("waiting")) {
                Future<Boolean> ended = waiting.start(() -> view.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS));
                waiting.awaitWaiting();
                assertFalse(task.isDone());
                other.close();
                assertTrue(LoopFixtures.result(ended));
            }
        } else {
            other.close();
            view.close();
        }
        assertTrue(view.isTerminated());
        assertTrue(task.isCancelled());
        assertEquals(0, ran.get());
    }

    @Test
    void threadHasEnded_monitorIsThere_itFindsOut() {
        CountDownLatch closed = new CountDownLatch(1);
        try (TimerScheduler s = TimerScheduler.builder().name("gone-dead").workers(1).listener(new TimerListener() {
            @Override
            public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
                closed.countDown();
            }
        }).build()) {
            elsewhere(() -> {
                TimerLoop loop = s.attach(NOTHING);
                loop.after(1, TimeUnit.MILLISECONDS, count());
                return loop;
            });
            await(closed);
            eventually("the loop is closed", () -> s.engine.loops.all().length == 0 && queues(s) == 1);
            assertAccount(s, 1, 0, 0, 0, 1);
        }
    }
}
