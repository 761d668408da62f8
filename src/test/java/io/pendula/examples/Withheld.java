package io.pendula.examples;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;

/**
 * How long the machine keeps a thread waiting that is ready to run: the time that passes less the processor time that
 * the thread gets, added up over half a second, as one late turn of a loop makes the next one late. For that thread.
 */
final class Withheld {
    private static final long HALF_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long runsSince;
    private long cpuThen;
    private long window;
    private long inThis;
    private long inLast;
    private long most;

    /** The thread has waited for what it wanted. */
    void runs() {
        runsSince = System.nanoTime();
        cpuThen = threads.getCurrentThreadCpuTime();
    }

    /** The thread is going to wait. */
    void waits() {
        long cpu = threads.getCurrentThreadCpuTime() - cpuThen;
        long now = System.nanoTime();
        if (runsSince != 0) {
            add(now / HALF_WINDOW_NANOS, now - runsSince - cpu);
        }
    }

    private void add(long to, long nanos) {
        if (to != window) {
            inLast = to == window + 1 ? inThis : 0;
            inThis = 0;
            window = to;
        }
        inThis += Math.max(0, nanos);
        most = Math.max(most, inLast + inThis);
    }

    /** In the worst half second. */
    long mostNanos() {
        return most;
    }
}
