package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LoopFixtures.HOUR;
import static io.pendula.LoopFixtures.NOTHING;
import static io.pendula.LoopFixtures.NOW;
import static io.pendula.LoopFixtures.assertAccount;
import static io.pendula.LoopFixtures.elsewhere;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.CloseFailureTest.Fragile;
import io.pendula.LoopFixtures.Actor;
import io.pendula.internal.loops.InsideLoops;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.scheduler.StallWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a loop fails half way, as for want of memory: a later call does the rest, and no timer is lost. */
@Timeout(60)
class LoopFailureTest {
    private final ManualClock clock = new ManualClock();
    private final List<TimerHandle> reported = new ArrayList<>();
    private final TimerListener listener = new TimerListener() {
        @Override
        public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
            reported.addAll(unfired);
        }
    };
    private final TimerScheduler withWorker = TimerScheduler.builder().clock(clock).workers(1).listener(listener).build();
    private final TimerScheduler loopsOnly = TimerScheduler.builder().clock(clock).workers(0).listener(listener).build();
    private final Actor other = new Actor("other");

    @AfterEach
    void close() {
        other.close();
        withWorker.close();
        loopsOnly.close();
    }

    /** There is no memory to go through its elements while the test says so. */
    private static final class Unreadable extends ArrayList<TimerNode> {
        private static final long serialVersionUID = 1;

        volatile boolean fails = true;

        private void check() {
            if (fails) {
                throw new InternalError("the test allows no more memory"); // as JUnit takes an OutOfMemoryError for its own
            }
        }

        @Override
        public Iterator<TimerNode> iterator() {
            check();
            return super.iterator();
        }

        @Override
        public Stream<TimerNode> stream() {
            check();
            return super.stream();
        }
    }

    private static void assertNoneIsLeft(TimerScheduler s, int queues) {
        assertEquals(0, s.engine.loops.all().length);
        assertEquals(queues, s.engine.queues.length);
        assertEquals(0, s.pending());
    }

    // ---- by a call of its user ----

    @Test
    void detach_failsAtTheListForItsCaller_theNextCallReturnsAll() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Set<Timer> armed = Set.of(loop.after(HOUR, NOTHING), loop.after(HOUR, NOTHING));
        Unreadable unfired = new Unreadable();
        loop.worker.unfired = unfired;
        assertThrows(InternalError.class, loop::detach);
        unfired.fails = false;
        assertEquals(armed, new HashSet<>(loop.detach()));
        assertEquals(List.of(), loop.detach());
        assertNoneIsLeft(loopsOnly, 0);
    }

    @Test
    void close_failsAtTheListForTheListener_theNextCallTells() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Timer armed = loop.after(HOUR, NOTHING);
        Unreadable unfired = new Unreadable();
        loop.worker.unfired = unfired;
        assertThrows(InternalError.class, loop::close);
        assertEquals(List.of(), reported);
        unfired.fails = false;
        loop.close();
        loop.close();
        assertEquals(List.of(armed), reported);
        assertNoneIsLeft(loopsOnly, 0);
    }

    @Test
    void detach_cannotBeTakenOffTheList_returnsAllAndTheNextAttachDoesIt() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        Timer armed = loop.after(HOUR, NOTHING);
        loop.worker.queue.arm(new TimerNode(NOTHING) {
            @Override
            public void abandoned() {
                InsideLoops.breakList(loopsOnly.engine.loops);
            }
        }, 1);
        assertEquals(List.of(armed), loop.detach());
        assertEquals(1, UncaughtExceptions.take().size());
        InsideLoops.mendList(loopsOnly.engine.loops);
        assertEquals(1, loopsOnly.engine.loops.all().length);
        loopsOnly.attach(NOTHING).close();
        assertNoneIsLeft(loopsOnly, 0);
    }

    @Test
    void callbackHasClosedTheLoop_cannotBeTakenOffTheList_theThreadMayAttachAgain() {
        TimerLoop loop = loopsOnly.attach(NOTHING);
        loop.after(NOW, () -> {
            loop.close();
            InsideLoops.breakList(loopsOnly.engine.loops);
        });
        assertEquals(1, loop.runDue());
        assertEquals(1, UncaughtExceptions.take().size());
        InsideLoops.mendList(loopsOnly.engine.loops);
        loopsOnly.attach(NOTHING).close();
        assertNoneIsLeft(loopsOnly, 0);
    }

    /** Whether it fails while it collects, or among those that it has collected. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, Integer.MAX_VALUE})
    void detach_failedAndTheSchedulerIsClosed_thatReturnsAll(int room) {
        TimerLoop loop = withWorker.attach(NOTHING);
        Fragile fragile = CloseFailureTest.fragileOn(loop);
        fragile.fails = room == Integer.MAX_VALUE;
        loop.worker.unfired = new ShortList<>(room);
        ScheduledFuture<?> task = withWorker.asScheduledExecutorService().schedule(NOTHING, 1, TimeUnit.HOURS);
        Set<Object> armed = Set.of(loop.after(HOUR, NOTHING), loop.after(HOUR, NOTHING), loop.after(HOUR, NOTHING), task);
        assertThrows(OutOfMemoryError.class, loop::detach);
        fragile.fails = false;
        assertEquals(armed, new HashSet<>(withWorker.shutdownNow()));
        assertTrue(task.isCancelled());
        assertEquals(List.of(), loop.detach());
        assertAccount(withWorker, 5, 0, 0, 0, 5);
    }

    // ---- since its thread has ended ----

    /** Its thread has ended, and it cannot be closed while the list of what is stopped says so. */
    private static final class Ended {
        final Unreadable unfired = new Unreadable();
        final TimerLoop loop;
        final Timer timer;
        final ScheduledFuture<?> task;

        Ended(TimerScheduler s) {
            try (Actor actor = new Actor("ended")) {
                loop = actor.call(() -> s.attach(NOTHING));
                loop.worker.unfired = unfired;
                timer = loop.after(HOUR, NOTHING);
                task = actor.call(() -> s.asScheduledExecutorService().schedule(NOTHING, 1, TimeUnit.HOURS));
                s.pending(); // files them, so that a close takes them out of the monitor's sight
            }
        }
    }

    private static void assertTold(int times) {
        List<Throwable> told = UncaughtExceptions.take();
        assertEquals(times, told.size(), told::toString);
        told.forEach(e -> assertEquals(InternalError.class, e.getClass()));
    }

    @Test
    void attach_closingAnEndedLoopFails_attachesAndTheNextTriesAgain() {
        Ended ended = new Ended(withWorker);
        TimerLoop loop = withWorker.attach(NOTHING);
        assertTold(1);
        loop.after(NOW, NOTHING);
        assertEquals(1, loop.runDue());
        loop.close();
        assertEquals(List.of(), reported);
        ended.unfired.fails = false;
        withWorker.attach(NOTHING).close();
        assertEquals(Set.of(ended.timer, ended.task), new HashSet<>(reported));
        assertTrue(ended.task.isCancelled());
        assertNoneIsLeft(withWorker, 1);
    }

    @Test
    void arm_closingAnEndedLoopFails_goesToALivingOneAndIsToldOnce() {
        TimerLoop living = other.call(() -> loopsOnly.attach(NOTHING));
        Ended ended = new Ended(loopsOnly);
        for (int i = 0; i < 10; i++) {
            elsewhere(() -> loopsOnly.after(NOW, NOTHING));
        }
        assertTold(1);
        assertEquals(10, other.<Integer>call(living::runDue));
        ended.unfired.fails = false;
        ended.loop.close();
        assertEquals(Set.of(ended.timer, ended.task), new HashSet<>(reported));
        other.run(living::close);
        assertNoneIsLeft(loopsOnly, 0);
    }

    @Test
    void close_closingAnEndedLoopHasFailed_thatReturnsItsTimers() {
        Ended ended = new Ended(withWorker);
        withWorker.attach(NOTHING).close();
        assertTold(1);
        assertEquals(Set.of(ended.timer, ended.task), Set.copyOf(withWorker.shutdownNow()));
    }

    /** The clock stands still but for the test, so the monitor looks many times at each instant. */
    @Test
    void monitor_closingAnEndedLoopFails_triesAgainASecondLaterAndTellsNoMoreOften() {
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        AtomicLong now = new AtomicLong();
        AtomicInteger looks = new AtomicInteger();
        try (TimerScheduler s = TimerScheduler.builder().workers(1).stallAfter(Duration.ofMillis(20)).clock(() -> {
            if (Thread.currentThread() instanceof Monitor) {
                looks.incrementAndGet();
            }
            return now.get();
        }).listener(listener).threadFactory(body -> {
            Thread t = body instanceof StallWatch ? new Monitor(body) : new Thread(body);
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, e) -> told.add(e));
            return t;
        }).build()) {
            Ended ended = new Ended(s);
            for (int second = 1; second <= 3; second++) {
                int times = second;
                eventually("it tries", () -> told.size() == times);
                int before = looks.get();
                eventually("it looks", () -> looks.get() > before + 20);
                assertEquals(times, told.size(), "not again at the same instant");
                if (second == 3) {
                    ended.unfired.fails = false;
                }
                now.addAndGet(TimeUnit.SECONDS.toNanos(1));
            }
            eventually("it is closed", () -> s.engine.loops.all().length == 0);
            assertEquals(3, told.size());
            assertEquals(Set.of(ended.timer, ended.task), new HashSet<>(reported));
            assertNoneIsLeft(s, 1);
        }
    }

    private static final class Monitor extends Thread {
        Monitor(Runnable body) {
            super(body);
        }
    }

    // ---- a thread that does not let itself be interrupted ----

    /** Once it can be interrupted: by the callback, and not to give it its flag back. */
    private static Future<Integer> onUninterruptible(FutureTask<Integer> call) throws InterruptedException {
        Thread t = new LifeFixtures.Uninterruptible(call, 1);
        t.start();
        Fixtures.join(t);
        return call;
    }

    @Test
    void callbackHasClosedTheLoop_flagCannotBeGivenBack_theThreadMayAttachAgain() throws Exception {
        LoopFixtures.result(onUninterruptible(new FutureTask<>(() -> {
            TimerLoop loop = withWorker.attach(NOTHING);
            loop.after(NOW, () -> {
                loop.close();
                Thread.currentThread().interrupt();
            });
            assertEquals("meant", assertThrows(SecurityException.class, loop::runDue).getMessage());
            assertNoneIsLeft(withWorker, 1);
            withWorker.attach(NOTHING).close();
            return 0;
        })));
    }

    @Test
    void close_flagCannotBeGivenBack_doesNotWaitForEver() throws Exception {
        AtomicReference<Future<Void>> closing = new AtomicReference<>();
        LoopFixtures.result(onUninterruptible(new FutureTask<>(() -> {
            TimerLoop loop = withWorker.attach(NOTHING);
            loop.after(NOW, () -> {
                closing.set(other.start(() -> {
                    withWorker.close();
                    return null;
                }));
                eventually("it waits for this callback",
                        () -> withWorker.isClosed() && Fixtures.isWaiting(other.thread()));
                Thread.currentThread().interrupt();
            });
            assertThrows(SecurityException.class, loop::runDue);
            return 0;
        })));
        LoopFixtures.result(closing.get());
    }
}
