package io.pendula;

import static io.pendula.LifeFixtures.assertNoRescue;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.scheduler.StallWatch;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.workers.Seat;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The threads of a scheduler as the shared one is: they end when nothing is armed, and come back. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class IdleEndTest {
    private static final AtomicInteger MADE = new AtomicInteger();
    private final String name = "idle-end-" + MADE.incrementAndGet();

    private TimerScheduler make(int workers, long idleNanos) {
        TimerScheduler s = newShared(TimerScheduler.builder().name(name).workers(workers));
        s.engine.idleNanos = idleNanos;
        return s;
    }

    private static void fire(TimerScheduler s) {
        CountDownLatch fired = new CountDownLatch(1);
        s.after(1, TimeUnit.MILLISECONDS, fired::countDown);
        await(fired);
    }

    private void awaitNoThread() {
        eventually("no thread of " + name, () -> threadsOf(name).isEmpty());
    }

    @Test
    void build_nothingArmed_hasNoThread() {
        make(2, 1_000_000);
        assertEquals(List.of(), threadsOf(name));
    }

    @Test
    void threads_nothingArmedForSomeTime_endAndComeBack() {
        TimerScheduler s = make(2, 20_000_000);
        for (int i = 0; i < 5; i++) {
            fire(s);
            awaitNoThread();
        }
        assertEquals(5, s.stats().fired());
        assertEquals(0, s.pending());
        assertNoRescue(s);
    }

    @Test
    void allWorkersBlocked_timerDue_runsOnASpare() {
        TimerScheduler s = make(2, 20_000_000);
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            s.after(1, TimeUnit.MILLISECONDS, () -> {
                begun.countDown();
                await(release);
            });
        }
        await(begun);
        fire(s);
        eventually("it is counted", () -> s.stats().spareThreads() == 1);
        release.countDown();
        awaitNoThread();
        fire(s);
        awaitNoThread();
    }

    /** Else one would be started whenever one has ended. */
    @Test
    void spareHasEnded_onlyWorkerSleeps_startsNoOther() {
        TimerScheduler s = newShared(TimerScheduler.builder().name(name).workers(1).maxThreads(2));
        s.engine.workerPool.ended(new Worker(s.engine.workerPool, s.engine.standby, null, true));
        assertEquals(2, s.engine.workerPool.workers().length);
        assertEquals(List.of(), threadsOf(name));
    }

    /** As everywhere: else a spare one is started for each timer of a scheduler that is idle for long after each. */
    @Test
    void oneWorkerThatMayHaveTwoThreads_hasAGuard() {
        TimerScheduler s = newShared(TimerScheduler.builder().name(name).workers(1).maxThreads(2));
        s.engine.idleNanos = 20_000_000;
        for (int i = 0; i < 3; i++) {
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch other = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                held.countDown();
                await(release);
            });
            await(held);
            s.after(Duration.ZERO, other::countDown);
            await(other);
            release.countDown();
            eventually("no thread of a worker", () -> threadsOf(name).stream().noneMatch(t -> t.getName().contains("worker")));
        }
        assertEquals(2, s.engine.workerPool.workers().length);
        assertEquals(0, s.stats().spareThreads());
    }

    @Test
    void threads_oneTimerArmed_stay() {
        TimerScheduler s = make(1, 5_000_000);
        fire(s);
        Timer left = s.after(1, TimeUnit.HOURS, () -> {});
        eventually("the worker sleeps", () -> s.engine.workerPool.workers()[0].asleep);
        Thread worker = s.engine.workerPool.workers()[0].runner();
        LockSupport.parkNanos(100_000_000);
        assertTrue(worker.isAlive());
        assertSame(worker, s.engine.workerPool.workers()[0].runner());
        assertTrue(left.stop());
        fire(s);
        awaitNoThread();
    }

    /** One that stands still, too. */
    @ParameterizedTest
    @CsvSource({"1, 0", "2, 0", "2, 0.999", "2, 10"})
    void threads_clockOfAnotherSpeed_end(int workers, double speed) {
        long origin = System.nanoTime();
        TimerScheduler s = newShared(TimerScheduler.builder().name(name).workers(workers)
                .clock(() -> (long) ((System.nanoTime() - origin) * speed)));
        s.engine.idleNanos = 50_000_000;
        for (int i = 0; i < 2; i++) {
            CountDownLatch fired = new CountDownLatch(1);
            s.after(Duration.ZERO, fired::countDown);
            await(fired);
            awaitNoThread();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void threads_whatTheySleepForIsStopped_end(int workers) {
        TimerScheduler s = make(workers, 20_000_000);
        for (int i = 0; i < 3; i++) {
            Timer left = s.after(1, TimeUnit.HOURS, () -> {});
            fire(s); // beside it, so that the guard is called
            eventually("poller and guard sleep for it", () -> {
                Sleeper guard = s.engine.standby.guard();
                return s.engine.standby.poller().asleep && (workers == 1
                        || guard != null && guard.asleep && guard.until != Timeline.NEVER && guard.runner() != null);
            });
            assertTrue(left.stop());
            awaitNoThread();
        }
        assertNoRescue(s);
    }

    @Test
    void threads_timerThatIsNeverDue_doesNotKeepTheWorker() {
        TimerScheduler s = make(1, 5_000_000);
        Timer never = s.after(Long.MAX_VALUE, TimeUnit.DAYS, () -> {});
        fire(s);
        awaitNoWorker(s);
        assertTrue(never.isPending());
        CountDownLatch fired = new CountDownLatch(1);
        never.reset(Duration.ofHours(1));
        Timer other = s.after(Long.MAX_VALUE, TimeUnit.DAYS, fired::countDown);
        other.reset(Duration.ofMillis(1));
        await(fired);
        never.stop();
        awaitNoThread();
    }

    @Test
    void threads_haveNothingOfTheThreadThatArms() throws InterruptedException {
        TimerScheduler s = make(1, 1_000_000_000);
        ThreadGroup group = new ThreadGroup("of an application");
        AtomicReference<Thread> ranOn = new AtomicReference<>();
        CountDownLatch fired = new CountDownLatch(1);
        Thread t = new Thread(group, () -> s.after(Duration.ZERO, () -> {
            ranOn.set(Thread.currentThread());
            fired.countDown();
        }));
        t.setPriority(Thread.MAX_PRIORITY);
        t.setContextClassLoader(new ClassLoader() {});
        t.start();
        await(fired);
        Thread worker = ranOn.get();
        assertNull(worker.getThreadGroup().getParent());
        assertEquals(Thread.NORM_PRIORITY, worker.getPriority());
        assertNull(worker.getContextClassLoader());
        assertTrue(worker.isDaemon());
        eventually("the monitor", () -> threadsOf(name).size() == 2);
        for (Thread own : threadsOf(name)) {
            assertNull(own.getThreadGroup().getParent());
            assertEquals(Thread.NORM_PRIORITY, own.getPriority());
            assertNull(own.getContextClassLoader());
        }
    }

    @Test
    void callback_blocks_otherWorkersThreadIsStartedToHelp() throws InterruptedException {
        TimerScheduler s = make(2, 20_000_000);
        CountDownLatch leave = new CountDownLatch(1);
        CountDownLatch fired = new CountDownLatch(2);
        s.after(Duration.ZERO, () -> await(leave));
        for (int i = 0; i < 2; i++) {
            Thread t = new Thread(() -> s.after(5, TimeUnit.MILLISECONDS, fired::countDown));
            t.start();
            t.join();
        }
        await(fired);
        leave.countDown();
        awaitNoThread();
        fire(s);
        awaitNoThread();
    }

    private static void awaitNoWorker(TimerScheduler s) {
        eventually("no worker", () -> {
            for (Sleeper d : s.engine.workerPool.workers()) {
                if (d.runner() != null) {
                    return false;
                }
            }
            return true;
        });
    }

    // ---- a thread ends while another arms ----

    /** Arms at about the moment at which the threads end: each timer must fire at once, and nothing rescue it. */
    private void race(int threads) throws InterruptedException {
        TimerScheduler s = make(2, 300_000);
        AtomicInteger ends = new AtomicInteger();
        LifeFixtures.inParallel(threads, n -> {
            Random random = new Random(n);
            CountDownLatch[] fired = new CountDownLatch[1];
            for (long end = System.nanoTime() + Scale.of(500_000_000, 2_000_000_000); System.nanoTime() < end || ends.get() == 0; ) {
                fired[0] = new CountDownLatch(1);
                s.after(random.nextInt(2) * 50_000L, TimeUnit.NANOSECONDS, fired[0]::countDown);
                await(fired[0]);
                LifeFixtures.spin(250_000 + random.nextInt(150_000));
                if (s.engine.workerPool.workers()[0].runner() == null || s.engine.workerPool.workers()[1].runner() == null) {
                    ends.incrementAndGet();
                }
            }
        });
        assertTrue(ends.get() > 0, "the threads never ended, so nothing was tested");
        assertEquals(0, s.pending());
        assertNoRescue(s);
        awaitNoThread();
    }

    /** A thread that was called while it was awake has a permit left. */
    @Test
    void sleep_permitIsLeftOver_threadStays() {
        TimerScheduler s = make(1, Duration.ofMinutes(1).toNanos());
        fire(s);
        Thread thread = s.engine.workerPool.workers()[0].runner();
        for (int i = 0; i < 50; i++) {
            eventually("it sleeps, or is gone", () -> thread.getState() == Thread.State.TIMED_WAITING || !thread.isAlive());
            LockSupport.unpark(thread);
        }
        assertTrue(thread.isAlive());
        s.engine.idleNanos = 1;
        fire(s);
        awaitNoThread();
    }

    /** It looks once more when it has left the seat; a thread that another waker has started stays there. */
    @Test
    void leave_wokenMeanwhile_goesOnUnlessAnotherThreadSits() {
        TimerScheduler s = make(1, 5_000_000);
        Seat seat = new Seat(s.engine.workerPool, new Seat.Sitter() {
            @Override
            public void run() {}

            @Override
            public void couldNotStart() {}
        }, "of a test");
        Thread me = Thread.currentThread();
        seat.take(me);
        assertFalse(seat.leave(() -> seat.thread() == null));
        assertTrue(seat.isMine());
        assertTrue(seat.leave(() -> false));
        assertNull(seat.thread());
        Thread other = new Thread(() -> {});
        seat.take(me);
        assertTrue(seat.leave(() -> {
            seat.take(other);
            return true;
        }));
        assertSame(other, seat.thread());
    }

    @Test
    void arm_whileTheThreadEnds_fires() throws InterruptedException {
        race(1);
    }

    @Test
    void arm_byTwoThreadsWhileTheThreadsEnd_fires() throws InterruptedException {
        race(2);
    }

    // ---- threads that cannot be started ----

    private static final class Failing implements ThreadFactory {
        final AtomicInteger failures = new AtomicInteger();
        final Queue<Thread> made = new ConcurrentLinkedQueue<>();
        /** In the place of an OutOfMemoryError. */
        RuntimeException exception;

        @Override
        public Thread newThread(Runnable body) {
            if (failures.getAndDecrement() > 0) {
                if (exception != null) {
                    throw exception;
                }
                throw new OutOfMemoryError("meant");
            }
            Thread t = new Thread(body);
            t.setDaemon(true);
            made.add(t);
            return t;
        }
    }

    private static TimerScheduler make(Failing factory) {
        TimerScheduler s = newShared(TimerScheduler.builder().workers(1).threadFactory(factory));
        s.engine.idleNanos = 5_000_000;
        return s;
    }

    @Test
    void arm_threadCannotBeStarted_timerStaysArmedAndTheNextArmingTriesAgain() {
        Failing factory = new Failing();
        TimerScheduler s = make(factory);
        factory.failures.set(1);
        CountDownLatch first = new CountDownLatch(1);
        Timer t = s.after(Duration.ZERO, first::countDown);
        assertTrue(t.isPending());
        assertEquals(0, factory.made.size());
        s.after(Duration.ofMillis(1), () -> {});
        await(first);
    }

    /** The JDK throws it for a thread that was started, and for a new one whose group has come to its end. */
    @Test
    void arm_factoryThrowsWhatAStartedThreadThrows_theNextArmingTriesAgain() {
        Failing factory = new Failing();
        factory.exception = new IllegalThreadStateException("meant");
        TimerScheduler s = make(factory);
        factory.failures.set(1);
        CountDownLatch first = new CountDownLatch(1);
        s.after(Duration.ZERO, first::countDown);
        s.after(Duration.ofMillis(1), () -> {});
        await(first);
    }

    /** It waits for the start, and starts another thread only if that has failed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void start_anotherWakerComesMeanwhile_startsNoSecondThread(boolean fails) throws InterruptedException {
        AtomicReference<Seat> seat = new AtomicReference<>();
        AtomicReference<Thread> other = new AtomicReference<>();
        List<Thread> made = new ArrayList<>();
        TimerScheduler s = newShared(TimerScheduler.builder().workers(1).threadFactory(body -> {
            Thread t = new Thread(body) {
                @Override
                public void start() {
                    if (other.get() == null) {
                        Thread waker = new Thread(() -> seat.get().wake());
                        other.set(waker);
                        waker.start();
                        eventually("it waits, or is through", () -> waker.getState() == Thread.State.BLOCKED || !waker.isAlive());
                        assertNull(seat.get().thread());
                        if (fails) {
                            throw new OutOfMemoryError("meant");
                        }
                    }
                    super.start();
                }
            };
            t.setDaemon(true);
            made.add(t);
            return t;
        }));
        AtomicInteger puts = new AtomicInteger();
        CountDownLatch ran = new CountDownLatch(1);
        seat.set(new Seat(s.engine.workerPool, new Seat.Sitter() {
            @Override
            public void run() {
                assertTrue(seat.get().isMine());
                ran.countDown();
            }

            @Override
            public void couldNotStart() {
                puts.incrementAndGet();
            }
        }, "tried"));
        assertEquals(!fails, seat.get().wake());
        Fixtures.join(other.get());
        await(ran);
        assertEquals(2, made.size());
        assertSame(made.get(fails ? 1 : 0), seat.get().thread());
        assertEquals(Thread.State.NEW, made.get(fails ? 0 : 1).getState());
        assertEquals(fails ? 1 : 0, puts.get());
    }

    /** The factory may want a lock under which another thread arms. */
    @Test
    void newThread_anotherWakerComesMeanwhile_waitsForNothing() throws InterruptedException {
        AtomicReference<Seat> seat = new AtomicReference<>();
        AtomicInteger calls = new AtomicInteger();
        TimerScheduler s = newShared(TimerScheduler.builder().workers(1).threadFactory(body -> {
            if (calls.incrementAndGet() == 1) {
                Thread waker = new Thread(() -> seat.get().wake());
                waker.start();
                eventually("it comes back", () -> !waker.isAlive());
            }
            Thread t = new Thread(body);
            t.setDaemon(true);
            return t;
        }));
        CountDownLatch ran = new CountDownLatch(1);
        seat.set(new Seat(s.engine.workerPool, new Seat.Sitter() {
            @Override
            public void run() {
                if (seat.get().isMine()) {
                    ran.countDown();
                }
            }

            @Override
            public void couldNotStart() {
                throw new AssertionError("a thread could not be started");
            }
        }, "woken"));
        assertTrue(seat.get().wake());
        await(ran);
        assertEquals(2, calls.get());
    }

    /** The threads of both workers have ended, no thread can be made any more, and a spare worker has been poller. */
    @Test
    void arm_onlyASpareWorkerHasAThread_itRunsWhatIsDue() {
        AtomicBoolean fails = new AtomicBoolean();
        TimerScheduler s = newShared(TimerScheduler.builder().name(name).workers(2).threadFactory(body -> {
            if (fails.get()) {
                throw new OutOfMemoryError("meant");
            }
            Thread t = new Thread(body);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, e) -> {});
            return t;
        }));
        s.engine.idleNanos = 20_000_000;
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            s.after(Duration.ofMillis(1), () -> {
                begun.countDown();
                await(release);
            });
        }
        await(begun);
        CountDownLatch third = new CountDownLatch(1);
        s.after(Duration.ofMillis(1), third::countDown);
        await(third);
        release.countDown();
        Sleeper[] workers = s.engine.workerPool.workers();
        eventually("the spare one is left", () -> workers[0].runner() == null && workers[1].runner() == null);
        fails.set(true);
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {});
        CountDownLatch fired = new CountDownLatch(1);
        s.after(Duration.ofMillis(50), fired::countDown);
        await(fired);
        Thread.currentThread().setUncaughtExceptionHandler(before);
        fails.set(false);
    }

    @Test
    void arm_onlyTheGuardCanBeStarted_itTriesAgain() {
        Failing factory = new Failing();
        TimerScheduler s = newShared(TimerScheduler.builder().workers(2).threadFactory(factory));
        factory.failures.set(1);
        CountDownLatch fired = new CountDownLatch(1);
        s.after(Duration.ZERO, fired::countDown);
        await(fired);
    }

    /** Refuses threads of workers but the first, so many times. */
    private static ThreadFactory withoutGuard(int refusals) {
        AtomicInteger made = new AtomicInteger();
        return body -> {
            int number = body instanceof StallWatch ? 0 : made.incrementAndGet();
            if (number > 1 && number <= 1 + refusals) {
                throw new OutOfMemoryError("meant");
            }
            Thread t = new Thread(body);
            t.setDaemon(true);
            return t;
        };
    }

    @Test
    void arm_guardCannotBeStarted_callbackThatBlocksIsReported() {
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        TimerScheduler s = newShared(TimerScheduler.builder().workers(2).maxThreads(2).threadFactory(withoutGuard(1))
                .stallAfter(Duration.ofMillis(50)).listener(heard));
        CountDownLatch release = new CountDownLatch(1);
        s.after(1, TimeUnit.HOURS, () -> { }); // which the guard would look for
        s.after(Duration.ZERO, () -> await(release));
        eventually("it is reported", () -> heard.stalled.size() == 1);
        Sleeper guard = s.engine.standby.guard();
        assertNull(guard.runner());
        s.engine.standby.callHelper(s.engine.standby.poller()); // as a poller that is behind
        assertNotNull(guard.runner(), "it has a thread now, which may have made its round already");
        release.countDown();
    }

    @Test
    void arm_guardCannotBeStartedAgain_theNextArmingTriesAgain() throws InterruptedException {
        TimerScheduler s = newShared(TimerScheduler.builder().workers(2).maxThreads(2).threadFactory(withoutGuard(2)));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        s.after(1, TimeUnit.HOURS, () -> { }); // which the guard would look for
        s.after(Duration.ZERO, () -> {
            begun.countDown();
            await(release);
        });
        await(begun);
        CountDownLatch fired = new CountDownLatch(2);
        s.after(Duration.ZERO, fired::countDown);
        assertNull(s.engine.standby.guard().runner());
        s.after(Duration.ZERO, fired::countDown);
        assertTrue(fired.await(LifeFixtures.LOST_SECONDS / 2, TimeUnit.SECONDS), "they wait for the callback");
        release.countDown();
    }

    @Test
    void arm_threadsCannotBeStartedAfterTheyHaveEnded_runsWhenTheyCanAgain() {
        Failing factory = new Failing();
        TimerScheduler s = make(factory);
        fire(s);
        Sleeper d = s.engine.workerPool.workers()[0];
        eventually("the end of the worker's thread", () -> d.runner() == null);
        eventually("the end of all threads", () -> factory.made.stream().noneMatch(Thread::isAlive));
        factory.failures.set(3);
        CountDownLatch fired = new CountDownLatch(4);
        for (int i = 0; i < 3; i++) {
            s.after(i, TimeUnit.MICROSECONDS, fired::countDown);
            assertNull(d.runner());
            assertEquals(4, fired.getCount());
        }
        s.after(3, TimeUnit.MICROSECONDS, fired::countDown);
        await(fired);
        eventually("the end of all threads", () -> factory.made.stream().noneMatch(Thread::isAlive));
        for (Thread t : factory.made) {
            assertNull(s.engine.workerPool.workerOf(t));
        }
    }

    @Test
    void run_threadThatDoesNotSit_endsAtOnce() throws InterruptedException {
        TimerScheduler s = make(1, 5_000_000);
        Worker d = (Worker) s.engine.workerPool.workers()[0];
        Thread other = new CleanThread(null, d, "not seated", true, null);
        other.start();
        Fixtures.join(other);
        assertEquals(1, s.engine.workerPool.workers().length);
        fire(s);
        awaitNoThread();
    }

    @Test
    void arm_afterTheEnd_startsANewThreadForTheSameWorker() {
        TimerScheduler s = make(1, 5_000_000);
        AtomicReference<Thread> first = new AtomicReference<>();
        AtomicReference<Thread> second = new AtomicReference<>();
        Sleeper d = s.engine.workerPool.workers()[0];
        for (AtomicReference<Thread> ranOn : List.of(first, second)) {
            CountDownLatch fired = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                ranOn.set(Thread.currentThread());
                assertSame(s.engine.queues[0], Fixtures.node(s.after(Duration.ZERO, () -> {})).queue);
                fired.countDown();
            });
            await(fired);
            eventually("the end", () -> d.runner() == null);
        }
        assertNotSame(first.get(), second.get());
        assertSame(d, s.engine.workerPool.workers()[0]);
        assertEquals(1, s.engine.workerPool.workers().length);
        eventually("the end of the first thread", () -> !first.get().isAlive());
        assertFalse(s.isClosed());
    }

    /** As the shared scheduler, but another. */
    private static TimerScheduler newShared(TimerScheduler.Builder b) {
        return new TimerScheduler(new SchedulerEngine(b.options.completeAsShared()));
    }
}
