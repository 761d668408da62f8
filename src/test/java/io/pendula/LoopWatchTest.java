package io.pendula;

import static io.pendula.LifeFixtures.eventually;
import static io.pendula.LifeFixtures.threadsOf;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.internal.scheduler.StallWatch;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The monitor sleeps while all sleep. Whatever makes a loop's thread anything but a sleeper must keep it up or wake it,
 * else nobody notices that the loop is late. Each test lets it fall asleep for good first.
 */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class LoopWatchTest {
    private static final Runnable NO_WAIT = () -> {};
    private static final Duration SOON = Duration.ofMillis(10);

    private final Queue<TimerHandle> late = new ConcurrentLinkedQueue<>();

    private TimerScheduler.Builder builder() {
        return TimerScheduler.builder().workers(1).stallAfter(Duration.ofMillis(20)).listener(new TimerListener() {
            @Override
            public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
                late.add(timer);
            }
        });
    }

    private TimerScheduler scheduler(String name) {
        return builder().name(name).build();
    }

    /** Until the monitor and all workers wait without a timeout. */
    private static void awaitStillness(String name) {
        eventually("all are asleep for good", () -> threadsOf(name).stream()
                .allMatch(t -> t.getState() == Thread.State.WAITING));
    }

    /** The loop's thread is busy elsewhere. */
    private void awaitReport(Timer of) {
        eventually("it is told", () -> late.contains(of)); // others may be late, too, on a busy machine
    }

    @Test
    void attach_whileMonitorSleeps_lateLoopIsNoticed() {
        try (TimerScheduler s = scheduler("watch-attach")) {
            awaitStillness("watch-attach");
            try (TimerLoop loop = s.attach(NO_WAIT)) {
                awaitReport(loop.after(SOON, NO_WAIT));
            }
        }
    }

    @Test
    void hook_calledButLoopDoesNotPoll_lateLoopIsNoticed() throws Exception {
        try (TimerScheduler s = scheduler("watch-hook"); TimerLoop loop = s.attach(NO_WAIT)) {
            assertEquals(Long.MAX_VALUE, loop.nanosUntilNext());
            awaitStillness("watch-hook");
            awaitReport(LoopFixtures.elsewhere(() -> loop.after(SOON, NO_WAIT)));
        }
    }

    @Test
    void runDue_whileMonitorSleeps_lateLoopIsNoticedAgain() {
        try (TimerScheduler s = scheduler("watch-back"); TimerLoop loop = s.attach(NO_WAIT)) {
            CountDownLatch first = new CountDownLatch(1);
            loop.after(Duration.ZERO, first::countDown);
            eventually("it has run", () -> loop.runDue() >= 0 && first.getCount() == 0);
            awaitStillness("watch-back");
            loop.runDue();
            awaitReport(loop.after(SOON, NO_WAIT));
        }
    }

    /** It has said so before its thread is made: afterwards that thread may have ended. */
    @Test
    void callWatch_anotherCallComesWhileTheThreadIsMade_makesOne() {
        AtomicInteger monitors = new AtomicInteger();
        AtomicReference<TimerScheduler> made = new AtomicReference<>();
        try (TimerScheduler s = builder().threadFactory(body -> {
            if (body instanceof StallWatch && monitors.incrementAndGet() < 3) {
                made.get().engine.callWatch();
            }
            return new Thread(body);
        }).build()) {
            made.set(s);
            s.engine.callWatch();
            assertEquals(1, monitors.get());
        }
    }

    /** As one that waits for I/O and is woken a thousand times a second. */
    @Test
    void nothingArmed_loopPollsAgainAndAgain_noThreadIsWoken() {
        try (TimerScheduler s = scheduler("watch-idle"); TimerLoop loop = s.attach(NO_WAIT)) {
            loop.after(SOON, NO_WAIT).stop();
            eventually("what was stopped is swept", () -> loop.runDue() == 0 && loop.nanosUntilNext() == Long.MAX_VALUE);
            awaitStillness("watch-idle");
            for (int i = 0; i < 1_000; i++) {
                loop.runDue();
                loop.nanosUntilNext();
                threadsOf("watch-idle").forEach(t -> assertEquals(Thread.State.WAITING, t.getState(), t::getName));
            }
        }
    }
}
