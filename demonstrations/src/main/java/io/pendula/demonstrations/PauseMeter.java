package io.pendula.demonstrations;

import java.util.concurrent.locks.LockSupport;

/**
 * How long the machine at times keeps everybody waiting: the most by which a thread overslept that wanted to sleep for
 * a millisecond. Nobody can promise to be more punctual than that.
 */
final class PauseMeter implements AutoCloseable {
    private static final long SLEEP_NANOS = 1_000_000;

    private final Thread thread = new Thread(this::measure, "pause-meter");
    private volatile long longest;
    private volatile boolean closed;

    PauseMeter() {
        thread.setDaemon(true);
        thread.start();
    }

    private void measure() {
        long before = System.nanoTime();
        while (!closed) {
            LockSupport.parkNanos(SLEEP_NANOS);
            long now = System.nanoTime();
            longest = Math.max(longest, now - before - SLEEP_NANOS);
            before = now;
        }
    }

    long longestNanos() {
        return longest;
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
