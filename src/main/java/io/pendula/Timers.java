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
 * Arms timers on the workers of a {@link TimerScheduler} or on the thread of a {@link TimerLoop}. A {@link TimerGroup}
 * arms them on either. Code that takes a {@code Timers} works with all three. Any thread may call any method at any
 * time.
 *
 * <p>When the scheduler's clock has counted 36 years, methods that take a delay or a period throw
 * {@link IllegalStateException}.
 *
 * @since 0.1
 */
public sealed interface Timers permits Armer, TimerScheduler, TimerLoop, TimerGroup {
    /**
     * Runs {@code task} once after {@code delay}.
     *
     * @param delay how long to wait; zero or negative: due at once, but never inside this call; beyond 18 years: never
     * @param task the task to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException if the scheduler, loop or group is closed, the scheduler is being
     *     {@linkplain TimerScheduler#drain drained}, the loop's thread has ended, {@code maxPending} timers are armed,
     *     or memory is short
     */
    default Timer after(Duration delay, Runnable task) {
        return after(Check.nanos(delay, "delay"), TimeUnit.NANOSECONDS, task);
    }

    /**
     * Like {@link #after(Duration, Runnable)}, but allocates only the timer.
     *
     * @param delay how long to wait, in {@code unit}s; zero or negative: due at once, but never inside this call;
     *     beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @param task the task to run
     * @return the armed timer
     * @throws NullPointerException if {@code unit} or {@code task} is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    Timer after(long delay, TimeUnit unit, Runnable task);

    /**
     * Returns the current instant on the scheduler's clock, for {@link #at}. Reading the clock is about half the cost
     * of arming a timer. A loop can read it once per round, and arm many timers from that reading.
     *
     * @return nanoseconds since shortly before the scheduler was created, at least 1; valid for this scheduler only
     */
    long now();

    /**
     * Runs {@code task} once when the scheduler's clock reaches an instant. Does not read the clock.
     *
     * <p>An instant in the past is due at once, but never inside this call. Its lateness counts from that instant, or
     * from the scheduler's start if that is later. If the instant is 36 years or more after the start, the timer never
     * fires. The same is true of an instant below {@code Long.MIN_VALUE / 2}, which is regarded as a sum that has
     * overflowed.
     *
     * @param deadlineNanos the instant: a reading of {@link #now()} plus a delay in nanoseconds. Do not use
     *     {@code System.nanoTime()} or {@code currentTimeMillis()}, which have other origins
     * @param task the task to run
     * @return the armed timer
     * @throws NullPointerException if {@code task} is null
     * @throws IllegalArgumentException if {@code deadlineNanos} is within 30 days of the wall clock's current instant,
     *     in nanoseconds since 1970; other wrong origins cannot be detected
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    Timer at(long deadlineNanos, Runnable task);

    /**
     * Returns a timer that is not armed yet, for example for a final field. Its first {@code reset} arms it. Until then
     * it is not pending and not counted anywhere. It belongs to the worker or loop on which the calling thread would
     * arm a timer. Before another thread resets it, it must be safely published, for example by a final field.
     *
     * @param task the task to run
     * @return the timer, in the same state as a stopped one
     * @throws NullPointerException if {@code task} is null
     * @throws RejectedExecutionException if the loop or group is closed, the scheduler is being drained, the loop's
     *     thread has ended, or the scheduler has neither workers nor a loop
     */
    Timer timer(Runnable task);

    /**
     * Runs {@code task} each {@code period}, first after one period; missed ticks are skipped.
     *
     * @param period the time between two ticks, more than zero
     * @param task the task to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker every(Duration period, Runnable task) {
        return every(period, MissedTicks.SKIP, task);
    }

    /**
     * Like {@link #every(Duration, Runnable)}, but takes a number and its unit.
     *
     * @param period the time between two ticks, in {@code unit}s, more than zero
     * @param unit the unit of {@code period}
     * @param task the task to run
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
     * @param missedTicks the policy for ticks that could not run on time
     * @param task the task to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    default Ticker every(Duration period, MissedTicks missedTicks, Runnable task) {
        return every(period, period, missedTicks, task);
    }

    /**
     * Runs {@code task} first after {@code initialDelay}, then each {@code period}; missed ticks are skipped. After a later
     * {@link Ticker#reset} the first tick comes after one period.
     *
     * @param initialDelay the time until the first tick; zero or negative: due at once, but never inside this call
     * @param period the time between two ticks, more than zero
     * @param task the task to run
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
     * @param missedTicks the policy for ticks that could not run on time
     * @param task the task to run
     * @return the armed ticker
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    Ticker every(Duration initialDelay, Duration period, MissedTicks missedTicks, Runnable task);

    /**
     * Runs {@code task} each {@code period}, first after a random delay that is uniformly distributed from zero to
     * {@code period}. The grid starts with that tick. This keeps a thousand tickers from ticking at the same moment.
     * Missed ticks are skipped.
     *
     * @param period the time between two ticks, more than zero
     * @param task the task to run
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
     * Runs {@code task} at the times of a schedule, by the wall clock. {@link Schedule} says what happens if that clock
     * is set, or if the machine sleeps. To end the schedule, call {@code cancel} or {@code cancelAndAwait} of the
     * result. Runs never overlap, and a run that throws does not end the schedule. The timer fires at least once a
     * minute, usually just to read the clock. So {@link TimerHandle#remaining} is the time to the next reading, and
     * {@link TimerStats} counts each reading as a firing.
     *
     * @param schedule the times
     * @param clock the wall clock, for example a {@link java.time.Clock}, whose zone does not matter; in tests,
     *     {@link ManualClock#asClock}
     * @param task the task to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if the schedule has no time after the current instant
     * @throws IllegalStateException if the schedule returns an instant that is not after the current one
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does
     */
    TimerHandle schedule(Schedule schedule, InstantSource clock, Runnable task);

