package io.pendula;

import static io.pendula.LifeFixtures.LOST_SECONDS;
import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideCloser;
import io.pendula.internal.queue.InsideHeap;

import io.pendula.Fixtures.Rig;
import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.scheduler.StallWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads whose stack ends in the middle of a call, at each depth where it may. What that one call was to do may be
 * lost. No other timer is, the next call for the same timer does what it says, and permits come back.
 */
@Timeout(120)
class OutOfStackTest {
    private static final long STACK = 256 * 1024;
    private static final int WARM_UP = 20_000;
    private static final int ABOVE = 80;
    private static final int BELOW = 40;

    /** Calls itself so often, then does the work with what is left of the stack. */
    private static void atDepth(int depth, Runnable work) {
        if (depth == 0) {
            work.run();
        } else {
            atDepth(depth - 1, work);
        }
    }

    private static boolean fitsHere(int depth, Runnable work) {
        try {
            atDepth(depth, work);
            return true;
        } catch (StackOverflowError e) {
            return false;
        }
    }

    /** On a thread that has a small stack. False if that did not suffice. */
    private static boolean fits(int depth, Runnable work) {
        AtomicBoolean fits = new AtomicBoolean();
        onSmallStack(() -> fits.set(fitsHere(depth, work)));
        return fits.get();
    }

