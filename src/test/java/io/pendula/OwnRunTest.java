package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a callback can ask about its own run. */
@Timeout(60)
class OwnRunTest {
    private final ManualClock clock = new ManualClock();
    private final TimerScheduler scheduler = TimerScheduler.builder().clock(clock).build();
    private final TimerLoop loop = scheduler.attach(() -> {});
    private final List<String> log = new ArrayList<>();
    private TimerHandle own;

    @AfterEach
    void close() {
        scheduler.close();
    }

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    /** The loop's thread comes late. */
    private void advance(long millis) {
        clock.advance(ms(millis));
        loop.runDue();
    }

    private void note() {
        String ticks = own instanceof Ticker t ? " " + t.ticksInRun() : "";
        log.add(own.latenessNanos() / 1_000_000 + ticks);
    }

    @Test
    void latenessNanos_ofATimer_isThatOfItsClaim() {
        own = loop.after(ms(10), () -> {
            clock.advance(ms(100)); // the run's own time does not count
            note();
        });
        assertEquals(-1, own.latenessNanos());
        advance(13);
        assertEquals(-1, own.latenessNanos());
        assertEquals(List.of("3"), log);
    }

    @Test
    void latenessNanos_ofATaskOfAnExecutor_isAnsweredToo() {
        Future<?> future = scheduler.asScheduledExecutorService().schedule(this::note, ms(10));
        own = TimerHandle.of(future);
        advance(15);
        assertEquals(List.of("5"), log);
        assertEquals(-1, own.latenessNanos());
    }

    @ParameterizedTest
    @CsvSource({"SKIP, 25 3, 2 1", "BURST, 25 1, 15 1", "DELAY, 25 3, 7 1"})
    void ticksInRun_lateTick_standsForThoseThatAreLeftOut(MissedTicks policy, String late, String next) {
        Ticker ticker = loop.every(ms(10), policy, this::note);
        own = ticker;
        assertEquals(0, ticker.ticksInRun());
        advance(35);
        assertEquals(List.of(late), log.subList(0, 1));
        advance(policy == MissedTicks.SKIP ? 7 : policy == MissedTicks.BURST ? 0 : 17);
        assertEquals(next, log.get(1));
        assertEquals(0, ticker.ticksInRun());
        assertEquals(-1, ticker.latenessNanos());
    }

    @Test
    void anotherThread_whileItRuns_isOutsideOfTheRun() throws InterruptedException {
        try (TimerScheduler real = TimerScheduler.builder().workers(1).build()) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            Ticker ticker = real.every(Duration.ZERO, Duration.ofHours(1), () -> {
                begun.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            begun.await();
            assertEquals(-1, ticker.latenessNanos());
            assertEquals(0, ticker.ticksInRun());
            go.countDown();
        }
    }

    @Test
    void latenessNanos_onAnExecutorOfTheBuilder_isThatOfTheClaim() {
        List<Runnable> executor = new ArrayList<>();
        ManualClock time = new ManualClock();
        try (TimerScheduler handing = TimerScheduler.builder().clock(time).executor(executor::add).build()) {
            own = handing.every(ms(10), this::note);
            time.advance(ms(10));
            time.advance(ms(7));
            executor.get(0).run();
            assertEquals(List.of("0 1"), log);
        }
    }
}
