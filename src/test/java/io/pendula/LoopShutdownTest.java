package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.loopWaits;
import static io.pendula.LoopFixtures.result;
import static io.pendula.LoopFixtures.settle;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.LoopFixtures.Actor;
import io.pendula.LoopFixtures.Bell;
import java.nio.channels.Selector;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Closing a scheduler to which loops are attached: the threads of the loops live on, their timers do not. */
@Timeout(60)
class LoopShutdownTest {
    private final Actor looping = new Actor("looping");
    private final Actor closing = new Actor("closing");
    private final CountDownLatch began = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicBoolean ended = new AtomicBoolean();

    @AfterEach
    void close() {
        go.countDown();
        looping.close();
        closing.close();
    }

    private static TimerScheduler scheduler(int workers) {
        return TimerScheduler.builder().name("loop-shutdown").workers(workers).build();
    }

    private void block() {
        began.countDown();
        await(go);
        ended.set(true);
    }

    private void awaitClosing(TimerScheduler s) {
        eventually("closer waits", () -> s.isClosed() && Fixtures.isWaiting(closing.thread()));
    }

    private Future<Boolean> startClose(TimerScheduler s) {
        return closing.start(() -> {
            s.close();
            return ended.get();
        });
    }

    // ---- what is returned, and what loops do afterwards ----

    @ParameterizedTest
    @CsvSource({"0, false", "0, true", "2, false", "2, true"})
    void shutdownNow_loopsAttached_returnsTheirTimers(int workers, boolean confined) {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = looping.call(() -> s.attach(NOTHING));
        Timer filed = loop.after(HOUR, NOTHING);
        looping.call(loop::nanosUntilNext);
        Timer inbox = loop.after(HOUR, NOTHING);
        Alarm signal = looping.call(() -> s.alarm(HOUR));
        Ticker ticker = loop.every(HOUR, NOTHING);
        loop.after(HOUR, NOTHING).stop();
        ScheduledFuture<?> f = looping.call(() -> s.asScheduledExecutorService().schedule(NOTHING, 1, TimeUnit.HOURS));
        Future<?> waits = closing.start(() -> {
            signal.await();
            return null;
        });
        closing.awaitWaiting();

        List<TimerHandle> unfired = s.shutdownNow();
        assertEquals(Set.of(filed, inbox, signal, ticker, f), new HashSet<>(unfired));
        assertEquals(5, unfired.size());
        assertTrue(f.isCancelled());
        assertThrows(CancellationException.class, () -> result(waits));
        List.of(filed, inbox).forEach(t -> assertEquals("scheduler '" + s.stats().name() + "' is closed",
                assertThrows(RejectedExecutionException.class, () -> t.reset(NOW)).getMessage()));
        assertAccount(s, 6, 0, 1, 0, 5);
        s.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void close_loopsAttached_theirMethodsAreHarmlessAfterwards(int workers) throws Exception {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = s.attach(NOTHING);
        Timer due = loop.after(NOW, NOTHING);
        s.close();
        assertFalse(due.isPending());
        for (int i = 0; i < 2; i++) {
            assertEquals(0, loop.runDue());
            assertEquals(0, loop.runDue(1));
            assertEquals(Long.MAX_VALUE, settle(loop));
        }
        try (Selector selector = Selector.open()) {
            selector.wakeup();
            assertEquals(0, loop.select(selector));
        }
        assertEquals("scheduler '" + s.stats().name() + "' is closed",
                assertThrows(RejectedExecutionException.class, () -> loop.after(NOW, NOTHING)).getMessage());
        assertThrows(RejectedExecutionException.class, () -> loop.every(HOUR, NOTHING));
        assertThrows(RejectedExecutionException.class, () -> s.after(NOW, NOTHING));
        assertThrows(RejectedExecutionException.class, () -> due.reset(NOW));
        assertEquals(List.of(), loop.detach());
        loop.close();
        assertThrows(IllegalStateException.class, loop::runDue);
        assertAccount(s, 1, 0, 0, 0, 1);
    }

    @Test
    void close_loopsWait_theirWakeupsAreCalled() {
        TimerScheduler s = scheduler(0);
        Bell waiting = new Bell();
        Bell up = new Bell();
        TimerLoop loop = looping.call(() -> s.attach(waiting));
        looping.call(loop::nanosUntilNext);
        closing.call(() -> s.attach(up));
        s.close();
        assertEquals(1, waiting.rings());
        assertTrue(up.rings() <= 1);
        s.close();
        assertTrue(waiting.rings() <= 1);
    }

    /** The permit of the wakeup may have been used up by a wait for a lock; WakeSearchTest has the interleavings. */
    @ParameterizedTest
    @CsvSource({"0, false", "0, true", "1, false", "1, true"})
    void close_loopIsAboutToWait_isToldOnceNotTo(int workers, boolean waited) {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = s.attach(NOTHING);
        if (waited) {
            assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        }
        closing.run(s::close);
        assertEquals(0, loop.nanosUntilNext());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
        assertEquals(0, loop.runDue());
        assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
    }

    @Test
    void close_loopWaitsInSelect_returnsFromItAtOnce() throws Exception {
        TimerScheduler s = scheduler(1);
        try (Selector selector = Selector.open()) {
            TimerLoop loop = looping.call(() -> s.attach(selector::wakeup));
            loop.after(HOUR, NOTHING);
            Future<Integer> keys = looping.start(() -> loop.select(selector));
            eventually("it waits", () -> loopWaits(s));
            s.close();
            assertEquals(0, result(keys));
            looping.run(loop::close);
        }
    }

    @Test
    void close_calledByTheLoopsThread_doesNotWaitForItself() {
        TimerScheduler s = scheduler(1);
        TimerLoop loop = s.attach(NOTHING);
        loop.after(HOUR, NOTHING);
        s.close();
        loop.close();
        assertTrue(s.isClosed());
    }

    // ---- a callback in progress ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void close_loopRunsACallback_waitsForItAndForNoMore(int workers) {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = looping.call(() -> s.attach(NOTHING));
        loop.after(NOW, this::block);
        Timer next = loop.after(NOW, NOTHING);
        Future<Integer> ran = looping.start(loop::runDue);
        await(began);
        Future<Boolean> closed = startClose(s);
        awaitClosing(s);
        assertFalse(closed.isDone());
        go.countDown();
        assertTrue(result(closed), "it has waited");
        assertEquals(1, result(ran));
        assertFalse(next.isPending());
        assertAccount(s, 2, 1, 0, 0, 1);
    }

