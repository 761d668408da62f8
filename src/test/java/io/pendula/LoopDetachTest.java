package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static io.pendula.LoopFixtures.result;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a loop's timers when it goes: somebody else has them, or they are given back; each runs once. */
@Timeout(60)
class LoopDetachTest {
    private final ManualClock clock = new ManualClock();
    /** With a worker, whose timers the clock's advance runs. */
    private final TimerScheduler withWorker = TimerScheduler.builder().clock(clock).workers(1).build();
    private final TimerScheduler loopsOnly = TimerScheduler.builder().clock(clock).workers(0).build();
    private final Actor other = new Actor("other");
    private final Actor third = new Actor("third");
    private final List<String> log = new ArrayList<>();
    private final List<Timer> armed = new ArrayList<>();

    @AfterEach
    void close() {
        other.close();
        third.close();
        withWorker.close();
        loopsOnly.close();
    }

    private Runnable note(String name) {
        return () -> log.add(name + "@" + clock.nanoTime());
    }

    private TimerLoop attach(Actor actor, TimerScheduler s) {
        return actor.call(() -> s.attach(NOTHING));
    }

    private static int runDue(Actor actor, TimerLoop loop) {
        return actor.call(loop::runDue);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void attach_againAndAgain_nothingGrows(int workers) {
        TimerScheduler s = workers == 0 ? loopsOnly : withWorker;
        TimerLoop staying = attach(other, s);
        int times = Scale.of(2_000, 10_000);
        for (int i = 0; i < times; i++) {
            TimerLoop loop = s.attach(NOTHING);
            loop.after(HOUR, NOTHING).stop();
            if (i % 5 == 0) {
                loop.after(NOW, NOTHING);
                loop.runDue();
            }
            assertEquals(List.of(), loop.detach());
            assertTrue(s.stats().queues().size() <= workers + 2);
        }
        assertEquals(0, s.engine.loops.all().length - 1);
        assertEquals(0, runDue(other, staying));
        assertAccount(s, times * 6L / 5, times / 5, times, 0, 0);
    }

    @Test
    void detach_nobodyIsThere_returnsThemStopped() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Timer filed = loop.after(ns(10), note("filed"));
        Timer fired = loop.after(NOW, NOTHING);
        assertEquals(1, loop.runDue());
        Timer putOff = loop.after(ns(5), note("put off"));
        Timer stopped = loop.after(ns(5), note("stopped"));
        Alarm signal = loopsOnly.alarm(ns(7));
        loop.nanosUntilNext();
        putOff.reset(ns(20));
        stopped.stop();
        Timer inbox = elsewhere(() -> loop.after(ns(3), note("in the inbox")));
        Ticker tick = loop.every(ns(4), note("tick"));

        List<TimerHandle> unfired = loop.detach();
        assertEquals(Set.of(filed, putOff, signal, inbox, tick), new HashSet<>(unfired));
        assertEquals(5, unfired.size());
        for (Timer t : List.of(filed, putOff, inbox)) {
            assertFalse(t.isPending());
            assertFalse(t.stop());
            assertTrue(t.remaining().isZero());
            assertEquals("the loop that the timer belongs to is closed",
                    assertThrows(RejectedExecutionException.class, () -> t.reset(ns(1))).getMessage());
            assertFalse(t.isPending());
        }
        assertFalse(tick.stop());
        assertFalse(signal.stop());
        assertThrows(RejectedExecutionException.class, () -> signal.reset(ns(1)));
        assertThrows(RejectedExecutionException.class, () -> fired.reset(ns(1)));
        assertThrows(RejectedExecutionException.class, () -> stopped.reset(ns(1)));
        assertEquals(0, clock.advance(ns(1_000)));
        assertEquals(List.of(), log);
        assertAccount(loopsOnly, 8, 1, 1, 1, 5);
    }

    @Test
    void detach_nobodyIsThere_whoeverWaitsIsTold() throws Exception {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Alarm signal = loopsOnly.alarm(HOUR);
        Alarm ticks = loopsOnly.alarmEvery(HOUR);
        ScheduledFuture<?> f = loopsOnly.asScheduledExecutorService().schedule(NOTHING, 1, TimeUnit.HOURS);
        ScheduledFuture<?> rate = loopsOnly.asScheduledExecutorService().scheduleAtFixedRate(NOTHING, 1, 1,
                TimeUnit.HOURS);
        List<Actor> actors = IntStream.range(0, 4).mapToObj(i -> new Actor("waits-" + i)).toList();
        List<Future<?>> waits = List.of(
                actors.get(0).start(() -> {
                    signal.await();
                    return null;
                }),
                actors.get(1).start(() -> ticks.await(HOUR)),
                actors.get(2).start(() -> f.get()),
                actors.get(3).start(() -> rate.get(1, TimeUnit.HOURS)));
        actors.forEach(Actor::awaitWaiting);
        assertEquals(Set.of(signal, ticks, f, rate), Set.copyOf(loop.detach()));
        for (Future<?> wait : waits) {
            assertThrows(CancellationException.class, () -> result(wait));
        }
        assertTrue(f.isCancelled());
        assertTrue(rate.isCancelled());
        CancellationException e = assertThrows(CancellationException.class, () -> signal.await(NOW));
        assertEquals("the alarm's loop is closed, so it will never ring", e.getMessage());
        actors.forEach(Actor::close);
    }

