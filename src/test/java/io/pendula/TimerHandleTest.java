package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a handle tells of its timer: the program's own task, when it is due, and a text that names both. */
@Timeout(60)
class TimerHandleTest {
    /** A task whose name a log line should have. */
    static final class Heartbeat implements Runnable, Callable<String> {
        @Override
        public void run() {}

        @Override
        public String call() {
            return "beat";
        }

        @Override
        public String toString() {
            throw new AssertionError("a text about a timer must not call the task");
        }
    }

    private static final String NAME = Heartbeat.class.getName();
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();
    private final SchedulerExecutor view = timers.asScheduledExecutorService();
    private final Heartbeat task = new Heartbeat();

    @AfterEach
    void close() {
        timers.close();
    }

    private static TimerHandle handle(Future<?> f) {
        return (TimerHandle) f;
    }

    @Test
    void timer_tellsItsTaskUntilItIsCancelled() {
        Timer t = timers.after(SECOND, task);
        assertSame(task, t.task());
        assertEquals("Timer[" + NAME + ", due in 1 s, scheduler timers]", t.toString());
        clock.advance(SECOND);
        assertSame(task, t.task(), "it may be reset");
        assertEquals("Timer[" + NAME + ", not pending, scheduler timers]", t.toString());
        t.cancel();
        assertNull(t.task());
        assertEquals("Timer[cancelled, scheduler timers]", t.toString());
    }

    @Test
    void ticker_tellsItsTaskPeriodAndNextTick() {
        Ticker t = timers.every(SECOND, task);
        clock.advance(Duration.ofMillis(300));
        assertSame(task, t.task());
        assertTrue(t.isPending());
        assertEquals(Duration.ofMillis(700), t.remaining());
        assertEquals("Ticker[" + NAME + ", every 1 s, due in 700 ms, scheduler timers]", t.toString());
        t.stop();
        assertFalse(t.isPending());
        assertEquals(Duration.ZERO, t.remaining());
        assertEquals("Ticker[" + NAME + ", every 1 s, not pending, scheduler timers]", t.toString());
        t.close();
        assertNull(t.task());
        assertEquals("Ticker[cancelled, every 1 s, scheduler timers]", t.toString());
    }

    @Test
    void alarms_haveNoTask() {
        assertNull(timers.alarm(SECOND).task());
        assertNull(timers.alarmEvery(SECOND).task());
        assertEquals("Alarm[no task, due in 1 s, scheduler timers]", timers.alarm(SECOND).toString());
        assertEquals("Alarm[no task, every 1 s, due in 1 s, scheduler timers]", timers.alarmEvery(SECOND).toString());
    }

    @Test
    void executorsTasks_tellRunnableOrCallable() {
        TimerHandle runnable = handle(view.schedule((Runnable) task, 1, TimeUnit.SECONDS));
        TimerHandle callable = handle(view.schedule((Callable<String>) task, 1, TimeUnit.SECONDS));
        TimerHandle rate = handle(view.scheduleAtFixedRate(task, 1, 2, TimeUnit.SECONDS));
        TimerHandle delay = handle(view.scheduleWithFixedDelay(task, 1, 2, TimeUnit.SECONDS));
        for (TimerHandle h : List.of(runnable, callable, rate, delay)) {
            assertSame(task, h.task());
            assertTrue(h.isPending());
            assertEquals(SECOND, h.remaining());
        }
        assertEquals("Task[" + NAME + ", due in 1 s, scheduler timers]", callable.toString());
        assertEquals("Task[" + NAME + ", every 2 s, due in 1 s, scheduler timers]", rate.toString());
        assertEquals("Task[" + NAME + ", 2 s after each run, due in 1 s, scheduler timers]", delay.toString());
        clock.advance(SECOND);
        assertNull(callable.task(), "it has ended");
        assertFalse(callable.isPending());
        assertEquals("Task[done, scheduler timers]", callable.toString());
        assertSame(task, rate.task());
        ((Future<?>) rate).cancel(false);
        assertNull(rate.task());
        assertEquals("Task[cancelled, every 2 s, scheduler timers]", rate.toString());
    }

    @Test
    void lambda_nameTellsItsMaker() {
        String text = timers.after(SECOND, () -> {}).toString();
        assertTrue(text.startsWith("Timer[" + TimerHandleTest.class.getName() + "$$Lambda"), text);
    }

