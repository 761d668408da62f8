package io.pendula.demonstrations;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;

/**
 * How long the machine keeps a thread waiting that is ready to run: the time that passes less the processor time that
 * the thread gets. It is added up over half a second, or for as long as the thread finds no time to rest, since one
 * late turn of a loop makes the next one late. For that thread.
 */
final class Withheld {
    private static final long HALF_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long runsSince;
    private long waitsSince;
    private long cpuThen;
    private long window;
    private long inThis;
    private long inLast;
    private long sinceRest;
    private long most;

    /** The thread has waited for what it wanted. */
    void runs() {
        runsSince = System.nanoTime();
        if (runsSince - waitsSince >= REST_NANOS) {
            sinceRest = 0;
        }
        cpuThen = threads.getCurrentThreadCpuTime();
    }

    /** The thread is going to wait. */
    void waits() {
        long cpu = threads.getCurrentThreadCpuTime() - cpuThen;
        long now = System.nanoTime();
        if (runsSince != 0) {
            add(now / HALF_WINDOW_NANOS, Math.max(0, now - runsSince - cpu));
        }
        waitsSince = System.nanoTime();
    }

    private void add(long to, long nanos) {
        if (to != window) {
            inLast = to == window + 1 ? inThis : 0;
            inThis = 0;
            window = to;
        }
        inThis += nanos;
        sinceRest += nanos;
        most = Math.max(most, Math.max(inLast + inThis, sinceRest));
    }

    /** In the worst half second, or longer. */
    long mostNanos() {
        return most;
    }
}
