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

    private TimerLoop dead(TimerScheduler s, boolean confined, Runnable task, List<Timer> armed) {
        return elsewhere(() -> {
            TimerLoop loop = confined ? s.attach(NOTHING) : s.attachShared(NOTHING);
            armed.add(loop.after(ns(10), task));
            return loop;
        });
    }

    @Test
    void arm_withoutWorkersAndALoopsThreadHasEnded_goesToALivingLoop() {
        List<Timer> armed = new ArrayList<>();
        TimerLoop dead = dead(loopsOnly, false, count(), armed);
        TimerLoop living = loopsOnly.attachShared(NOTHING);
        elsewhere(() -> loopsOnly.after(ns(5), count()));
        elsewhere(() -> loopsOnly.after(ns(5), count()));
        assertEquals(1, loopsOnly.engine.loops.all().length);
        clock.advance(ns(10));
        assertEquals(3, LoopFixtures.runAll(living), "the timer of the loop that has ended, too");
        assertEquals(1, queues(loopsOnly));
        assertEquals(List.of(), dead.detach());
        living.close();
    }

    @Test
    void arm_withoutWorkersAndOnlyDeadLoops_isRejected() {
        List<Timer> armed = new ArrayList<>();
        TimerLoop dead = dead(loopsOnly, false, count(), armed);
        assertEquals("no loop is attached, and the scheduler has no workers of its own",
                assertThrows(RejectedExecutionException.class, () -> loopsOnly.after(NOW, NOTHING)).getMessage());
        assertTrue(armed.get(0).isPending(), "until there is a loop that can have it");
        TimerLoop next = loopsOnly.attachShared(NOTHING);
        clock.advance(ns(10));
        assertEquals(1, LoopFixtures.runAll(next));
        assertEquals(List.of(), dead.detach());
        next.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void arm_onALoopWhoseThreadHasEnded_isRejected(boolean confined) {
        TimerLoop dead = dead(withWorker, confined, count(), new ArrayList<>());
        String message = "the loop's thread elsewhere has ended";
        for (int i = 0; i < 2; i++) {
            assertEquals(message,
                    assertThrows(RejectedExecutionException.class, () -> dead.after(NOW, NOTHING)).getMessage());
            assertEquals(message,
                    assertThrows(RejectedExecutionException.class, () -> dead.every(HOUR, NOTHING)).getMessage());
        }
        assertEquals(confined ? 0 : 1, clock.advance(ns(10)));
        assertEquals(0, withWorker.engine.loops.all().length);
        clock.advance(ns(1));
        assertEquals(1, queues(withWorker));
        assertAccount(withWorker, 1, confined ? 0 : 1, 0, 0, confined ? 1 : 0);
    }

    enum Discovery { ATTACH, ARM, RESET_EARLIER, HELP }

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
            TimerLoop living = s.attachShared(NOTHING);
            List<Timer> armed = new ArrayList<>();
            TimerLoop dead = elsewhere(() -> {
                TimerLoop loop = s.attach(NOTHING);
                armed.add(loop.after(ns(10), count()));
                loop.nanosUntilNext();
                return loop;
            });
            assertEquals(List.of(), reported);
            switch (by) {
                case ATTACH -> other.run(() -> s.attachShared(NOTHING).close());
                case ARM -> {
                    for (int i = 0; i < 4; i++) {
                        elsewhere(() -> s.after(NOW, NOTHING));
                    }
                }
                case RESET_EARLIER -> assertTrue(armed.get(0).reset(ns(5)));
                case HELP -> living.helpOthers();
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

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threadHasEnded_monitorIsThere_itFindsOut(boolean confined) {
        CountDownLatch closed = new CountDownLatch(1);
        try (TimerScheduler s = TimerScheduler.builder().name("gone-dead").workers(1).listener(new TimerListener() {
            @Override
            public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
                closed.countDown();
            }
        }).build()) {
            elsewhere(() -> {
                TimerLoop loop = confined ? s.attach(NOTHING) : s.attachShared(NOTHING);
                loop.after(1, TimeUnit.MILLISECONDS, count());
                return loop;
            });
            if (confined) {
                await(closed);
            } else {
                eventually("a worker runs it", () -> ran.get() == 1);
            }
            eventually("the loop is closed", () -> s.engine.loops.all().length == 0 && queues(s) == 1);
            assertAccount(s, 1, confined ? 0 : 1, 0, 0, confined ? 1 : 0);
        }
    }

    // ---- all loops are confined ----

    @Test
    void arm_withoutWorkersByAThreadWithoutALoop_prefersASharedLoop() {
        TimerLoop confined = loopsOnly.attach(NOTHING);
        elsewhere(() -> loopsOnly.after(NOW, count()));
        assertEquals(1, confined.runDue(), "it is the only one");
        TimerLoop shared = other.call(() -> loopsOnly.attachShared(NOTHING));
        for (int i = 0; i < 4; i++) {
            elsewhere(() -> loopsOnly.after(NOW, count()));
        }
        assertEquals(0, confined.runDue());
        assertEquals(4, other.<Integer>call(shared::runDue));
        confined.close();
        other.run(shared::close);
    }
}