    private static void onSmallStack(Runnable body) {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread t = new Thread(null, () -> {
            try {
                body.run();
            } catch (Throwable e) {
                failure.set(e);
            }
        }, "deep", STACK);
        t.start();
        try {
            Fixtures.join(t);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    private interface Attempt {
        boolean fits(int depth);
    }

    private static int deepest(Attempt attempt) {
        int deepest = 1;
        for (int step = 1 << 14; step > 0; step >>= 1) {
            deepest += attempt.fits(deepest + step) ? step : 0;
        }
        return deepest;
    }

    // ---- one call, by any thread ----

    /** What a timer that is armed for 500 goes through, and the call that lacks stack. */
    enum Call {
        ARM(TimerNode.NO_STATUS), STOP_FILED(TimerNode.WAITING), STOP_IN_INBOX(TimerNode.MOVING),
        STOP_IN_RUN(TimerNode.RUNNING_ARMED), RESET_FIRED(TimerNode.NO_STATUS), RESET_REMOVED(TimerNode.REMOVED),
        RESET_DELETED(TimerNode.DELETED), RESET_DELETED_EARLIER(TimerNode.DELETED),
        RESET_DELETED_IN_INBOX(TimerNode.DELETED_QUEUED), RESET_FILED_LATER(TimerNode.WAITING),
        RESET_FILED_EARLIER(TimerNode.WAITING), RESET_IN_INBOX(TimerNode.MOVING), RESET_IN_RUN(TimerNode.RUNNING);

        /** Before the call. */
        final int state;

        Call(int state) {
            this.state = state;
        }
    }

    /** One timer, and some that must not be harmed. */
    private static final class Scene {
        private static final int OTHERS = 10;

        private final PendingLimit limit = new PendingLimit(100);
        private final Rig rig = new Rig(false, limit);
        private final AtomicInteger othersRan = new AtomicInteger();
        private final AtomicInteger ran = new AtomicInteger();
        private final Call call;
        private OneShotTimer timer;
        private boolean runs;

        Scene(Call call) {
            this.call = call;
            for (int i = 0; i < OTHERS; i++) {
                rig.arm(600 + i % 3, othersRan::incrementAndGet);
            }
            rig.drain();
            timer = new OneShotTimer(rig.queue, ran::incrementAndGet);
            if (call != Call.ARM) {
                rig.queue.arm(timer, 500);
                prepare();
            }
            assertEquals(call.state, rig.state(timer), "the state at the beginning");
        }

        private void prepare() {
            boolean staysInInbox = call == Call.STOP_IN_INBOX || call == Call.RESET_DELETED_IN_INBOX || call == Call.RESET_IN_INBOX;
            if (!staysInInbox) {
                rig.drain();
            }
            switch (call) {
                case RESET_FIRED -> assertEquals(1, rig.fire(500));
                case STOP_IN_RUN, RESET_IN_RUN -> {
                    assertNotNull(rig.claim(500));
                    runs = true;
                    assertFalse(call == Call.STOP_IN_RUN && rig.queue.reset(timer, 550));
                }
                case RESET_REMOVED -> {
                    rig.queue.stop(timer);
                    rig.sweepAll();
                }
                case RESET_DELETED, RESET_DELETED_EARLIER, RESET_DELETED_IN_INBOX -> rig.queue.stop(timer);
                default -> { }
            }
        }

        void callIt() {
            switch (call) {
                case ARM -> rig.queue.arm(timer, 500);
                case STOP_FILED, STOP_IN_INBOX, STOP_IN_RUN -> rig.queue.stop(timer);
                case RESET_DELETED_EARLIER, RESET_FILED_EARLIER -> rig.queue.reset(timer, 400);
                default -> rig.queue.reset(timer, 550);
            }
        }

        void check() {
            // After an overflow C2's code goes on in the interpreter, which may lack the stack for QC-A5: see QueueCloser.
            assertTrue(InsideCloser.resetsUnderWay(rig.queue) <= Scale.of(0, 1), "a close would wait");
            rig.queue.stop(timer);
            if (runs) {
                rig.queue.endRun(timer);
            }
            assertEquals(OTHERS, limit.held(), "permits");
            rig.drain();
            InsideHeap.verifyEntries(rig.queue);
            int before = ran.get();
            assertFalse(rig.queue.reset(timer, 520), "it was stopped");
            rig.fire(520);
            assertEquals(before + 1, ran.get(), "the next call was lost, too");
            assertEquals(OTHERS, rig.fire(700));
            assertEquals(OTHERS, othersRan.get());
            assertEquals(0, limit.held(), "permits in the end");
            assertTrue(rig.state(timer) == TimerNode.NO_STATUS);
        }
    }

    private static boolean fits(int depth, Call call) {
        return fits(depth, new Scene(call)::callIt);
    }

    @ParameterizedTest
    @EnumSource
    void call_withoutStack_losesNoMoreThanItself(Call call) {
        for (int i = 0; i < WARM_UP; i++) { // once compiled, what is called last is what needs most of the stack
            Scene s = new Scene(call);
            atDepth(10, s::callIt);
        }
        int deepest = deepest(depth -> fits(depth, call));
        for (int depth = deepest - ABOVE; depth < deepest + BELOW; depth++) {
            Scene s = new Scene(call);
            fits(depth, s::callIt);
            try {
                s.check();
            } catch (AssertionError e) {
                throw new AssertionError("at depth " + (depth - deepest), e);
            }
        }
    }

    // ---- a close ----

    private static final int MANY = 20;

    /** Some timers are filed, some are in the inbox, and a few of both were stopped. */
    private static Rig toBeClosed() {
        Rig rig = new Rig(false);
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < MANY; k++) {
                TimerNode t = rig.arm(1_000 - 7 * k % 5);
                if (k < 3) {
                    rig.queue.stop(t);
                }
            }
            if (i == 0) {
                rig.drain();
            }
        }
        return rig;
    }

    @Test
    void close_withoutStack_theNextOneCollectsWhatIsLeft() {
        for (int i = 0; i < WARM_UP; i++) {
            Rig rig = toBeClosed();
            atDepth(10, () -> rig.queue.closer.close(new ArrayList<>()));
        }
        int deepest = deepest(depth -> {
            Rig rig = toBeClosed();
            return fits(depth, () -> rig.queue.closer.close(new ArrayList<>()));
        });
        for (int depth = deepest - ABOVE; depth < deepest + BELOW; depth++) {
            Rig rig = toBeClosed();
            List<TimerNode> collected = new ArrayList<>();
            fits(depth, () -> rig.queue.closer.close(collected));
            rig.queue.closer.close(collected);
            int at = depth - deepest;
            assertEquals(2 * (MANY - 3), collected.stream().filter(Objects::nonNull).distinct().count(),
                    () -> "collected at depth " + at);
            assertEquals(0, rig.dead(), () -> "stale at depth " + at);
        }
    }

    // ---- the first call of a JVM ----

    /** What is called for the first time is linked, and its classes are initialized: for good, whether that succeeds or not. */
    static final class FirstReset {
        private static final int THREADS = 4;
        private static final int LEVELS = 200;