    @Test
    void shutdownNow_loopRunsACallbackThatHasArmedItself_returnsItsNextRun() {
        TimerScheduler s = scheduler(0);
        TimerLoop loop = looping.call(() -> s.attach(NOTHING));
        Timer[] self = new Timer[1];
        AtomicBoolean refused = new AtomicBoolean();
        looping.run(() -> self[0] = s.after(NOW, () -> {
            self[0].reset(NOW);
            block();
            refused.set(assertThrows(RejectedExecutionException.class, () -> self[0].reset(NOW)) != null);
        }));
        Future<Integer> ran = looping.start(loop::runDue);
        await(began);
        assertEquals(List.of(self[0]), s.shutdownNow());
        go.countDown();
        assertEquals(1, result(ran));
        assertTrue(refused.get());
        assertAccount(s, 2, 1, 0, 0, 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void close_inALoopsCallback_doesNotWaitForIt(int workers) {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = s.attach(NOTHING);
        loop.after(NOW, () -> {
            s.close();
            ended.set(true);
        });
        Timer next = loop.after(NOW, NOTHING);
        assertEquals(1, loop.runDue());
        assertTrue(ended.get());
        assertFalse(next.isPending());
        s.close();
        loop.close();
        assertAccount(s, 2, 1, 0, 0, 1);
    }

    @Test
    void close_inALoopsCallback_waitsForAnotherLoops() {
        TimerScheduler s = scheduler(0);
        TimerLoop busy = looping.call(() -> s.attach(NOTHING));
        busy.after(NOW, this::block);
        looping.start(busy::runDue);
        await(began);
        TimerLoop closer = closing.call(() -> s.attach(NOTHING));
        AtomicBoolean waited = new AtomicBoolean();
        closer.after(NOW, () -> {
            s.close();
            waited.set(ended.get());
        });
        Future<Integer> ran = closing.start(closer::runDue);
        awaitClosing(s);
        go.countDown();
        assertEquals(1, result(ran));
        assertTrue(waited.get());
    }

    @Test
    void close_inCallbacksOfTwoLoops_noneWaitsForTheOther() {
        TimerScheduler s = scheduler(0);
        TimerLoop a = looping.call(() -> s.attach(NOTHING));
        TimerLoop b = closing.call(() -> s.attach(NOTHING));
        CountDownLatch both = new CountDownLatch(2);
        Runnable close = () -> {
            both.countDown();
            await(both);
            s.close();
        };
        a.after(NOW, close);
        b.after(NOW, close);
        Future<Integer> first = looping.start(a::runDue);
        Future<Integer> second = closing.start(b::runDue);
        assertEquals(1, result(first));
        assertEquals(1, result(second));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void close_inACallbackAfterTheLoopIsClosed_doesNotWaitForIt(int workers) {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = s.attach(NOTHING);
        loop.after(NOW, () -> {
            loop.close();
            s.close();
            ended.set(true);
        });
        assertEquals(1, loop.runDue());
        assertTrue(ended.get());
        assertEquals(0, s.engine.loops.all().length);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void close_loopWasClosedInTheCallbackThatStillRuns_waitsForIt(int workers) {
        TimerScheduler s = scheduler(workers);
        TimerLoop loop = looping.call(() -> s.attach(NOTHING));
        loop.after(NOW, () -> {
            loop.close();
            block();
        });
        Future<Integer> ran = looping.start(loop::runDue);
        await(began);
        Future<Boolean> closed = startClose(s);
        awaitClosing(s);
        go.countDown();
        assertTrue(result(closed));
        assertEquals(1, result(ran));
    }

    @Test
    void cancelAndAwait_callbackOfALoop_waitsForItsEnd() {
        TimerScheduler s = scheduler(0);
        TimerLoop loop = looping.call(() -> s.attach(NOTHING));
        Timer t = loop.after(NOW, this::block);
        looping.start(loop::runDue);
        await(began);
        Future<Boolean> stopped = closing.start(() -> t.cancelAndAwait(HOUR) && ended.get());
        closing.awaitWaiting();
        go.countDown();
        assertTrue(result(stopped));
        s.close();
    }
}
