package io.pendula;

import io.pendula.internal.queue.QueueView;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.executor.ScheduledTask;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.workers.WorkerPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever fails in closing: no thread sleeps on, nothing is lost, and the next call does the rest. */
@Timeout(60)
class CloseFailureTest {
    private static final Runnable NOTHING = () -> {};

    // ---- one queue ----

    /** Wherever memory runs out, and again and again: each call brings what it has room for. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 7})
    void closeOfQueue_outOfMemory_goesOnWhereItWas(int room) {
        Fixtures.Rig rig = new Fixtures.Rig(false);
        TimerQueue queue = rig.queue;
        Set<TimerNode> armed = new LinkedHashSet<>();
        for (int i = 0; i < 12; i++) {
            OneShotTimer t = rig.arm(100 + i);
            switch (i % 4) {
                case 1 -> queue.stop(t);
                case 2 -> queue.reset(t, 1_000 + i);
                default -> armed.add(t);
            }
            if (i % 4 == 2) {
                armed.add(t);
            }
            if (i == 7) {
                rig.drain();
            }
        }
        int number = 0;
        for (TimerNode t : armed) { // stale entries, and some that go to the inbox again
            if (number++ % 2 == 0) {
                queue.reset(t, 50);
            }
        }
        assertEquals(3, rig.dead());
        assertEquals(3, armed.stream().filter(t -> rig.state(t) == TimerNode.MODIFIED_EARLIER).count());
        Set<TimerNode> collected = new HashSet<>();
        for (int calls = 0; ; calls++) {
            assertTrue(calls < 20, "it does not come to an end");
            List<TimerNode> list = new ShortList<>(room + calls / 2);
            boolean failed = false;
            try {
                queue.closer.close(list);
            } catch (OutOfMemoryError e) {
                failed = true;
            }
            assertTrue(queue.isClosed());
            assertEquals(armed.size(), collected.size() + list.size() + queue.view().pending(), "armed, or collected");
            list.forEach(t -> assertTrue(collected.add(t), "collected twice"));
            if (!failed) {
                break;
            }
        }
        assertEquals(armed, collected);
        assertEquals(0, rig.dead());
        assertEquals(0, queue.view().pending());
        assertEquals(armed.size(), queue.view().stats().get(QueueView.Count.UNFIRED));
        assertEquals(0, rig.entries());
    }

    // ---- a scheduler ----

    /** A timer whose closing fails while the test says so. */
    static final class Fragile extends TimerNode {
        boolean fails = true;
        int abandoned;

        Fragile(TimerQueue queue) {
            super(NOTHING);
        }

        @Override
        public void abandoned() {
            if (fails) {
                throw new OutOfMemoryError("the test allows no more memory");
            }
            abandoned++;
        }
    }

    private static void assertThreadsEnd(TimerScheduler s) {
        LifeFixtures.eventually("workers end", s.engine.workerPool::isEmpty);
    }

