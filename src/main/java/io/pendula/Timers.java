package io.pendula;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Arms timers: on the workers of a {@link TimerScheduler}, or on the thread of a {@link TimerLoop}; by a {@link TimerGroup}
 * on either. Code that takes this runs on all. Any thread may call all methods at any time.
 *
 * @since 0.1
 */
public sealed interface Timers permits Armer, TimerScheduler, TimerLoop, TimerGroup {
    /**
     * Runs {@code task} once after {@code delay}.
     *
     * @param delay how long to wait; zero or negative: due at once, but never inside this call; beyond 18 years: never
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if the scheduler or loop is closed, the loop's thread has ended,
     *     {@code maxPending} timers are armed, or memory is short
     */
    default Timer after(Duration delay, Runnable task) {
        return after(Check.nanos(delay, "delay"), TimeUnit.NANOSECONDS, task);
    }

    /**
     * As {@link #after(Duration, Runnable)}; makes no object but the timer.
     *
     * @param delay how long to wait, in {@code unit}s
     * @param unit the unit of {@code delay}
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if {@code unit} or {@code task} is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    Timer after(long delay, TimeUnit unit, Runnable task);

    /**
     * The present instant on the scheduler's clock, for {@link #at}. Reading the clock is about half of what arming a
     * timer costs; a loop that reads it once in each round may arm many timers by that reading.
     *
     * @return nanoseconds since shortly before the scheduler was made, at least 1; of use to this scheduler only
     */
    long now();

    /**
     * Runs {@code task} once when the scheduler's clock reaches an instant. Does not read the clock.
     *
     * @param deadlineNanos the instant, as {@code now() + delay} with a reading of {@link #now()}, never of
     *     {@code System.nanoTime()} or {@code currentTimeMillis()}, which count from elsewhere; in the past: due at
     *     once, but never inside this call, and late since then, or since the scheduler's start; from 36 years after
     *     the start on: never, also if the sum overflows. So the past reaches back 146 years only, to
     *     {@code Long.MIN_VALUE / 2}
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if {@code task} is null
     * @throws IllegalArgumentException if {@code deadlineNanos} lies within a month of the wall clock's present instant,
     *     in nanoseconds since 1970; other mistakes of that kind cannot be told from an instant
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    Timer at(long deadlineNanos, Runnable task);

    /**
     * A timer that is not armed yet, for a field that is set once: its first {@code reset} arms it. Until then it is not
     * pending, and counts nowhere. It belongs to the same worker or loop as one that the calling thread arms. Another
     * thread that resets it must have got it by a safe publication, as by a final field.
     *
     * @param task what to run
     * @return the timer, as if it had been stopped
     * @throws NullPointerException if {@code task} is null
     * @throws RejectedExecutionException if the loop is closed or its thread has ended, or if the scheduler has neither
     *     workers nor a loop
     */
    Timer timer(Runnable task);

    /**
     * Runs {@code task} each {@code period}, first after one period; missed ticks are skipped.
     *
     * @param period the time between two ticks, more than zero
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker every(Duration period, Runnable task) {
        return every(period, MissedTicks.SKIP, task);
    }

    /**
     * As {@link #every(Duration, Runnable)}.
     *
     * @param period the time between two ticks, in {@code unit}s, more than zero
     * @param unit the unit of {@code period}
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if {@code unit} or {@code task} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker every(long period, TimeUnit unit, Runnable task) {
        return every(Check.duration(period, unit), task);
    }

    /**
     * Runs {@code task} each {@code period}, first after one period.
     *
     * @param period the time between two ticks, more than zero
     * @param missedTicks what to do about ticks that could not run in time
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker every(Duration period, MissedTicks missedTicks, Runnable task) {
        return every(period, period, missedTicks, task);
    }

    /**
     * Runs {@code task} first after {@code initialDelay}, then each {@code period}; missed ticks are skipped. A later
     * {@link Ticker#reset} begins anew, with its first tick after one period.
     *
     * @param initialDelay the time until the first tick; zero or negative: due at once, but never inside this call
     * @param period the time between two ticks, more than zero
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker every(Duration initialDelay, Duration period, Runnable task) {
        return every(initialDelay, period, MissedTicks.SKIP, task);
    }

    /**
     * Runs {@code task} first after {@code initialDelay}, then each {@code period}.
     *
     * @param initialDelay the time until the first tick; zero or negative: due at once, but never inside this call
     * @param period the time between two ticks, more than zero
     * @param missedTicks what to do about ticks that could not run in time
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    Ticker every(Duration initialDelay, Duration period, MissedTicks missedTicks, Runnable task);

    /**
     * Runs {@code task} each {@code period}, first after a delay that is drawn evenly from zero to {@code period}, and
     * begins the grid. So a thousand tickers do not all tick at one moment. Missed ticks are skipped.
     *
     * @param period the time between two ticks, more than zero
     * @param task what to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker everyAtRandomPhase(Duration period, Runnable task) {
        long phase = ThreadLocalRandom.current().nextLong(Math.min(Check.period(period), Timeline.NEVER));
        return every(Duration.ofNanos(phase), period, task);
    }

    /**
     * Runs {@code task} at the times of a schedule, by the wall clock. {@link Schedule} says what happens when that is set,
     * or the machine sleeps. The handle has {@code cancel} and {@code cancelAndAwait} to end it. It never overlaps itself,
     * and goes on when a run throws. It fires at least once a minute, mostly just to read the clock.
     * {@link TimerHandle#remaining} counts to the next reading, and {@link TimerStats} counts each one.
     *
     * @param schedule the times
     * @param clock the wall clock, a {@link java.time.Clock}, whose zone does not matter; for tests
     *     {@link ManualClock#asClock}
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if the schedule has no time after the present instant
     * @throws IllegalStateException if the schedule returns an instant that is not after the present one
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    TimerHandle schedule(Schedule schedule, InstantSource clock, Runnable task);

    /**
     * Fails a future that is not complete after {@code timeout}. If it completes before, its timer is cancelled. A close of
     * the scheduler, or of the timer's loop, fails it at once with a {@link java.util.concurrent.CancellationException}.
     *
     * @param <T> the future's type
     * @param future what must complete
     * @param timeout how long to wait; zero or negative: no longer than it takes to look; beyond 18 years: for ever
     * @return {@code future} itself; it completes with a {@link java.util.concurrent.TimeoutException}, on a thread
     *     that runs callbacks of the timer, as do the stages that depend on it
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does; the future is as it was
     */
    default <T extends @Nullable Object> CompletableFuture<T> orTimeout(CompletableFuture<T> future, Duration timeout) {
        return Timeouts.fail(this, Check.notNull(future, "future"), Check.nanos(timeout, "timeout"));
    }

