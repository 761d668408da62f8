package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import java.time.Duration;

/** An {@link Alarm} that rings once. Its word shows whether the firing is kept. */
final class OneShotAlarm extends QueuedNode implements Alarm {
    /** Takes the place of the task; this field keeps it after a cancel. */
    private final Receiver receiver;

    OneShotAlarm(TimerQueue queue) {
        super(queue, new Receiver());
        this.receiver = (Receiver) work();
    }

    /** A new armed alarm on a worker's queue, never a loop's, because the caller may wait for it. */
    static Alarm arm(SchedulerEngine engine, long delay) {
        OneShotAlarm a = new OneShotAlarm(engine.workersQueue(Thread.currentThread()));
        a.queue.arm(a, engine.timeline.deadlineIn(delay));
        return a;
    }

    @Override
    public boolean stop() {
        return queue.stop(this);
    }

    @Override
    public boolean cancel() {
        return Engine.of(this).cancel(this, receiver);
    }

    @Override
    public boolean reset(Duration delay) {
        return queue.reset(this, queue.timeline.deadlineIn(Check.nanos(delay, "delay")));
    }

    @Override
    public long missed() {
        return 0;
    }

    @Override
    public boolean await(Duration timeout) throws InterruptedException {
        return Engine.of(this).await(receiver, this::takeFiring, Check.nanos(timeout, "timeout"));
    }

    private boolean takeFiring() {
        long w = wordVolatile();
        if (state(w) == NO_STATUS && tryReceive(w)) {
            return true;
        }
        Engine.of(this).checkAwaitable(this);
        return false;
    }

    @Override
    public boolean isReceiver(Runnable claimed) {
        return claimed != null;
    }

    @Override
    protected String kind() {
        return "Alarm";
    }
}