        private FirstReset() {}

        /** Down to the end of the stack; then one timer is reset at each level on the way back. */
        private static int resetAtEachLevel(Timer timer) {
            int levels = 0;
            try {
                levels = resetAtEachLevel(timer);
            } catch (StackOverflowError e) {
                // This is the deepest level.
            }
            try {
                if (levels < LEVELS) {
                    timer.reset(1, TimeUnit.MINUTES);
                }
            } catch (StackOverflowError | NoClassDefFoundError e) {
                // The next level has more stack.
            }
            return levels + 1;
        }

        /** With the argument "warm" what makes sure of some stack is compiled, so it needs less of it. */
        public static void main(String[] args) throws InterruptedException {
            try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
                TimerLoop loop = s.attach(() -> {});
                for (int i = 0; i < (args[0].equals("warm") ? WARM_UP : 0); i++) {
                    loop.runDue();
                }
                for (int i = 0; i < THREADS; i++) {
                    Timer timer = s.after(Duration.ofHours(1), () -> {});
                    s.pending();
                    Thread t = new Thread(null, () -> resetAtEachLevel(timer), "deep", STACK);
                    t.start();
                    t.join();
                }
                CountDownLatch ran = new CountDownLatch(1);
                Timer timer = s.after(Duration.ofHours(1), ran::countDown);
                s.pending();
                timer.reset(0, TimeUnit.SECONDS);
                loop.runDue();
                System.out.println(ran.getCount());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cold", "warm"})
    void reset_firstOfTheJvmIsWithoutStack_theNextOnesWork(String how) throws Exception {
        assertEquals("0", LifeFixtures.runInChild(FirstReset.class, List.of(), how));
    }

    // ---- the wake of a worker ----

    /** What a call has armed that has not returned may wait for the next one. */
    @Test
    void arm_byThreadsWithoutStack_allThatAreArmedRun() {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).monitor(false).build()) {
            AtomicInteger ran = new AtomicInteger();
            AtomicInteger armed = new AtomicInteger();
            Runnable arm = () -> {
                s.after(0, TimeUnit.NANOSECONDS, ran::incrementAndGet);
                armed.incrementAndGet();
            };
            for (int i = 0; i < WARM_UP; i++) {
                atDepth(10, arm);
            }
            int deepest = deepest(depth -> fits(depth, arm));
            for (int depth = deepest - ABOVE; depth < deepest + BELOW; depth++) {
                LifeFixtures.block(300_000); // until the worker sleeps, most of the time
                fits(depth, arm);
                eventually("all that were armed ran", () -> ran.get() >= armed.get());
            }
        }
    }

    // ---- threads that run timers ----

    /** At each depth: makes one timer due, and runs it; then all must be as ever. */
    private static void atEachDepth(Runnable makeDue, Runnable poll, BooleanSupplier whole) {
        for (int i = 0; i < WARM_UP; i++) {
            makeDue.run();
            atDepth(10, poll);
        }
        int deepest = deepest(depth -> {
            afterDelayedError(makeDue);
            return fitsHere(depth, poll);
        });
        for (int depth = deepest - 2 * ABOVE; depth < deepest + BELOW; depth++) {
            afterDelayedError(makeDue);
            fitsHere(depth, poll);
            int at = depth - deepest;
            afterDelayedError(() -> assertTrue(whole.getAsBoolean(), () -> "broken at depth " + at));
        }
    }

    /**
     * HotSpot may hold back an error that comes within a lock's own code, and throw it when a later use of a lock ends, however
     * much stack there is by then (JEP 270). So each first call after one without stack is made once more.
     */
    private static void afterDelayedError(Runnable call) {
        try {
            call.run();
        } catch (StackOverflowError e) {
            call.run();
        }
    }

