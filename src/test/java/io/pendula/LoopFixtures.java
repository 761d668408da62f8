package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.WakeGate;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** What the tests of loops share. */
final class LoopFixtures {
    static final Duration HOUR = Duration.ofHours(1);
    static final Duration NOW = Duration.ZERO;
    static final Runnable NOTHING = () -> {};
    /** So many visits are enough for whatever a loop has to tidy up in these tests. */
    private static final int MANY_VISITS = 200;

    private LoopFixtures() {}

    /** A wakeup that counts its calls, and throws when it is told to. */
    static final class Bell implements Runnable {
        private final AtomicInteger rings = new AtomicInteger();
        volatile Error broken;

        @Override
        public void run() {
            rings.incrementAndGet();
            if (broken != null) {
                throw broken;
            }
        }

        /** How often it rang since it was last asked. */
        int rings() {
            return rings.getAndSet(0);
        }
    }

    /** A thread that does what it is told, one thing after the other, and may have a loop. */
    static final class Actor implements AutoCloseable {
        private final ExecutorService executor;
        private volatile Thread thread;

        Actor(String name) {
            executor = Executors.newSingleThreadExecutor(r -> {
                thread = new Thread(r, name);
                thread.setDaemon(true);
                return thread;
            });
        }

        <T> Future<T> start(Callable<T> call) {
            return executor.submit(call);
        }

        <T> T call(Callable<T> call) {
            return result(start(call));
        }

        void run(Work work) {
            call(() -> {
                work.run();
                return null;
            });
        }

        Thread thread() {
            return thread;
        }

        void awaitWaiting() {
            LifeFixtures.eventually("waits", () -> thread != null && (thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING));
        }

        /** Ends the thread, which has nothing to do any more unless the test has failed. */
        @Override
        public void close() {
            executor.shutdownNow();
            if (thread != null) {
                try {
                    Fixtures.join(thread);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    interface Work {
        void run() throws Exception;
    }

    static Duration ns(long nanos) {
        return Duration.ofNanos(nanos);
    }

    /** The result of a call by a thread of its own, which has ended then; what it throws is passed on. */
    static <T> T elsewhere(Callable<T> call) {
        try (Actor actor = new Actor("elsewhere")) {
            return actor.call(call);
        }
    }

    /** What it threw is thrown here. */
    static <T> T result(Future<T> future) {
        try {
            return future.get(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            LoopFixtures.<RuntimeException>sneak(e.getCause());
            throw new AssertionError("not reached");
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    static void runElsewhere(Work work) {
        elsewhere(() -> {
            work.run();
            return null;
        });
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable e) throws T {
        throw (T) e;
    }

    /** Whether the scheduler's only loop has said that it waits, and was not called since. */
    static boolean loopWaits(TimerScheduler s) {
        LoopWorker[] loops = s.engine.loops();
        return loops.length == 1 && loops[0].queue.gate.lookAt() != WakeGate.AWAKE;
    }

    /** Visits the loop until it may wait; nothing may be due. For how long it may wait. */
    static long settle(TimerLoop loop) {
        for (int visits = 0; visits < MANY_VISITS; visits++) {
            long nanos = loop.nanosUntilNext();
            if (nanos != 0) {
                return nanos;
            }
            assertEquals(0, loop.runDue(), "nothing was due");
        }
        throw new AssertionError("nothing is due, yet the loop may not wait");
    }

    /** Visits the loop until all that is due has run; how much that was. */
    static int runAll(TimerLoop loop) {
        int ran = 0;
        for (int visits = 0; loop.nanosUntilNext() == 0; visits++) {
            assertTrue(visits < MANY_VISITS, "it never came to an end");
            ran += loop.runDue();
        }
        return ran;
    }

    /** Each arming has come to one end, or is to come. */
    static void assertAccount(TimerScheduler s, long armed, long fired, long stopped, long reset, long unfired) {
        TimerStats stats = s.stats();
        assertEquals(fired, stats.fired(), "fired");
        assertEquals(stopped, stats.stopped(), "stopped");
        assertEquals(reset, stats.resets(), "reset");
        assertEquals(unfired, stats.unfired(), "unfired");
        assertEquals(armed - fired - stopped - reset - unfired, stats.pending(), "pending");
        assertEquals(armed, stats.armed(), "armed");
        assertEquals(stats.pending(), s.pending());
    }
}
