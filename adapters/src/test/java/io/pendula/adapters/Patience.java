package io.pendula.adapters;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** How long tests wait for what must come: much longer than it takes on a busy machine. */
public final class Patience {
    /** In seconds. */
    public static final long SECONDS = 30;

    private Patience() {}

    /** Waits until a condition holds that other threads bring about. */
    public static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                fail("not within " + SECONDS + " s: " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    public static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(SECONDS, TimeUnit.SECONDS), () -> latch.getCount() + " did not come");
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** At least so long, exactly, and less than the tests' patience. */
    public static void assertElapsed(long millis, long startNanos, long endNanos) {
        long elapsed = endNanos - startNanos;
        assertTrue(elapsed >= TimeUnit.MILLISECONDS.toNanos(millis), () -> elapsed + " ns are less than " + millis + " ms");
        assertTrue(elapsed < TimeUnit.SECONDS.toNanos(SECONDS), () -> elapsed + " ns");
    }
}
