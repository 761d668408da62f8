package io.pendula;

import static io.pendula.LifeFixtures.LOST_SECONDS;
import static io.pendula.LifeFixtures.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A clock of the user's that throws once, at each of the moments at which a thread of the scheduler reads it. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class BrokenClockTest {
    private static final int READINGS = 40;

    /** Throws at the given reading of the threads whose role begins with this word. */
    private static final class Clock implements NanoClock {
        private final String role;
        private int broken;
        final AtomicInteger readings = new AtomicInteger();

        Clock(String role, int broken) {
            this.role = role;
            this.broken = broken;
        }

        @Override
        public long nanoTime() {
            if (Thread.currentThread().getName().startsWith(role) && readings.incrementAndGet() == broken) {
                throw new Error("meant");
            }
            return System.nanoTime();
        }
    }

    private static ThreadFactory quiet(Queue<Throwable> uncaught) {
        AtomicInteger made = new AtomicInteger();
        return body -> {
            Thread t = new Thread(body, (body instanceof Worker ? "worker-" : "monitor-") + made.incrementAndGet());
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
            return t;
        };
    }

    private static void closeInTime(TimerScheduler s) throws InterruptedException {
        Thread closer = new Thread(s::close);
        closer.setDaemon(true);
        closer.start();
        closer.join(TimeUnit.SECONDS.toMillis(LOST_SECONDS));
        assertTrue(!closer.isAlive(), "close() hangs");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void clockThrowsOnce_onAWorker_itsTimersRunAndCloseReturns(boolean timed) throws Exception {
        for (int k = 1; k <= READINGS; k++) {
            Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
            Clock clock = new Clock("worker-", k);
            // Without a monitor nobody takes the place of a worker that has ended.
            TimerScheduler.Builder b = TimerScheduler.builder().workers(1).monitor(timed).clock(clock)
                    .threadFactory(quiet(uncaught));
            TimerScheduler s = (timed ? b.slowCallback(Duration.ofSeconds(30)) : b).build();
            AtomicInteger ran = new AtomicInteger();
            int armed = 0;
            while (clock.readings.get() < k + 4) {
                s.after(0, TimeUnit.NANOSECONDS, ran::incrementAndGet);
                s.after(100, TimeUnit.MICROSECONDS, ran::incrementAndGet);
                armed += 2;
                int expected = armed;
                eventually("reading " + k + ": all ran", () -> ran.get() == expected);
            }
            closeInTime(s);
            assertEquals(1, uncaught.size(), () -> "told " + uncaught);
            assertEquals(armed, s.stats().fired());
            assertEquals(0, s.engine.workerPool.workers().length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 9})
    void clockThrowsOnce_onTheMonitor_itLooksOn(int k) throws Exception {
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        Clock clock = new Clock("monitor-", k);
        LifeFixtures.Heard heard = new LifeFixtures.Heard();
        TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(3).clock(clock).listener(heard)
                .stallAfter(Duration.ofMillis(20)).threadFactory(quiet(uncaught)).build();
        MonitorTest.Plug plug = new MonitorTest.Plug();
        plug.hold(s, 1); // keeps the monitor up
        eventually("the clock has thrown", () -> clock.readings.get() >= k);
        eventually("it is reported", () -> heard.stalled.size() == 1);
        s.after(Duration.ZERO, plug);
        eventually("so is the next one", () -> heard.stalled.size() == 2);
        plug.release.countDown();
        closeInTime(s);
        assertEquals(1, uncaught.size(), () -> "told " + uncaught);
    }

    /** It was claimed as it was due, so its shutdown lets it run; a run that threw before the call would be its end. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void clockThrowsOnce_onALoopAfterAShutdown_whatIsDueRunsBeforeItIsDone(int k) throws Exception {
        Clock clock = new Clock("", 0);
        try (TimerScheduler s = TimerScheduler.builder().workers(0).monitor(false).clock(clock).build();
                TimerLoop loop = s.attach(() -> {})) {
            SchedulerExecutor view = s.asScheduledExecutorService();
            view.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            Future<Integer> task = view.schedule(() -> 1, 0, TimeUnit.NANOSECONDS);
            view.shutdown();
            clock.broken = clock.readings.get() + k;
            eventually("it ran", () -> {
                try {
                    loop.runDue();
                } catch (Error e) {
                    assertEquals("meant", e.getMessage());
                }
                return task.isDone();
            });
            assertEquals(1, task.get());
        }
    }
}
