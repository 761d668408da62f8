package io.pendula;

import io.pendula.internal.scheduler.SharedScheduler;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;

/**
 * A timer that threads wait for; it has no callback. It rings once, or repeatedly at a fixed rate.
 *
 * <pre>{@code
 * try (Alarm beat = Alarm.every(Duration.ofSeconds(1))) {
 *     while (running) {
 *         beat.await();
 *         sample();
 *     }
 * }
 * }</pre>
 *
 * <p>When an alarm is due, it rings: it keeps one firing until a thread takes it with {@link #await()}. {@code stop}
 * and {@code reset} discard a kept firing, so a stale firing is never received. If a repeating alarm becomes due while
 * a firing is kept, the new firing is dropped, and counted in {@link #missed()}.
 *
 * <p>Schedulers create alarms, but loops do not: a loop's thread that waited for its own timer would wait forever. For the
 * same reason, the threads of a scheduler's loops must not wait for its alarms if the scheduler has no workers.
 *
 * <p>All methods may be called by any thread at any time. Actions in a thread before it arms the alarm happen-before
 * {@code await} returns. A waiting virtual thread occupies no carrier.
 *
 * @since 0.1
 */
public sealed interface Alarm extends TimerHandle, AutoCloseable permits OneShotAlarm, PeriodicAlarm {
    /**
     * Returns a new alarm of the {@linkplain TimerScheduler#shared() shared scheduler} that rings once.
     *
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never
     * @return the armed alarm
     * @throws NullPointerException if {@code delay} is null
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Alarm after(Duration delay) {
        return OneShotAlarm.arm(SharedScheduler.engine(), Check.nanos(delay, "delay"));
    }

    /**
     * Returns a new alarm of the {@linkplain TimerScheduler#shared() shared scheduler} that rings each {@code period}.
     *
     * @param period the time between two firings, more than zero
     * @return the armed alarm
     * @throws NullPointerException if {@code period} is null
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Alarm every(Duration period) {
        return PeriodicAlarm.arm(SharedScheduler.engine(), period);
    }

    /**
     * Waits for the next firing and takes it. If several threads wait, one of them gets it. If the alarm is stopped
     * meanwhile, the wait continues, because the alarm may be reset.
     *
     * @throws InterruptedException if the thread is interrupted before it gets a firing
     * @throws CancellationException if the alarm was cancelled, or its scheduler or loop was closed; from an alarm that
     *     rings once, a firing that was kept before the close can still be taken
     */
    default void await() throws InterruptedException {
        await(ChronoUnit.FOREVER.getDuration());
    }

    /**
     * Like {@link #await()}, but waits for a limited time.
     *
     * @param timeout the maximum time to wait; zero or negative: do not wait
     * @return true if a firing was taken, false if the time has elapsed first
     * @throws NullPointerException if {@code timeout} is null
     * @throws InterruptedException as {@link #await()} does
     * @throws CancellationException as {@link #await()} does
     */
    boolean await(Duration timeout) throws InterruptedException;

    /**
     * Prevents further firings, and discards a kept firing. The alarm can be armed again by {@code reset}.
     *
     * @return true if the alarm had a firing to come; for an alarm that rings once, also if a firing was kept
     */
    boolean stop();

    /**
     * Arms the alarm again, whether it is waiting, has rung or was stopped, and discards a kept firing. If {@code reset}
     * throws, nothing has changed.
     *
     * @param time how long to wait from now on; for a repeating alarm its new period, more than zero
     * @return the result that {@code stop} would have returned
     * @throws NullPointerException if {@code time} is null
     * @throws IllegalArgumentException if the alarm repeats and {@code time} is zero or negative
     * @throws IllegalStateException if the alarm was cancelled, or its scheduler's clock has counted 36 years
     * @throws RejectedExecutionException if the scheduler is closed, or if the alarm is not armed and
     *     {@code maxPending} timers are
     */
    boolean reset(Duration time);

    /**
     * Returns the number of firings of a repeating alarm that no thread received. These were dropped because another
     * firing was kept or the alarm was late, or were discarded by a stop or a reset. Each firing was received, is kept,
     * or is counted here. Exception: a firing that is kept when the alarm is cancelled, or when its scheduler is
     * closed, is lost. The result is zero for an alarm that rings once: the results of {@code stop} and {@code reset}
     * show its discarded firing.
     *
     * @return a count that never decreases
     */
    long missed();

    /** As {@link #cancel()}: threads that wait get a {@link CancellationException}. */
    @Override
    default void close() {
        cancel();
    }
}
