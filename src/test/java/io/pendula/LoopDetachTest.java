package io.pendula;

import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.ns;
import static io.pendula.LoopFixtures.result;
import static io.pendula.LoopFixtures.runAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Actor;
import io.pendula.LoopFixtures.Bell;
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
        return actor.call(() -> s.attachShared(NOTHING));
    }

    private static int runDue(Actor actor, TimerLoop loop) {
        return actor.call(loop::runDue);
    }

    // ---- to a worker ----

    @Test
    void detach_workerIsThere_itRunsThemAtTheirDeadlines() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        loop.after(ns(10), note("filed"));
        Timer putOff = loop.after(ns(5), note("put off"));
        Timer brought = loop.after(ns(500), note("brought forward"));
        Timer stopped = loop.after(ns(10), note("stopped"));
        Timer cancelled = loop.after(ns(10), note("cancelled"));
        loop.nanosUntilNext();
        putOff.reset(ns(30));
        brought.reset(ns(20));
        stopped.stop();
        cancelled.cancel();
        loop.after(ns(15), note("in the inbox"));
        loop.every(ns(12), note("tick"));
        loop.after(NOW, note("due"));

        assertEquals(List.of(), loop.detach());
        assertEquals(List.of(), log, "nothing runs inside the call");
        assertTrue(putOff.isPending());
        assertEquals(30, putOff.remaining().toNanos());
        assertEquals(7, clock.advance(ns(30)));
        assertEquals(List.of("due@0", "filed@10", "tick@12", "in the inbox@15", "brought forward@20", "tick@24",
                "put off@30"), log);
        assertFalse(stopped.reset(ns(1)));
        assertEquals(1, clock.advance(ns(1)));
        assertEquals("stopped@31", log.get(7));
        assertAccount(withWorker, 13, 8, 2, 2, 0); // the ticker ticks on
    }

    @Test
    void detach_workerIsThere_futuresAndReceiversGetTheirs() throws Exception {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        Timer signal = withWorker.after(ns(10));
        ScheduledFuture<String> f = withWorker.asScheduledExecutorService().schedule(() -> "called", 10,
                TimeUnit.NANOSECONDS);
        Future<Boolean> waiting = other.start(() -> signal.await(HOUR));
        other.awaitWaiting();
        loop.close();
        assertEquals(2, clock.advance(ns(10)));
        assertTrue(result(waiting));
        assertEquals("called", f.get());
    }

    // ---- to another loop ----

    @Test
    void detach_otherLoopIsThere_itRunsThemAtTheirDeadlines() {
        Bell bell = new Bell();
        TimerLoop successor = other.call(() -> loopsOnly.attachShared(bell));
        assertEquals(Long.MAX_VALUE, other.call(successor::nanosUntilNext));
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer a = loop.after(ns(10), note("a"));
        Timer stopped = loop.after(ns(10), note("stopped"));
        stopped.stop();
        Ticker tick = loop.every(ns(4), note("tick"));
        assertEquals(0, bell.rings());
        assertEquals(List.of(), loop.detach());
        assertEquals(1, bell.rings(), "it waits for ever");
        assertEquals(4, other.call(successor::nanosUntilNext));
        clock.advance(ns(4));
        assertEquals(1, runDue(other, successor));
        clock.advance(ns(6));
        assertEquals(0, other.call(successor::nanosUntilNext));
        assertEquals(2, runDue(other, successor));
        assertEquals(Set.of("tick@4", "tick@10", "a@10"), new HashSet<>(log));
        assertEquals(3, log.size());

        assertFalse(a.reset(ns(1)));
        assertFalse(stopped.reset(ns(1)));
        assertEquals(1, other.call(successor::nanosUntilNext), "its timers can still be reset");
        assertTrue(tick.stop());
        clock.advance(ns(1));
        assertEquals(2, runDue(other, successor));
        assertEquals(Long.MAX_VALUE, other.call(successor::nanosUntilNext));
        assertAccount(loopsOnly, 7, 5, 2, 0, 0);
    }

    @Test
    void detach_heirWaitsAlready_isCalledForWhatIsArmedOnTheInheritance() {
        Bell bell = new Bell();
        TimerLoop successor = other.call(() -> loopsOnly.attachShared(bell));
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer a = loop.after(ns(1_000), note("a"));
        loop.detach();
        bell.rings();
        assertEquals(1_000, other.call(successor::nanosUntilNext));
        assertTrue(a.reset(ns(2_000)));
        assertEquals(0, bell.rings());
        assertTrue(a.reset(ns(500)));
        assertEquals(1, bell.rings());
        assertEquals(500, other.call(successor::nanosUntilNext));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void detach_severalLoops_theOneThatIsNotConfinedInherits(boolean confinedFirst) {
        Actor first = confinedFirst ? other : third;
        Actor second = confinedFirst ? third : other;
        TimerLoop a = first.call(() -> first == other ? loopsOnly.attach(NOTHING) : loopsOnly.attachShared(NOTHING));
        TimerLoop b = second.call(() -> first == other ? loopsOnly.attachShared(NOTHING) : loopsOnly.attach(NOTHING));
        TimerLoop confined = first == other ? a : b;
        TimerLoop open = first == other ? b : a;
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        loop.after(NOW, note("a"));
        assertEquals(List.of(), loop.detach());
        assertEquals(0, runDue(other, confined));
        assertEquals(1, runDue(third, open));
    }

    @Test
    void detach_onlyAConfinedLoopIsLeft_itInherits() {
        TimerLoop successor = other.call(() -> loopsOnly.attach(NOTHING));
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        loop.after(NOW, note("a"));
        assertEquals(List.of(), loop.detach());
        assertEquals(1, runDue(other, successor));
    }

    @Test
    void runDue_inheritedTimers_runInTheOrderOfTheirDeadlines() {
        TimerLoop successor = attach(other, loopsOnly);
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        for (int i = 9; i >= 0; i--) {
            (i % 2 == 0 ? successor : loop).after(ns(i), note("" + i));
        }
        loop.close();
        clock.advance(ns(10));
        assertEquals(4, other.<Integer>call(() -> successor.runDue(4)));
        assertEquals(0, other.call(successor::nanosUntilNext));
        assertEquals(6, runDue(other, successor));
        assertEquals(List.of("0@10", "2@10", "4@10", "6@10", "8@10"), log.stream().filter(
                s -> s.charAt(0) % 2 == 0).toList());
        assertEquals(List.of("1@10", "3@10", "5@10", "7@10", "9@10"), log.stream().filter(
                s -> s.charAt(0) % 2 == 1).toList());
    }

    @Test
    void runDue_callbackBringsAnInheritedTimerForward_waitsForTheNextCall() {
        TimerLoop successor = attach(other, loopsOnly);
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer inherited = loop.after(HOUR, note("inherited"));
        loop.close();
        successor.after(NOW, () -> assertTrue(inherited.reset(NOW)));
        assertEquals(1, runDue(other, successor));
        assertEquals(0, other.call(successor::nanosUntilNext));
        assertEquals(1, runDue(other, successor));
        assertEquals(List.of("inherited@0"), log);
    }

    @Test
    void runDue_limitAndManyOwnTimers_inheritedOnesHaveTheirTurn() {
        TimerLoop successor = attach(other, loopsOnly);
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        loop.after(NOW, note("inherited"));
        loop.close();
        clock.advance(ns(1));
        Timer[] busy = new Timer[1];
        busy[0] = successor.after(NOW, () -> busy[0].reset(NOW));
        for (int call = 0; call < 100 && log.isEmpty(); call++) {
            assertEquals(1, other.<Integer>call(() -> successor.runDue(1)));
        }
        assertEquals(List.of("inherited@1"), log);
    }

    @Test
    void detach_heirOfTwo_passesAllOn() {
        TimerLoop successor = attach(other, loopsOnly);
        TimerLoop second = attach(third, loopsOnly);
        TimerLoop first = loopsOnly.attachShared(NOTHING);
        successor.after(ns(10), note("own"));
        second.after(ns(10), note("second"));
        first.after(ns(10), note("first"));
        first.close();
        third.run(second::close);
        assertEquals(10, other.call(successor::nanosUntilNext));
        TimerLoop last = attach(third, loopsOnly);
        assertEquals(List.of(), other.call(successor::detach));
        clock.advance(ns(10));
        assertEquals(3, third.<Integer>call(() -> runAll(last)));
        assertEquals(Set.of("own@10", "second@10", "first@10"), new HashSet<>(log));
        assertAccount(loopsOnly, 3, 3, 0, 0, 0);
    }

    @Test
    void detach_heirOfTwoWithNobodyElse_returnsAll() {
        TimerLoop successor = attach(other, loopsOnly);
        TimerLoop second = attach(third, loopsOnly);
        TimerLoop first = loopsOnly.attachShared(NOTHING);
        Set<Timer> all = Set.of(successor.after(ns(10), note("own")), second.after(ns(10), note("second")),
                first.after(ns(10), note("first")));
        first.close();
        third.run(second::close);
        assertEquals(all, new HashSet<>(other.call(successor::detach)));
        assertAccount(loopsOnly, 3, 0, 0, 0, 3);
        assertEquals(0, loopsOnly.stats().queues().size());
    }

    // ---- not to a loop that comes later ----

    @Test
    void attach_afterDetach_startsWithNothing() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        Timer left = loop.after(ns(10), note("a"));
        loop.close();
        TimerLoop next = attach(other, withWorker);
        assertEquals(Long.MAX_VALUE, other.call(next::nanosUntilNext));
        Timer own = next.after(ns(10), note("own"));
        assertNotSame(Fixtures.node(left).queue, Fixtures.node(own).queue);
        assertEquals(1, clock.advance(ns(10)), "the worker has the timers of the loop that has gone");
        assertEquals(List.of("a@10"), log);
        assertEquals(1, runDue(other, next));
        assertEquals(List.of("a@10", "own@10"), log);
        assertEquals(2, withWorker.stats().queues().size());
    }

    @Test
    void attach_confinedAfterDetach_startsWithNothing() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        loop.after(ns(10), note("a"));
        loop.close();
        TimerLoop next = other.call(() -> withWorker.attach(NOTHING));
        assertEquals(Long.MAX_VALUE, other.call(next::nanosUntilNext));
        assertEquals(1, clock.advance(ns(10)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void attach_againAndAgain_nothingGrows(int workers) {
        TimerScheduler s = workers == 0 ? loopsOnly : withWorker;
        TimerLoop staying = attach(other, s);
        int times = Scale.of(2_000, 10_000);
        for (int i = 0; i < times; i++) {
            TimerLoop loop = i % 3 == 0 ? s.attach(NOTHING) : s.attachShared(NOTHING);
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

    // ---- to nobody ----

    @Test
    void detach_nobodyIsThere_returnsThemStopped() {
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer filed = loop.after(ns(10), note("filed"));
        Timer fired = loop.after(NOW, NOTHING);
        assertEquals(1, loop.runDue());
        Timer putOff = loop.after(ns(5), note("put off"));
        Timer stopped = loop.after(ns(5), note("stopped"));
        Timer signal = loopsOnly.after(ns(7));
        loop.nanosUntilNext();
        putOff.reset(ns(20));
        stopped.stop();
        Timer inbox = elsewhere(() -> loop.after(ns(3), note("in the inbox")));
        Ticker tick = loop.every(ns(4), note("tick"));

        List<Timer> unfired = loop.detach();
        assertEquals(Set.of(filed, putOff, signal, inbox), new HashSet<>(unfired));
        assertEquals(4, unfired.size());
        for (Timer t : unfired) {
            assertFalse(t.isPending());
            assertFalse(t.stop());
            assertTrue(t.remaining().isZero());
            assertEquals("the loop that the timer belongs to is closed",
                    assertThrows(RejectedExecutionException.class, () -> t.reset(ns(1))).getMessage());
            assertFalse(t.isPending());
        }
        assertFalse(tick.stop());
        assertThrows(RejectedExecutionException.class, () -> fired.reset(ns(1)));
        assertThrows(RejectedExecutionException.class, () -> stopped.reset(ns(1)));
        assertEquals(0, clock.advance(ns(1_000)));
        assertEquals(List.of(), log);
        assertAccount(loopsOnly, 8, 1, 1, 1, 5);
    }

    @Test
    void detach_nobodyIsThere_whoeverWaitsIsTold() throws Exception {
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer signal = loopsOnly.after(HOUR);
        Ticker ticks = loopsOnly.every(HOUR);
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
        assertEquals(List.of(signal), loop.detach());
        for (Future<?> wait : waits) {
            assertThrows(CancellationException.class, () -> result(wait));
        }
        assertTrue(f.isCancelled());
        assertTrue(rate.isCancelled());
        CancellationException e = assertThrows(CancellationException.class, () -> signal.await(NOW));
        assertEquals("the timer's loop is closed, so it will never fire", e.getMessage());
        actors.forEach(Actor::close);
    }

    @Test
    void detach_firingThatNobodyHasReceived_isStillReceived() throws Exception {
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        Timer signal = loopsOnly.after(NOW);
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
    void detach_confinedThatHasInherited_returnsItsOwnAndPassesTheRestOn() {
        TimerLoop confined = other.call(() -> loopsOnly.attach(NOTHING));
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        loop.after(ns(10), note("inherited"));
        loop.close();
        Timer own = confined.after(ns(10), note("own"));
        TimerLoop last = third.call(() -> loopsOnly.attach(NOTHING));
        assertEquals(List.of(own), other.call(confined::detach));
        clock.advance(ns(10));
        assertEquals(1, runDue(third, last));
        assertEquals(List.of("inherited@10"), log);
    }

    @Test
    void detach_maxPending_permitsComeBack() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).maxPending(3).build()) {
            for (int i = 0; i < 5; i++) {
                TimerLoop loop = s.attachShared(NOTHING);
                loop.after(HOUR, NOTHING);
                loop.every(HOUR, NOTHING);
                elsewhere(() -> loop.after(HOUR, NOTHING));
                assertThrows(RejectedExecutionException.class, () -> loop.after(HOUR, NOTHING));
                assertEquals(2, loop.detach().size());
            }
            assertAccount(s, 15, 0, 0, 0, 15);
        }
    }

    @Test
    void detach_rejectedResets_costNoPermit() {
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).maxPending(1).build()) {
            TimerLoop loop = s.attachShared(NOTHING);
            Timer t = loop.after(HOUR, NOTHING);
            loop.close();
            for (int i = 0; i < 5; i++) {
                assertThrows(RejectedExecutionException.class, () -> t.reset(HOUR));
            }
            TimerLoop next = s.attachShared(NOTHING);
            next.after(HOUR, NOTHING).stop();
            next.after(HOUR, NOTHING);
            next.close();
        }
    }

    // ---- in a callback ----

    @Test
    void close_inCallbackWithWorker_theRestGoesThere() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        Timer[] self = new Timer[1];
        self[0] = loop.after(ns(1), () -> {
            log.add("self@" + clock.nanoTime());
            if (log.size() == 1) {
                self[0].reset(ns(10));
                loop.close();
                self[0].reset(ns(20));
                assertTrue(self[0].isPending());
            }
        });
        loop.after(ns(1), note("due too"));
        loop.after(ns(5), note("later"));
        clock.advance(ns(1));
        assertEquals(1, loop.runDue(), "the loop is closed, so no more");
        assertEquals(List.of("self@1"), log);
        assertEquals(3, clock.advance(ns(20)));
        assertEquals(List.of("self@1", "due too@1", "later@5", "self@21"), log);
        assertEquals(0, withWorker.engine.loops.all().length);
        assertAccount(withWorker, 5, 4, 0, 1, 0);
    }

    @Test
    void detach_inCallbackWithNobody_returnsTheRestAndTheOwnNextRun() {
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        List<Timer> unfired = new ArrayList<>();
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
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        loop.every(ns(1), () -> {
            log.add("tick");
            assertEquals(List.of(), loop.detach());
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
        TimerLoop first = s.attachShared(NOTHING);
        first.after(NOW, () -> {
            first.close();
            log.add(assertThrows(IllegalStateException.class, () -> s.attachShared(NOTHING)).getMessage());
            assertThrows(IllegalStateException.class, () -> s.attach(NOTHING));
        });
        assertEquals(1, first.runDue());
        assertEquals(List.of("the thread " + Thread.currentThread().getName()
                + " is inside a callback of a loop that it has closed"), log);
        assertEquals(0, s.engine.loops.all().length);
        TimerLoop second = s.attachShared(NOTHING);
        s.after(NOW, note("on the second"));
        assertEquals(1, second.runDue());
        assertEquals("on the second@0", log.get(1));
        second.close();
        assertEquals(0, s.engine.loops.all().length);
    }

    @Test
    void close_inCallbackOfAnInheritedTimer_passesAllOn() {
        TimerLoop successor = attach(other, loopsOnly);
        TimerLoop last = attach(third, loopsOnly);
        TimerLoop loop = loopsOnly.attachShared(NOTHING);
        loop.after(NOW, successor::close);
        loop.after(NOW, note("inherited"));
        successor.after(HOUR, note("own"));
        loop.close();
        assertEquals(1, runDue(other, successor), "the first loop inherits");
        assertEquals(1, third.<Integer>call(() -> runAll(last)));
        assertEquals(List.of("inherited@0"), log);
        assertEquals(1, loopsOnly.pending());
    }

    @Test
    void helpOthers_callbackClosesTheLoop_runsNoMore() {
        TimerLoop stuck = attach(other, loopsOnly);
        TimerLoop helper = loopsOnly.attachShared(NOTHING);
        stuck.after(NOW, () -> {
            log.add("closes");
            helper.close();
        });
        stuck.after(NOW, note("not by a loop that is closed"));
        clock.advance(HOUR);
        assertEquals(1, helper.helpOthers());
        assertEquals(List.of("closes"), log);
        assertEquals(1, runDue(other, stuck));
    }

    // ---- a thread that has ended ----

    @Test
    void close_threadHasEnded_anyOtherMayDoIt() {
        TimerLoop dead = elsewhere(() -> armed(withWorker.attachShared(NOTHING), "a"));
        assertEquals(0, clock.advance(ns(5)));
        dead.close();
        assertEquals(1, clock.advance(ns(5)));
        assertEquals(List.of("a@10"), log);
        assertEquals(0, withWorker.engine.loops.all().length);

        TimerLoop second = elsewhere(() -> armed(loopsOnly.attachShared(NOTHING), "b"));
        Timer t = armed.get(1);
        assertTrue(t.isPending());
        assertEquals(List.of(t), second.detach());
    }

    private TimerLoop armed(TimerLoop loop, String name) {
        armed.add(loop.after(ns(10), note(name)));
        return loop;
    }

    @Test
    void close_loopHasArmedAndOthersArmOn_eachFindsItsWay() {
        TimerLoop loop = withWorker.attachShared(NOTHING);
        Timer t = loop.after(ns(10), note("t"));
        loop.close();
        assertThrows(RejectedExecutionException.class, () -> loop.after(NOW, NOTHING));
        withWorker.after(ns(10), note("new"));
        assertTrue(t.reset(ns(12)));
        assertSame(withWorker.engine.queues[1], Fixtures.node(t).queue);
        assertEquals(2, clock.advance(ns(12)));
        assertEquals(List.of("new@10", "t@12"), log);
        assertEquals(1, withWorker.engine.queues.length, "nothing is armed in the loop's queue any more");
    }
}
