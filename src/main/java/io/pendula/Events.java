package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.List;

/**
 * What is done about the things that a scheduler tells of. This class does what a scheduler without a listener does:
 * exceptions go to the uncaught-exception handler, what is slow or stalls goes to the log.
 */
class Events {
    void threw(TimerNode timer, long lateness, Throwable thrown) {
        handle(thrown);
    }

    void slow(TimerNode timer, long lateness, long ran) {
        EventLog.Shared.INSTANCE.slow(timer, lateness, ran);
    }

    void stalled(TimerNode timer, long lateness, long blocked) {
        EventLog.Shared.INSTANCE.stalled(timer, lateness, blocked);
    }

    /** {@code thread} is the loop's, which has not polled since {@code timer} fell due. */
    void loopStalled(QueueOwner loop, Thread thread, TimerNode timer, long lateness) {
        EventLog.Shared.INSTANCE.loopStalled(loop, thread, timer, lateness);
    }

    /** Armed timers were stopped because their loop was closed. */
    void loopClosed(QueueOwner loop, List<TimerNode> unfired) {}

    void paused(long nanos) {}

    void wakeupThrew(QueueOwner loop, Throwable thrown) {
        handle(thrown);
    }

    private static void handle(Throwable thrown) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    }

    /** For what must not break off what has begun: if the handler throws, too, nothing is left to tell. */
    static void uncaught(Throwable e) {
        try {
            handle(e);
        } catch (Throwable hopeless) {
            return;
        }
    }
}
