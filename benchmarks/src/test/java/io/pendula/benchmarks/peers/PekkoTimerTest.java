package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.event.NoLogging;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.concurrent.ExecutionContext;

/** Why Pekko's scheduler does not promise NEVER_EARLY: shown with a clock of the test, so that load does not matter. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PekkoTimerTest {
    private static final long DELAY = MILLISECONDS.toNanos(100);
    private static final long PREEMPTED = MILLISECONDS.toNanos(500);

    private final AtomicLong now = new AtomicLong();
    private final CompletableFuture<LightArrayRevolverScheduler> opened = new CompletableFuture<>();
    private final CompletableFuture<Long> armedAt = new CompletableFuture<>();
    private final CompletableFuture<Long> firedAt = new CompletableFuture<>();

    /** @param armsWhile where its thread is when the timer is armed, for the second time */
    private void open(Where armsWhile) {
        // Its constructor calls the methods below before the fields of a subclass are there.
        Thread opener = Thread.currentThread();
        int[] calls = new int[Where.values().length];
        opened.complete(new LightArrayRevolverScheduler(PekkoTimer.CONFIG, NoLogging.getInstance(), Thread::new) {
            @Override
            public long clock() {
                long read = now.get();
                if (Thread.currentThread() != opener) {
                    at(Where.AFTER_THE_CLOCK);
                }
                return read;
            }

            @Override
            public void waitNanos(long nanos) {
                at(Where.ASLEEP);
                now.addAndGet(nanos);
                Thread.yield();
            }

            private void at(Where where) {
                if (where == armsWhile && ++calls[where.ordinal()] == 2) {
                    arm();
                }
            }
        });
    }

    private void arm() {
        LightArrayRevolverScheduler timer = opened.join();
        armedAt.complete(now.addAndGet(PREEMPTED));
        timer.scheduleOnce(Duration.ofNanos(DELAY), () -> firedAt.complete(now.get()),
                ExecutionContext.parasitic$.MODULE$);
    }

    private enum Where { AFTER_THE_CLOCK, ASLEEP }

    @Test
    void scheduleOnce_betweenClockAndQueue_isEarly() {
        open(Where.AFTER_THE_CLOCK);
        try {
            long late = firedAt.join() - armedAt.join() - DELAY;
            assertTrue(late < 0, () -> late + " ns late: it may promise NEVER_EARLY");
        } finally {
            opened.join().close();
        }
    }

    @Test
    void scheduleOnce_whileTheThreadSleeps_isNotEarly() {
        open(Where.ASLEEP);
        try {
            long late = firedAt.join() - armedAt.join() - DELAY;
            assertTrue(late >= 0, () -> -late + " ns early");
        } finally {
            opened.join().close();
        }
    }
}
