package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import java.time.Duration;

/** A {@link Ticker}. Not final: one of a group is more. */
non-sealed class PeriodicTimer extends PeriodicNode implements Ticker {
    PeriodicTimer(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task, period, missedTicks);
    }

    /** A new ticker of this queue, armed. */
    static Ticker arm(TimerQueue queue, Duration initialDelay, Duration period, MissedTicks missedTicks, Runnable task) {
        long nanos = Check.period(period);
        long first = Check.nanos(initialDelay, "initialDelay");
        Check.notNull(missedTicks, "missedTicks");
        Runnable work = ((Engine) queue.host).work(Check.notNull(task, "task"));
        PeriodicTimer t = new PeriodicTimer(queue, work, nanos, missedTicks);
        queue.arm(t, queue.timeline.deadlineIn(first));
        return t;
    }

    @Override
    final void tick(Runnable claimed, long deadline) {
        claimed.run();
    }

    @Override
    protected final String kind() {
        return "Ticker";
    }
}
