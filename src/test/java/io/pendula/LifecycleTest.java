package io.pendula;

import static io.pendula.LifeFixtures.LOST_SECONDS;
import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.awaitNoThreadOf;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.inParallel;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;

import io.pendula.internal.queue.TimerNode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class LifecycleTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration NOW = Duration.ZERO;
    private static final Runnable NOTHING = () -> {};

    private static TimerScheduler.Builder scheduler(String name, int workers) {
        return TimerScheduler.builder().name(name).workers(workers);
    }

    // ---- close ----

    @Test
    void close_callbackInProgress_waitsForItAndDropsTheRest() throws Exception {
        TimerScheduler s = scheduler("l1", 1).build();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        AtomicBoolean otherRan = new AtomicBoolean();
        s.after(NOW, () -> {
            began.countDown();
            await(go);
            ended.set(true);
        });
        await(began);
        Timer due = s.after(NOW, () -> otherRan.set(true));
        Timer later = s.after(HOUR, () -> otherRan.set(true));
        AtomicBoolean endedBeforeReturn = new AtomicBoolean();
        Thread closer = new Thread(() -> {
            s.close();
            endedBeforeReturn.set(ended.get());
        });
        closer.start();
        eventually("closer waits", () -> Fixtures.isWaiting(closer));
        assertTrue(s.isClosed());
        closer.join(100);
        assertTrue(closer.isAlive(), "it waits for as long as the callback lasts");
        go.countDown();
        closer.join();
        assertTrue(endedBeforeReturn.get());
        awaitNoThreadOf("l1");
        assertFalse(otherRan.get());
        assertFalse(due.isPending() || later.isPending());
        assertFalse(due.stop() || later.stop());
        assertEquals(2, s.stats().unfired());
    }

    @Test
    void close_calledTwiceAndByMany_returnsEachTime() throws Exception {
        TimerScheduler s = scheduler("l2", 2).build();
        s.after(HOUR, NOTHING);
        inParallel(4, n -> s.close());
        s.close();
        assertEquals(List.of(), s.shutdownNow());
        awaitNoThreadOf("l2");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void close_insideCallback_doesNotWaitForItself(int workers) throws Exception {
        TimerScheduler s = scheduler("l3", workers).build();
        CountDownLatch returned = new CountDownLatch(1);
        s.after(NOW, () -> {
            s.close();
            returned.countDown();
        });
        await(returned);
        s.close();
        awaitNoThreadOf("l3");
    }

    @Test
    void close_insideTwoCallbacksAtOnce_doesNotDeadlock() throws Exception {
        TimerScheduler s = scheduler("l4", 2).build();
        CyclicBarrier both = new CyclicBarrier(2);
        CountDownLatch returned = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            // A second worker takes the second timer over, whichever worker the two are on.
            s.after(NOW, () -> {
                try {
                    both.await(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                s.close();
                returned.countDown();
            });
        }
        await(returned);
        s.close();
        awaitNoThreadOf("l4");
    }

    @Test
    void close_insideOneCallback_waitsForTheOther() throws Exception {
        TimerScheduler s = scheduler("l5", 2).build();
        CountDownLatch otherBegan = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch returned = new CountDownLatch(1);
        AtomicBoolean otherEnded = new AtomicBoolean();
        AtomicBoolean waited = new AtomicBoolean();
        AtomicReference<Thread> closer = new AtomicReference<>();
        s.after(NOW, () -> {
            otherBegan.countDown();
            await(go);
            otherEnded.set(true);
        });
        await(otherBegan);
        s.after(NOW, () -> {
            closer.set(Thread.currentThread());
            s.close();
            waited.set(otherEnded.get());
            returned.countDown();
        });
        eventually("closer waits", () -> s.isClosed() && Fixtures.isWaiting(closer.get()));
        go.countDown();
        await(returned);
        assertTrue(waited.get());
    }

    @Test
    void close_interrupted_stopsWaitingWithTheFlagSet() throws Exception {
        TimerScheduler s = scheduler("l6", 1).build();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        s.after(NOW, () -> {
            began.countDown();
            await(go);
        });
        await(began);
        AtomicBoolean flag = new AtomicBoolean();
        Thread closer = new Thread(() -> {
            s.close();
            flag.set(Thread.currentThread().isInterrupted());
        });
        closer.start();
        eventually("closer waits", () -> Fixtures.isWaiting(closer));
        closer.interrupt();
        closer.join();
        assertTrue(flag.get());
        assertEquals(1, threadsOf("l6").stream().filter(t -> t.getName().contains("worker")).count());
        go.countDown();
        awaitNoThreadOf("l6");
    }

    @Test
    void close_idleWorkersAndMonitor_endsAllThreads() {
        for (int i = 0; i < 20; i++) {
            TimerScheduler s = scheduler("l7", 3).build();
            if (i % 2 == 0) {
                s.after(HOUR, NOTHING);
            }
            s.close();
            assertEquals(0, threadsOf("l7").stream().filter(t -> t.getName().contains("worker")
                    && t.getState() != Thread.State.TERMINATED && s.engine.workerPool.workers().length > 0).count());
        }
        awaitNoThreadOf("l7");
    }

    // ---- what is refused afterwards ----

    /** No worker says that it has ended. */
    @Test
    void close_threadsOfTheFactoryHaveEndedWithoutRunningTheirWorkers_returns() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        ThreadFactory ignores = body -> {
            Thread t = new Thread(() -> { });
            threads.add(t);
            return t;
        };
        TimerScheduler s = TimerScheduler.builder().workers(2).threadFactory(ignores).build();
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1, ignores);
        pool.execute(() -> { });
        for (Thread t : threads) {
            Fixtures.join(t);
        }
        assertTrue(s.close(Duration.ZERO));
        assertEquals(1, pool.shutdownNow().size());
        assertTrue(pool.awaitTermination(0, TimeUnit.SECONDS));
    }

    @Test
    void close_threadOfTheFactoryEndsLaterWithoutRunningItsWorker_returns() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        TimerScheduler s = TimerScheduler.builder().workers(1).maxThreads(1)
                .threadFactory(body -> new Thread(() -> await(end))).build();
        Thread closing = new Thread(s::close);
        closing.start();
        Fixtures.awaitWaiting(closing);
        end.countDown();
        Fixtures.join(closing);
    }

    @Test
    void arm_closed_isRejected() {
        TimerScheduler s = scheduler("l8", 1).build();
        Timer waiting = s.after(HOUR, NOTHING);
        Timer stopped = s.after(HOUR, NOTHING);
        assertTrue(stopped.stop());
        Timer cancelled = s.after(HOUR, NOTHING);
        assertTrue(cancelled.cancel());
        Timer fired = s.after(NOW, NOTHING);
        eventually("fired", () -> !fired.isPending() && s.stats().fired() == 1);
        Ticker ticker = s.every(HOUR, NOTHING);
        s.close();
        assertThrows(RejectedExecutionException.class, () -> s.after(NOW, NOTHING));
        assertThrows(RejectedExecutionException.class, () -> s.alarm(HOUR));
        assertThrows(RejectedExecutionException.class, () -> s.every(HOUR, NOTHING));
        for (Timer t : List.of(waiting, stopped, fired)) {
            assertThrows(RejectedExecutionException.class, () -> t.reset(NOW));
            assertThrows(RejectedExecutionException.class, () -> t.reset(1, TimeUnit.HOURS));
            assertFalse(t.stop());
            assertFalse(t.isPending());
        }
        assertThrows(IllegalStateException.class, () -> cancelled.reset(NOW));
        assertThrows(RejectedExecutionException.class, () -> ticker.reset(HOUR));
        assertFalse(ticker.stop());
        assertEquals(0, s.pending());
    }

    @Test
    void reset_insideCallbackWhileClosing_isRejected() {
        TimerScheduler s = scheduler("l9", 1).build();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        AtomicReference<Throwable> outcome = new AtomicReference<>();
        AtomicReference<Timer> self = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch known = new CountDownLatch(1);
        self.set(s.after(NOW, () -> {
            runs.incrementAndGet();
            await(known);
            began.countDown();
            eventually("closed", s::isClosed);
            eventually("collected", () -> s.engine.queues[0].isClosed());
            try {
                self.get().reset(NOW);
            } catch (Throwable e) {
                outcome.set(e);
            }
            done.countDown();
        }));
        known.countDown();
        await(began);
        s.close();
        await(done);
        assertEquals(RejectedExecutionException.class, outcome.get().getClass());
        assertEquals(1, runs.get());
        assertFalse(self.get().isPending());
    }

    // ---- shutdownNow ----

    @Test
    void shutdownNow_variousTimers_returnsExactlyWhatIsArmed() {
        TimerScheduler s = scheduler("l10", 2).build();
        AtomicBoolean late = new AtomicBoolean();
        Runnable task = () -> late.set(true);
        Timer fired = s.after(NOW, NOTHING);
        eventually("fired", () -> !fired.isPending());
        Set<TimerHandle> expected = identitySet();
        expected.add(s.after(HOUR, task));
        Timer moved = s.after(HOUR, task);
        assertTrue(moved.reset(Duration.ofHours(2)));
        expected.add(moved);
        Timer broughtForward = s.after(HOUR, task);
        s.pending(); // files what is in the inbox, so that a stale entry is left behind
        assertTrue(broughtForward.reset(Duration.ofMinutes(30)));
        expected.add(broughtForward);
        Timer revived = s.after(HOUR, task);
        assertTrue(revived.stop());
        assertFalse(revived.reset(HOUR));
        expected.add(revived);
        Alarm signal = s.alarm(HOUR);
        expected.add(signal);
        assertTrue(s.after(HOUR, task).stop());
        assertTrue(s.after(HOUR, task).cancel());
        Ticker ticker = s.every(HOUR, task);
        expected.add(ticker);

        List<TimerHandle> unfired = s.shutdownNow();
        Set<TimerHandle> returned = identitySet();
        returned.addAll(unfired);
        assertEquals(expected, returned);
        assertEquals(expected.size(), unfired.size());
        for (TimerHandle t : unfired) {
            assertFalse(t.isPending());
            assertFalse(t.cancel());
        }
        assertFalse(ticker.stop());
        assertEquals(expected.size(), s.stats().unfired());
        s.close();
        awaitNoThreadOf("l10");
        assertFalse(late.get());
    }

    @Test
    void shutdownNow_callbackHasArmedItself_returnsItWithoutWaiting() {
        TimerScheduler s = scheduler("l11", 1).build();
        CountDownLatch armed = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch known = new CountDownLatch(1);
        AtomicReference<Timer> self = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        self.set(s.after(NOW, () -> {
            runs.incrementAndGet();
            await(known);
            self.get().reset(NOW);
            armed.countDown();
            await(go);
        }));
        known.countDown();
        await(armed);
        assertEquals(List.of(self.get()), s.shutdownNow());
        go.countDown();
        s.close();
        assertEquals(1, runs.get());
        assertEquals(1, s.stats().unfired());
    }

    @Test
    void shutdownNow_runEndsBetweenCloseAndCollection_returnsItsArming() throws Exception {
        TimerScheduler s = scheduler("l12", 2).monitor(false).build();
        CountDownLatch armed = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Timer> self = new AtomicReference<>();
        Timer t = new OneShotTimer(s.engine.queues[0], () -> {
            self.get().reset(NOW);
            armed.countDown();
            await(go);
        });
        self.set(t);
        Fixtures.node(t).queue.arm(Fixtures.node(t), s.engine.timeline.deadlineIn(0));
        await(armed);
        AtomicReference<List<TimerHandle>> unfired = new AtomicReference<>();
        Thread closer = new Thread(() -> unfired.set(s.shutdownNow()));
        Inside.lock(s.engine.queues[1]).lock();
        try {
            closer.start();
            eventually("first queue closed", () -> s.engine.queues[0].isClosed());
            go.countDown();
            eventually("run ended", () -> !t.isPending() && !TimerNode.isRunning(TimerNode.state(Fixtures.node(t).wordVolatile())));
        } finally {
            Inside.lock(s.engine.queues[1]).unlock();
        }
        closer.join();
        assertEquals(List.of(t), unfired.get());
        assertEquals(1, s.stats().unfired());
    }

    private static <T> Set<T> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    // ---- the storm ----

    /** One one-shot timer: each of its armings was accepted, and ends in exactly one way. */
    private static final class Shot implements Runnable {
        final AtomicInteger armed = new AtomicInteger();
        final AtomicInteger fired = new AtomicInteger();
        final AtomicInteger prevented = new AtomicInteger();
        final boolean again;
        volatile Timer timer;

        Shot(boolean again) {
            this.again = again;
        }

        @Override
        public void run() {
            fired.incrementAndGet();
            Timer t = timer;
            if (again && t != null) {
                arm(() -> t.reset(ThreadLocalRandom.current().nextLong(50_000), TimeUnit.NANOSECONDS));
            }
        }

        /** False if the scheduler was closed. */
        boolean arm(java.util.function.BooleanSupplier how) {
            try {
                if (how.getAsBoolean()) {
                    prevented.incrementAndGet();
                }
                armed.incrementAndGet();
                return true;
            } catch (RejectedExecutionException e) {
                return false;
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 30, false", "2, 30, false", "4, 30, false", "2, 30, true"})
    void shutdownNow_inAStorm_eachArmingRanOrWasRejectedOrIsReturned(int workers, int rounds, boolean handOff)
            throws Exception {
        ExecutorService executor = handOff ? Executors.newFixedThreadPool(2) : null;
        try {
            long armings = 0;
            long returned = 0;
            for (int round = 0; round < Scale.of(rounds / 3, rounds); round++) {
                TimerScheduler.Builder b = scheduler("storm", workers).monitor(round % 2 == 0);
                if (handOff) {
                    b.executor(executor);
                }
                int[] counts = storm(b.build(), round, handOff);
                armings += counts[0];
                returned += counts[1];
            }
            LifeFixtures.figure("storm: workers %d, executor %s: %d armings, %d returned", workers, handOff, armings,
                    returned);
            assertTrue(returned > 0);
        } finally {
            if (executor != null) {
                executor.shutdown();
            }
        }
    }

    private static int[] storm(TimerScheduler s, int round, boolean handOff) throws Exception {
        Queue<Shot> shots = new ConcurrentLinkedQueue<>();
        AtomicInteger ticks = new AtomicInteger();
        List<Ticker> tickers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            tickers.add(s.every(Duration.ofNanos(1 + i * 20_000), ticks::incrementAndGet));
        }
        Set<TimerHandle> unfired = identitySet();
        int[] list = new int[1];
        inParallel(3, n -> {
            if (n == 0) {
                LifeFixtures.spin(ThreadLocalRandom.current().nextLong(3_000_000));
                List<TimerHandle> u = s.shutdownNow();
                list[0] = u.size();
                unfired.addAll(u);
                s.close();
                return;
            }
            for (boolean open = true; open; ) {
                ThreadLocalRandom r = ThreadLocalRandom.current();
                Shot shot = new Shot(r.nextInt(4) == 0);
                open = shot.arm(() -> {
                    shot.timer = s.after(r.nextLong(200_000), TimeUnit.NANOSECONDS, shot);
                    return false;
                });
                if (open) {
                    shots.add(shot);
                    if (r.nextInt(4) == 0 && shot.timer.stop()) {
                        shot.prevented.incrementAndGet();
                    } else if (r.nextInt(4) == 0) {
                        open = shot.arm(() -> shot.timer.reset(r.nextLong(100_000), TimeUnit.NANOSECONDS));
                    }
                }
            }
        });
        assertEquals(unfired.size(), list[0], "round " + round + ": a timer was returned twice");
        int armed = 0;
        int fired = 0;
        int prevented = 0;
        int lost = 0;
        for (Shot shot : shots) {
            int missing = shot.armed.get() - shot.fired.get() - shot.prevented.get();
            // Two: what waited in the executor, and what it was armed for again meanwhile.
            assertTrue(unfired.contains(shot.timer) ? missing == 1 || handOff && missing == 2 : missing == 0, () -> "armed " + shot.armed + ", fired "
                    + shot.fired + ", prevented " + shot.prevented + ", again " + shot.again + ", " + shot.timer);
            assertFalse(shot.timer.isPending());
            armed += shot.armed.get();
            fired += shot.fired.get();
            lost += missing;
            prevented += shot.prevented.get();
        }
        TimerStats stats = s.stats();
        assertEquals(0, stats.pending());
        assertEquals(fired + ticks.get(), stats.fired());
        assertEquals(prevented, stats.stopped() + stats.resets());
        long ticksLost = stats.unfired() - lost - tickers.size(); // those that waited in the executor
        assertTrue(ticksLost >= 0 && ticksLost <= (handOff ? tickers.size() : 0), stats::toString);
        assertEquals(stats.armed(), stats.fired() + stats.stopped() + stats.resets() + stats.unfired());
        assertEquals(armed + ticks.get() + tickers.size() + ticksLost, stats.armed());
        return new int[] {armed, unfired.size()};
    }

    // ---- with an executor ----

    @Test
    void close_callbackInTheExecutor_waitsForItAndDropsWhatHasNotBegun() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            TimerScheduler s = scheduler("l13", 1).executor(executor).build();
            CountDownLatch began = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            AtomicInteger ended = new AtomicInteger();
            s.after(NOW, () -> {
                began.countDown();
                await(go);
                ended.incrementAndGet();
            });
            s.after(NOW, ended::incrementAndGet); // waits in the executor
            await(began);
            eventually("both handed off", () -> s.stats().fired() == 2);
            AtomicInteger endedBefore = new AtomicInteger();
            Thread closer = new Thread(() -> {
                s.close();
                endedBefore.set(ended.get());
            });
            closer.start();
            eventually("closer waits", () -> Fixtures.isWaiting(closer)
                    && s.engine.workerPool.workers().length == 0);
            go.countDown();
            closer.join();
            assertEquals(1, endedBefore.get());
            executor.shutdown();
            assertTrue(executor.awaitTermination(LOST_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, ended.get());
            assertEquals(1, s.stats().fired());
            assertEquals(1, s.stats().unfired());
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void close_insideCallbackOnExecutor_doesNotWaitForItself() {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            TimerScheduler s = scheduler("l14", 1).executor(executor).build();
            CountDownLatch returned = new CountDownLatch(1);
            s.after(NOW, () -> {
                s.close();
                returned.countDown();
            });
            await(returned);
            awaitNoThreadOf("l14");
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void close_insideCallbackWithAnotherWaitingInTheExecutor_doesNotWaitForThat() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            TimerScheduler s = scheduler("l16", 1).executor(executor).build();
            CountDownLatch go = new CountDownLatch(1);
            AtomicInteger ran = new AtomicInteger();
            s.after(NOW, () -> {
                await(go);
                s.close();
                ran.incrementAndGet();
            });
            s.after(NOW, ran::incrementAndGet);
            eventually("both handed off", () -> s.stats().fired() == 2);
            go.countDown();
            awaitNoThreadOf("l16");
            executor.shutdown();
            assertTrue(executor.awaitTermination(LOST_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, ran.get());
        } finally {
            executor.shutdown();
        }
    }

    /** As of a user interface, whose only thread closes the scheduler while callbacks wait for that thread. */
    @Test
    void close_onTheExecutorsOnlyThreadInNoCallback_takesBackWhatWaitsThere() throws Exception {
        Queue<Runnable> waiting = new ArrayDeque<>(); // of the thread that runs this test
        ManualClock clock = new ManualClock();
        TimerScheduler s = TimerScheduler.builder().clock(clock).executor(waiting::add).build();
        AtomicInteger ran = new AtomicInteger();
        Timer once = s.after(NOW, ran::incrementAndGet);
        Timer again = s.after(NOW, ran::incrementAndGet);
        Ticker ticker = s.every(Duration.ofSeconds(1), ran::incrementAndGet);
        Future<?> task = s.asScheduledExecutorService().schedule(() -> ran.incrementAndGet(), 1, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(1));
        assertEquals(4, waiting.size());
        assertFalse(again.reset(Duration.ofSeconds(1)));
        Timer later = s.after(Duration.ofHours(1), ran::incrementAndGet);

        assertEquals(Set.of(once, again, ticker, task, later), Set.copyOf(s.shutdownNow()));
        s.close();
        waiting.forEach(Runnable::run); // the executor comes to them too late
        assertEquals(0, ran.get());
        assertTrue(task.isCancelled());
        assertFalse(ticker.isPending());
        assertThrows(RejectedExecutionException.class, () -> once.reset(NOW));
        assertTrue(once.cancelAndAwait(NOW), "its run has ended");
        TimerStats stats = s.stats();
        assertEquals(0, stats.fired());
        assertEquals(7, stats.unfired(), stats::toString); // four firings, two that were armed anew, and one
        assertEquals(0, stats.pending() + stats.running());
    }

    /** Between the registration and the executor, by an executor that the close does not wait for. */
    @Test
    void close_whileAFiringIsHandedOver_theExecutorFindsNothingToDo() {
        ManualClock clock = new ManualClock();
        AtomicInteger ran = new AtomicInteger();
        TimerScheduler[] s = new TimerScheduler[1];
        s[0] = TimerScheduler.builder().clock(clock).executor(r -> {
            assertEquals(1, s[0].shutdownNow().size());
            r.run();
        }).build();
        s[0].after(NOW, ran::incrementAndGet);
        clock.advance(Duration.ZERO);
        assertEquals(0, ran.get());
        assertEquals(1, s[0].stats().unfired());
        s[0].close();
    }

    @Test
    void close_insideCallbackThatTheExecutorRanOnTheWorker_doesNotWaitForItself() {
        TimerScheduler s = scheduler("l15", 1).executor(Runnable::run).build();
        CountDownLatch returned = new CountDownLatch(1);
        s.after(NOW, () -> {
            s.close();
            returned.countDown();
        });
        await(returned);
        awaitNoThreadOf("l15");
    }
}
