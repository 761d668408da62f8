package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import java.time.Duration;

/** An {@link Alarm} that rings again and again. A word beside that of the timer says whether a tick is kept. */
final class PeriodicAlarm extends PeriodicNode implements Alarm {
    /** Stands where others have their task, and outlives a cancel here. */
    private final Receiver.Ticks ticks;

    PeriodicAlarm(TimerQueue queue, long period) {
        super(queue, new Receiver.Ticks(), period, MissedTicks.SKIP);
        this.ticks = (Receiver.Ticks) work();
    }

    /** A new one on a worker's queue, armed: no loop's, as the caller may wait for it. */
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
     * Those that were due by now, and that is as far as this may reach: another thread may have armed the alarm again
     * meanwhile, with a deadline of which this one knows nothing. If this thread was held up, a tick of that arming may go
     * as well; it is counted.
     */
    @Override
    void discardBefore(long first) {
        long now = Engine.nowIfTold(queue.timeline); // the stop or reset is made, so a clock must not break it off
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