    /** The array of queues has a hole, so closing fails before, between or after the queues. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shutdownNow_failsBesideTheQueues_workersEndAndTheNextCallReturnsAll(int hole) throws Exception {
        AtomicBoolean held = new AtomicBoolean();
        TimerScheduler s = TimerScheduler.builder().name("hole").workers(2).clock(() -> {
            while (held.get() && Thread.currentThread() instanceof CleanThread) {
                LockSupport.parkNanos(100_000);
            }
            return System.nanoTime();
        }).build();
        LifeFixtures.eventually("workers sleep",
                () -> Arrays.stream(s.engine.workerPool.workers()).allMatch(d -> d.asleep));
        Set<OneShotTimer> armed = new HashSet<>();
        for (TimerQueue q : s.engine.queues) {
            for (int i = 0; i < 10; i++) {
                OneShotTimer t = new OneShotTimer(q, NOTHING);
                q.arm(t, s.engine.timeline.deadlineIn(HOURS.toNanos(1)));
                armed.add(t);
            }
        }
        // Arming has woken them and the monitor, and one that is up would meet the hole. From now on a worker that wakes up
        // is held at the clock, which it reads before it looks at the queues.
        BooleanSupplier asleep = () -> Arrays.stream(s.engine.queues).allMatch(q -> q.gate.lookAt() != WakeGate.AWAKE)
                && Arrays.stream(s.engine.workerPool.workers()).allMatch(d -> d.asleep
                && d.runner().getState() != Thread.State.RUNNABLE)
                && LifeFixtures.threadsOf("hole").stream().allMatch(t -> t.getState() != Thread.State.RUNNABLE)
                && Arrays.stream(s.engine.workerPool.workers())
                        .allMatch(d -> d.until > s.engine.timeline.now() + 300_000_000);
        do {
            held.set(false);
            LifeFixtures.eventually("workers sleep again", asleep);
            held.set(true);
        } while (!asleep.getAsBoolean());
        TimerQueue[] whole = s.engine.queues;
        List<TimerQueue> broken = new ArrayList<>(List.of(whole));
        broken.add(hole, null);
        s.engine.queues = broken.toArray(new TimerQueue[0]);
        try {
            assertThrows(NullPointerException.class, s::shutdownNow);
            assertTrue(Arrays.stream(s.engine.workerPool.workers()).allMatch(d -> d.isCalled() || !d.asleep), "called");
        } finally {
            s.engine.queues = whole;
            held.set(false);
        }
        assertTrue(s.isClosed());
        assertThreadsEnd(s);
        assertThrows(RejectedExecutionException.class, () -> s.after(Duration.ZERO, NOTHING));
        assertEquals(armed, new HashSet<>(s.shutdownNow()));
        assertEquals(List.of(), s.shutdownNow());
        s.close();
        assertEquals(0, s.pending());
    }

    @Test
    void shutdownNow_failsAmongTheUnfired_workersEndAndTheNextCallReturnsAll() {
        TimerScheduler s = TimerScheduler.builder().workers(1).build();
        Timer before = s.after(Duration.ofHours(1), NOTHING);
        Fragile fragile = new Fragile(s.engine.queues[0]);
        s.engine.queues[0].arm(fragile, s.engine.timeline.deadlineIn(HOURS.toNanos(1)));
        ScheduledFuture<?> task = s.asScheduledExecutorService().schedule(NOTHING, 1, HOURS);
        Timer after = s.after(Duration.ofHours(1), NOTHING);
        assertThrows(OutOfMemoryError.class, s::shutdownNow);
        assertThreadsEnd(s);
        assertThrows(OutOfMemoryError.class, s::close, "it does not hang");
        fragile.fails = false;
        assertEquals(Set.of(before, after, task), Set.copyOf(s.shutdownNow()));
        assertEquals(1, fragile.abandoned);
        assertTrue(task.isCancelled());
        s.close();
    }

    /** A shutdown that asks what kind of task it is fails. */
    private static final class FailsAtAShutdown extends ScheduledTask<Void> {
        private volatile boolean fails;

        FailsAtAShutdown(SchedulerExecutor view, Runnable work) {
            super(view.engine.currentQueue(), work, view.tracker, 0, false);
        }

        @Override
        public boolean isPeriodic() {
            if (fails) {
                throw new OutOfMemoryError("meant");
            }
            return super.isPeriodic();
        }
    }

