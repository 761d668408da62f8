package io.pendula;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;

/** A {@link Ticker}: the node of the queue, and its period. */
final class PeriodicTimer extends QueuedNode implements Ticker {
    private static final VarHandle SKIPPED;

    static {
        try {
            SKIPPED = MethodHandles.lookup().findVarHandle(PeriodicTimer.class, "skipped", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MissedTicks missedTicks;
    /** Where ticks without a task are kept, or null; unlike the task it outlives close. */
    private final TickReceiver ticks;
    private final Tempo tempo;
    /** Written by the one thread that runs the tick. */
    private long skipped;

    PeriodicTimer(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task);
        this.tempo = new Tempo(period);
        this.missedTicks = missedTicks;
        this.ticks = task instanceof TickReceiver t ? t : null;
    }

    /** A new ticker of the queue on which the calling thread arms, armed; first after one period. */
    static Ticker every(SchedulerEngine engine, Duration period, MissedTicks missedTicks, Runnable task) {
        long nanos = Check.period(period);
        Check.notNull(missedTicks, "missedTicks");
        return arm(engine.currentQueue(), nanos, nanos, missedTicks, engine.work(task));
    }

    /** A new ticker of this queue, armed. */
    static Ticker arm(TimerQueue queue, long initialDelay, long period, MissedTicks missedTicks, Runnable task) {
        PeriodicTimer t = new PeriodicTimer(queue, Check.notNull(task, "task"), period, missedTicks);
        queue.arm(t, queue.timeline.deadlineIn(initialDelay));
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
        long deadline = queue.timeline.deadlineIn(nanos);
        Tempo.Plan plan = tempo.announce(this, nanos, deadline);
        boolean was;
        try {
            was = queue.reset(this, deadline);
        } catch (Throwable e) {
            tempo.giveUp(plan, this, e);
            throw e;
        }
        tempo.accept(plan);
        discardBefore(deadline);
        return was;
    }

    @Override
    public long missed() {
        return (long) SKIPPED.getOpaque(this) + (ticks == null ? 0 : ticks.dropped());
    }

    @Override
    String kind() {
        return "Ticker";
    }

    @Override
    public void await() throws InterruptedException {
        await(Long.MAX_VALUE);
    }

    @Override
    public boolean await(Duration timeout) throws InterruptedException {
        return await(Check.nanos(timeout, "timeout"));
    }

    private boolean await(long nanos) throws InterruptedException {
        if (ticks == null) {
            Engine.of(this).checkAwaitable(queue, isCancelled(state(wordVolatile())));
            throw new IllegalStateException("only a ticker without a task can be awaited");
        }
        return Engine.of(this).await(ticks, () -> {
            Engine.of(this).checkAwaitable(queue, isCancelled(state(wordVolatile())));
            return ticks.take();
        }, nanos);
    }

    @Override
    public void close() {
        queue.cancel(this);
        if (ticks != null) {
            ticks.run(); // threads in await must not wait for ever
        }
    }

    /**
     * Takes away the ticks before this thread's stop or reset, whose first tick is due at {@code first}. They were due by
     * now, and that is as far as this may reach: another thread may have armed the ticker again meanwhile, with a deadline
     * of which this one knows nothing. If this thread was held up, a tick of that arming may go as well; it is counted.
     */
    private void discardBefore(long first) {
        if (ticks != null) {
            ticks.discardBefore(Math.min(first, queue.timeline.now() + 1));
        }
    }

    @Override
    public long periodNanos() {
        return tempo.period(this);
    }

    @Override
    protected long nextAfter(long deadline, long now) {
        return missedTicks.next(deadline, tempo.claim(this, deadline), now);
    }

    @Override
    public boolean fire(Runnable claimed, long deadline, long now) {
        // Plain read: run k happens-before run k + 1. Opaque write: for calls of missed().
        SKIPPED.setOpaque(this, skipped + missedTicks.missed(deadline, tempo.claimed(), now));
        if (ticks != null) {
            ticks.tick(deadline);
        } else {
            claimed.run();
        }
        return true;
    }

    @Override
    String tempo() {
        return ", every " + Texts.duration(tempo.period(this));
    }
}
