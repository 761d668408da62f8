package io.pendula;

import io.pendula.internal.queue.TimerNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells the listener what has happened. What the listener throws harms nobody: the calling thread's uncaught-exception
 * handler hears of it.
 */
final class Reporter {
    /** So many since the scheduler's start. */
    record Counts(long threw, long slow, long stalls, long measured, long nanos) {}

    private final TimerListener listener;
    // No adders: those allocate, and what is reported may be that memory is short.
    private final AtomicLong threw = new AtomicLong();
    private final AtomicLong slow = new AtomicLong();
    private final AtomicLong stalls = new AtomicLong();
    private final AtomicLong measured = new AtomicLong();
    private final AtomicLong nanos = new AtomicLong();

    Reporter(TimerListener listener) {
        this.listener = listener;
    }

    Counts counts() {
        return new Counts(threw.get(), slow.get(), stalls.get(), measured.get(), nanos.get());
    }

    /** A callback that was measured has ended. */
    void measured(long ran) {
        measured.incrementAndGet();
        nanos.addAndGet(ran);
    }

    void threw(TimerNode t, long lateness, Throwable thrown) {
        threw.incrementAndGet();
        try {
            FlightEvents.threw(t, lateness, thrown);
            listener.threw((TimerHandle) t, lateness, thrown);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    void slow(TimerNode t, long lateness, long ran) {
        slow.incrementAndGet();
        try {
            FlightEvents.slow(t, lateness, ran);
            listener.slow((TimerHandle) t, lateness, ran);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    /** A firing that was claimed so late that the flight recorder is told. */
    void late(TimerNode t, long lateness) {
        try {
            FlightEvents.late(t, lateness);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    /** Racy: {@code t}, which may be null, and its lateness are of the run that is meant or, if that ended, the next. */
    void stalled(TimerNode t, long lateness, long blocked) {
        if (t != null) {
            stalls.incrementAndGet();
            try {
                FlightEvents.stalled(t, lateness, blocked);
                listener.stalled((TimerHandle) t, lateness, blocked);
            } catch (Throwable e) {
                uncaught(e);
            }
        }
    }

    /** A loop has not polled since {@code first} fell due, so long ago. */
    void loopStalled(LoopWorker l, TimerNode first, long late) {
        stalls.incrementAndGet();
        try {
            FlightEvents.loopStalled(first, l.runner(), late);
            listener.loopStalled(l.handle, (TimerHandle) first, late);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    /** Armed timers were stopped because their loop was closed. */
    void loopClosed(TimerLoop loop, List<TimerNode> unfired) {
        try {
            List<TimerHandle> handles = new ArrayList<>(unfired.size());
            for (TimerNode t : unfired) {
                handles.add((TimerHandle) t);
            }
            listener.loopClosed(loop, Collections.unmodifiableList(handles));
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    void paused(long nanos) {
        try {
            listener.paused(nanos);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    void wakeupThrew(LoopWorker l, Throwable thrown) {
        try {
            listener.wakeupThrew(l.handle, thrown);
        } catch (Throwable e) {
            uncaught(e);
        }
    }

    static void uncaught(Throwable e) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable hopeless) {
            // The handler of the last resort has failed: there is nobody left to tell.
            return;
        }
    }
}
