package io.pendula;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A {@link Timer}. It is itself the queue's node, so a timer is one object. Not final: groups and tests extend it. */
non-sealed class OneShotTimer extends QueuedNode implements Timer {
    OneShotTimer(TimerQueue queue, Runnable task) {
        super(queue, Check.notNull(task, "task"));
    }

    /** A new armed timer, on the queue on which the calling thread arms. */
    static Timer arm(SchedulerEngine engine, long delay, Runnable task) {
        return armAt(engine.currentQueue(), engine.timeline.deadlineIn(delay), engine.work(task));
    }

    /** As {@code arm}, for a deadline that the caller has computed. */
    static Timer armAt(TimerQueue queue, long deadline, Runnable task) {
        OneShotTimer t = new OneShotTimer(queue, task);
        queue.arm(t, Timeline.deadlineAt(deadline));
        return t;
    }

    @Override
    public boolean stop() {
        return queue.stop(this);
    }

    @Override
    public boolean reset(Duration delay) {
        return reset(Check.nanos(delay, "delay"), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean reset(long delay, TimeUnit unit) {
        return queue.reset(this, queue.timeline.deadlineIn(Check.delay(delay, unit)));
    }
}
