package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callbacks that an application's thread runs with what is left of its stack: no run is left without its end. */
@Timeout(60)
class LoopOutOfStackTest {
    private static final long STACK = 256 * 1024;
    private static final int DEPTHS = 250;

    private interface Body {
        void run() throws Exception;
    }

    private static void onSmallStack(Body body) throws Throwable {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread t = new Thread(null, () -> {
            try {
                body.run();
            } catch (Throwable e) {
                failure.set(e);
            }
        }, "deep", STACK);
        t.start();
        Fixtures.join(t);
        if (failure.get() != null) {
            throw failure.get();
        }
    }

    private static boolean fits(int depth, Runnable work) {
        try {
            return CallerOutOfStackTest.atDepth(depth, work);
        } catch (StackOverflowError e) {
            return false;
        }
    }

    private static int deepest(Runnable prepare, Runnable work) {
        int deepest = 1;
        for (int step = 1 << 14; step > 0; step >>= 1) {
            prepare.run();
            deepest += fits(deepest + step, work) ? step : 0;
        }
        return deepest;
    }

    /** At each depth about the stack's end: makes one timer due, and runs it; then all must be as ever. */
    private static void atEachDepth(Runnable makeDue, Runnable poll, BooleanSupplier whole) {
        for (int i = 0; i < 20_000; i++) {
            makeDue.run();
            CallerOutOfStackTest.atDepth(10, poll);
        }
        int deepest = deepest(makeDue, poll);
        for (int depth = deepest - DEPTHS; depth < deepest + DEPTHS / 10; depth++) {
            makeDue.run();
            fits(depth, poll);
            int at = depth - deepest;
            assertTrue(whole.getAsBoolean(), () -> "broken at depth " + at);
        }
    }

    private static boolean eventually(Runnable poll, BooleanSupplier condition) {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2); System.nanoTime() < end; ) {
            poll.run();
            if (condition.getAsBoolean()) {
                return true;
            }
        }
        return false;
    }

    @Test
    void runDue_withoutStack_theNextVisitRunsWhatIsLeft() throws Throwable {
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
                    return eventually(loop::runDue, () -> runs.get() > before && ticks.get() > ticksBefore);
                });
                assertTrue(t.stopAndAwait(Duration.ofSeconds(1)));
                loop.close();
            }
        });
    }

    @Test
    void runDue_callbackThrowsWithoutStack_theNextVisitRunsWhatIsLeft() throws Throwable {
        onSmallStack(() -> {
            TimerListener listener = new Fixtures.ThrownListener();
            try (TimerScheduler s = TimerScheduler.builder().workers(0).listener(listener).build()) {
                TimerLoop loop = s.attach(() -> {});
                AtomicInteger runs = new AtomicInteger();
                Timer t = loop.after(Duration.ofHours(1), () -> {
                    runs.incrementAndGet();
                    CallerOutOfStackTest.atDepth(100, () -> { });
                });
                atEachDepth(() -> t.reset(0, TimeUnit.NANOSECONDS), loop::runDue, () -> {
                    int before = runs.get();
                    t.reset(0, TimeUnit.NANOSECONDS);
                    return eventually(loop::runDue, () -> runs.get() > before);
                });
                assertTrue(t.stopAndAwait(Duration.ofSeconds(1)));
            }
        });
    }

    /** A task that has lost its run's end would keep its view from terminating. */
    @Test
    void runDue_tasksWithoutStack_theViewTerminates() throws Throwable {
        onSmallStack(() -> {
            try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
                TimerLoop loop = s.attach(() -> {});
                SchedulerExecutor view = s.asScheduledExecutorService();
                AtomicReference<ScheduledFuture<?>> last = new AtomicReference<>();
                AtomicInteger tasks = new AtomicInteger();
                Runnable submit = () -> last.set(view.schedule(tasks::incrementAndGet, 0, TimeUnit.NANOSECONDS));
                atEachDepth(submit, loop::runDue, () -> eventually(loop::runDue, () -> last.get().isDone()));
                view.shutdown();
                assertTrue(eventually(loop::runDue, view::isTerminated));
                loop.close();
            }
        });
    }

    @Test
    void advance_withoutStack_theNextAdvanceRunsWhatIsLeft() throws Throwable {
        onSmallStack(() -> {
            ManualClock clock = new ManualClock();
            try (TimerScheduler s = TimerScheduler.builder().clock(clock).build()) {
                AtomicInteger runs = new AtomicInteger();
                Timer t = s.after(Duration.ofHours(1), runs::incrementAndGet);
                Runnable advance = () -> clock.advance(Duration.ofNanos(1));
                atEachDepth(() -> t.reset(1, TimeUnit.NANOSECONDS), advance, () -> {
                    int before = runs.get();
                    t.reset(1, TimeUnit.NANOSECONDS);
                    return eventually(advance, () -> runs.get() > before);
                });
                assertTrue(t.stopAndAwait(Duration.ofSeconds(1)));
                assertNull(s.engine.stepper.nodeOpaque());
                assertEquals(0, s.pending());
            }
        });
    }
}