    @Test
    void close_failsAtAView_theNextCallEndsThatViewToo() throws Exception {
        TimerScheduler s = TimerScheduler.builder().workers(1).build();
        SchedulerExecutor view = s.asScheduledExecutorService();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        FailsAtAShutdown running = view.tracker.submit(new FailsAtAShutdown(view, () -> {
            begun.countDown();
            LifeFixtures.await(go);
        }), 0);
        ScheduledFuture<?> waiting = view.schedule(NOTHING, 1, HOURS);
        LifeFixtures.await(begun);
        running.fails = true;
        assertThrows(OutOfMemoryError.class, s::close);
        running.fails = false;
        assertTrue(waiting.isCancelled());
        go.countDown();
        s.close();
        assertTrue(view.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
        assertThreadsEnd(s);
    }

    // ---- a loop ----

    @Test
    void detach_failsAmongTheUnfired_theNextCallReturnsAll() {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            TimerLoop loop = s.attach(NOTHING);
            Timer before = loop.after(Duration.ofHours(1), NOTHING);
            Fragile fragile = new Fragile(s.engine.queues[0]);
            s.engine.queues[0].arm(fragile, s.engine.timeline.deadlineIn(HOURS.toNanos(1)));
            Timer after = loop.after(Duration.ofHours(1), NOTHING);
            assertThrows(OutOfMemoryError.class, loop::detach);
            assertThrows(RejectedExecutionException.class, () -> loop.after(Duration.ZERO, NOTHING));
            assertThrows(OutOfMemoryError.class, loop::detach);
            fragile.fails = false;
            assertEquals(Set.of(before, after), Set.copyOf(loop.detach()));
            assertEquals(1, fragile.abandoned);
            assertEquals(List.of(), loop.detach());
            loop.close();
            assertEquals(0, s.pending());
            LoopFixtures.assertAccount(s, 3, 0, 0, 0, 3);
        }
    }