    @Test
    void taskThatIsItsOwnTimersHolder_textDoesNotRecurse() {
        Timer[] own = new Timer[1];
        class Holder implements Runnable {
            @Override
            public void run() {}

            @Override
            public String toString() {
                return "holder of " + own[0];
            }
        }
        own[0] = timers.after(SECOND, new Holder());
        assertTrue(own[0].toString().contains("Holder, due in 1 s"));
    }

    /** The thread that advances the clock runs the callbacks. */
    @Test
    void runner_isTheThreadThatIsInTheCallback() {
        Timer[] own = new Timer[1];
        Thread[] found = new Thread[1];
        own[0] = timers.after(SECOND, () -> found[0] = own[0].runner());
        assertNull(own[0].runner());
        clock.advance(SECOND);
        assertSame(Thread.currentThread(), found[0]);
        assertNull(own[0].runner());
        assertEquals("timers", own[0].schedulerName());
    }

    @Test
    void runner_ofACallbackInAnExecutor_isItsThread() {
        ArrayDeque<Runnable> handed = new ArrayDeque<>();
        Thread[] found = new Thread[1];
        TimerScheduler s = TimerScheduler.builder().name("handing").clock(clock).executor(handed::add).build();
        Ticker[] own = new Ticker[1];
        own[0] = s.every(SECOND, () -> found[0] = own[0].runner());
        clock.advance(SECOND);
        assertNull(own[0].runner(), "it waits in the executor");
        handed.remove().run();
        assertSame(Thread.currentThread(), found[0]);
        assertNull(own[0].runner());
        assertEquals("handing", own[0].schedulerName());
        own[0].close();
        s.close();
    }

    @Test
    void cancel_ofEachKind_endsItForGoodAndTellsWhetherAFiringWasToCome() {
        List<TimerHandle> all = List.of(timers.after(SECOND, task), timers.every(SECOND, task), timers.alarm(SECOND), timers.alarmEvery(SECOND),
                handle(view.schedule((Runnable) task, 1, TimeUnit.SECONDS)),
                handle(view.scheduleAtFixedRate(task, 1, 1, TimeUnit.SECONDS)));
        for (TimerHandle h : all) {
            assertTrue(h.cancel(), h::toString);
            assertFalse(h.cancel(), h::toString);
            assertFalse(h.isPending());
            assertNull(h.task());
        }
        assertEquals(0, timers.pending());
        assertThrows(IllegalStateException.class, () -> ((Ticker) all.get(1)).reset(SECOND));
        Ticker stopped = timers.every(SECOND, task);
        stopped.stop();
        assertFalse(stopped.cancel());
    }

    @Test
    void cancel_ofWhatPends_endsAll() {
        timers.after(SECOND, task);
        timers.every(1, TimeUnit.SECONDS, task);
        view.schedule((Runnable) task, 1, TimeUnit.SECONDS);
        timers.pendingTimers(9).forEach(p -> assertTrue(p.timer().cancel()));
        assertEquals(0, timers.pending());
    }

    @Test
    void every_byANumber_isAsByADuration() {
        try (TimerLoop loop = timers.attach(() -> {})) {
            Ticker shared = TimerScheduler.shared().every(2, TimeUnit.HOURS, task);
            shared.cancel();
            for (Ticker t : List.of(timers.every(90, TimeUnit.MINUTES, task), loop.every(90, TimeUnit.MINUTES, task))) {
                assertEquals(Duration.ofMinutes(90), t.remaining());
                assertTrue(t.toString().contains("every 1 h 30 min"), t::toString);
            }
            assertThrows(IllegalArgumentException.class, () -> timers.every(0, TimeUnit.SECONDS, task));
            assertThrows(NullPointerException.class, () -> timers.every(1, null, task));
            assertThrows(NullPointerException.class, () -> loop.every(1, TimeUnit.SECONDS, null));
        }
    }

    @Test
    void rejected_ofAClosedScheduler_isToldWhichOne() {
        TimerScheduler io = TimerScheduler.builder().name("io").clock(clock).build();
        Timer t = io.after(SECOND, task);
        io.close();
        assertEquals("scheduler 'io' is closed",
                assertThrows(RejectedExecutionException.class, () -> io.after(SECOND, task)).getMessage());
        assertEquals("scheduler 'io' is closed",
                assertThrows(RejectedExecutionException.class, () -> t.reset(SECOND)).getMessage());
    }

    @Test
    void handle_hasTheDocumentedMembers() {
        assertEquals(Set.of("of", "cancel", "cancelAndAwait", "task", "remaining", "isPending", "latenessNanos", "runner",
                "schedulerName", "toString"),
                Stream.of(TimerHandle.class.getMethods()).map(m -> m.getName()).collect(Collectors.toSet()));
    }
}
