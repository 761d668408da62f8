package io.pendula;

import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import java.time.Duration;

/** A {@link Ticker}. Not final: the tickers of a group extend it. */
non-sealed class PeriodicTimer extends PeriodicNode implements Ticker {
    PeriodicTimer(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task, period, missedTicks);
    }

    /** A new armed ticker, on the queue on which the calling thread arms. */
    static Ticker arm(SchedulerEngine engine, Duration period, Runnable task) {
        long nanos = Check.period(period);
        Runnable work = engine.work(Check.notNull(task, "task"));
        PeriodicTimer t = new PeriodicTimer(engine.currentQueue(), work, nanos, MissedTicks.SKIP);
        t.queue.arm(t, engine.timeline.deadlineIn(nanos));
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