    private static boolean isSoon(Runnable poll, BooleanSupplier condition) {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LOST_SECONDS); System.nanoTime() < end; ) {
            poll.run();
            if (condition.getAsBoolean()) {
                return true;
            }
        }
        return false;
    }

    @Test
    void runDue_withoutStack_theNextVisitRunsWhatIsLeft() {
        onSmallStack(() -> {
            try (TimerScheduler s = TimerScheduler.builder().workers(0).maxPending(2).build()) {
                TimerLoop loop = s.attach(() -> {});
                AtomicInteger runs = new AtomicInteger();
                AtomicInteger ticks = new AtomicInteger();
                Timer t = loop.after(Duration.ofHours(1), runs::incrementAndGet);
                loop.every(Duration.ofNanos(1), ticks::incrementAndGet);
                atEachDepth(() -> t.reset(0, TimeUnit.NANOSECONDS), loop::runDue, () -> {
                    int before = runs.get();
                    int ticksBefore = ticks.get();
                    t.reset(0, TimeUnit.NANOSECONDS);
                    return isSoon(loop::runDue, () -> runs.get() > before && ticks.get() > ticksBefore);
                });
                assertTrue(cancelAndAwait(t));
                loop.close();
            }
        });
    }

    private static boolean cancelAndAwait(Timer t) {
        try {
            return t.cancelAndAwait(Duration.ofSeconds(1));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void runDue_callbackThrowsWithoutStack_theNextVisitRunsWhatIsLeft() {
        onSmallStack(() -> {
            TimerListener listener = new Fixtures.ThrownListener();
            try (TimerScheduler s = TimerScheduler.builder().workers(0).listener(listener).build()) {
                TimerLoop loop = s.attach(() -> {});
                AtomicInteger runs = new AtomicInteger();
                Timer t = loop.after(Duration.ofHours(1), () -> {
                    runs.incrementAndGet();
                    atDepth(100, () -> { });
                });
                atEachDepth(() -> t.reset(0, TimeUnit.NANOSECONDS), loop::runDue, () -> {
                    int before = runs.get();
                    t.reset(0, TimeUnit.NANOSECONDS);
                    return isSoon(loop::runDue, () -> runs.get() > before);
                });
                assertTrue(cancelAndAwait(t));
            }
        });
    }

    /** A task that has lost its run's end would keep its view from terminating. */
    @Test
    void runDue_tasksWithoutStack_theViewTerminates() {
        onSmallStack(() -> {
            try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
                TimerLoop loop = s.attach(() -> {});
                SchedulerExecutor view = s.asScheduledExecutorService();
                AtomicReference<ScheduledFuture<?>> last = new AtomicReference<>();
                AtomicInteger tasks = new AtomicInteger();
                Runnable submit = () -> last.set(view.schedule(tasks::incrementAndGet, 0, TimeUnit.NANOSECONDS));
                atEachDepth(submit, loop::runDue, () -> isSoon(loop::runDue, () -> last.get().isDone()));
                view.shutdown();
                assertTrue(isSoon(loop::runDue, view::isTerminated));
                loop.close();
            }
        });
    }

    @Test
    void advance_withoutStack_theNextAdvanceRunsWhatIsLeft() {
        onSmallStack(() -> {
            ManualClock clock = new ManualClock();
            try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
                AtomicInteger runs = new AtomicInteger();
                Timer t = s.after(Duration.ofHours(1), runs::incrementAndGet);
                Runnable advance = () -> clock.advance(Duration.ofNanos(1));
                atEachDepth(() -> t.reset(1, TimeUnit.NANOSECONDS), advance, () -> {
                    int before = runs.get();
                    t.reset(1, TimeUnit.NANOSECONDS);
                    return isSoon(advance, () -> runs.get() > before);
                });
                assertTrue(cancelAndAwait(t));
                assertNull(s.engine.stepper.node());
                assertEquals(0, s.pending());
            }
        });
    }

    /** Else it would report no stall any more. */
    @Test
    void callIfIdle_withoutStack_theNextCallStartsTheMonitor() {
        AtomicInteger asked = new AtomicInteger();
        ThreadFactory none = body -> {
            asked.incrementAndGet();
            throw new IllegalStateException("meant");
        };
        onSmallStack(() -> {
            try (TimerScheduler s = TimerScheduler.builder().workers(0).threadFactory(none).build()) {
                StallWatch watch = new StallWatch(s.engine);
                atEachDepth(() -> {}, watch::callIfIdle, () -> {
                    int before = asked.get();
                    watch.callIfIdle();
                    return asked.get() > before;
                });
            }
        });
    }
}
