package io.pendula;

import static io.pendula.TimerState.isArmed;
import static io.pendula.TimerState.isCancelled;
import static io.pendula.TimerState.state;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;

/**
 * A timer that fires again and again at a fixed rate. (Some libraries call a source of time a ticker; here that is a
 * {@link NanoClock}.)
 *
 * <p>The first tick comes one period after the ticker was made, and each later one keeps to that grid: lateness of one
 * tick does not shift the next. What happens to ticks that could not run in time is told by {@link MissedTicks}.
 * A ticker never overlaps itself: it is out of the heap while its callback runs, and the next tick is armed when the
 * callback has returned. A callback that throws does not end its ticker; the exception goes to the
 * {@link TimerListener}. Run k happens-before run k + 1, whatever threads they run on.
 *
 * <p>A ticker <b>without a task</b> keeps one tick for a receiver, who takes it by {@link #await()}; a tick that
 * falls due while one is kept already is dropped and counted in {@link #missed()}.
 *
 * <p>All methods may be called by any thread at any time, the own callback included.
 */
public final class Ticker extends TimerNode implements AutoCloseable {
    private static final VarHandle SKIPPED;

    static {
        try {
            SKIPPED = MethodHandles.lookup().findVarHandle(Ticker.class, "skipped", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MissedTicks missedTicks;
    /** Where ticks without a task are kept, or null; unlike the task it outlives close. */
    private final Signal.Ticks ticks;
    private final Tempo tempo;
    /** Written by the one thread that runs the tick. */
    private long skipped;

    Ticker(TimerQueue queue, Runnable task, long period, MissedTicks missedTicks) {
        super(queue, task);
        this.tempo = new Tempo(period);
        this.missedTicks = missedTicks;
        this.ticks = task instanceof Signal.Ticks t ? t : null;
    }

    /** A new ticker of this queue, armed. */
    static Ticker arm(TimerQueue queue, long period, MissedTicks missedTicks, Runnable task) {
        Ticker t = new Ticker(queue, Check.notNull(task, "task"), period, missedTicks);
        queue.arm(t, queue.timeline.deadlineIn(period));
        return t;
    }

    /**
     * Runs {@code task} each {@code period} on the {@linkplain TimerScheduler#shared() shared scheduler}; missed ticks
     * are skipped.
     *
     * @param period the time between two ticks, more than zero
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     */
    public static Ticker every(Duration period, Runnable task) {
        return TimerScheduler.shared().every(period, task);
    }

    /**
     * Runs {@code task} each {@code period} on the {@linkplain TimerScheduler#shared() shared scheduler}.
     *
     * @param period the time between two ticks, more than zero
     * @param missedTicks what to do about ticks that could not run in time
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     */
    public static Ticker every(Duration period, MissedTicks missedTicks, Runnable task) {
        return TimerScheduler.shared().every(period, missedTicks, task);
    }

    /**
     * A ticker without a task on the {@linkplain TimerScheduler#shared() shared scheduler}; see {@link #await()}.
     *
     * @param period the time between two ticks, more than zero
     * @return the armed ticker
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     */
    public static Ticker every(Duration period) {
        return TimerScheduler.shared().every(period);
    }

    /**
     * No more ticks, until {@code reset}. A tick that is kept for a receiver is taken away. A run in progress ends
     * normally.
     *
     * @return true if ticks were to come
     */
    public boolean stop() {
        boolean was = queue.stop(this);
        discardKept();
        return was;
    }

    /**
     * Ticks each {@code period} from now on, the first one after one period; also after {@code stop}. Of several resets
     * at the same time one comes last: its first tick and its period count. A reset that throws changes nothing.
     *
     * @param period the time between two ticks, more than zero
     * @return true if ticks were to come before, false if the ticker was stopped
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws IllegalStateException if the ticker was closed
     * @throws RejectedExecutionException if the scheduler is closed, or if the ticker was stopped and
     *     {@code maxPending} timers are armed, or memory is short and the timer is not due at once
     */
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
        discardKept();
        return was;
    }

    /**
     * The number of ticks that were left out: skipped because the ticker was late (by {@link MissedTicks#SKIP}), or
     * dropped because a receiver had not taken the one before.
     *
     * @return a count that never falls
     */
    public long missed() {
        return (long) SKIPPED.getOpaque(this) + (ticks == null ? 0 : ticks.dropped());
    }

    /**
     * Waits for the next tick of a ticker without a task and takes it. Of several who wait, one gets it.
     *
     * @throws InterruptedException if the thread is interrupted before it got a tick
     * @throws IllegalStateException if the ticker has a task
     * @throws CancellationException if the ticker or its scheduler is closed
     */
    public void await() throws InterruptedException {
        await(Long.MAX_VALUE);
    }

    /**
     * As {@link #await()}, for a limited time.
     *
     * @param timeout how long to wait at most; zero or negative: only look
     * @return true if a tick was taken, false if the time ran out before
     * @throws NullPointerException if {@code timeout} is null
     * @throws InterruptedException if the thread is interrupted before it got a tick
     * @throws IllegalStateException if the ticker has a task
     * @throws CancellationException if the ticker or its scheduler is closed
     */
    public boolean await(Duration timeout) throws InterruptedException {
        return await(Timeline.nanos(timeout, "timeout"));
    }

    private boolean await(long nanos) throws InterruptedException {
        if (ticks == null) {
            queue.scheduler.checkAwaitable(queue, isCancelled(state(wordVolatile())));
            throw new IllegalStateException("only a ticker without a task can be awaited");
        }
        return queue.scheduler.await(ticks, () -> {
            queue.scheduler.checkAwaitable(queue, isCancelled(state(wordVolatile())));
            return ticks.take();
        }, nanos);
    }

    /** Stops the ticker for good and drops its task at once. A run in progress ends normally. */
    @Override
    public void close() {
        queue.cancel(this);
        if (ticks != null) {
            ticks.run(); // those who await must not wait for ever
        }
    }

    /**
     * Ticks that were claimed by now are due by now, and that is as far as this may reach: another thread may have
     * armed the ticker again meanwhile, with a deadline of which this one knows nothing.
     */
    private void discardKept() {
        if (ticks != null) {
            ticks.discardBefore(queue.timeline.now() + 1);
        }
    }

    @Override
    long nextAfter(long deadline, long now) {
        return missedTicks.next(deadline, tempo.claim(this, deadline), now);
    }

    @Override
    boolean fire(Runnable claimed, long deadline, long now) {
        // Plain read: run k happens-before run k + 1. Opaque write: for those who call missed().
        SKIPPED.setOpaque(this, skipped + missedTicks.missed(deadline, tempo.claimed(), now));
        if (ticks != null) {
            ticks.tick(deadline);
        } else {
            claimed.run();
        }
        return true;
    }

    /**
     * State and period, for people.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "Ticker[every " + Duration.ofNanos(tempo.period(this))
                + (isArmed(state(wordVolatile())) ? "]" : ", stopped]");
    }
}
