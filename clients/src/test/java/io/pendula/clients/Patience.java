package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting with an end: what comes after so long has been lost, however busy the machine. */
final class Patience {
    static final long SECONDS = 20;

    private Patience() {}

    static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(SECONDS, TimeUnit.SECONDS), () -> latch.getCount() + " still missing");
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted while waiting", e);
        }
    }

    static <T> T get(Future<T> future) {
        try {
            return future.get(SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("no result", e);
        }
    }

    static void until(String what, BooleanSupplier condition) {
        for (long start = System.nanoTime(); !condition.getAsBoolean(); LockSupport.parkNanos(200_000)) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(SECONDS)) {
                fail("still not: " + what);
            }
        }
    }

    /** Not before {@code millis} after the start, and not for ever after. */
    static void assertElapsed(long millis, long start, long end) {
        long elapsed = end - start;
        long least = TimeUnit.MILLISECONDS.toNanos(millis);
        assertTrue(elapsed >= least, () -> "early: after " + elapsed + " ns instead of " + millis + " ms");
        assertTrue(elapsed < least + TimeUnit.SECONDS.toNanos(SECONDS), () -> "late: after " + elapsed + " ns");
    }

    /** Each instant at least {@code millis} after the one before. */
    static void assertSpaced(long millis, List<Long> instants) {
        assertTrue(instants.size() > 1);
        for (int i = 1; i < instants.size(); i++) {
            assertElapsed(millis, instants.get(i - 1), instants.get(i));
        }
    }
}