    /**
     * Completes a future with a {@link java.util.concurrent.TimeoutException} if it is not complete after
     * {@code timeout}. If it completes before, its timer is cancelled. If the scheduler, loop or group is closed, the
     * future completes at once with a {@link java.util.concurrent.CancellationException}.
     *
     * @param <T> the future's type
     * @param future the future that must complete
     * @param timeout how long to wait; zero or negative: only a check; beyond 18 years: forever
     * @return {@code future} itself. After a timeout, it and its dependent stages complete on a thread that runs
     *     callbacks of the timer
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does; the future is unchanged
     */
    default <T extends @Nullable Object> CompletableFuture<T> orTimeout(CompletableFuture<T> future, Duration timeout) {
        return Timeouts.fail(this, Check.notNull(future, "future"), Check.nanos(timeout, "timeout"));
    }

    /**
     * Completes a future with {@code value} if it is not complete after {@code timeout}; otherwise as {@link #orTimeout}.
     *
     * @param <T> the future's type
     * @param future the future that must complete
     * @param value the value to complete it with; may be null
     * @param timeout how long to wait; zero or negative: only a check; beyond 18 years: forever
     * @return {@code future} itself
     * @throws NullPointerException if {@code future} or {@code timeout} is null
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does; the future is unchanged
     */
    default <T extends @Nullable Object> CompletableFuture<T> completeOnTimeout(CompletableFuture<T> future, T value,
            Duration timeout) {
        return Timeouts.complete(this, Check.notNull(future, "future"), value, Check.nanos(timeout, "timeout"));
    }

    /**
     * Returns an executor that passes each task to another executor after a delay, for the {@code async} methods of
     * {@link CompletableFuture}. If that executor rejects the task, the {@link TimerListener} is notified. Closing the
     * scheduler, loop or group drops tasks that were not passed on yet. The future of a dropped task never completes,
     * unless it has an {@link #orTimeout}.
     *
     * @param delay how long to wait; zero or negative: no delay; beyond 18 years: forever
     * @param executor the executor that runs the tasks
     * @return an executor whose {@code execute} throws the same exceptions as {@link #after(Duration, Runnable)}
     * @throws NullPointerException if an argument is null
     */
    default Executor delayedExecutor(Duration delay, Executor executor) {
        return new Timeouts.Delayed(this, Check.nanos(delay, "delay"), Check.notNull(executor, "executor"));
    }

    /**
     * Interrupts the calling thread after {@code limit}, unless the returned object is closed before. Use the result in
     * a {@code try} statement to limit work that blocks. {@link RunLimit} has the rules. If the scheduler, loop or
     * group is closed, the thread is interrupted at once, because the work must not continue without its limit.
     *
     * <p>The interrupt comes from a thread of the scheduler, or of the builder's executor if there is one. Such a
     * thread must be free: if a callback calls this method, the scheduler needs another thread. A callback that is run
     * by the {@code advance} of a {@link ManualClock} is not interrupted.
     *
     * @param limit how long the work may take; zero or negative: the time is over at once, but never inside this call;
     *     beyond 18 years: never
     * @return the limit; this thread must close it
     * @throws NullPointerException if {@code limit} is null
     * @throws IllegalStateException if the timer would belong to the calling thread's own {@link TimerLoop}: the thread
     *     would have to interrupt itself
     * @throws RejectedExecutionException as {@link #after(Duration, Runnable)} does; in this case the thread is not
     *     interrupted
     */
    default RunLimit interruptAfter(Duration limit) {
        return new RunLimit(this::timer, Check.nanos(limit, "limit"));
    }

    /**
     * Returns a new group of timers that are cancelled together. They are armed on this scheduler or loop, and follow
     * its rules. A group within a group is closed with the outer group, and can also be closed before it.
     *
     * @param name the name that {@link TimerGroup#nameOf} returns and that texts show; several groups may have the same name
     * @return an open group, without timers
     * @throws NullPointerException if {@code name} is null
     */
    TimerGroup group(String name);
}
