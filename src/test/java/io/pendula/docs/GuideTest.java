package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Alarm;
import io.pendula.ManualClock;
import io.pendula.MissedTicks;
import io.pendula.NanoClock;
import io.pendula.RunLimit;
import io.pendula.Schedule;
import io.pendula.SchedulerExecutor;
import io.pendula.Ticker;
import io.pendula.Timer;
import io.pendula.TimerGroup;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/guide.md, and that it does what the page says. */
@Timeout(60)
class GuideTest {
    private final List<String> log = new ArrayList<>();
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();

    private void log(String line) {
        log.add(line);
    }

    // ---- timers ----

    @Test
    void timer_stopResetCancel() {
        Timer timer = timers.after(Duration.ofSeconds(5), () -> log("fired"));

        boolean prevented = timer.stop();               // true: it will not fire
        boolean replaced = timer.reset(Duration.ofSeconds(1));   // false: it was not pending; now it is

        assertTrue(prevented);
        assertFalse(replaced);
        clock.advance(Duration.ofSeconds(1));
        assertEquals(List.of("fired"), log);
        assertFalse(timer.isPending());
        assertTrue(timer.reset(Duration.ofSeconds(1)) || timer.isPending());
        assertTrue(timer.cancel());
        assertThrows(IllegalStateException.class, () -> timer.reset(Duration.ofSeconds(1)));
    }

    @Test
    void timer_unitsAndViews() {
        Runnable task = () -> log("fired");
        Timer timer = timers.after(250, TimeUnit.MILLISECONDS, task);   // makes no object but the timer
        timer.reset(500, TimeUnit.MILLISECONDS);                        // allocates nothing

        timer.isPending();      // true
        timer.remaining();      // a Duration of 500 ms, or a little less

        assertTrue(timer.isPending());
        assertEquals(Duration.ofMillis(500), timer.remaining());
    }

    @Test
    void timer_notArmed() {
        Runnable task = () -> log("idle");
        Timer idle = timers.timer(task);
        idle.isPending();                       // false
        idle.reset(Duration.ofSeconds(30));     // false: nothing was replaced; now it is pending

        assertTrue(idle.isPending());
        clock.advance(Duration.ofSeconds(30));
        assertEquals(List.of("idle"), log);
    }

    @Test
    void timer_cancelAndAwait() throws InterruptedException {
        try (TimerScheduler real = TimerScheduler.builder().workers(1).build()) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            Timer timer = real.after(Duration.ZERO, () -> {
                begun.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    log("interrupted");
                }
            });
            begun.await();
            assertFalse(timer.cancelAndAwait(Duration.ZERO));
            go.countDown();

            if (timer.cancelAndAwait(Duration.ofSeconds(30))) {
                log("no run is in progress, and none will begin");
            }