    @Test
    void detach_firingThatNobodyHasReceived_isStillReceived() throws Exception {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Alarm signal = loopsOnly.alarm(NOW);
        assertEquals(1, loop.runDue());
        assertEquals(List.of(), loop.detach());
        assertTrue(signal.await(NOW));
        assertThrows(CancellationException.class, () -> signal.await(NOW));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void detach_confined_returnsThemThoughOthersAreThere(int workers) {
        TimerScheduler s = workers == 0 ? loopsOnly : withWorker;
        TimerLoop another = attach(other, s);
        TimerLoop loop = s.attach(NOTHING);
        Timer t = loop.after(ns(10), note("t"));
        assertEquals(List.of(t), loop.detach());
        assertEquals(0, clock.advance(ns(10)));
        assertEquals(0, runDue(other, another));
        assertAccount(s, 1, 0, 0, 0, 1);
    }

    @Test
    void detach_maxPending_permitsComeBack() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).maxPending(3).build()) {
            for (int i = 0; i < 5; i++) {
                TimerLoop loop = s.attach(NOTHING);
                loop.after(HOUR, NOTHING);
                loop.every(HOUR, NOTHING);
                elsewhere(() -> loop.after(HOUR, NOTHING));
                assertThrows(RejectedExecutionException.class, () -> loop.after(HOUR, NOTHING));
                assertEquals(3, loop.detach().size());
            }
            assertAccount(s, 15, 0, 0, 0, 15);
        }
    }

    @Test
    void detach_rejectedResets_costNoPermit() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).maxPending(1).build()) {
            TimerLoop loop = s.attach(NOTHING);
            Timer t = loop.after(HOUR, NOTHING);
            loop.close();
            for (int i = 0; i < 5; i++) {
                assertThrows(RejectedExecutionException.class, () -> t.reset(HOUR));
            }
            TimerLoop next = s.attach(NOTHING);
            next.after(HOUR, NOTHING).stop();
            next.after(HOUR, NOTHING);
            next.close();
        }
    }

    // ---- in a callback ----

    @Test
    void detach_inCallbackWithNobody_returnsTheRestAndTheOwnNextRun() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        List<TimerHandle> unfired = new ArrayList<>();
        Timer[] self = new Timer[1];
        self[0] = loop.after(NOW, () -> {
            log.add("self");
            self[0].reset(NOW);
            unfired.addAll(loop.detach());
            assertEquals("the loop that the timer belongs to is closed",
                    assertThrows(RejectedExecutionException.class, () -> self[0].reset(NOW)).getMessage());
        });
        Timer due = loop.after(NOW, note("due"));
        assertEquals(1, loop.runDue());
        assertEquals(Set.of(self[0], due), new HashSet<>(unfired));
        assertEquals(List.of("self"), log);
        assertFalse(self[0].isPending());
        assertAccount(loopsOnly, 3, 1, 0, 0, 2);
    }

    @Test
    void detach_inCallbackOfATickerWithNobody_endsIt() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Ticker[] self = new Ticker[1];
        self[0] = loop.every(ns(1), () -> {
            log.add("tick");
            assertEquals(List.of(self[0]), loop.detach());
        });
        clock.advance(ns(1));
        assertEquals(1, loop.runDue());
        assertEquals(List.of("tick"), log);
        assertAccount(loopsOnly, 2, 1, 0, 0, 1);
    }

    /** The first loop's runDue is still on the stack, so a run of a second one would be nested. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void attach_inCallbackThatHasClosedTheLoop_isRejectedUntilItReturns(int workers) {
        TimerScheduler s = workers == 0 ? loopsOnly : withWorker;
        TimerLoop first = s.attach(NOTHING);
        first.after(NOW, () -> {
            first.close();
            log.add(assertThrows(IllegalStateException.class, () -> s.attach(NOTHING)).getMessage());
            assertThrows(IllegalStateException.class, () -> s.attach(NOTHING));
        });
        assertEquals(1, first.runDue());
        assertEquals(List.of("the thread " + Thread.currentThread().getName()
                + " is inside a callback of a loop that it has closed"), log);
        assertEquals(0, s.engine.loops.all().length);
        TimerLoop second = s.attach(NOTHING);
        s.after(NOW, note("on the second"));
        assertEquals(1, second.runDue());
        assertEquals("on the second@0", log.get(1));
        second.close();
        assertEquals(0, s.engine.loops.all().length);
    }

    @Test
    void after_inCallbackThatHasClosedTheLoop_isForTheWorkers() {
        TimerLoop loop = withWorker.attach(NOTHING);
        loop.after(NOW, () -> {
            loop.close();
            withWorker.after(NOW, note("by a worker"));
        });
        assertEquals(1, loop.runDue());
        assertEquals(1, clock.advance(Duration.ZERO));
        assertEquals(List.of("by a worker@0"), log);
    }

    // ---- a thread that has ended ----

    @Test
    void close_threadHasEnded_anyOtherMayDoIt() {
        TimerLoop dead = elsewhere(() -> armed(withWorker.attach(NOTHING), "a"));
        dead.close();
        assertEquals(0, clock.advance(ns(10)));
        assertEquals(0, withWorker.engine.loops.all().length);

        TimerLoop second = elsewhere(() -> armed(loopsOnly.attach(NOTHING), "b"));
        Timer t = armed.get(1);
        assertTrue(t.isPending());
        assertEquals(List.of(t), second.detach());
    }

    private TimerLoop armed(TimerLoop loop, String name) {
        armed.add(loop.after(ns(10), note(name)));
        return loop;
    }
}
