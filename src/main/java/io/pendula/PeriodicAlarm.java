package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import java.time.Duration;

/** An {@link Alarm} that rings repeatedly. A second word, besides that of the timer, shows whether a tick is kept. */
final class PeriodicAlarm extends PeriodicNode implements Alarm {
    /** Takes the place of the task; this field keeps it after a cancel. */
    private final Receiver.Ticks ticks;

    PeriodicAlarm(TimerQueue queue, long period) {
        super(queue, new Receiver.Ticks(), period, MissedTicks.SKIP);
        this.ticks = (Receiver.Ticks) work();
    }

    /** A new armed alarm on a worker's queue, never a loop's, because the caller may wait for it. */
    static Alarm arm(SchedulerEngine engine, Duration period) {
        PeriodicAlarm a = new PeriodicAlarm(engine.workersQueue(Thread.currentThread()), Check.period(period));
        a.queue.arm(a, engine.timeline.deadlineIn(a.periodNanos()));
        return a;
    }

    @Override
    public boolean cancel() {
        return Engine.of(this).cancel(this, ticks);
    }

    @Override
    public long missed() {
        return super.missed() + ticks.dropped.get();
    }

    @Override
    public boolean await(Duration timeout) throws InterruptedException {
        return Engine.of(this).await(ticks, this::takeTick, Check.nanos(timeout, "timeout"));
    }

    private boolean takeTick() {
        Engine.of(this).checkAwaitable(this);
        return ticks.take();
    }

    /**
     * Discards the ticks that were due by now, but no later ticks. Another thread may have armed the alarm again meanwhile,
     * with a deadline that this thread does not know. If this thread was delayed, it may also discard a tick of that
     * arming; that tick is counted.
     */
    @Override
    void discardBefore(long first) {
        long now = Engine.nowIfTold(queue.timeline); // the stop or reset is done and must not fail if the clock throws
        if (now == 0) {
            ticks.discardKept();
        } else {
            ticks.discardBefore(Math.min(first, now + 1));
        }
    }

    @Override
    void tick(Runnable claimed, long deadline) {
        ticks.tick(deadline);
    }

    @Override
    protected String kind() {
        return "Alarm";
    }
}
