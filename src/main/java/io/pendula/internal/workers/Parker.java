package io.pendula.internal.workers;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.standby.Sleeper;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Sleeps until a deadline, precisely and cheaply. Each worker has one.
 *
 * <p><b>Early park.</b> A timed park returns late by the time that the kernel and the processor take to wake a thread. The
 * parker learns this oversleep, as its 11 % quantile, and shortens the park by it. It spins until the deadline, for up to 30
 * microseconds, while the sleeper checks for a call. A sleep shorter than the oversleep is the shortest possible park. While
 * a user's clock stands still, each park is twice as long as the one before.
 *
 * <p><b>Exact.</b> If wake-ups are not limited, the quantile is 33 %, and the spin lasts up to 100 microseconds. A sleep
 * shorter than the oversleep is spent spinning.
 *
 * <p><b>Tight slack.</b> Linux adds up to 50 microseconds to the end of a timed wait of an ordinary thread, to batch
 * wake-ups. A thread may lower this for itself through {@code /proc}, without a privilege or native code.
 */
public final class Parker {
    private static final long MAX_BIAS_NANOS = 100_000;
    private static final long MAX_SPIN_NANOS = 30_000;
    private static final long MAX_EXACT_SPIN_NANOS = 100_000;
    /** The initial bias. Starting at 0, two sleepers would need hundreds of sleeps to learn. */
    private static final long FIRST_BIAS_NANOS = 40_000;
    /**
     * The bias falls eight times as fast as it rises. So it settles where one oversleep in nine is shorter than the bias.
     */
    private static final long BIAS_DOWN_NANOS = 2_000;
    private static final long BIAS_UP_NANOS = 250;
    /** If wake-ups are not limited, the bias settles where one oversleep in three is shorter. */
    private static final long EXACT_BIAS_UP_NANOS = 1_000;
    private static final long SHORTEST_PARK_NANOS = 1_000;
    /** A clock that stands still just before a deadline is read four times a second. */
    private static final int MAX_STANDING = 18;
    /** The longest park. A longer park could overflow, and a clock with another speed must be read occasionally. */
    private static final long MAX_PARK_NANOS = 1L << 52;

    private final Timeline timeline;
    /** Whether wake-ups are not limited. */
    private final boolean isExact;
    private final boolean spins;
    private long bias;
    /** Consecutive parks during which the clock stood still. */
    private int standing;

    public Parker(Timeline timeline, boolean isExact) {
        this.timeline = timeline;
        this.isExact = isExact;
        // A spinning thread would take the only processor from the thread that it waits for, or wait forever for a clock
        // that stands still.
        this.spins = timeline.isSystem() && Runtime.getRuntime().availableProcessors() > 1;
        this.bias = spins ? FIRST_BIAS_NANOS : 0;
    }

    /**
     * Sleeps until {@code target}, or until the sleeper is called. May return early, because every caller checks again. If
     * the thread is awake at {@code next}, which is not after {@code target}, it does not wait for the target.
     */
    public void parkUntil(long target, long next, Sleeper sleeper) {
        if (target == Timeline.NEVER) {
            LockSupport.park(sleeper);
            return;
        }
        long began = timeline.now();
        long left = target - began;
        if (left > bias || !isExact) { // else a park of any length would end too late
            long parked = Math.min(Math.max(left - bias, SHORTEST_PARK_NANOS << standing), MAX_PARK_NANOS);
            if (left <= 0 || sleeper.isCalled()) {
                return; // reading the clock may have used up the permit, see Worker.isCalled
            }
            LockSupport.parkNanos(sleeper, parked);
            long woke = timeline.now();
            standing = woke == began ? Math.min(standing + 1, MAX_STANDING) : 0;
            long over = woke - began - parked;
            if (over < 0) {
                return; // called by another thread
            }
            if (spins && left > bias) {
                learn(over);
            }
            if (next - woke > (isExact ? MAX_EXACT_SPIN_NANOS : MAX_SPIN_NANOS)) {
                return; // park again
            }
        }
        while (spins && timeline.now() < next && !sleeper.isCalled()) {
            Thread.onSpinWait();
        }
    }

    private void learn(long over) {
        long up = isExact ? EXACT_BIAS_UP_NANOS : BIAS_UP_NANOS;
        bias = over < bias ? Math.max(0, bias - BIAS_DOWN_NANOS) : Math.min(MAX_BIAS_NANOS, bias + up);
    }

    /** Asks the kernel to wake this thread without slack. Best effort: false if this is not possible. */
    public static boolean tightenSlack() {
        try {
            // Not java.nio.file, whose classes a new JVM has not loaded yet. /proc/<tid> is not listed but can be opened.
            String tid = new File("/proc/thread-self").getCanonicalFile().getName();
            try (FileOutputStream slack = new FileOutputStream("/proc/" + tid + "/timerslack_ns")) {
                slack.write('1');
            }
            return true;
        } catch (IOException | SecurityException e) {
            return false; // timers are a little less precise, as on every other system
        }
    }
}
