package io.pendula.internal.engine;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts what happens to callbacks, and tells of it. This class is for a scheduler without a listener: exceptions go to
 * the uncaught-exception handler, what is slow or stalls goes to the log. A subclass tells a listener.
 * What a listener throws goes to the handler of the calling thread, what the handler throws goes nowhere.
 */
public class Reporter {
    // No adders: those allocate, and what is reported may be that memory is short.
    public final AtomicLong threw = new AtomicLong();
    public final AtomicLong slow = new AtomicLong();
    public final AtomicLong stalls = new AtomicLong();
    public final AtomicLong allBlocked = new AtomicLong();
    public final AtomicLong measured = new AtomicLong();
    public final AtomicLong measuredNanos = new AtomicLong();

    /** A callback that was measured has ended. */
    final void measured(long ran) {
        measured.incrementAndGet();
        measuredNanos.addAndGet(ran);
    }

    final void threw(TimerNode t, long lateness, Throwable thrown) {
        threw.incrementAndGet();
        try {
            tellThrew(t, lateness, thrown);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    final void slow(TimerNode t, long lateness, long ran) {
        slow.incrementAndGet();
        try {
            tellSlow(t, lateness, ran);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    /** Racy: {@code t}, which may be null, and its lateness are of the run that is meant or, if that ended, the next. */
    public final void stalled(TimerNode t, long lateness, long blocked) {
        if (t != null) {
            stalls.incrementAndGet();
            try {
                tellStalled(t, lateness, blocked);
            } catch (Throwable e) {
                uncaught(e);
            }
        }
    }

    /** No thread is free to run timers, for so long at least. */
    public final void allBlocked(String scheduler, int threads, long blocked) {
        allBlocked.incrementAndGet();
        try {
            tellAllBlocked(scheduler, threads, blocked);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    /** A loop has not polled since {@code first} fell due, so long ago. */
    public final void loopStalled(QueueOwner loop, Thread thread, TimerNode first, long late) {
        stalls.incrementAndGet();
        try {
            tellLoopStalled(loop, thread, first, late);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    /** Armed timers were stopped because their loop was closed. If this throws, as for want of memory, nobody was told. */
    public void loopClosed(QueueOwner loop, List<TimerNode> unfired) {}

    final void paused(long nanos) {
        try {
            tellPaused(nanos);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    public final void wakeupThrew(QueueOwner loop, Throwable thrown) {
        try {
            tellWakeupThrew(loop, thrown);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    // ---- without a listener ----

    protected void tellThrew(TimerNode t, long lateness, Throwable thrown) {
        uncaught(thrown);
    }

    protected void tellSlow(TimerNode t, long lateness, long ran) {
        EventLog.SHARED.slow(t, lateness, ran);
    }

    protected void tellStalled(TimerNode t, long lateness, long blocked) {
        EventLog.SHARED.stalled(t, lateness, blocked);
    }

    protected void tellAllBlocked(String scheduler, int threads, long blocked) {
        EventLog.SHARED.allBlocked(scheduler, threads, blocked);
    }

    protected void tellLoopStalled(QueueOwner loop, Thread thread, TimerNode first, long late) {
        EventLog.SHARED.loopStalled(loop, thread, first, late);
    }

    protected void tellPaused(long nanos) {}

    protected void tellWakeupThrew(QueueOwner loop, Throwable thrown) {
        uncaught(thrown);
    }

    /** A thread of this library has failed, and will try again. What this throws itself goes nowhere. */
    public static void tellAndPause(Throwable e, Object blocker, long nanos) {
        try {
            uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(blocker, nanos);
        } catch (Throwable again) {
            return; // the next attempt comes sooner
        }
    }

    /** What is thrown is {@code e}, and {@code too} would be lost otherwise. */
    public static void suppress(Throwable too, Throwable e) {
        if (too != e) { // which may not suppress itself
            e.addSuppressed(too);
        }
    }

    /** As if {@code e} had ended the calling thread, which goes on. What the handler throws is ignored, as by the JVM. */
    public static void uncaught(Throwable e) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable ignored) {
            return;
        }
    }
}