            assertEquals(List.of("no run is in progress, and none will begin"), log);
        }
    }

    // ---- tickers ----

    @Test
    void fixedDelay_byAView() {
        Runnable poll = () -> log("poll");

        SchedulerExecutor view = timers.asScheduledExecutorService();
        view.scheduleWithFixedDelay(poll, Duration.ZERO, Duration.ofSeconds(10));

        clock.advance(Duration.ofSeconds(25));
        assertEquals(List.of("poll", "poll", "poll"), log);
        assertEquals(1, view.shutdownNow().size());
    }

    @Test
    void ticker_keepsToItsGrid() {
        Ticker ticker = timers.every(Duration.ofSeconds(1), () -> log("tick"));
        clock.advance(Duration.ofMillis(3500));
        assertEquals(3, log.size());

        ticker.reset(Duration.ofSeconds(10));   // another period; the first tick comes after 10 s
        ticker.tickNow();                       // one run as soon as possible; the grid stays
        ticker.stop();                          // no more ticks, until reset
        ticker.cancel();                        // no more ticks for good; close does the same

        assertEquals(0, clock.advance(Duration.ofMinutes(1)));
        assertThrows(IllegalStateException.class, () -> ticker.reset(Duration.ofSeconds(1)));
    }

    @Test
    void ticker_policies() {
        Runnable sample = () -> log("sample");
        Ticker ticker = timers.every(Duration.ofMillis(10), MissedTicks.BURST, sample);
        clock.advance(Duration.ofMillis(50));
        assertEquals(5, log.size());
        assertEquals(0, ticker.missed());
    }

    @Test
    void ticker_asksAboutItsRun() {
        AtomicReference<Ticker> own = new AtomicReference<>();
        own.set(timers.every(Duration.ofMillis(10), () -> {
            Ticker ticker = own.get();
            long ticks = ticker.ticksInRun();       // 1, and those that were left out after this one
            long late = ticker.latenessNanos();     // when the run was claimed
            log(ticks + " " + late);
        }));
        clock.advance(Duration.ofMillis(10));
        assertEquals(List.of("1 0"), log);
        assertEquals(0, own.get().ticksInRun());
        assertEquals(-1, own.get().latenessNanos());
    }

    // ---- groups ----

    @Test
    void group_cancelsItsTimers() {
        TimerGroup group = timers.group("connection");
        Timer idle = group.after(Duration.ofMinutes(5), () -> log("idle"));
        group.every(Duration.ofSeconds(30), () -> log("ping"));

        int cancelled = group.cancel();     // 2; close() does the same, for try statements

        assertEquals(2, cancelled);
        clock.advance(Duration.ofMinutes(5));
        assertEquals(List.of(), log);
        assertThrows(RejectedExecutionException.class, () -> idle.reset(Duration.ofMinutes(5)));
    }

    // ---- waiting ----

    @Test
    void await_insteadOfACallback() throws InterruptedException {
        AtomicInteger steps = new AtomicInteger();
        try (Alarm beat = Alarm.every(Duration.ofMillis(2))) {
            for (int i = 0; i < 3; i++) {
                beat.await();
                steps.incrementAndGet();
            }
        }
        assertEquals(3, steps.get());

        Alarm pause = Alarm.after(Duration.ofMillis(5));
        boolean over = pause.await(Duration.ofSeconds(30));    // another thread may shorten it by reset

        assertTrue(over);
    }

    // ---- schedulers ----

    @Test
    void scheduler_ofOnesOwn_isClosedWithItsTimers() {
        Runnable retry = () -> log("retry");
        List<TimerHandle> unfired;

        try (TimerScheduler io = TimerScheduler.builder().name("io").workers(2).build()) {
            io.after(Duration.ofMinutes(5), retry);
            unfired = io.shutdownNow();     // stopped, and returned
        }

        assertEquals(1, unfired.size());
        assertFalse(unfired.get(0).isPending());
        assertEquals(List.of(), log);
        assertSame(TimerScheduler.shared(), TimerScheduler.shared());
    }

    @Test
    void scheduler_executor_runsCallbacksElsewhere() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        Runnable blockingCall = ran::countDown;

        ExecutorService pool = Executors.newCachedThreadPool();
        TimerScheduler timers = TimerScheduler.builder().executor(pool).build();
        timers.after(Duration.ofMillis(5), blockingCall);       // runs on a thread of the pool

        assertTrue(ran.await(30, TimeUnit.SECONDS));
        timers.close();
        pool.shutdown();
    }

    // ---- failures ----

    /** Prints what a program would send to its log. */
    static final class LoggingListener implements TimerListener {
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        @Override
        public synchronized void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
            lines.add(timer + " failed: " + thrown);
        }

        @Override
        public synchronized void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
            lines.add(timer + " took " + Duration.ofNanos(ranNanos));
        }

        @Override
        public synchronized void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            lines.add(timer + " still runs after " + Duration.ofNanos(blockedNanos));
        }
    }

    @Test
    void listener_isToldOfFailures() throws InterruptedException {
        LoggingListener listener = new LoggingListener();
        TimerScheduler timers = TimerScheduler.builder()
                .listener(listener)
                .slowCallback(Duration.ofMillis(50))
                .build();
        try (timers) {
            long due = timers.now();
            timers.every(Duration.ofMillis(1), () -> {
                while (timers.now() - due < 100_000_000) {
                    Thread.onSpinWait();    // the first run is slow
                }
                throw new IllegalStateException("no route");
            });
            List<String> first = new ArrayList<>();
            while (Collections.frequency(first, "threw") < 2 || !first.contains("slow")) {  // a ticker goes on
                String line = listener.lines.poll(30, TimeUnit.SECONDS);
                assertNotNull(line, first::toString);
                first.add(line.endsWith("failed: java.lang.IllegalStateException: no route") ? "threw"
                        : line.contains(" took PT") ? "slow" : line);
            }
        }
    }

    @Test
    void maxPending_oneTooMany_isRejected() {
        ManualClock clock = new ManualClock();
        Runnable expire = () -> log("expired");

        TimerScheduler timers = TimerScheduler.builder().clock(clock).maxPending(2).build();
        timers.after(Duration.ofSeconds(1), expire);
        timers.after(Duration.ofSeconds(1), expire);
        try {
            timers.after(Duration.ofSeconds(1), expire);
        } catch (RejectedExecutionException e) {
            log("full");        // answer "503 busy", for instance
        }

        assertEquals(List.of("full"), log);
    }

    // ---- statistics ----

    @Test
    void stats_addUp() {
        timers.after(Duration.ofSeconds(1), () -> log("fired"));
        timers.after(Duration.ofSeconds(1), () -> log("never")).stop();
        timers.after(Duration.ofSeconds(9), () -> log("later"));
        clock.advance(Duration.ofSeconds(1));

        TimerStats s = timers.stats();
        assertEquals(s.armed(), s.fired() + s.stopped() + s.resets() + s.unfired() + s.pending());

        assertEquals(1, s.fired());
        assertEquals(1, s.stopped());
        assertEquals(1, s.pending());
    }

    @Test
    void clock_ofOnesOwn() throws InterruptedException {
        CountDownLatch fired = new CountDownLatch(1);

        NanoClock system = NanoClock.system();
        NanoClock halfSpeed = () -> system.nanoTime() / 2;
        try (TimerScheduler timers = TimerScheduler.builder().clock(halfSpeed).build()) {
            long start = System.nanoTime();
            timers.after(Duration.ofMillis(10), fired::countDown);

            assertTrue(fired.await(30, TimeUnit.SECONDS));
            assertTrue(System.nanoTime() - start >= Duration.ofMillis(20).toNanos());
        }
    }

    // ---- wall clock ----

    @Test
    void schedule_daily_untilItIsCancelled() {
        Clock wall = clock.asClock(Instant.parse("2026-11-28T00:00:00Z"), ZoneOffset.UTC);

        Schedule nightly = Schedule.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin"));
        TimerHandle backup = timers.schedule(nightly, wall, () -> log("backup"));

        clock.advance(Duration.ofDays(2));
        assertEquals(List.of("backup", "backup"), log);
        assertTrue(backup.cancel());
        assertEquals(0, timers.pending());
    }

    // ---- patterns ----

    @Test
    void hedge_slowFirst_takesTheSecond() throws ExecutionException, InterruptedException {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = CompletableFuture.completedFuture("from the second");
        Supplier<CompletableFuture<String>> askAnother = () -> second;

        CompletableFuture<String> answer = new CompletableFuture<>();
        first.thenAccept(answer::complete);
        Timer hedge = timers.after(Duration.ofMillis(50), () -> askAnother.get().thenAccept(answer::complete));
        answer.whenComplete((a, failure) -> hedge.cancel());

        clock.advance(Duration.ofMillis(50));
        assertEquals("from the second", answer.get());
    }

    // ---- the special ----

    @Test
    void future_timeouts() {
        CompletableFuture<String> request = new CompletableFuture<>();

        timers.orTimeout(request, Duration.ofSeconds(5));       // fails with a TimeoutException

        clock.advance(Duration.ofSeconds(5));
        assertTrue(request.isCompletedExceptionally());

        request = new CompletableFuture<>();

        timers.completeOnTimeout(request, "default", Duration.ofSeconds(5));

        clock.advance(Duration.ofSeconds(5));
        assertEquals("default", request.join());
    }

    private String take(BlockingQueue<String> answers) throws InterruptedException, TimeoutException {
        RunLimit limit = timers.interruptAfter(Duration.ofSeconds(2));
        try (limit) {
            return answers.take();
        } catch (InterruptedException e) {
            if (limit.isOver()) {
                throw new TimeoutException("no answer within 2 s");
            }
            throw e;        // another thread has interrupted
        }
    }

    /** On a virtual thread if there are such. */
    @Test
    void runLimit_endsAWait() throws Exception {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        ExecutorService threads = Runtime.version().feature() < 21 ? Executors.newCachedThreadPool()
                : (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        Future<String> answer = threads.submit(() -> take(answers));
        while (timers.pending() == 0) {
            Thread.onSpinWait();
        }
        clock.advance(Duration.ofSeconds(2));
        Throwable e = assertThrows(ExecutionException.class, answer::get).getCause();
        assertEquals("no answer within 2 s", ((TimeoutException) e).getMessage());
        answers.add("42");
        assertEquals("42", take(answers));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> take(answers));
        threads.shutdown();
    }

    @Test
    void delayedExecutor_runsLater() {
        Supplier<String> load = () -> "loaded";

        Executor later = timers.delayedExecutor(Duration.ofSeconds(1), Runnable::run);
        CompletableFuture<String> reloaded = CompletableFuture.supplyAsync(load, later);

        assertFalse(reloaded.isDone());
        clock.advance(Duration.ofSeconds(1));
        assertEquals("loaded", reloaded.join());
    }

    @Test
    void at_oneReadingForManyTimers() {
        List<Runnable> expired = List.of(() -> log("a"), () -> log("b"));

        long deadline = timers.now() + Duration.ofSeconds(30).toNanos();
        for (Runnable session : expired) {
            timers.at(deadline, session);
        }

        clock.advance(Duration.ofSeconds(30));
        assertEquals(List.of("a", "b"), log);
    }

    @Test
    void every_phases() {
        Runnable poll = () -> log("poll");

        timers.every(Duration.ZERO, Duration.ofMinutes(1), poll);       // the first tick comes at once
        timers.everyAtRandomPhase(Duration.ofMinutes(1), poll);         // the first tick comes within a minute

        assertEquals(1, clock.advance(Duration.ZERO));
        assertEquals(2, clock.advance(Duration.ofMinutes(1)));
    }

    /** What a tracing library keeps for each thread. */
    private static final ThreadLocal<String> TRACE = new ThreadLocal<>();

    @Test
    void decorate_carriesContext() {
        ManualClock clock = new ManualClock();

        TimerScheduler timers = TimerScheduler.builder().clock(clock).decorate(task -> {
            String trace = TRACE.get();         // of the thread that arms
            return () -> {
                String before = TRACE.get();    // of the thread that runs
                TRACE.set(trace);
                try {
                    task.run();
                } finally {
                    TRACE.set(before);
                }
            };
        }).build();

        TRACE.set("request 7");
        timers.after(Duration.ofSeconds(1), () -> log(TRACE.get()));
        TRACE.set("of the thread that runs");
        clock.advance(Duration.ofSeconds(1));
        assertEquals(List.of("request 7"), log);
        assertEquals("of the thread that runs", TRACE.get());
        TRACE.remove();
    }
}
