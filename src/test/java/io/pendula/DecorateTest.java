package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Context that goes from the thread that arms to the callback, as a trace or a diagnostic context does. */
@Timeout(60)
class DecorateTest {
    private static final ThreadLocal<String> CONTEXT = new ThreadLocal<>();
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private int decorated;
    private final TimerScheduler s = TimerScheduler.builder().clock(clock).decorate(this::withContext)
            .listener(new LifeFixtures.Heard()).build();
    private final SchedulerExecutor view = s.asScheduledExecutorService();
    private final List<String> seen = new ArrayList<>();
    private final Runnable task = () -> seen.add(CONTEXT.get());

    private Runnable withContext(Runnable work) {
        decorated++;
        String context = CONTEXT.get();
        return () -> {
            String before = CONTEXT.get();
            CONTEXT.set(context);
            try {
                work.run();
            } finally {
                CONTEXT.set(before);
            }
        };
    }

    @AfterEach
    void close() {
        s.close();
        CONTEXT.remove();
    }

    @Test
    void eachWayToArm_callbackHasTheContextOfThatMoment() throws Exception {
        try (TimerLoop loop = s.attach(() -> {})) {
            CONTEXT.set("after");
            s.after(SECOND, task);
            CONTEXT.set("at");
            loop.at(s.now(), task);
            CONTEXT.set("loop every");
            loop.every(SECOND, task);
            loop.runDue();
            clock.advance(SECOND);
            loop.runDue();
        }
        CONTEXT.set("schedule");
        view.schedule(task, 1, TimeUnit.SECONDS);
        CONTEXT.set("execute");
        view.execute(task);
        CONTEXT.set("rate");
        view.scheduleAtFixedRate(task, 1, 1, TimeUnit.SECONDS);
        CONTEXT.set("callable");
        Future<String> value = view.schedule(CONTEXT::get, 1, TimeUnit.SECONDS);
        CONTEXT.set("later");
        clock.advance(SECOND.multipliedBy(2));
        assertEquals(List.of("at", "after", "loop every", "execute", "schedule", "rate", "rate"), seen);
        assertEquals("callable", value.get());
        assertEquals("later", CONTEXT.get());
        assertEquals(7, decorated, "once for each timer, not for each tick");
    }

    @Test
    void reset_keepsTheContextOfTheOneWhoMadeTheTimer() {
        CONTEXT.set("made");
        Timer t = s.after(SECOND, task);
        CONTEXT.set("reset");
        t.reset(SECOND);
        clock.advance(SECOND);
        t.reset(SECOND);
        clock.advance(SECOND);
        assertEquals(List.of("made", "made"), seen);
        assertEquals(1, decorated);
    }

    @Test
    void handlesAndCounts_showTheTaskItself() throws Exception {
        TimerHandleTest.Heartbeat beat = new TimerHandleTest.Heartbeat();
        Timer t = s.after(SECOND, beat);
        Ticker k = s.every(SECOND, beat);
        TimerHandle callable = (TimerHandle) view.schedule((Callable<String>) beat, 1, TimeUnit.SECONDS);
        for (TimerHandle h : List.of(t, k, callable)) {
            assertSame(beat, h.task());
            assertTrue(h.toString().contains(beat.getClass().getName()), h::toString);
        }
        assertEquals(Map.of(beat.getClass(), 3L), s.pendingByTask());
        clock.advance(SECOND);
        assertEquals("beat", ((Future<?>) callable).get());
        t.cancel();
        assertNull(t.task());
    }

    @Test
    void clockThatNeverGetsOn_namesTheTaskItself() {
        clock.runsAtAnInstant = 100;
        s.after(SECOND, new Runnable() {
            @Override
            public void run() {
                s.after(Duration.ZERO, this);
            }

            @Override
            public String toString() {
                return "<the one that does not end>";
            }
        });
        String message = assertThrows(IllegalStateException.class, () -> clock.advance(SECOND)).getMessage();
        assertTrue(message.endsWith("task <the one that does not end>"), message);
    }

    @Test
    void callableThatThrows_futureTellsTheVeryException() {
        IOException e = new IOException("x");
        Future<Object> f = view.submit((Callable<Object>) () -> {
            throw e;
        });
        clock.advance(Duration.ZERO);
        assertSame(e, assertThrows(ExecutionException.class, f::get).getCause());
    }

    @Test
    void alarms_areNotDecorated() throws InterruptedException {
        Alarm t = s.alarm(SECOND);
        s.alarmEvery(SECOND);
        assertEquals(0, decorated);
        clock.advance(SECOND);
        assertTrue(t.await(Duration.ZERO));
    }

    @Test
    void decoratorThatFails_nothingIsArmed() {
        try (TimerScheduler bad = TimerScheduler.builder().clock(clock).decorate(r -> null).build()) {
            assertEquals("what decorate returns for " + task.getClass().getName() + " must not be null",
                    assertThrows(NullPointerException.class, () -> bad.after(SECOND, task)).getMessage());
            assertThrows(NullPointerException.class, () -> bad.after(SECOND, null));
            assertEquals(0, bad.pending());
        }
        IllegalStateException e = new IllegalStateException("x");
        try (TimerScheduler bad = TimerScheduler.builder().clock(clock).decorate(r -> {
            throw e;
        }).build()) {
            assertSame(e, assertThrows(IllegalStateException.class, () -> bad.every(SECOND, task)));
            assertEquals(0, bad.pending());
        }
        assertThrows(NullPointerException.class, () -> TimerScheduler.builder().decorate(null));
    }
}
