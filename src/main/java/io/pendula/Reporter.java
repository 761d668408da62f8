package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what happens to callbacks, and tells the {@link Events} of the scheduler. What these throw does no harm: the
 * calling thread's uncaught-exception handler is called.
 */
final class Reporter {
    private final Events events;
    // No adders: those allocate, and what is reported may be that memory is short.
    private final AtomicLong threw = new AtomicLong();
    private final AtomicLong slow = new AtomicLong();
    private final AtomicLong stalls = new AtomicLong();
    private final AtomicLong measured = new AtomicLong();
    private final AtomicLong nanos = new AtomicLong();

    Reporter(Events events) {
        this.events = events;
    }

    /** Since the scheduler's start. */
    TimerStats.Callbacks counts() {
        return new TimerStats.Callbacks(threw.get(), slow.get(), stalls.get(), measured.get(), nanos.get());
    }

    /** A callback that was measured has ended. */
    void measured(long ran) {
        measured.incrementAndGet();
        nanos.addAndGet(ran);
    }

    void threw(TimerNode t, long lateness, Throwable thrown) {
        threw.incrementAndGet();
        try {
            events.threw(t, lateness, thrown);
        } catch (Throwable e) {
            Events.uncaught(e);
        }
    }

    void slow(TimerNode t, long lateness, long ran) {
        slow.incrementAndGet();
        try {
            events.slow(t, lateness, ran);
        } catch (Throwable e) {
            Events.uncaught(e);
        }
    }

    /** Racy: {@code t}, which may be null, and its lateness are of the run that is meant or, if that ended, the next. */
    void stalled(TimerNode t, long lateness, long blocked) {
        if (t != null) {
            stalls.incrementAndGet();
            try {
                events.stalled(t, lateness, blocked);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    /** A loop has not polled since {@code first} fell due, so long ago. */
    void loopStalled(QueueOwner loop, Thread thread, TimerNode first, long late) {
        stalls.incrementAndGet();
        try {
            events.loopStalled(loop, thread, first, late);
        } catch (Throwable e) {
            Events.uncaught(e);
        }
    }

    /** Armed timers were stopped because their loop was closed. */
    void loopClosed(QueueOwner loop, List<TimerNode> unfired) {
        try {
            events.loopClosed(loop, unfired);
        } catch (Throwable e) {
            Events.uncaught(e);
        }
    }

    void paused(long nanos) {
        try {
            events.paused(nanos);
        } catch (Throwable e) {
            Events.uncaught(e);
        }
    }

    void wakeupThrew(QueueOwner loop, Throwable thrown) {
        try {
            events.wakeupThrew(loop, thrown);
        } catch (Throwable e) {
            Events.uncaught(e);
        }
    }
}
