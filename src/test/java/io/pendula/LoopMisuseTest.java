package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.elsewhere;
import static io.pendula.LoopFixtures.runElsewhere;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong thread, wrong moment, wrong argument: each is told in words, and changes nothing. */
@Timeout(60)
class LoopMisuseTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).workers(0).build();
    private final TimerLoop loop = timers.attach(NOTHING);

    /** The methods that are the loop's thread's own. */
    enum Own {
        NANOS_UNTIL_NEXT("nanosUntilNext", TimerLoop::nanosUntilNext),
        RUN_DUE("runDue", TimerLoop::runDue),
        RUN_DUE_LIMIT("runDue", l -> l.runDue(1)),
        SELECT("select", l -> {
            try (Selector selector = Selector.open()) {
                selector.wakeup(); // should it be let in, it must not wait
                l.select(selector);
            }
        });

        private interface Call {
            void on(TimerLoop loop) throws Exception;
        }

        private final String method;
        private final Call call;

        Own(String method, Call call) {
            this.method = method;
            this.call = call;
        }

        Executable on(TimerLoop loop) {
            return () -> call.on(loop);
        }
    }

    private static String messageOf(Executable call) {
        return assertThrows(IllegalStateException.class, call).getMessage();
    }

    /** One timer is armed, and works. */
    private void assertUnharmed() {
        assertEquals(HOUR.toNanos(), loop.nanosUntilNext());
        clock.advance(HOUR);
        assertEquals(1, loop.runDue());
        assertEquals(1, timers.stats().armed());
    }

    // ---- the wrong thread ----

    @ParameterizedTest
    @EnumSource
    void call_byAnotherThread_namesBothThreadsAndTheMethod(Own own) {
        loop.after(HOUR, NOTHING);
        String message = elsewhere(() -> messageOf(own.on(loop)));
        assertEquals(own.method + " was called by thread elsewhere, but the loop belongs to thread "
                + Thread.currentThread().getName(), message);
        assertUnharmed();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void close_byAnotherThread_namesBothThreadsAndTheMethod(boolean detach) {
        loop.after(HOUR, NOTHING);
        String message = elsewhere(() -> messageOf(detach ? loop::detach : loop::close));
        assertEquals((detach ? "detach" : "close") + " was called by thread elsewhere, but the loop belongs to thread "
                + Thread.currentThread().getName(), message);
        assertUnharmed();
    }

    @ParameterizedTest
    @EnumSource
    void call_ofALoopWhoseThreadHasEnded_isStillOnlyThatThreads(Own own) {
        TimerLoop ended = elsewhere(() -> timers.attach(NOTHING));
        assertTrue(messageOf(own.on(ended)).contains("elsewhere"));
        ended.close();
    }

    // ---- the wrong moment ----

    @ParameterizedTest
    @EnumSource
    void call_inCallback_namesTheMethod(Own own) {
        List<String> messages = new ArrayList<>();
        loop.after(NOW, () -> messages.add(messageOf(own.on(loop))));
        loop.after(NOW, NOTHING);
        assertEquals(2, loop.runDue());
        assertEquals(List.of(own.method + " was called by a callback that the loop is running"), messages);
    }

    @ParameterizedTest
    @EnumSource
    void call_afterClose_namesTheMethod(Own own) {
        loop.close();
        assertEquals(own.method + " was called after the loop was closed", messageOf(own.on(loop)));
    }

    @ParameterizedTest
    @EnumSource
    void call_inCallbackThatHasClosedTheLoop_namesTheMethod(Own own) {
        List<String> messages = new ArrayList<>();
        loop.after(NOW, () -> {
            loop.close();
            messages.add(messageOf(own.on(loop)));
        });
        assertEquals(1, loop.runDue());
        assertEquals(List.of(own.method + " was called after the loop was closed"), messages);
    }

    @Test
    void close_again_doesNoHarm() {
        loop.after(HOUR, NOTHING);
        assertEquals(1, loop.detach().size());
        assertEquals(List.of(), loop.detach());
        loop.close();
        assertEquals(1, timers.stats().unfired());
    }

    @Test
    void arm_afterClose_isRejected() {
        Timer t = loop.after(HOUR, NOTHING);
        loop.close();
        List<Executable> calls = List.of(
                () -> loop.after(NOW, NOTHING),
                () -> loop.after(1, TimeUnit.HOURS, NOTHING),
                () -> loop.every(HOUR, NOTHING),
                () -> loop.every(HOUR, MissedTicks.BURST, NOTHING));
        for (Executable call : calls) {
            assertEquals("the loop is closed", assertThrows(RejectedExecutionException.class, call).getMessage());
        }
        assertEquals("the loop that the timer belongs to is closed",
                assertThrows(RejectedExecutionException.class, () -> t.reset(NOW)).getMessage());
        assertEquals(1, timers.stats().armed());
    }

    // ---- wrong arguments ----

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void runDue_limitBelowOne_isRejected(int limit) {
        loop.after(NOW, NOTHING);
        assertEquals("limit must be at least 1, but is " + limit,
                assertThrows(IllegalArgumentException.class, () -> loop.runDue(limit)).getMessage());
        assertEquals(1, loop.runDue());
    }

    @Test
    void arm_badArgument_namesArgumentAndArmsNothing() {
        assertEquals("delay must not be null", nullMessage(() -> loop.after(null, NOTHING)));
        assertEquals("task must not be null", nullMessage(() -> loop.after(HOUR, null)));
        assertEquals("unit must not be null", nullMessage(() -> loop.after(1, null, NOTHING)));
        assertEquals("task must not be null", nullMessage(() -> loop.after(1, TimeUnit.HOURS, null)));
        assertEquals("period must not be null", nullMessage(() -> loop.every(null, NOTHING)));
        assertEquals("task must not be null", nullMessage(() -> loop.every(HOUR, null)));
        assertEquals("missedTicks must not be null", nullMessage(() -> loop.every(HOUR, (MissedTicks) null, NOTHING)));
        assertEquals("period must be positive, but is PT0S",
                assertThrows(IllegalArgumentException.class, () -> loop.every(NOW, NOTHING)).getMessage());
        assertEquals(0, timers.stats().armed());
    }

    private static String nullMessage(Executable call) {
        return assertThrows(NullPointerException.class, call).getMessage();
    }

    @Test
    void select_nullOrClosedSelector_isRejectedAndTheLoopIsUp() throws Exception {
        LoopFixtures.Bell bell = new LoopFixtures.Bell();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).workers(0).build();
                TimerLoop l = s.attach(bell)) {
            assertEquals("selector must not be null", nullMessage(() -> l.select(null)));
            Selector closed = Selector.open();
            closed.close();
            assertThrows(ClosedSelectorException.class, () -> l.select(closed));
            runElsewhere(() -> l.after(NOW, NOTHING));
            assertEquals(0, bell.rings());
            assertThrows(ClosedSelectorException.class, () -> l.select(closed), "also if it need not wait");
            assertEquals(1, l.runDue());
        }
    }

    // ---- attaching ----

    @Test
    void attach_nullWakeup_isRejected() {
        runElsewhere(() -> {
            assertEquals("wakeup must not be null", nullMessage(() -> timers.attach(null)));
            assertEquals("wakeup must not be null", nullMessage(() -> timers.attach(null)));
        });
    }

    @Test
    void attach_twiceByOneThread_isRejectedUntilTheFirstIsClosed() {
        String message = "the thread " + Thread.currentThread().getName() + " has a loop of this scheduler already";
        assertEquals(message, messageOf(() -> timers.attach(NOTHING)));
        assertEquals(message, messageOf(() -> timers.attach(NOTHING)));
        List<String> inCallback = new ArrayList<>(); // as an assertion that fails there does not fail the test
        loop.after(NOW, () -> inCallback.add(messageOf(() -> timers.attach(NOTHING))));
        assertEquals(1, loop.runDue());
        assertEquals(List.of(message), inCallback);
        loop.close();
        timers.attach(NOTHING).close();
    }

    @Test
    void attach_toAClosedScheduler_isRejected() {
        loop.close();
        timers.close();
        assertEquals("scheduler '" + timers.stats().name() + "' is closed", messageOf(() -> timers.attach(NOTHING)));
        assertEquals("scheduler '" + timers.stats().name() + "' is closed", messageOf(() -> timers.attach(NOTHING)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void attach_inAWorkersCallback_isRejected(boolean ownThreads) {
        TimerScheduler.Builder b = TimerScheduler.builder().name("misuse").workers(1);
        if (!ownThreads) {
            b.threadFactory(r -> {
                Thread t = new Thread(r, "pendula-misuse-worker-0");
                t.setDaemon(true);
                return t;
            });
        }
        try (TimerScheduler s = b.monitor(false).build()) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            CountDownLatch ran = new CountDownLatch(1);
            s.after(NOW, () -> {
                thrown.set(assertThrows(IllegalStateException.class, () -> s.attach(NOTHING)));
                ran.countDown();
            });
            await(ran);
            assertEquals("the thread pendula-misuse-worker-0 is a worker of this scheduler",
                    thrown.get().getMessage());
        }
    }

    @Test
    void attach_schedulerWithExecutor_isRejected() {
        try (TimerScheduler s = TimerScheduler.builder().name("pooled").clock(clock).executor(Runnable::run).build()) {
            assertEquals("scheduler 'pooled' runs callbacks on its executor, so attach cannot confine them to the"
                    + " calling thread", messageOf(() -> s.attach(NOTHING)));
        }
    }

    @Test
    void build_noWorkersButMaxWorkers_isRejected() {
        assertEquals("a scheduler without workers has no threads, but maxThreads is 1",
                assertThrows(IllegalArgumentException.class,
                        () -> TimerScheduler.builder().workers(0).maxThreads(1).build()).getMessage());
    }

    @Test
    void attach_toTheSharedScheduler_isAllowed() {
        runElsewhere(() -> {
            try (TimerLoop l = TimerScheduler.shared().attach(NOTHING)) {
                AtomicReference<Thread> on = new AtomicReference<>();
                Timer.after(1, TimeUnit.NANOSECONDS, () -> on.set(Thread.currentThread()));
                while (on.get() == null) {
                    l.runDue();
                }
                assertEquals(Thread.currentThread(), on.get());
            }
            CountDownLatch ran = new CountDownLatch(1);
            Timer.after(NOW, ran::countDown);
            await(ran);
        });
    }

    // ---- for people ----

    @Test
    void toString_loopAndScheduler_tellThreadAndState() {
        assertEquals("TimerLoop[" + Thread.currentThread().getName() + ", scheduler timers]", loop.toString());
        assertEquals("TimerScheduler[timers, 0 workers, 1 loop]", timers.toString());
        String confined = elsewhere(() -> {
            TimerLoop l = timers.attach(NOTHING);
            String text = l.toString();
            l.close();
            return text + l;
        });
        assertEquals("TimerLoop[elsewhere, scheduler timers]TimerLoop[elsewhere, closed, scheduler timers]",
                confined);
        loop.close();
        assertNotNull(loop.toString());
        assertEquals("TimerScheduler[timers, 0 workers]", timers.toString());
    }
}
