package io.pendula.docs;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerHandle;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/event-loops.md; the longer part of it is {@code EchoLoop}. */
@Timeout(60)
class LoopPageTest {
    private final List<String> log = new ArrayList<>();

    @Test
    void queueLoop_waitsForMessagesAndTimers() throws InterruptedException {
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        boolean[] running = {true};
        Runnable nothing = () -> {};

        try (TimerScheduler timers = TimerScheduler.builder().workers(0).build();
                TimerLoop loop = timers.attach(() -> queue.add(nothing))) {
            loop.after(Duration.ofMillis(5), () -> {
                log.add("timer");
                running[0] = false;
            });
            queue.add(() -> log.add("message"));

            while (running[0]) {
                Runnable message = queue.poll(loop.nanosUntilNext(), NANOSECONDS);
                loop.runDue();
                if (message != null) {
                    message.run();
                }
            }
        }

        assertEquals(Set.of("message", "timer"), Set.copyOf(log));
    }

    @Test
    void wakeup_anotherThreadArmsAnEarlierTimer_endsTheWait() throws InterruptedException {
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        try (TimerScheduler timers = TimerScheduler.builder().workers(0).build();
                TimerLoop loop = timers.attach(() -> queue.add("wakeup"))) {
            loop.after(Duration.ofHours(1), () -> log.add("late"));
            assertTrue(loop.nanosUntilNext() > 0);
            Thread other = new Thread(() -> loop.after(Duration.ZERO, () -> log.add("early")));
            other.start();
            assertEquals("wakeup", queue.take());
            other.join();
            assertEquals(1, loop.runDue());
            assertEquals(List.of("early"), log);
            assertNull(queue.poll());
        }
    }

    @Test
    void detach_returnsWhatHasNotRun() {
        ManualClock clock = new ManualClock();
        Runnable expire = () -> log.add("expired");

        TimerScheduler timers = TimerScheduler.builder().workers(0).clock(clock).build();
        TimerLoop loop = timers.attach(() -> {});
        loop.after(Duration.ofSeconds(5), expire);
        List<TimerHandle> unfired = loop.detach();        // one timer, stopped

        assertEquals(1, unfired.size());
        assertFalse(unfired.get(0).isPending());
    }

    @Test
    void manualClock_stepsALoop() {
        ManualClock clock = new ManualClock();
        TimerScheduler timers = TimerScheduler.builder().workers(0).clock(clock).build();
        try (TimerLoop loop = timers.attach(() -> {})) {
            loop.after(Duration.ofSeconds(5), () -> log.add("expired"));

            clock.advance(Duration.ofSeconds(5));   // runs nothing: the timer belongs to the loop
            loop.runDue();                          // runs it

            assertEquals(List.of("expired"), log);
        }
    }
}
