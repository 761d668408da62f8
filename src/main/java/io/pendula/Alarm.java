package io.pendula;

import io.pendula.internal.scheduler.SharedScheduler;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;

/**
 * A timer that threads wait for, in the place of a callback: once, or again and again at a fixed rate.
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
 * <p>When an alarm is due it rings: it keeps one firing until a thread takes it by {@link #await()}. {@code stop} and
 * {@code reset} take a firing away that is kept, so no stale one is ever received. Of a repeating alarm, a firing that
 * falls due while one is kept is dropped, and counted in {@link #missed()}.
 *
 * <p>Only schedulers make alarms, no loops: a loop's thread that waits for its own timer would wait for ever. For the same
 * reason the alarms of a scheduler without workers must not be awaited by the threads of its loops.
 *
 * <p>All methods may be called by any thread at any time. What a thread did before it armed the alarm happens-before
 * {@code await} returns. Virtual threads that wait hold no carrier.
 *
 * @since 0.1
 */
public sealed interface Alarm extends TimerHandle, AutoCloseable permits OneShotAlarm, PeriodicAlarm {
    /**
     * An alarm of the {@linkplain TimerScheduler#shared() shared scheduler} that rings once.
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
     * An alarm of the {@linkplain TimerScheduler#shared() shared scheduler} that rings each {@code period}.
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
     * Waits for the next firing and takes it. Of several threads that wait, one gets it. Waits on if the alarm is stopped
     * meanwhile: it may be reset.
     *
     * @throws InterruptedException if the thread is interrupted before it got a firing
     * @throws CancellationException if the alarm was cancelled, or its scheduler was closed before a firing was kept
     */
    default void await() throws InterruptedException {
        await(ChronoUnit.FOREVER.getDuration());
    }

    /**
     * As {@link #await()}, for a limited time.
     *
     * @param timeout how long to wait at most; zero or negative: only look
     * @return true if a firing was taken, false if the time ran out before
     * @throws NullPointerException if {@code timeout} is null
     * @throws InterruptedException as {@link #await()} does
     * @throws CancellationException as {@link #await()} does
     */
    boolean await(Duration timeout) throws InterruptedException;

    /**
     * Prevents what is to come, and takes a firing away that is kept. The alarm can be armed anew by {@code reset}.
     *
     * @return true if a firing was to come; of an alarm that rings once, also if one was kept
     */
    boolean stop();

    /**
     * Arms the alarm anew, whether it is waiting, has rung or was stopped, and takes a firing away that is kept. A reset
     * that throws changes nothing.
     *
     * @param time how long to wait from now on; of a repeating alarm its new period, more than zero
     * @return what {@code stop} would have returned
     * @throws NullPointerException if {@code time} is null
     * @throws IllegalArgumentException if the alarm repeats and {@code time} is zero or negative
     * @throws IllegalStateException if the alarm was cancelled, or its scheduler's 36 years are over
     * @throws RejectedExecutionException if the scheduler is closed, or if the alarm was not armed and {@code maxPending}
     *     timers are
     */
    boolean reset(Duration time);

    /**
     * How many firings of a repeating alarm no thread could receive: dropped, as one was kept or the alarm was late; or
     * taken away by a stop or a reset. So each was received, is kept, or is counted here. One that is kept when the alarm
     * or its scheduler is closed is lost. Of an alarm that rings once, zero: the results of {@code stop} and {@code reset}
     * say it.
     *
     * @return a count that never falls
     */
    long missed();

    /** As {@link #cancel()}: threads that wait get a {@link CancellationException}. */
    @Override
    default void close() {
        cancel();
    }
}
