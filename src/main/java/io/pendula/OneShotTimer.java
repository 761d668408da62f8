package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.RunAwaiter;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;


/** A {@link Timer}: the node of the queue itself, so that it costs one object. */
sealed class OneShotTimer extends QueuedNode implements Timer {
    OneShotTimer(TimerQueue queue, Runnable task) {
        super(queue, task);
    }

    /** A new timer of the queue on which the calling thread arms, armed. */
    static Timer arm(SchedulerEngine engine, long delay, Runnable task) {
        return armAt(engine.currentQueue(), engine.timeline.deadlineIn(delay), engine.work(task));
    }

    /** The same for an instant that the caller has computed. */
    static Timer armAt(TimerQueue queue, long deadline, Runnable task) {
        OneShotTimer t = new OneShotTimer(queue, Check.notNull(task, "task"));
        queue.arm(t, Timeline.deadlineAt(deadline));
        return t;
    }

    @Override
    public boolean stop() {
        return queue.stop(this);
    }

    @Override
    public boolean cancel() {
        Receiver receiver = receiver();
        if (receiver != null) {
            HoldLock.checkStack(); // or the call below might not wake them
        }
        boolean prevented = queue.cancel(this);
        if (receiver != null) {
            receiver.run(); // threads in await must not wait for ever
        }
        return prevented;
    }

    @Override
    public boolean reset(Duration delay) {
        return reset(Check.nanos(delay, "delay"), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean reset(long delay, TimeUnit unit) {
        return queue.reset(this, queue.timeline.deadlineIn(Check.delay(delay, unit)));
    }

    @Override
    public boolean stopAndAwait(Duration timeout) throws InterruptedException {
        long nanos = Check.notNegative(timeout, "timeout");
        stop();
        return !Engine.of(this).isRunByCaller(t -> t == this) && RunAwaiter.await(queue, this, nanos);
    }

    @Override
    public void await() throws InterruptedException {
        await(ChronoUnit.FOREVER.getDuration());
    }

    @Override
    public boolean await(Duration timeout) throws InterruptedException {
        return Engine.of(this).await(this, receiver(), this::takeFiring, Check.nanos(timeout, "timeout"));
    }

    @Override
    protected Object named(Object task) {
        return PendingTimer.named(task);
    }

    private boolean takeFiring() {
        long w = wordVolatile();
        if (state(w) == NO_STATUS && tryReceive(w)) {
            return true;
        }
        Engine.of(this).checkAwaitable(this);
        return false;
    }

    Receiver receiver() {
        return null;
    }

    /** Without a task: a thread waits for its firing. Apart, so that a program without one does not load Receiver. */
    static final class Received extends OneShotTimer {
        Received(TimerQueue queue) {
            super(queue, new Receiver());
        }

        static Timer arm(SchedulerEngine engine, long delay) {
            Received t = new Received(engine.currentQueue());
            t.queue.arm(t, engine.timeline.deadlineIn(delay));
            return t;
        }

        @Override
        Receiver receiver() {
            return (Receiver) work(); // null once it is cancelled
        }

        @Override
        public boolean isReceiver(Runnable claimed) {
            return claimed != null;
        }
    }
}
