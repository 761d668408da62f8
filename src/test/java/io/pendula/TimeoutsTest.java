package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Timeouts of futures and tasks, and that nothing is left of them. */
@Timeout(60)
class TimeoutsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler s = TimerScheduler.builder().name("t").clock(clock)
            .listener(new LifeFixtures.Heard()).build();

    @AfterEach
    void close() {
        s.close();
    }

    // ---- futures ----

    @Test
    void orTimeout_notComplete_completesExceptionally() {
        CompletableFuture<String> f = new CompletableFuture<>();
        assertSame(f, s.orTimeout(f, SECOND));
        clock.advance(SECOND.minusNanos(1));
        assertFalse(f.isDone());
        clock.advance(Duration.ofNanos(1));
        Throwable e = assertThrows(ExecutionException.class, f::get).getCause();
        assertEquals("not completed within 1 s, says TimerScheduler[t, manual clock]", ((TimeoutException) e).getMessage());
    }

    @Test
    void orTimeout_timeIsOverAlready_saysSoInAMessageForPeople() {
        CompletableFuture<String> f = s.orTimeout(new CompletableFuture<>(), Duration.ofNanos(-5));
        clock.advance(Duration.ZERO);
        Throwable e = assertThrows(ExecutionException.class, f::get).getCause();
        assertEquals("not completed within 0 ms, says TimerScheduler[t, manual clock]", e.getMessage());
    }

    @Test
    void pendingTimeouts_nameTheirLimits() {
        CompletableFuture<String> f = s.orTimeout(new CompletableFuture<>(), Duration.ofSeconds(90));
        assertEquals("timeout of 1 min 30 s for " + f, String.valueOf(s.pendingTimers(1).get(0).timer().task()));
        f.cancel(false);
        SchedulerExecutor view = s.asScheduledExecutorService();
        Future<String> task = view.submitWithTimeout(() -> "x", 90, TimeUnit.SECONDS, null);
        List<String> texts = s.pendingTimers(9).stream().map(t -> String.valueOf(t.timer().task())).toList();
        assertTrue(texts.contains("timeout of 1 min 30 s for " + task), texts::toString);
        task.cancel(false);
    }

    @Test
    void orTimeout_completesBefore_nothingIsLeft() throws InterruptedException {
        CompletableFuture<Object> f = new CompletableFuture<>();
        s.orTimeout(f, SECOND);
        assertEquals(1, s.pending());
        f.complete(new Object());
        assertEquals(0, s.pending());
        WeakReference<Object> value = new WeakReference<>(f.join());
        f = null;
        Fixtures.awaitCollected(value);
    }

    @Test
    void orTimeout_completesExceptionallyOrIsCancelled_nothingIsLeft() {
        CompletableFuture<String> failed = s.orTimeout(new CompletableFuture<>(), SECOND);
        failed.completeExceptionally(new IllegalStateException("x"));
        CompletableFuture<String> cancelled = s.orTimeout(new CompletableFuture<>(), SECOND);
        cancelled.cancel(false);
        assertEquals(0, s.pending());
    }

    @Test
    void orTimeout_completeAlready_armsNothing() {
        assertEquals("x", s.orTimeout(CompletableFuture.completedFuture("x"), Duration.ZERO).join());
        assertEquals(0, s.stats().armed());
    }

    /** As of a subclass, or for want of memory. */
    private static final class NoCallbacks extends CompletableFuture<String> {
        @Override
        public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
            throw new IllegalStateException("meant");
        }
    }

    @Test
    void orTimeout_futureTakesNoCallback_nothingIsLeftAndTheFutureIsAsItWas() {
        CompletableFuture<String> f = new NoCallbacks();
        assertThrows(IllegalStateException.class, () -> s.orTimeout(f, SECOND));
        assertThrows(IllegalStateException.class, () -> s.completeOnTimeout(f, "late", SECOND));
        assertEquals(0, s.pending());
        clock.advance(SECOND);
        assertFalse(f.isDone());
    }

    @Test
    void completeOnTimeout_notComplete_hasTheValueEvenIfNull() {
        CompletableFuture<String> f = s.completeOnTimeout(new CompletableFuture<>(), "late", SECOND);
        CompletableFuture<String> n = s.completeOnTimeout(new CompletableFuture<>(), null, SECOND);
        CompletableFuture<String> early = s.completeOnTimeout(new CompletableFuture<>(), "late", SECOND);
        early.complete("early");
        clock.advance(SECOND);
        assertEquals("late", f.join());
        assertEquals(null, n.join());
        assertEquals("early", early.join());
        assertEquals(0, s.pending());
    }

    @Test
    void delayedExecutor_handsOverAfterTheDelay() {
        List<Runnable> handed = new ArrayList<>();
        Executor delayed = s.delayedExecutor(SECOND, handed::add);
        CompletableFuture<String> f = CompletableFuture.supplyAsync(() -> "x", delayed);
        clock.advance(SECOND.minusNanos(1));
        assertEquals(0, handed.size());
        clock.advance(Duration.ofNanos(1));
        assertEquals(1, handed.size());
        assertFalse(f.isDone());
        handed.get(0).run();
        assertEquals("x", f.join());
    }

    private static final class Reply extends CompletableFuture<String> {}

    /** So that a leak has a name; also if tasks are wrapped. A future of an anonymous class names the class that made it. */
    @Test
    void pendingByTask_timeouts_countAsTheirFuturesOrTasks() throws Exception {
        CompletableFuture<String> labelled = new CompletableFuture<>() {};
        TimerScheduler wrapping = TimerScheduler.builder().clock(clock).decorate(r -> () -> r.run()).build();
        for (TimerScheduler each : List.of(s, wrapping)) {
            each.orTimeout(new Reply(), SECOND);
            each.completeOnTimeout(new Reply(), "late", SECOND);
            each.orTimeout(new CompletableFuture<>(), SECOND);
            each.orTimeout(labelled, SECOND);
            SchedulerExecutor view = each.asScheduledExecutorService();
            view.submitWithTimeout((Callable<String>) new TimerHandleTest.Heartbeat(), 1, TimeUnit.SECONDS, null);
            each.delayedExecutor(SECOND, Runnable::run).execute(new TimerHandleTest.Heartbeat());
            assertEquals(Map.of(Reply.class, 2L, CompletableFuture.class, 1L, labelled.getClass(), 1L,
                    TimerHandleTest.Heartbeat.class, 3L), each.pendingByTask());
        }
        assertEquals(TimeoutsTest.class, labelled.getClass().getEnclosingClass());
        wrapping.close();
    }

    /** As the page on observability says. */
    @Test
    void pendingByTask_delayedStageInALambda_countsAsTheLambda() {
        Executor delayed = s.delayedExecutor(SECOND, Runnable::run);
        CompletableFuture.supplyAsync(() -> "x", task -> delayed.execute(() -> task.run()));
        String counted = s.pendingByTask().keySet().iterator().next().getName();
        assertTrue(counted.startsWith(TimeoutsTest.class.getName() + "$$Lambda"), counted);
    }

    /** In lists, counts and texts the command stands, not what hands it over; also if it is wrapped in between. */
    @Test
    void delayedExecutor_pendingCommand_isTheTask() {
        Runnable command = new TimerHandleTest.Heartbeat();
        s.delayedExecutor(SECOND, Runnable::run).execute(command);
        assertSame(command, s.pendingTimers(1).get(0).task());
        try (TimerScheduler wrapping = TimerScheduler.builder().clock(clock).decorate(r -> () -> r.run()).build()) {
            wrapping.delayedExecutor(SECOND, Runnable::run).execute(command);
            assertSame(command, wrapping.pendingTimers(1).get(0).task());
        }
    }

    /** Requests that are answered in time, and a timeout for each: nothing but what is not swept yet. */
    @Test
    void orTimeout_manyThatCompleteFirst_memoryIsFreed() throws InterruptedException {
        List<WeakReference<Object>> some = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            CompletableFuture<Object> f = new CompletableFuture<>();
            if (i % 1_000 == 0) {
                some.add(new WeakReference<>(f));
            }
            (i % 2 == 0 ? s.orTimeout(f, Duration.ofHours(1)) : s.completeOnTimeout(f, "late", Duration.ofHours(1)))
                    .complete("x");
        }
        assertEquals(0, s.pending());
        assertEquals(Map.of(), s.pendingByTask());
        for (WeakReference<Object> f : some) {
            Fixtures.awaitCollected(f);
        }
    }

    @Test
    void futures_badArgumentsAndClosed_throw() {
        CompletableFuture<String> f = new CompletableFuture<>();
        assertThrows(NullPointerException.class, () -> s.orTimeout(null, SECOND));
        assertThrows(NullPointerException.class, () -> s.orTimeout(f, null));
        assertThrows(NullPointerException.class, () -> s.completeOnTimeout(f, "", null));
        assertThrows(NullPointerException.class, () -> s.delayedExecutor(SECOND, null));
        assertThrows(NullPointerException.class, () -> s.delayedExecutor(SECOND, Runnable::run).execute(null));
        s.close();
        assertThrows(RejectedExecutionException.class, () -> s.orTimeout(f, SECOND));
        assertFalse(f.isDone());
    }

    // ---- a close takes the timeouts away ----

    private static Throwable reasonOf(CompletableFuture<?> f) {
        assertTrue(f.isDone(), "it would never end");
        assertTrue(f.isCancelled());
        return f.handle((value, thrown) -> thrown).join();
    }

    enum Close {
        CLOSE, LIMIT, NOW;

        /** Returns what was returned. */
        List<TimerHandle> of(TimerScheduler timers) {
            switch (this) {
                case CLOSE -> timers.close();
                case LIMIT -> assertTrue(timers.close(SECOND));
                case NOW -> {
                    return timers.shutdownNow();
                }
            }
            return List.of();
        }
    }

    /** Also if an executor has their firings, or something wraps them. */
    @ParameterizedTest
    @EnumSource
    void close_timeoutsOfFutures_endThemWithTheReason(Close way) {
        TimerScheduler timers = TimerScheduler.builder().name("io").clock(clock).decorate(r -> () -> r.run())
                .executor(r -> {}).build();
        CompletableFuture<String> due = timers.orTimeout(new CompletableFuture<>(), Duration.ZERO);
        clock.advance(Duration.ZERO);
        CompletableFuture<String> one = timers.orTimeout(new CompletableFuture<>(), SECOND);
        CompletableFuture<String> two = timers.completeOnTimeout(new CompletableFuture<>(), "late", Duration.ofHours(1));
        CompletableFuture<String> done = timers.orTimeout(new CompletableFuture<>(), SECOND);
        done.complete("in time");
        List<TimerHandle> returned = way.of(timers);
        assertEquals("scheduler 'io' was closed before the timeout of 0 ms was over", reasonOf(due).getMessage());
        assertEquals("scheduler 'io' was closed before the timeout of 1 s was over", reasonOf(one).getMessage());
        assertEquals("scheduler 'io' was closed before the timeout of 1 h was over", reasonOf(two).getMessage());
        assertEquals("in time", done.join());
        assertEquals(3, timers.stats().unfired());
        if (way == Close.NOW) {
            assertEquals(3, returned.size());
            for (TimerHandle t : returned) {
                assertTrue(String.valueOf(t.task()).startsWith("timeout of"), () -> "it has its task, too: " + t);
            }
        }
    }

    /** What depends on a future may close the scheduler, too, and wait for a thread that uses it. */
    @Test
    void close_stagesOfTheFuturesUseTheScheduler_noLockIsHeld() {
        List<CompletableFuture<String>> futures = new ArrayList<>();
        AtomicInteger stages = new AtomicInteger();
        for (int i = 0; i < 1_000; i++) {
            CompletableFuture<String> f = s.orTimeout(new CompletableFuture<>(), SECOND);
            futures.add(f);
            f.whenComplete((value, thrown) -> {
                s.close();
                if (stages.getAndIncrement() == 0) {
                    LoopFixtures.runElsewhere(() -> {
                        s.close();
                        s.asScheduledExecutorService().shutdownNow();
                    });
                }
            });
        }
        assertEquals(1_000, s.shutdownNow().size(), "also if a stage has closed it meanwhile");
        assertEquals(1_000, stages.get());
        futures.forEach(TimeoutsTest::reasonOf);
    }

    /** Completes in a way of its own. */
    private static final class Fragile extends CompletableFuture<String> {
        private final Error thrown;
        private boolean fails = true;

        Fragile(Error thrown) {
            this.thrown = thrown;
        }

        @Override
        public boolean completeExceptionally(Throwable e) {
            if (fails) {
                throw thrown;
            }
            return super.completeExceptionally(e);
        }
    }

    @Test
    void close_aFuturesOwnClassThrows_theHandlerIsToldAndTheOthersEnd() {
        s.orTimeout(new Fragile(new NoClassDefFoundError("meant")), SECOND);
        CompletableFuture<String> other = s.orTimeout(new CompletableFuture<>(), SECOND);
        Thread me = Thread.currentThread();
        List<Throwable> told = new ArrayList<>();
        me.setUncaughtExceptionHandler((t, e) -> told.add(e));
        try {
            assertEquals(2, s.shutdownNow().size());
        } finally {
            me.setUncaughtExceptionHandler(null);
        }
        assertEquals(NoClassDefFoundError.class, told.get(0).getClass());
        reasonOf(other);
    }

    @Test
    void shutdownNow_noMemoryToCompleteAFuture_theNextCallDoesSoAndReturnsAll() {
        Fragile f = new Fragile(new OutOfMemoryError("meant"));
        s.orTimeout(f, SECOND);
        CompletableFuture<String> other = s.orTimeout(new CompletableFuture<>(), SECOND);
        assertThrows(OutOfMemoryError.class, s::shutdownNow);
        assertThrows(OutOfMemoryError.class, s::close);
        f.fails = false;
        assertEquals(2, s.shutdownNow().size());
        reasonOf(f);
        reasonOf(other);
        assertEquals(List.of(), s.shutdownNow());
    }

    enum End { DETACH, CLOSE, THREAD_HAS_ENDED }

    /** Also if the listener, which has the timers, cancels them. */
    @ParameterizedTest
    @EnumSource
    void loopEnds_timeoutsOfFutures_endThemWithTheReason(End end) {
        TimerListener canceller = new TimerListener() {
            @Override
            public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
                unfired.forEach(TimerHandle::cancel);
            }
        };
        CompletableFuture<String> f = new CompletableFuture<>();
        try (TimerScheduler timers = TimerScheduler.builder().name("io").clock(clock).listener(canceller).build()) {
            LoopFixtures.runElsewhere(() -> {
                TimerLoop loop = timers.attach(LoopFixtures.NOTHING);
                timers.orTimeout(f, SECOND);
                switch (end) {
                    case DETACH -> assertEquals(1, loop.detach().size());
                    case CLOSE -> loop.close();
                    case THREAD_HAS_ENDED -> {}
                }
            });
            timers.attach(LoopFixtures.NOTHING).close(); // finds out that a loop's thread has ended
            assertEquals("a loop of scheduler 'io' was closed before the timeout of 1 s was over",
                    reasonOf(f).getMessage());
        }
    }

    /** No way of the JDK ends such a future but a run of its task, which must not come early. Its timeout does. */
    @Test
    void close_delayedTask_isReturnedAndNeverRunAndATimeoutEndsItsFuture() {
        AtomicInteger runs = new AtomicInteger();
        Executor delayed = s.delayedExecutor(SECOND, Runnable::run);
        CompletableFuture<Integer> dropped = CompletableFuture.supplyAsync(runs::incrementAndGet, delayed);
        CompletableFuture<Integer> limited = s.orTimeout(
                CompletableFuture.supplyAsync(runs::incrementAndGet, delayed), Duration.ofHours(1));
        List<TimerHandle> returned = s.shutdownNow();
        assertEquals(3, returned.size());
        reasonOf(limited);
        assertFalse(dropped.isDone());
        assertEquals(0, runs.get(), "early");
        for (TimerHandle t : returned) { // as a program may do that has an end for them
            if (t.task() instanceof CompletableFuture.AsynchronousCompletionTask task) {
                ((Runnable) task).run();
            }
        }
        assertTrue(dropped.isDone());
        assertEquals(1, runs.get(), "the other is done already");
    }

    @Test
    void orTimeout_raceWithCompletion_leavesNothing() throws InterruptedException {
        try (TimerScheduler real = TimerScheduler.builder().workers(1).build()) {
            for (int i = 0; i < 2000; i++) {
                CompletableFuture<String> f = new CompletableFuture<>();
                Thread other = new Thread(() -> f.complete("x"));
                other.start();
                real.orTimeout(f, Duration.ofHours(1));
                other.join();
                assertEquals("x", f.join());
            }
            assertEquals(0, real.pending());
        }
    }

    // ---- tasks ----

    @Test
    void submitWithTimeout_doneInTime_nothingIsLeft() throws Exception {
        SchedulerExecutor view = s.asScheduledExecutorService();
        Future<String> f = view.submitWithTimeout(() -> "x", 1, TimeUnit.SECONDS, null);
        assertEquals(2, s.pending());
        clock.advance(Duration.ZERO);
        assertEquals("x", f.get());
        assertEquals(0, s.pending());
    }

    @Test
    void submitWithTimeout_cancelledBefore_nothingIsLeft() {
        SchedulerExecutor view = s.asScheduledExecutorService();
        Future<String> cancelled = view.submitWithTimeout(() -> "x", 1, TimeUnit.SECONDS, null);
        assertTrue(cancelled.cancel(false));
        assertEquals("the task was cancelled",
                assertThrows(CancellationException.class, cancelled::get).getMessage());
        assertEquals(0, s.pending());
        Future<String> returned = view.submitWithTimeout(() -> "x", 1, TimeUnit.SECONDS, null);
        assertEquals(List.of(returned), view.shutdownNow());
        assertEquals(0, s.pending());
        assertThrows(RejectedExecutionException.class,
                () -> view.submitWithTimeout(() -> "x", 1, TimeUnit.SECONDS, null));
        assertEquals(0, s.pending());
    }

    @Test
    void submitWithTimeout_allThreadsBlocked_isInterruptedAndCancelled() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newSingleThreadScheduledExecutor()) {
            CountDownLatch interrupted = new CountDownLatch(1);
            long start = System.nanoTime();
            Future<String> f = pool.submitWithTimeout(() -> {
                try {
                    Thread.sleep(TimeUnit.MINUTES.toMillis(5));
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
                return "x";
            }, 50, TimeUnit.MILLISECONDS, null);
            assertEquals("the task was cancelled, as it was not done within 50 ms",
                    assertThrows(CancellationException.class, f::get).getMessage());
            assertTrue(System.nanoTime() - start >= 50_000_000);
            LifeFixtures.await(interrupted);
        }
    }

    /** The time is that of another scheduler, as the only worker of this one is blocked. */
    @Test
    void submitWithTimeout_clockOfTheUsersAndTheWorkerIsBlocked_isInterruptedAndCancelled() {
        CountDownLatch interrupted = new CountDownLatch(1);
        try (TimerScheduler own = TimerScheduler.builder().workers(1).clock(System::nanoTime).build()) {
            Future<String> f = own.asScheduledExecutorService().submitWithTimeout(() -> {
                try {
                    LifeFixtures.await(new CountDownLatch(1));
                } finally {
                    interrupted.countDown();
                }
                return "x";
            }, 50, TimeUnit.MILLISECONDS, null);
            eventually("cancelled", f::isCancelled);
            LifeFixtures.await(interrupted);
        }
    }

    /** It waits for the task, so it does not poll its loop. */
    @Test
    void submitWithTimeout_callerHasALoopOfTheSharedScheduler_isInterruptedAndCancelled() {
        CountDownLatch interrupted = new CountDownLatch(1);
        try (SchedulerExecutor pool = TimerExecutors.newSingleThreadScheduledExecutor();
                TimerLoop loop = TimerScheduler.shared().attach(() -> {})) {
            Future<String> f = pool.submitWithTimeout(() -> {
                try {
                    LifeFixtures.await(new CountDownLatch(1));
                } finally {
                    interrupted.countDown();
                }
                return "x";
            }, 20, TimeUnit.MILLISECONDS, null);
            LifeFixtures.await(interrupted);
            assertTrue(f.isCancelled());
            assertEquals(Long.MAX_VALUE, loop.nanosUntilNext(), "nothing is armed there");
        }
    }

    @Test
    void submitWithTimeout_waitsTooLong_neverRuns() throws Exception {
        try (SchedulerExecutor pool = TimerExecutors.newSingleThreadScheduledExecutor()) {
            CountDownLatch release = new CountDownLatch(1);
            pool.execute(() -> LifeFixtures.await(release));
            Future<String> f = pool.submitWithTimeout(() -> {
                throw new AssertionError("it was cancelled before");
            }, 5, TimeUnit.MILLISECONDS, null);
            assertThrows(CancellationException.class, f::get);
            release.countDown();
        }
    }

    @Test
    void submitWithTimeout_action_getsTheFutureOnceItIsLate() throws Exception {
        SchedulerExecutor view = s.asScheduledExecutorService();
        AtomicReference<Future<String>> late = new AtomicReference<>();
        Future<String> f = view.submitWithTimeout(() -> "x", -1, TimeUnit.SECONDS, late::set);
        clock.advance(Duration.ZERO);
        assertEquals("x", f.get());
        assertNull(late.get(), "both were due, and the task came first");
        try (SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1)) {
            CountDownLatch release = new CountDownLatch(1);
            Future<String> slow = pool.submitWithTimeout(() -> {
                LifeFixtures.await(release);
                return "slow";
            }, 1, TimeUnit.MILLISECONDS, late::set);
            eventually("the action", () -> late.get() == slow);
            assertFalse(slow.isDone());
            release.countDown();
            assertEquals("slow", slow.get());
        }
    }

    // ---- as the JDK's pool does since Java 25, where it is there ----

    /** Two threads each, so that the first does not keep the second waiting. */
    static Stream<Named<ExecutorService>> pools() {
        ExecutorService ours = TimerExecutors.newScheduledThreadPool(2);
        return JDK == null ? Stream.of(Named.of("ours", ours))
                : Stream.of(Named.of("ours", ours), Named.of("JDK", new ForkJoinPool(2)));
    }

    private static final Method JDK = Stream.of(ForkJoinPool.class.getMethods())
            .filter(m -> m.getName().equals("submitWithTimeout")).findFirst().orElse(null);

    @SuppressWarnings("unchecked")
    private static <V> Future<V> submit(ExecutorService pool, Callable<V> task, long millis,
            Consumer<? super Future<V>> onTimeout) throws ReflectiveOperationException {
        return pool instanceof SchedulerExecutor ours
                ? ours.submitWithTimeout(task, millis, TimeUnit.MILLISECONDS, onTimeout)
                : (Future<V>) JDK.invoke(pool, task, millis, TimeUnit.MILLISECONDS, onTimeout);
    }

    @ParameterizedTest
    @MethodSource("pools")
    void submitWithTimeout_eachPool_cancelsByDefault(ExecutorService pool) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Future<String> late = submit(pool, () -> {
            never.await();
            return "x";
        }, 20, null);
        assertThrows(CancellationException.class, () -> late.get(10, TimeUnit.SECONDS));
        assertTrue(late.isCancelled());
        pool.shutdown();
        if (pool instanceof SchedulerExecutor) {
            assertTrue(pool.awaitTermination(10, TimeUnit.SECONDS), "it was interrupted");
        } else { // the JDK's pool has left the task waiting on a busy machine, and has not ended once that returned
            never.countDown();
            pool.shutdownNow();
        }
    }

    @ParameterizedTest
    @MethodSource("pools")
    void submitWithTimeout_eachPool_runsTheActionOnceAndOnlyIfLate(ExecutorService pool) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Queue<Future<String>> told = new ConcurrentLinkedQueue<>();
        Future<String> inTime = submit(pool, () -> "in time", TimeUnit.HOURS.toMillis(1), told::add);
        assertEquals("in time", inTime.get(10, TimeUnit.SECONDS));
        AtomicInteger interrupts = new AtomicInteger();
        Future<String> late = submit(pool, () -> {
            for (;;) {
                try {
                    release.await();
                    return "late";
                } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                }
            }
        }, 20, told::add);
        eventually("told", () -> !told.isEmpty());
        assertFalse(late.isDone(), "what becomes of it is up to the action");
        release.countDown();
        assertEquals("late", late.get(10, TimeUnit.SECONDS));
        assertEquals(1, told.size());
        assertSame(late, told.peek());
        assertTrue(interrupts.get() == 0 || pool instanceof ForkJoinPool, "the JDK's may interrupt besides");
        pool.shutdown();
    }

    @Test
    void submitWithTimeout_timeoutIsRefused_nothingIsSubmitted() {
        AtomicInteger works = new AtomicInteger();
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).decorate(r -> {
            if (works.incrementAndGet() == 2) {
                throw new IllegalStateException("meant");
            }
            return r;
        }).build()) {
            SchedulerExecutor view = timers.asScheduledExecutorService();
            assertThrows(IllegalStateException.class, () -> view.submitWithTimeout(() -> "x", 1, TimeUnit.SECONDS, null));
            assertEquals(0, timers.stats().armed());
        }
    }

    @Test
    void submitWithTimeout_submissionIsRefused_timeoutIsStopped() {
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).maxPending(1).build()) {
            SchedulerExecutor view = timers.asScheduledExecutorService();
            for (int i = 0; i < 3; i++) {
                assertThrows(RejectedExecutionException.class,
                        () -> view.submitWithTimeout(() -> "x", 1, TimeUnit.SECONDS, null));
                assertEquals(0, timers.pending());
            }
        }
    }

    @Test
    void submitWithTimeout_badArguments_throw() {
        SchedulerExecutor view = s.asScheduledExecutorService();
        assertThrows(NullPointerException.class, () -> view.submitWithTimeout(null, 1, TimeUnit.SECONDS, null));
        assertThrows(NullPointerException.class, () -> view.submitWithTimeout(() -> "x", 1, null, null));
        assertEquals(0, s.pending());
    }
}