    /**
     * Completes a future with {@code value} if it is not complete after {@code timeout}; else as {@link #orTimeout}.
     *
     * @param <T> the future's type
     * @param future what must complete
     * @param value what it completes with; may be null
     * @param timeout how long to wait; zero or negative: no longer than it takes to look; beyond 18 years: for ever
     * @return {@code future} itself
     * @throws NullPointerException if {@code future} or {@code timeout} is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does; the future is as it was
     */
    default <T extends @Nullable Object> CompletableFuture<T> completeOnTimeout(CompletableFuture<T> future, T value,
            Duration timeout) {
        return Timeouts.complete(this, Check.notNull(future, "future"), value, Check.nanos(timeout, "timeout"));
    }

    /**
     * An executor that hands each task to another executor after a delay, for the {@code async} methods of
     * {@link CompletableFuture}. If that executor rejects the task then, the {@link TimerListener} is told. A close of
     * the scheduler or loop drops what is not handed over. The future of a dropped task never completes, unless it has
     * an {@link #orTimeout}: only a run of the task could complete it, and that would be too early.
     *
     * @param delay how long to wait; zero or negative: not at all; beyond 18 years: for ever
     * @param executor what runs the tasks
     * @return an executor whose {@code execute} throws what {@link #after(Duration, Runnable)} throws
     * @throws NullPointerException if an argument is null
     */
    default Executor delayedExecutor(Duration delay, Executor executor) {
        return new Timeouts.Delayed(this, Check.nanos(delay, "delay"), Check.notNull(executor, "executor"));
    }

    /**
     * Interrupts the calling thread after {@code limit}, unless the returned object is closed before: a limit for work that
     * blocks, in a {@code try} statement. {@link RunLimit} has the rules. A close of the scheduler, loop or group interrupts
     * at once, as the work is not to go on without its limit.
     *
     * <p>Another thread must be free to run the timer, one of the builder's executor if there is one. So a callback that
     * calls this needs a scheduler with a further thread, and a callback that the {@code advance} of a {@link ManualClock} runs
     * is not interrupted.
     *
     * @param limit how long the work may take; zero or negative: the time is over at once, but never inside this call;
     *     beyond 18 years: never
     * @return the limit, which this thread is to close
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalStateException if the timer would be one of the calling thread's own {@link TimerLoop}: that thread runs
     *     it, so it cannot be interrupted by it
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does; the thread is not interrupted then
     */
    default RunLimit interruptAfter(Duration limit) {
        return new RunLimit(this::timer, Check.nanos(limit, "limit"));
    }

    /**
     * A new group of timers that are cancelled together. They are armed here, and follow the rules of this scheduler or
     * loop. A group of a group is closed with it, also if it is closed alone before.
     *
     * @param name what {@link TimerGroup#nameOf} and texts call it; several groups may have one name
     * @return an open group, without timers
     * @throws NullPointerException if {@code name} is null
     */
    TimerGroup group(String name);
}
