package io.pendula;

import static io.pendula.LifeFixtures.await;
import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The process was suspended for an hour: the clock jumps, and everything is due at once. */
@Timeout(60)
class SuspensionTest {
    private static final int TIMERS = 5_000;
    private static final Duration HOUR = Duration.ofHours(1);

    private static final class Jumping implements NanoClock {
        final AtomicLong ahead = new AtomicLong();

        @Override
        public long nanoTime() {
            return System.nanoTime() + ahead.get();
        }

        void jump() {
            ahead.addAndGet(HOUR.toNanos());
        }
    }

    private static final class Heard implements TimerListener {
        final Queue<Long> paused = new ConcurrentLinkedQueue<>();
        final Queue<String> blamed = new ConcurrentLinkedQueue<>();

        @Override
        public void paused(long pausedNanos) {
            paused.add(pausedNanos);
        }

        @Override
        public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            if (blockedNanos > HOUR.toNanos() / 2) { // a busy machine may hold a callback up for less
                blamed.add("stalled " + blockedNanos);
            }
        }

        @Override
        public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
            blamed.add("loop " + latenessNanos);
        }
    }

    /** Until the monitor waits for an instant that lies ahead. */
    private static void awaitMonitor(String scheduler) {
        eventually("the monitor waits", () -> threadsOf(scheduler).stream().anyMatch(t ->
                t.getName().endsWith("-monitor") && t.getState() == Thread.State.TIMED_WAITING));
    }

    @Test
    void everythingIsDueAtOnce_runsInOrderAndIsReportedOnce() {
        Jumping clock = new Jumping();
        Heard heard = new Heard();
        try (TimerScheduler s = TimerScheduler.builder().name("order").workers(1).clock(clock).listener(heard).build()) {
            List<Long> numbers = new ArrayList<>(LongStream.range(0, TIMERS).boxed().toList());
            Collections.shuffle(numbers, new Random(1));
            Queue<Long> order = new ConcurrentLinkedQueue<>();
            long first = s.engine.timeline.now() + Duration.ofMinutes(10).toNanos();
            for (long n : numbers) {
                s.engine.queues[0].arm(new OneShotTimer(s.engine.queues[0], () -> order.add(n)), first + n * 100_000_000);
            }
            AtomicInteger ticks = new AtomicInteger();
            s.every(Duration.ofMinutes(1), ticks::incrementAndGet);
            Sleeper poller = s.engine.standby.poller(); // alone, so it keeps the role
            eventually("it sleeps for a timer", () -> poller.asleep && poller.until != Timeline.NEVER);
            clock.jump();
            eventually("all ran", () -> order.size() == TIMERS);
            numbers.sort(null);
            assertTrue(numbers.equals(List.copyOf(order)), "out of order");
            eventually("the listener was told", () -> !heard.paused.isEmpty());
            LifeFixtures.block(50_000_000); // a second report would come at one of its next looks
            assertEquals(1, heard.paused.size());
            assertTrue(heard.paused.peek() > HOUR.toNanos() * 9 / 10, () -> "paused " + heard.paused);
            assertEquals(List.of(), List.copyOf(heard.blamed));
            assertEquals(1, ticks.get(), "ticks that were missed are skipped");
            assertEquals(0, s.stats().overdueWakes());
            assertEquals(0, s.stats().spareThreads());
        }
    }

    @Test
    void callbackInProgress_isNotBlamed() {
        Jumping clock = new Jumping();
        Heard heard = new Heard();
        try (TimerScheduler s = TimerScheduler.builder().name("callback").workers(2).stallAfter(Duration.ofMinutes(30)).clock(clock)
                .listener(heard).build()) {
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            s.after(Duration.ZERO, () -> {
                held.countDown();
                await(release);
            });
            await(held);
            LifeFixtures.block(40_000_000); // the monitor has seen it
            awaitMonitor("callback");
            clock.jump();
            eventually("the listener was told", () -> !heard.paused.isEmpty());
            LifeFixtures.block(50_000_000);
            release.countDown();
            assertEquals(1, heard.paused.size());
            assertEquals(List.of(), List.copyOf(heard.blamed));
        }
    }

    @Test
    void loopsInTheirWait_areNotBlamed() throws Exception {
        Jumping clock = new Jumping();
        Heard heard = new Heard();
        try (TimerScheduler s = TimerScheduler.builder().name("loops").workers(1).stallAfter(Duration.ofSeconds(5)).clock(clock)
                .listener(heard).build(); TimerLoop loop = s.attach(() -> {})) {
            AtomicInteger ran = new AtomicInteger();
            for (int i = 1; i <= 100; i++) {
                loop.after(Duration.ofSeconds(i), ran::incrementAndGet);
            }
            loop.nanosUntilNext();
            awaitMonitor("loops");
            clock.jump();
            eventually("the listener was told", () -> !heard.paused.isEmpty());
            LifeFixtures.block(50_000_000);
            assertEquals(100, loop.runDue());
            assertEquals(1, heard.paused.size());
            assertEquals(List.of(), List.copyOf(heard.blamed));
        }
    }

    /** The listener, or the handler of a clock that throws, may block as a callback may. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void listenerOrHandler_isCalledByThePoller_guardLooksMeanwhile(boolean throwsInstead) {
        AtomicReference<Sleeper> poller = new AtomicReference<>();
        AtomicReference<Sleeper> guard = new AtomicReference<>();
        AtomicBoolean hasSlept = new AtomicBoolean();
        AtomicInteger thrown = new AtomicInteger();
        Queue<Boolean> guarded = new ConcurrentLinkedQueue<>();
        Runnable usersCode = () -> guarded.add(poller.get().isInCallback() && poller.get().hasBegun && guard.get().isCalled());
        TimerScheduler s = TimerScheduler.builder().workers(2).maxThreads(2).monitor(false).clock(() -> {
            Sleeper p = poller.get();
            if (p != null && hasSlept.get() && !p.asleep && throwsInstead && thrown.getAndIncrement() == 0) {
                throw new Error("meant");
            }
            hasSlept.compareAndSet(false, p != null && p.asleep);
            return hasSlept.get() ? HOUR.toNanos() : 0;
        }).threadFactory(r -> new Thread(r) {
            @Override
            public synchronized void start() {
                // The test makes its steps.
            }
        }).listener(new TimerListener() {
            @Override
            public void paused(long pausedNanos) {
                if (!throwsInstead) {
                    usersCode.run();
                }
            }
        }).build();
        guard.set(s.engine.workerPool.workers()[1]);
        ((Worker) guard.get()).setThread(new Thread());
        guard.get().sleeps(Timeline.NEVER);
        s.engine.queues[0].arm(new OneShotTimer(s.engine.queues[0], s::shutdownNow), 1_000_000);
        Thread me = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = me.getUncaughtExceptionHandler();
        me.setUncaughtExceptionHandler((t, e) -> usersCode.run());
        try {
            Worker p = (Worker) s.engine.standby.poller();
            p.setThread(me);
            poller.set(p);
            p.run();
        } finally {
            me.setUncaughtExceptionHandler(before);
        }
        assertEquals(List.of(true), List.copyOf(guarded));
    }
}
