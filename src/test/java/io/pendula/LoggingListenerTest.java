package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.internal.engine.EventLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.ResourceBundle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LoggingListenerTest {
    private record Line(System.Logger.Level level, String text, Throwable thrown, Thread by) {}

    /** Keeps what is logged. */
    private static final class Log extends TestLog {
        final Queue<Line> lines = new ConcurrentLinkedQueue<>();
        final CountDownLatch open = new CountDownLatch(1);
        final AtomicInteger failures = new AtomicInteger();
        Error error = new AssertionError("meant");
        boolean blocks;

        @Override
        public void log(Level level, ResourceBundle bundle, String msg, Throwable thrown) {
            if (blocks) {
                LifeFixtures.await(open);
            }
            if (failures.getAndDecrement() > 0) {
                throw error;
            }
            lines.add(new Line(level, msg, thrown, Thread.currentThread()));
        }
    }

    private final long usualWait = EventLog.longestWaitNanos;
    private final Log log = new Log();
    private final ManualClock clock = new ManualClock();

    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofSeconds(100);

    /** A close waits for a log that blocks. */
    @BeforeEach
    void waitLong() {
        EventLog.longestWaitNanos = LONG.toNanos();
    }

    @AfterEach
    void waitAsUsual() {
        EventLog.longestWaitNanos = usualWait;
    }

    private TimerListener listener(Duration window) {
        return new Listeners.Logging(new EventLog(log, window.toNanos()));
    }

    /** As the clock goes on by a millisecond with each reading, all callbacks are slow. */
    @Test
    void slow_tenThousandCallbacks_areTenLinesAndACount() {
        Duration window = Duration.ofSeconds(2);
        AtomicLong time = new AtomicLong();
        TimerListener listener = listener(window);
        long took;
        try (TimerScheduler s = TimerScheduler.builder().workers(0).monitor(false).clock(() -> time.addAndGet(1_000_000))
                .slowCallback(Duration.ofNanos(1)).listener(listener).build(); TimerLoop loop = s.attach(() -> {})) {
            TimerHandleTest.Heartbeat beat = new TimerHandleTest.Heartbeat();
            long begun = System.nanoTime();
            for (int i = 0; i < 10_000; i++) {
                loop.after(Duration.ZERO, beat);
                loop.runDue();
            }
            took = System.nanoTime() - begun;
            assertEquals(10_000, s.stats().callbacksSlow());
        }
        assumeTrue(took < window.toNanos(), "the machine was too busy");
        eventually("the count", () -> log.lines.size() == 11);
        List<Line> lines = new ArrayList<>(log.lines);
        for (Line line : lines.subList(0, 10)) {
            assertSame(System.Logger.Level.WARNING, line.level);
            assertTrue(line.text.startsWith("the callback of Timer[" + TimerHandleTest.Heartbeat.class.getName()
                    + ", scheduler timers], "), line.text);
            assertTrue(line.text.endsWith(" in " + Thread.currentThread().getName()), line.text);
        }
        assertTrue(lines.get(10).text.startsWith("9,990 more callbacks were slow within 2 s, the longest "),
                lines.get(10).text);
    }

    @Test
    void slow_elevenAndThenOne_areTenLinesACountAndALine() {
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        Timer t = s.after(Duration.ofSeconds(1), new TimerHandleTest.Heartbeat());
        TimerListener listener = listener(SHORT);
        for (int i = 0; i < 11; i++) {
            listener.slow(t, 1_500_000, 20_000_000);
        }
        eventually("the count", () -> log.lines.size() == 11);
        List<Line> lines = new ArrayList<>(log.lines);
        assertEquals("the callback of Timer[" + TimerHandleTest.Heartbeat.class.getName()
                + ", scheduler timers], 1.5 ms late, took 20 ms in " + Thread.currentThread().getName(),
                lines.get(0).text);
        eventually("the thread has ended", () -> !lines.get(0).by.isAlive());
        assertTrue(lines.get(0).by.isDaemon());
        assertEquals(11, log.lines.size());
        listener.slow(t, 0, 1);
        eventually("another window", () -> log.lines.size() == 12);
    }

    @Test
    void kinds_haveLimitsOfTheirOwn() {
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        Timer t = s.after(Duration.ofSeconds(1), () -> {});
        TimerListener listener = listener(SHORT);
        Throwable thrown = new IllegalStateException("x");
        for (int i = 0; i < 10; i++) {
            listener.threw(t, 0, thrown);
            listener.stalled(t, 0, 1);
        }
        listener.paused(2_000_000_000);
        eventually("all of them", () -> log.lines.size() == 21);
        assertEquals(10, log.lines.stream().filter(l -> l.thrown == thrown
                && l.level == System.Logger.Level.ERROR).count());
        assertTrue(log.lines.stream().anyMatch(l -> l.text.equals("no thread could run for 2 s")));
    }

    @Test
    void logThatBlocks_delaysNobodyElse() {
        log.blocks = true;
        TimerListener listener = listener(SHORT);
        TimerScheduler s = TimerScheduler.builder().clock(clock).listener(listener).build();
        for (int i = 0; i < 100; i++) {
            s.after(Duration.ZERO, () -> {
                throw new IllegalStateException("x");
            });
        }
        assertEquals(100, clock.advance(Duration.ZERO));
        assertEquals(0, log.lines.size());
        log.open.countDown();
        eventually("ten lines and a count", () -> log.lines.size() == 11);
    }

    private interface Close {
        void call() throws Exception;
    }

    /** Logs an exception, then closes; the log opens only once the closing thread waits for it. */
    private void assertWaitsForTheLog(TimerScheduler s, Close close) throws Exception {
        log.blocks = true;
        AtomicInteger lines = new AtomicInteger();
        s.after(Duration.ZERO, () -> {
            throw new IllegalStateException("the last one");
        });
        clock.advance(Duration.ZERO);
        FutureTask<?> closer = new FutureTask<>(() -> {
            close.call();
            lines.set(log.lines.size());
            return null;
        });
        Thread thread = new Thread(closer);
        thread.start();
        eventually("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING || !thread.isAlive());
        log.open.countDown();
        closer.get();
        assertEquals(1, lines.get());
    }

    @Test
    void close_linesAddedBefore_areWrittenWhenItReturns() throws Exception {
        TimerScheduler s = TimerScheduler.builder().clock(clock).listener(listener(SHORT)).build();
        assertWaitsForTheLog(s, s::close);
    }

    @Test
    void closeWithLimit_linesAddedBefore_areWrittenWhenItReturns() throws Exception {
        TimerScheduler s = TimerScheduler.builder().clock(clock).listener(listener(SHORT)).build();
        assertWaitsForTheLog(s, () -> assertTrue(s.close(LONG)));
    }

    /** A pool's program may know the JDK's methods only. */
    @Test
    void awaitTermination_linesAddedBefore_areWrittenWhenItReturns() throws Exception {
        TimerScheduler s = TimerScheduler.builder().clock(clock).listener(listener(SHORT)).build();
        SchedulerExecutor view = s.asScheduledExecutorService();
        assertWaitsForTheLog(s, () -> {
            view.shutdown();
            assertTrue(view.awaitTermination(LONG.toSeconds(), TimeUnit.SECONDS));
        });
    }

    @Test
    void close_logThatBlocks_isWaitedForSomeSecondsAndNoLongerThanTheLimit() {
        assertEquals(Duration.ofSeconds(5).toNanos(), usualWait);
        log.blocks = true;
        listener(SHORT).paused(1);
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        assertTrue(s.close(Duration.ofMillis(1)));
        EventLog.longestWaitNanos = SHORT.toNanos();
        long begun = System.nanoTime();
        s.close();
        long took = System.nanoTime() - begun;
        assertTrue(took >= SHORT.toNanos() && took < LONG.toNanos() / 2, () -> took + " ns");
        log.open.countDown();
        eventually("the line", () -> log.lines.size() == 1);
    }

    @Test
    void close_interruptedWhileItWaitsForTheLog_returnsWithTheFlagSet() throws Exception {
        log.blocks = true;
        listener(SHORT).paused(1);
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        FutureTask<Boolean> closer = new FutureTask<>(() -> {
            s.close();
            return Thread.interrupted();
        });
        Thread thread = new Thread(closer);
        thread.start();
        eventually("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
        thread.interrupt();
        assertTrue(closer.get());
        assertEquals(0, log.lines.size());
        log.open.countDown();
    }

    /** The line in progress waits for itself, but not for ever. */
    @Test
    void close_byTheLogsThread_returns() {
        EventLog.longestWaitNanos = SHORT.toNanos();
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        record Closing(TimerScheduler s) implements Runnable {
            @Override
            public void run() {}

            @Override
            public String toString() {
                s.close();
                return "closing";
            }
        }
        listener(SHORT).slow(s.after(Duration.ofSeconds(1), new Closing(s)), 0, 1);
        eventually("the line", () -> !log.lines.isEmpty());
    }

    /** As a logger of the program's may do to any thread. */
    @Test
    void logsThread_interrupted_goesOnUntilTheWindowIsOver() {
        TimerListener listener = listener(SHORT);
        listener.paused(1);
        eventually("the line", () -> !log.lines.isEmpty());
        for (int i = 0; i < 10; i++) {
            log.lines.peek().by.interrupt();
            listener.paused(1);
        }
        eventually("the count", () -> log.lines.size() == 11);
    }

    /** A log cannot look into an executor, whose thread is the program's. */
    @Test
    void stalled_byNoThreadOfTheScheduler_hasNoStack() {
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        listener(SHORT).stalled(s.after(Duration.ofSeconds(1), () -> {}), 0, 1);
        eventually("it", () -> !log.lines.isEmpty());
        assertNull(log.lines.peek().thrown);
    }

    @Test
    void loopStalled_tellsWhereItsThreadIs() {
        TimerScheduler s = TimerScheduler.builder().workers(0).clock(clock).build();
        TimerLoop loop = s.attach(() -> {});
        listener(SHORT).loopStalled(loop, loop.after(Duration.ZERO, () -> {}), 5_000_000);
        eventually("it", () -> !log.lines.isEmpty());
        Throwable where = log.lines.peek().thrown;
        assertEquals("stack of " + Thread.currentThread().getName() + ":", where.toString());
        assertTrue(Arrays.stream(where.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(LoggingListenerTest.class.getName())));
        loop.close();
    }

    @Test
    void stalled_hasTheStackOfTheThread() {
        CountDownLatch release = new CountDownLatch(1);
        try (TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(2).stallAfter(Duration.ofMillis(1))
                .listener(listener(SHORT)).build()) {
            s.after(Duration.ZERO, new Runnable() {
                @Override
                public void run() {
                    LifeFixtures.await(release);
                }
            });
            eventually("it", () -> !log.lines.isEmpty());
            release.countDown();
        }
        String text = log.lines.peek().text;
        Throwable where = log.lines.peek().thrown;
        assertTrue(where.toString().matches("stack of pendula-.*-worker-.*:"), where::toString);
        assertTrue(Arrays.stream(where.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("await")
                && frame.getClassName().equals(LifeFixtures.class.getName())), () -> Arrays.toString(where.getStackTrace()));
        assertTrue(text.contains("Timer[" + LoggingListenerTest.class.getName() + "$1, scheduler "), text);
        assertTrue(text.contains("has blocked its thread for"), text);
    }

    @Test
    void timedOut_hasTheStackOfTheThread() {
        CountDownLatch never = new CountDownLatch(1);
        Runnable task = new Runnable() {
            @Override
            public void run() {
                assertThrows(InterruptedException.class, never::await);
            }
        };
        try (SchedulerExecutor pool = TimerExecutors.builder().name("db").runTimeout(Duration.ofMillis(20))
                .listener(listener(SHORT)).build()) {
            pool.execute(task);
            eventually("it", () -> !log.lines.isEmpty());
        }
        Line line = log.lines.poll();
        assertEquals(System.Logger.Level.WARNING, line.level);
        assertTrue(line.text.startsWith("the callback of Task[" + task.getClass().getName() + ", scheduler db], "), line.text);
        assertTrue(line.text.endsWith(" late, has run for 20 ms and is interrupted"), line.text);
        assertTrue(line.thrown.toString().startsWith("stack of pendula-db-worker-"), line.thrown::toString);
        assertTrue(Arrays.stream(line.thrown.getStackTrace()).anyMatch(frame -> frame.getClassName().equals(task.getClass().getName())),
                () -> Arrays.toString(line.thrown.getStackTrace()));
    }

    @Test
    void allBlocked_saysThatTimersWait() {
        TimerListener listener = listener(SHORT);
        listener.allBlocked("io", 18, 5_118_000_000L);
        listener.allBlocked("one", 1, 5_118_000_000L);
        eventually("both", () -> log.lines.size() == 2);
        assertEquals("all 18 threads of scheduler io are in callbacks for 5.118 s; its timers wait", log.lines.poll().text);
        assertEquals("the only thread of scheduler one is in a callback for 5.118 s; its timers wait",
                log.lines.poll().text);
    }

    /** A task that says which one it is. */
    private record Report(String name) implements Runnable {
        @Override
        public void run() {}

        @Override
        public String toString() {
            return "report " + name;
        }
    }

    @Test
    void schedulers_haveBudgetsOfTheirOwn_andTheCountNamesTheLongest() {
        TimerScheduler noisy = TimerScheduler.builder().name("noisy").clock(clock).build();
        TimerScheduler important = TimerScheduler.builder().name("important").clock(clock).build();
        TimerListener listener = listener(SHORT);
        Timer often = noisy.after(Duration.ofSeconds(1), new Report("of each second"));
        for (int i = 1; i <= 1_000; i++) {
            listener.slow(often, 0, 1_000_000);
        }
        listener.slow(noisy.after(Duration.ofSeconds(1), new Report("of the year")), 0, 2_500_000_000L);
        for (int i = 1; i <= 213; i++) {
            listener.slow(often, 0, 1_000_000);
        }
        listener.slow(important.after(Duration.ofSeconds(1), new Report("of the day")), 0, 3_000_000_000L);
        eventually("ten lines, one, and a count", () -> log.lines.size() == 12);
        List<String> texts = log.lines.stream().map(Line::text).toList();
        assertEquals("the callback of Timer[report of the day, scheduler important], 0 ms late, took 3 s in "
                + Thread.currentThread().getName(), texts.get(10));
        assertEquals("1,204 more callbacks were slow within 300 ms, the longest 2.5 s: Timer[report of the year, scheduler"
                + " noisy]", texts.get(11));
    }

    /** The task's text is made by the log's thread, and not at all if there is no line for it. */
    @Test
    void task_whoseToStringBlocks_holdsUpNobodyElse() {
        CountDownLatch release = new CountDownLatch(1);
        Queue<Thread> askedBy = new ConcurrentLinkedQueue<>();
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        Timer t = s.after(Duration.ofSeconds(1), new Runnable() {
            @Override
            public void run() {}

            @Override
            public String toString() {
                askedBy.add(Thread.currentThread());
                LifeFixtures.await(release);
                return "x".repeat(1_000);
            }
        });
        TimerListener listener = listener(SHORT);
        for (int i = 0; i < 20; i++) {
            listener.slow(t, 0, 1);
        }
        t.cancel();
        release.countDown();
        eventually("ten lines and a count", () -> log.lines.size() == 11);
        assertEquals(11, askedBy.size());
        assertTrue(askedBy.stream().allMatch(by -> by.getName().equals("pendula-log")), askedBy::toString);
        assertTrue(log.lines.peek().text.contains("x".repeat(200) + "..., scheduler timers]"), log.lines.peek().text);
    }

    /** What a line, and the count of those that are left out, end in ends neither the log nor its windows. */
    @Test
    void logger_thatThrowsAnError_isAskedAgain() {
        TimerListener listener = listener(SHORT);
        log.error = new OutOfMemoryError("meant");
        log.failures.set(11);
        for (int i = 0; i < 11; i++) {
            listener.paused(1_000_000_000);
        }
        eventually("their failures", () -> log.failures.get() == 0);
        for (int i = 0; i < 11; i++) {
            listener.paused(2_000_000_000);
        }
        eventually("all of them", () -> log.lines.size() == 11);
        List<String> texts = log.lines.stream().map(Line::text).toList();
        assertEquals("no thread could run for 2 s", texts.get(0));
        assertEquals("1 more pauses within 300 ms, the longest 2 s", texts.get(10));
    }

    /** What fails for each line, as a task's text or the logger, ends neither the thread nor the lines after it. */
    @Test
    void line_thatFails_theNextOnesAreWritten() {
        TimerListener listener = listener(SHORT);
        TimerScheduler s = TimerScheduler.builder().clock(clock).build();
        log.failures.set(1);
        listener.paused(1_000_000_000);
        listener.slow(s.after(Duration.ofSeconds(1), new TimerHandleTest.Heartbeat()), 0, 1_000_000); // whose toString fails
        eventually("the other", () -> log.lines.size() == 1);
        assertTrue(log.lines.peek().text.startsWith("the callback of Timer[" + TimerHandleTest.Heartbeat.class.getName()
                + ", scheduler timers]"), log.lines.peek().text);
    }

    /** Prints what the logger gets of a scheduler that was given no listener. */
    static final class Default {
        static final class Blocker implements Runnable {
            final CountDownLatch release = new CountDownLatch(1);

            @Override
            public void run() {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        public static void main(String[] args) {
            Queue<String> written = new ConcurrentLinkedQueue<>();
            Logger logger = Logger.getLogger("io.pendula");
            logger.setUseParentHandlers(false);
            logger.addHandler(new Handler() {
                @Override
                public void publish(LogRecord r) {
                    written.add(r.getLevel() + " " + r.getMessage() + (r.getThrown() == null ? "" : " " + r.getThrown())
                            + (r.getSourceClassName() == null ? "" : " said by " + r.getSourceClassName()));
                }

                @Override
                public void flush() {}

                @Override
                public void close() {}
            });
            Blocker blocker = new Blocker();
            try (TimerScheduler s = TimerScheduler.builder().name("plain").workers(2).stallAfter(Duration.ofMillis(1))
                    .slowCallback(Duration.ofMillis(1)).build()) {
                s.after(Duration.ZERO, blocker);
                eventually("the stall", () -> written.size() == 1);
                blocker.release.countDown();
                eventually("that it was slow", () -> written.size() == 2);
            }
            try (TimerLoop loop = TimerScheduler.builder().name("loops").stallAfter(Duration.ofMillis(1)).build()
                    .attach(() -> {})) {
                loop.after(Duration.ZERO, blocker);
                eventually("the loop that is late", () -> written.size() == 3);
            }
            written.forEach(System.out::println);
            Runtime.getRuntime().halt(0);
        }
    }

    @Test
    void noListener_stallsThatLastAndSlowCallbacks_areLogged() throws Exception {
        List<String> lines = LifeFixtures.runInChild(Default.class, List.of()).lines().toList();
        String blocker = Default.Blocker.class.getName();
        assertEquals(3, lines.size(), lines::toString);
        assertTrue(lines.get(0).matches("WARNING the callback of Timer\\[" + Pattern.quote(blocker) + ", scheduler"
                + " plain], [0-9.]+ ms late, has blocked its thread for [0-9.]+ m?s stack of pendula-plain-worker-[01]: said by .*"),
                lines.get(0));
        assertTrue(lines.get(1).matches("WARNING the callback of Timer\\[" + Pattern.quote(blocker) + ", scheduler"
                + " plain], [0-9.]+ ms late, took [0-9.]+ m?s in pendula-plain-worker-[01] said by .*"), lines.get(1));
        assertTrue(lines.get(2).matches("WARNING TimerLoop.* has not run Timer\\[" + Pattern.quote(blocker) + ".* stack of main: said by .*"),
                lines.get(2));
    }

    @Test
    void logging_makesAListenerWithALimitOfItsOwn() {
        assertTrue(TimerListener.logging() != TimerListener.logging());
    }

    @Test
    void andThen_tellsBothEvenIfTheFirstThrows() {
        LifeFixtures.Heard second = new LifeFixtures.Heard();
        IllegalStateException e = new IllegalStateException("first");
        TimerListener first = new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
                throw e;
            }
        };
        TimerListener both = first.andThen(second);
        assertSame(e, assertThrows(IllegalStateException.class, () -> both.threw(null, 1, e)));
        both.slow(null, 2, 3);
        both.stalled(null, 4, 5);
        assertEquals(1, second.threw.size());
        assertEquals(2, second.slow.peek().lateness());
        assertEquals(5L, second.stalled.peek().what());
        assertThrows(NullPointerException.class, () -> second.andThen(null));
    }

    @Test
    void andThen_bothThrow_neitherIsLost() {
        class Throwing implements TimerListener {
            private final Error e;

            Throwing(Error e) {
                this.e = e;
            }

            @Override
            public void paused(long pausedNanos) {
                throw e;
            }
        }
        TimerListener first = new Throwing(new Error("first"));
        TimerListener second = new Throwing(new Error("second"));
        Error e = assertThrows(Error.class, () -> first.andThen(second).paused(1));
        assertEquals("first", e.getMessage());
        assertEquals("second", e.getSuppressed()[0].getMessage());
        e = assertThrows(Error.class, () -> second.andThen(second).paused(1));
        assertEquals("second", e.getMessage());
        assertEquals(0, e.getSuppressed().length, "it cannot suppress itself");
    }

    @Test
    void andThen_everyMethod_reachesBoth() {
        List<String> heard = new ArrayList<>();
        class Named implements TimerListener {
            private final String name;

            Named(String name) {
                this.name = name;
            }

            @Override
            public void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {
                heard.add(name + " timedOut after " + latenessNanos + ", " + ranNanos);
            }

            @Override
            public void allBlocked(String schedulerName, int threads, long blockedNanos) {
                heard.add(name + " allBlocked");
            }

            @Override
            public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
                heard.add(name + " loopStalled");
            }

            @Override
            public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
                heard.add(name + " loopClosed");
            }

            @Override
            public void paused(long pausedNanos) {
                heard.add(name + " paused");
            }

            @Override
            public void wakeupThrew(TimerLoop loop, Throwable thrown) {
                heard.add(name + " wakeupThrew");
            }
        }
        TimerListener both = new Named("a").andThen(new Named("b"));
        both.timedOut(null, 1, 2);
        both.allBlocked("io", 1, 0);
        TimerLoop loop = TimerScheduler.builder().clock(clock).build().attach(() -> {});
        both.loopStalled(loop, null, 0);
        both.loopClosed(loop, List.of());
        both.paused(1);
        both.wakeupThrew(loop, null);
        assertEquals(List.of("a timedOut after 1, 2", "b timedOut after 1, 2", "a allBlocked", "b allBlocked", "a loopStalled", "b loopStalled",
                "a loopClosed", "b loopClosed", "a paused", "b paused",
                "a wakeupThrew", "b wakeupThrew"), heard);
    }
}
