package io.pendula.internal.queue;

/**
 * What a queue does while its heap cannot grow for want of memory: it keeps the timers for which there is no room, and
 * knows when to look at them, and when to try again to grow. Guarded by the queue's lock but for what is said to be
 * volatile.
 *
 * <p>A failed attempt may cost two full collections. So the pause before the next one is a multiple of what the attempt
 * took; it is cut short when the JVM reports that there is memory again. In the meantime the heap holds timers that are
 * due early, and those that are due late are parked here. They are looked at in passes, which take only a small share
 * of a processor's time.
 */
final class Shortage {
    /** The shortest time between two attempts to grow, */
    private static final long RETRY_NANOS = 100_000_000;
    /** the longest, */
    private static final long MAX_RETRY_NANOS = 10_000_000_000L;
    /** and how many times as long as the attempt that failed it is. */
    private static final long RETRY_SHARE = 32;
    /** The shortest time between two looks at what is parked, and the longest, */
    static final long LOOK_NANOS = 10_000_000;
    private static final long MAX_LOOK_NANOS = 500_000_000;
    /** and what each timer adds: many times what it costs. By count, as the time taken contains collections. */
    private static final long LOOK_NANOS_EACH = 1_000;
    private static final long REPORT_NANOS = 60_000_000_000L;

    /** Armed timers for which the heap has no room, in no order; to other threads they are in the inbox. */
    final NodeFifo parked = new NodeFifo();
    /** So many of them this pass has not met yet; 0 between two passes. */
    private int unmet;
    /** This pass files what is due before. */
    private long horizon;
    private long pause;
    private long lookAt;

    /** Volatile, as the two below: read by threads that arm. */
    private volatile boolean on;
    /** When the last attempt failed, or 0 if none ever did. */
    private volatile long failedAt;
    private volatile long retryAt;
    private OutOfMemoryError unreported;
    private long reportedAt;

    boolean isOn() {
        return on;
    }

    /** Whether the heap may try to grow. */
    boolean mayTry(long now) {
        return failedAt == 0 || now >= retryAt || now - failedAt >= RETRY_NANOS && isMemoryBack();
    }

    private static boolean isMemoryBack() {
        Runtime r = Runtime.getRuntime();
        return r.maxMemory() - r.totalMemory() + r.freeMemory() > r.maxMemory() / 4;
    }

    /** An attempt has failed, and took so long. */
    void failed(OutOfMemoryError e, long now, long took) {
        retryAt = Math.max(retryAt, now + Math.min(MAX_RETRY_NANOS, Math.max(RETRY_NANOS, RETRY_SHARE * took)));
        failedAt = now;
        if (!on && (reportedAt == 0 || now - reportedAt > REPORT_NANOS)) {
            unreported = e;
            reportedAt = now;
        }
        on = true;
    }

    /** The heap has room again, and nothing is parked. */
    void ended() {
        on = false;
    }

    /** Only when it is over: a report needs memory. */
    boolean hasReport() {
        return unreported != null && !on;
    }

    /** What caused a shortage that was not reported yet; one a minute at most. */
    OutOfMemoryError takeReport() {
        OutOfMemoryError e = unreported;
        unreported = null;
        return e;
    }

    // ---- passes through what is parked ----

    /** The time of the next look. */
    long lookAt() {
        return parked.isEmpty() ? Timeline.NEVER : isPassing() ? 0 : lookAt;
    }

    boolean isPassing() {
        return unmet > 0;
    }

    /** A pass begins anew, at once. */
    void passNow() {
        unmet = parked.size();
        horizon = 0;
    }

    void beginPass(long now) {
        unmet = parked.size();
        pause = Math.max(LOOK_NANOS, Math.min(MAX_LOOK_NANOS, LOOK_NANOS_EACH * unmet));
        horizon = Timeline.plus(now, 2 * pause);
    }

    /** The next timer of this pass, taken out. */
    TimerNode next() {
        unmet--;
        return parked.removeFirst();
    }

    boolean isNear(long deadline) {
        return deadline < horizon;
    }

    /** After a part of a pass. */
    void passed(long now) {
        lookAt = Timeline.plus(now, Math.max(LOOK_NANOS, pause));
    }
}
