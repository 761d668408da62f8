package io.pendula.adapters.pekko;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import io.pendula.adapters.pekko.SchedulerKind.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.Scheduler;
import org.apache.pekko.actor.SchedulerTask;
import org.apache.pekko.event.NoLogging;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import scala.concurrent.ExecutionContext;

/** What Pekko asks of a scheduler, of the adapter and of its own. */
@Timeout(60)
class SchedulerContractTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private static final ExecutionContext INLINE = new ExecutionContext() {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void reportFailure(Throwable thrown) {
            throw new AssertionError(thrown);
        }
    };

    /** Counts runs and cancellations. */
    private static class Task implements SchedulerTask {
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger cancellations = new AtomicInteger();

        @Override
        public void run() {
            runs.incrementAndGet();
        }

        @Override
        public void cancelled() {
            cancellations.incrementAndGet();
        }
    }

    private static final class CloseTask implements Scheduler.TaskRunOnClose {
        final AtomicInteger runs = new AtomicInteger();
        private final boolean isError;

        CloseTask(boolean isError) {
            this.isError = isError;
        }

        @Override
        public void run() {
            runs.incrementAndGet();
            if (isError) {
                throw new AssertionError("meant");
            }
            throw new IllegalStateException("meant");
        }
    }

    @ParameterizedTest
    @EnumSource
    void scheduleOnce_runsOnce_notEarly(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            int count = 100;
            CountDownLatch ran = new CountDownLatch(count);
            AtomicInteger runs = new AtomicInteger();
            ConcurrentLinkedQueue<Long> early = new ConcurrentLinkedQueue<>();
            Random random = new Random(1);
            for (int i = 0; i < count; i++) {
                Duration delay = Duration.ofNanos(random.nextInt(100_000_000));
                long start = System.nanoTime();
                subject.scheduler.scheduleOnce(delay, () -> {
                    long elapsed = System.nanoTime() - start;
                    if (elapsed < delay.toNanos()) {
                        early.add(delay.toNanos() - elapsed);
                    }
                    runs.incrementAndGet();
                    ran.countDown();
                }, subject);
            }
            Patience.await(ran);
            assertEquals(List.of(), List.copyOf(early));
            CountDownLatch later = new CountDownLatch(1);
            subject.scheduler.scheduleOnce(Duration.ofMillis(200), later::countDown, subject);
            Patience.await(later); // a second run would have come before
            assertEquals(count, runs.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void scheduleOnce_noDelay_isHandedOverInTheCall(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            Semaphore ran = new Semaphore(0);
            Cancellable zero = subject.scheduler.scheduleOnce(Duration.ZERO, ran::release, subject);
            Cancellable negative = subject.scheduler.scheduleOnce(Duration.ofDays(-1), ran::release, subject);
            assertFalse(zero.cancel());
            assertFalse(negative.cancel());
            Patience.until("both ran", () -> ran.availablePermits() == 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancel_waiting_preventsTheRun_andTellsTheTask(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            Task task = new Task();
            Cancellable waiting = subject.scheduler.scheduleOnce(HOUR, task, subject);
            assertFalse(waiting.isCancelled());
            assertTrue(waiting.cancel());
            assertTrue(waiting.isCancelled());
            assertFalse(waiting.cancel());
            Patience.until("told", () -> task.cancellations.get() == 1);
            assertEquals(0, task.runs.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancel_afterTheRun_isFalse(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            Task task = new Task();
            Cancellable done = subject.scheduler.scheduleOnce(Duration.ofMillis(1), task, subject);
            Patience.until("it ran", () -> task.runs.get() == 1);
            assertFalse(done.cancel());
            assertFalse(done.isCancelled());
            assertEquals(0, task.cancellations.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelAgainstTheRun_exactlyOneWins(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            int count = 5_000;
            Task task = new Task();
            List<Cancellable> waiting = new ArrayList<>();
            int cancels = 0;
            Random random = new Random(2);
            for (int i = 0; i < count; i++) {
                waiting.add(subject.scheduler.scheduleOnce(Duration.ofNanos(random.nextInt(20_000_000)), task, subject));
                if (i % 500 == 499) {
                    for (Cancellable one : waiting) {
                        cancels += one.cancel() ? 1 : 0;
                    }
                    waiting.clear();
                }
            }
            int won = cancels;
            Patience.until("all ended", () -> task.runs.get() + task.cancellations.get() == count);
            assertEquals(won, task.cancellations.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void fixedRate_keepsThePhase_andCatchesUp(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            Duration period = Duration.ofMillis(20);
            ConcurrentLinkedQueue<Long> instants = new ConcurrentLinkedQueue<>();
            long start = System.nanoTime();
            Cancellable ticker = subject.scheduler.scheduleAtFixedRate(period, period, () -> {
                if (instants.size() == 2) {
                    pause(5 * period.toNanos());
                }
                instants.add(System.nanoTime());
            }, subject);
            Patience.until("20 ticks", () -> instants.size() >= 20);
            // With a delay from the end of each run, it would stay five ticks behind for good.
            Patience.until("it has caught up",
                    () -> (System.nanoTime() - start) / period.toNanos() - instants.size() <= 2);
            assertTrue(ticker.cancel());
            assertTrue(ticker.isCancelled());
            assertFalse(ticker.cancel());
            long early = kind == SchedulerKind.PEKKO ? 10_000_000 : 0; // it counts in its own ticks
            long tick = 0;
            for (long instant : instants) {
                tick++;
                assertTrue(instant - start >= tick * period.toNanos() - early, "tick " + tick + " after " + (instant - start));
            }
        }
    }

    /** The executor runs tasks at once, so each run arms the next one in the call. */
    @Test
    void fixedRate_negativeInitialDelay_meansNowAndMakesNoBurst() {
        try (Subject subject = SchedulerKind.PENDULA.open()) {
            AtomicInteger runs = new AtomicInteger();
            TimerScheduler timers = ((PendulaScheduler) subject.scheduler).timers();
            subject.scheduler.scheduleAtFixedRate(HOUR.negated().multipliedBy(24), HOUR, runs::incrementAndGet, INLINE);
            assertEquals(1, runs.get());
            assertTrue(timers.pendingTimers(2).get(0).remaining().compareTo(HOUR.dividedBy(2)) > 0, "an hour later, not now");
            assertEquals(1, timers.stats().armed());
        }
    }

    /** A task is named, not the adapter's. */
    @Test
    void pendingTasks_areNamed() {
        try (Subject subject = SchedulerKind.PENDULA.open()) {
            TimerScheduler timers = ((PendulaScheduler) subject.scheduler).timers();
            subject.scheduler.scheduleOnce(HOUR, new Task(), INLINE);
            subject.scheduler.scheduleAtFixedRate(HOUR, HOUR, new Task(), INLINE);
            assertEquals(Map.of(Task.class, 2L), timers.pendingByTask());
        }
    }

    @ParameterizedTest
    @EnumSource
    void fixedDelay_countsFromTheEnd(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            Duration delay = Duration.ofMillis(20);
            List<Long> begins = new ArrayList<>();
            List<Long> ends = new ArrayList<>();
            CountDownLatch enough = new CountDownLatch(5);
            Cancellable ticker = subject.scheduler.scheduleWithFixedDelay(Duration.ZERO, delay, () -> {
                begins.add(System.nanoTime());
                pause(10_000_000);
                ends.add(System.nanoTime());
                enough.countDown();
            }, subject);
            Patience.await(enough);
            assertTrue(ticker.cancel());
            for (int i = 1; i < 5; i++) {
                assertTrue(begins.get(i) - ends.get(i - 1) >= delay.toNanos());
            }
        }
    }

    private static void pause(long nanos) {
        long start = System.nanoTime();
        Patience.until("time passes", () -> System.nanoTime() - start >= nanos);
    }

    @ParameterizedTest
    @EnumSource
    void repeatedTaskThatThrows_endsAndIsReported(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            AtomicInteger runs = new AtomicInteger();
            for (boolean fixedRate : new boolean[] {true, false}) {
                Runnable task = () -> {
                    if (runs.incrementAndGet() % 3 == 0) {
                        throw new IllegalArgumentException("meant");
                    }
                };
                Duration period = Duration.ofMillis(1);
                if (fixedRate) {
                    subject.scheduler.scheduleAtFixedRate(period, period, task, subject);
                } else {
                    subject.scheduler.scheduleWithFixedDelay(period, period, task, subject);
                }
                int failures = fixedRate ? 1 : 2;
                Patience.until("reported", () -> subject.failures.size() == failures);
                CountDownLatch later = new CountDownLatch(1);
                subject.scheduler.scheduleOnce(Duration.ofMillis(50), later::countDown, subject);
                Patience.await(later);
                assertEquals(3 * failures, runs.get());
            }
        }
    }

    /** It cannot go on, as there is no timer that would call it. */
    @Test
    void repeatedTask_openSchedulerRefusesIt_endsAndIsReported() {
        ManualClock clock = new ManualClock();
        List<Throwable> failures = new ArrayList<>();
        ExecutionContext inline = new ExecutionContext() {
            @Override
            public void execute(Runnable task) {
                task.run();
            }

            @Override
            public void reportFailure(Throwable thrown) {
                failures.add(thrown);
            }
        };
        try (TimerScheduler timers = TimerScheduler.builder().clock(clock).maxPending(1).build()) {
            AtomicInteger runs = new AtomicInteger();
            new PendulaScheduler(timers, NoLogging.getInstance()).scheduleWithFixedDelay(HOUR, HOUR, () -> {
                if (runs.incrementAndGet() == 2) {
                    timers.after(HOUR, () -> {});
                }
            }, inline);
            clock.advance(HOUR);
            assertEquals(List.of(), failures);
            clock.advance(HOUR);
            assertEquals(1, failures.size());
            RejectedExecutionException full = assertInstanceOf(RejectedExecutionException.class, failures.get(0));
            assertTrue(full.getMessage().contains("maxPending"), full::getMessage);
            clock.advance(HOUR.multipliedBy(3));
            assertEquals(2, runs.get());
        }
    }

    /** What a closed scheduler throws tells Pekko that the system shuts down. */
    @Test
    void schedule_openSchedulerRefusesIt_throwsItsReason() {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).maxPending(1).build()) {
            PendulaScheduler scheduler = new PendulaScheduler(timers, NoLogging.getInstance());
            scheduler.scheduleOnce(HOUR, () -> {}, INLINE);
            RejectedExecutionException full = assertThrows(RejectedExecutionException.class,
                    () -> scheduler.scheduleOnce(HOUR, () -> {}, INLINE));
            assertTrue(full.getMessage().contains("maxPending"), full::getMessage);
            assertThrows(RejectedExecutionException.class,
                    () -> scheduler.scheduleAtFixedRate(HOUR, HOUR, () -> {}, INLINE));
        }
    }

    @ParameterizedTest
    @EnumSource
    void repeatedTask_withoutInterval_isRejected(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            for (Duration none : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
                assertThrows(IllegalArgumentException.class,
                        () -> subject.scheduler.scheduleAtFixedRate(HOUR, none, () -> {}, subject));
                assertThrows(IllegalArgumentException.class,
                        () -> subject.scheduler.scheduleWithFixedDelay(HOUR, none, () -> {}, subject));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancel_byTheRepeatedTaskItself_endsIt(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            AtomicInteger runs = new AtomicInteger();
            Cancellable[] own = new Cancellable[1];
            CountDownLatch assigned = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            own[0] = subject.scheduler.scheduleAtFixedRate(Duration.ofMillis(1), Duration.ofMillis(1), () -> {
                Patience.await(assigned);
                if (runs.incrementAndGet() == 3) {
                    assertTrue(own[0].cancel());
                    done.countDown();
                }
            }, subject);
            assigned.countDown();
            Patience.await(done);
            CountDownLatch later = new CountDownLatch(1);
            subject.scheduler.scheduleOnce(Duration.ofMillis(50), later::countDown, subject);
            Patience.await(later);
            assertEquals(3, runs.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void close_runsWhatIsToRunOnClose_andNothingElse_thenRejects(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            CloseTask last = new CloseTask(false);
            CloseTask other = new CloseTask(false);
            Task plain = new Task();
            subject.scheduler.scheduleOnce(HOUR, last, subject);
            subject.scheduler.scheduleOnce(HOUR, other, subject);
            CloseTask cancelled = new CloseTask(false);
            assertTrue(subject.scheduler.scheduleOnce(HOUR, cancelled, subject).cancel());
            subject.scheduler.scheduleOnce(HOUR, plain, subject);
            subject.scheduler.scheduleAtFixedRate(Duration.ofMillis(1), Duration.ofMillis(1), plain, subject);
            Patience.until("it ticks", () -> plain.runs.get() > 3);
            subject.closeScheduler();
            assertEquals(1, last.runs.get());
            assertEquals(1, other.runs.get());
            assertEquals(0, cancelled.runs.get());
            for (Duration delay : List.of(Duration.ZERO, Duration.ofMillis(1), HOUR)) {
                assertThrows(IllegalStateException.class, () -> subject.scheduler.scheduleOnce(delay, plain, subject));
                assertThrows(IllegalStateException.class,
                        () -> subject.scheduler.scheduleWithFixedDelay(delay, HOUR, plain, subject));
                if (kind == SchedulerKind.PENDULA) { // Pekko's throws an exception of its own, of another kind
                    assertThrows(IllegalStateException.class,
                            () -> subject.scheduler.scheduleAtFixedRate(delay, HOUR, plain, subject));
                }
            }
            subject.closeScheduler();
            assertEquals(1, last.runs.get());
            assertEquals(List.of(), List.copyOf(subject.failures)); // the ticker ended without a word
        }
    }

    @ParameterizedTest
    @EnumSource
    void close_aTaskThatThrowsAnError_keepsNoOtherFromRunning(SchedulerKind kind) {
        try (Subject subject = kind.open()) {
            List<CloseTask> tasks = List.of(new CloseTask(true), new CloseTask(true), new CloseTask(true));
            tasks.forEach(task -> subject.scheduler.scheduleOnce(HOUR, task, subject));
            subject.closeScheduler();
            tasks.forEach(task -> assertEquals(1, task.runs.get()));
        }
    }

    /** An Error need not be fatal: that of a failed assertion is not. */
    @ParameterizedTest
    @EnumSource
    void executorThatThrowsAnError_isToldSo(SchedulerKind kind) {
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        ExecutionContext failing = new ExecutionContext() {
            @Override
            public void execute(Runnable task) {
                throw new AssertionError("meant");
            }

            @Override
            public void reportFailure(Throwable thrown) {
                failures.add(thrown);
            }
        };
        try (Subject subject = kind.open()) {
            subject.scheduler.scheduleOnce(Duration.ofMillis(1), () -> {}, failing);
            Patience.until("told", () -> failures.size() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void executorThatRejects_isToldSo(SchedulerKind kind) {
        Subject subject = kind.open();
        subject.threads().shutdownNow();
        subject.scheduler.scheduleOnce(Duration.ofMillis(1), () -> {}, subject);
        Patience.until("told", () -> subject.failures.size() == 1);
        subject.close();
    }
}
