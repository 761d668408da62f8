package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;


/** A {@link Ticker}: the node of the queue, and its period. */
final class PeriodicTimer extends QueuedNode implements Ticker {
    /*
     * Two resets at once
     *
     * A reset writes the period, then changes the word, which holds the next deadline, then looks at the period. If
     * that is no longer its own, another reset has come in between, and this one begins anew. So of all resets the one
     * whose change of the word is the last has found its own period after that; another period that is written later is
     * followed by a later change of the word. A tick that is claimed between the two steps may have the new period one
     * deadline earlier; the change of the word that follows replaces that deadline.
     *
     * A reset that throws puts the period back if it finds its own. It cannot tell that from an equal one of another reset,
     * which came in between and succeeded: then that one's first tick is right, and those after it have the old period. That
     * takes a rejection and a success for one ticker at the same moment, with one period. Not to put it back would be worse:
     * a ticker that goes on, as after a reset without stack, would change its period though its reset has thrown.
     */

    private static final AtomicLongFieldUpdater<PeriodicTimer> PERIOD =
            AtomicLongFieldUpdater.newUpdater(PeriodicTimer.class, "period");

    private final MissedTicks missedTicks;
    /** Where ticks without a task are kept, or null; unlike the task it outlives close. */
    private final Receiver.Ticks ticks;
    private volatile long period;
    /** How many ticks the last claim has left out. Written under the queue's lock, read by the run that follows. */
    private long leftOut;
    /** Written by the one thread that runs the tick. */
    private volatile long skipped;

    PeriodicTimer(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task);
        this.period = period;
        this.missedTicks = missedTicks;
        this.ticks = task instanceof Receiver.Ticks t ? t : null;
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
    public boolean stop() {
        boolean was = queue.stop(this);
        discardBefore(Timeline.NEVER);
        return was;
    }

    @Override
    public boolean reset(Duration period) {
        long nanos = Check.period(period);
        boolean was = true;
        long deadline;
        do {
            deadline = queue.timeline.deadlineIn(nanos);
            long before = PERIOD.getAndSet(this, nanos);
            try {
                was &= queue.reset(this, deadline);
            } catch (Throwable e) {
                PERIOD.compareAndSet(this, nanos, before); // unless another reset has changed it
                throw e;
            }
        } while (this.period != nanos);
        discardBefore(deadline);
        return was;
    }

    @Override
    public long missed() {
        return skipped + (ticks == null ? 0 : ticks.dropped.get());
    }

    @Override
    protected Object named(Object task) {
        return PendingTimer.named(task);
    }

    @Override
    protected String kind() {
        return "Ticker";
    }

    @Override
    public void await() throws InterruptedException {
        await(ChronoUnit.FOREVER.getDuration());
    }

    @Override
    public boolean await(Duration timeout) throws InterruptedException {
        return Engine.of(this).await(this, ticks, this::takeTick, Check.nanos(timeout, "timeout"));
    }

    private boolean takeTick() {
        Engine.of(this).checkAwaitable(this);
        return ticks.take();
    }

    @Override
    public boolean cancel() {
        if (ticks != null) {
            HoldLock.checkStack();
        }
        boolean was = queue.cancel(this);
        if (ticks != null) {
            ticks.run(); // threads in await must not wait for ever
        }
        return was;
    }

    /**
     * Takes away the ticks before this thread's stop or reset, whose first tick is due at {@code first}. They were due by
     * now, and that is as far as this may reach: another thread may have armed the ticker again meanwhile, with a deadline
     * of which this one knows nothing. If this thread was held up, a tick of that arming may go as well; it is counted.
     */
    private void discardBefore(long first) {
        if (ticks != null) {
            long now = Engine.nowIfTold(queue.timeline); // the stop or reset is made, so a clock must not break it off
            if (now == 0) {
                ticks.discardKept();
            } else {
                ticks.discardBefore(Math.min(first, now + 1));
            }
        }
    }

    @Override
    public long periodNanos() {
        return period;
    }

    @Override
    protected long nextAfter(long deadline, long now) {
        long p = period;
        long present = presentAt(now);
        leftOut = missedTicks.missed(deadline, p, present);
        return missedTicks.next(deadline, p, present);
    }

    @Override
    public boolean fire(Runnable claimed, long deadline) {
        if (leftOut != 0) {
            skipped = skipped + leftOut; // by this thread alone: run k happens-before run k + 1
        }
        if (ticks != null) {
            ticks.tick(deadline);
        } else {
            claimed.run();
        }
        return true;
    }

    @Override
    protected String tempo() {
        return ", every " + Texts.duration(period);
    }
}