    @Test
    void detach_failedAndTheThreadHasAnotherLoop_theNextCallLeavesThatOne() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            TimerLoop first = s.attach(NOTHING);
            Fragile fragile = fragileOn(first);
            assertThrows(OutOfMemoryError.class, first::detach);
            TimerLoop second = s.attach(NOTHING);
            fragile.fails = false;
            assertEquals(List.of(), first.detach());
            assertEquals(1, fragile.abandoned);
            s.after(Duration.ZERO, NOTHING);
            assertEquals(1, second.runDue());
            second.close();
        }
    }

    /** Armed on a loop for an hour from now. */
    static Fragile fragileOn(TimerLoop loop) {
        TimerQueue queue = loop.worker.queue;
        Fragile fragile = new Fragile(queue);
        queue.arm(fragile, loop.worker.engine.timeline.deadlineIn(HOURS.toNanos(1)));
        return fragile;
    }

    /** What a thread without a loop arms runs on the worker, which is driven by the clock. */
    private static void assertHasNoLoop(TimerScheduler s, ManualClock clock) {
        AtomicInteger ran = new AtomicInteger();
        s.after(Duration.ZERO, ran::incrementAndGet);
        clock.advance(Duration.ZERO);
        assertEquals(1, ran.get(), "it went to a loop that nobody polls");
    }

    @Test
    void attach_noMemoryForTheHandle_attachesNothing() {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            assertThrows(OutOfMemoryError.class, () -> s.engine.attach(Thread.currentThread(), NOTHING, l -> {
                throw new OutOfMemoryError("the test allows no more memory");
            }));
            assertHasNoLoop(s, clock);
            s.attach(NOTHING).close();
        }
    }

    // ---- an executor ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 9})
    void shutdownNow_ofAPool_outOfMemory_theNextCallReturnsAll(int room) throws Exception {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2);
        assertNoneIsLost(pool, room);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 9})
    void shutdownNow_ofAView_outOfMemory_theNextCallReturnsAll(int room) throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(2).build()) {
            assertNoneIsLost(s.asScheduledExecutorService(), room);
        }
    }

    /** What falls due between the two calls does not run: it is cancelled, unless the first one has taken it back. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 9})
    void shutdownNow_outOfMemory_whatIsClaimedThenIsCancelled(int room) throws Exception {
        ManualClock clock = new ManualClock();
        try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
            assertNoneIsLost(s.asScheduledExecutorService(), room, () -> clock.advance(Duration.ofHours(3)), room);
        }
    }

    private static void assertNoneIsLost(SchedulerExecutor executor, int room) throws Exception {
        assertNoneIsLost(executor, room, NOTHING, 10);
    }

    /** The second call returns {@code size} of ten tasks; the others were cancelled in between. */
    private static void assertNoneIsLost(SchedulerExecutor executor, int room, Runnable between, int size) throws Exception {
        Set<Future<?>> tasks = new HashSet<>();
        AtomicInteger runs = new AtomicInteger();
        for (int i = 0; i < 5; i++) {
            tasks.add(executor.schedule(runs::incrementAndGet, 1, HOURS));
            tasks.add(executor.scheduleAtFixedRate(runs::incrementAndGet, 1, 1, HOURS));
        }
        executor.tracker.unstarted = new ShortList<>(room);
        assertThrows(OutOfMemoryError.class, executor::shutdownNow);
        assertTrue(executor.isShutdown());
        assertFalse(executor.isTerminated());
        assertThrows(RejectedExecutionException.class, () -> executor.execute(NOTHING));
        assertThrows(OutOfMemoryError.class, executor::close, "it does not hang");
        between.run();
        assertFalse(executor.isTerminated());
        executor.tracker.unstarted = new ArrayList<>(executor.tracker.unstarted);
        assertEquals(room, executor.tracker.unstarted.size());
        List<Runnable> returned = executor.shutdownNow();
        assertEquals(size, returned.size(), returned::toString);
        tasks.forEach(f -> assertEquals(f.isCancelled() ? 0 : 1, Collections.frequency(returned, f), f::toString));
        assertTrue(executor.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
        executor.close();
        assertEquals(List.of(), executor.shutdownNow());
        assertEquals(0, runs.get());
        for (Runnable task : returned) {
            RunnableScheduledFuture<?> f = (RunnableScheduledFuture<?>) task;
            assertFalse(f.isDone(), task::toString);
            int before = runs.get();
            task.run();
            assertEquals(f.isPeriodic() ? 0 : 1, runs.get() - before);
            assertTrue(f.isDone(), task::toString);
        }
    }

    /** As if there were no memory for the list without it: there is no list for a while. */
    @Test
    void workerEnds_itsRemovalFails_isTriedAgain() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(1, body -> {
            Thread t = new Thread(body);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, e) -> told.countDown());
            return t;
        });
        pool.submit(NOTHING).get(Fixtures.PATIENCE_SECONDS, SECONDS);
        WorkerPool workers = pool.engine.workerPool;
        Sleeper[] all = workers.workers();
        Thread last = all[0].runner();
        synchronized (pool.engine.lifecycle) {
            pool.shutdown();
            LifeFixtures.eventually("it is ending", () -> last.getState() == Thread.State.BLOCKED);
            workers.knows((Sleeper[]) null);
        }
        LifeFixtures.await(told);
        workers.knows(all);
        LifeFixtures.eventually("it is off the list", () -> workers.workers().length == 0);
        assertTrue(pool.awaitTermination(LifeFixtures.LOST_SECONDS, SECONDS), "it never terminates");
    }

    /** The last task of a pool has ended, and so the pool's scheduler is closed, which fails. */
    @Test
    void shutdown_closingThePoolsSchedulerFails_itTerminatesAllTheSame() throws Exception {
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2);
        ScheduledFuture<?> last = pool.schedule(NOTHING, 1, HOURS);
        pool.shutdown();
        Fragile fragile = new Fragile(pool.engine.queues[0]);
        pool.engine.queues[0].arm(fragile, pool.engine.timeline.deadlineIn(HOURS.toNanos(1)));
        assertThrows(OutOfMemoryError.class, () -> last.cancel(false));
        assertTrue(last.isCancelled());
        assertTrue(pool.awaitTermination(Fixtures.PATIENCE_SECONDS, SECONDS));
        fragile.fails = false;
        pool.shutdown();
        assertEquals(1, fragile.abandoned);
        pool.close();
    }
}
