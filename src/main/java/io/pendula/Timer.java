package io.pendula;

import io.pendula.internal.scheduler.SharedScheduler;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A timer that fires once for each time it is armed. It is armed when it is made, unless by
 * {@link Timers#timer}, and again by each {@code reset}.
 *
 * <pre>{@code
 * Timer timeout = Timer.after(Duration.ofSeconds(5), connection::close);
 * ...
 * timeout.reset(Duration.ofSeconds(5));   // heard from the peer: five more seconds
 * ...
 * if (timeout.stop()) { ... }             // true: this call prevented the firing
 * }</pre>
 *
 * <p><b>Firing.</b> Never before its delay has passed on the scheduler's clock, never inside the call that armed it,
 * and for each arming exactly one of these happens: it fires, or one call of {@code stop}, {@code cancel} or
 * {@code reset} that returned true prevented it, or its scheduler or loop was closed before. The callback runs on a worker
 * thread of the scheduler (or on its executor, if it was built with one). It may do anything with any timer, its own
 * included. It should be short: others wait behind it until another worker takes over. What it throws goes to the
 * {@link TimerListener}. A timer never runs twice at the same time: one that is armed again while its callback runs
 * fires again when that callback has returned, at the earliest.
 *
 * <p><b>Equal deadlines</b> of one worker are taken in the order of arming; of two that run on two threads either may
 * begin first. A timer that was put off by {@code reset} takes its place in that order when its earlier deadline passes,
 * not when {@code reset} is called (with a {@link ManualClock}, when it is called).
 *
 * <p><b>Threads and memory.</b> All methods may be called by any thread at any time. None but {@code cancelAndAwait}
 * blocks, with the exceptions for {@code reset} that {@link TimerScheduler} names. What a thread did before it armed a
 * timer happens-before the run; the run happens-before {@code cancelAndAwait} returns. A timer that was stopped keeps its
 * task, for a later reset; if the program does not refer to it any more, both are let go within a minute, in a
 * {@link TimerLoop} while that is polled, with a {@link ManualClock} once its deadline has passed. One that was
 * cancelled drops its task at once.
 *
 * <p>Threads that wait for a time, in the place of a callback, have an {@link Alarm}.
 *
 * @since 0.1
 */
public sealed interface Timer extends TimerHandle permits OneShotTimer {
    /**
     * Runs {@code task} once after {@code delay} on the {@linkplain TimerScheduler#shared() shared scheduler}.
     *
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never fires
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Timer after(Duration delay, Runnable task) {
        return OneShotTimer.arm(SharedScheduler.engine(), Check.nanos(delay, "delay"), task);
    }

    /**
     * As {@link #after(Duration, Runnable)}, without a {@code Duration} to allocate.
     *
     * @param delay how long to wait, in {@code unit}s; zero or negative: due at once; beyond 18 years: never fires
     * @param unit the unit of {@code delay}
     * @param task what to run
     * @return the armed timer
     * @throws NullPointerException if {@code unit} or {@code task} is null
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Timer after(long delay, TimeUnit unit, Runnable task) {
        return OneShotTimer.arm(SharedScheduler.engine(), Check.delay(delay, unit), task);
    }

    /**
     * Prevents the firing that is to come, if there is one. The timer can be armed anew by {@code reset}.
     *
     * @return true if this call prevented a firing; false if the timer has fired or is being fired, or was stopped
     *     before
     */
    boolean stop();

    /**
     * Stops the timer for good and drops its task at once, so that nothing the task refers to is kept alive by this
     * timer. A run in progress ends normally.
     *
     * @return true if this call prevented a firing
     */
    @Override
    boolean cancel();

    /**
     * Arms the timer anew, whether it is waiting, has fired or was stopped. Putting off a timer that waits, the usual
     * case of a timeout, is one compare-and-set of its deadline, and allocates nothing. A reset to an earlier time, or
     * of a timer that does not wait, costs about as much as arming a new one, less the object. While the own callback
     * runs, the new arming takes effect when it has returned. A reset that throws changes nothing; one that has returned
     * counts: that arming fires, is prevented, or is collected when its scheduler or loop is closed.
     *
     * @param delay how long to wait from now on; zero or negative: due at once; beyond 18 years: never fires
     * @return true if that replaced a firing that was to come; false if the timer had fired, is being fired, or was
     *     stopped
     * @throws NullPointerException if {@code delay} is null
     * @throws IllegalStateException if the timer was cancelled, or its scheduler's 36 years are over
     * @throws RejectedExecutionException if the scheduler or loop is closed, or if the timer was not armed and
     *     {@code maxPending} others are
     */
    boolean reset(Duration delay);

    /**
     * As {@link #reset(Duration)}, without a {@code Duration} to allocate.
     *
     * @param delay how long to wait from now on, in {@code unit}s; zero or negative: due at once; beyond 18 years:
     *     never fires
     * @param unit the unit of {@code delay}
     * @return as that
     * @throws NullPointerException if {@code unit} is null
     * @throws IllegalStateException as that
     * @throws RejectedExecutionException as {@link #reset(Duration)} does
     */
    boolean reset(long delay, TimeUnit unit);

    /**
     * Whether a firing is to come that {@code stop} would prevent. Only a snapshot if other threads use the timer.
     *
     * @return true if the timer is armed
     */
    @Override
    boolean isPending();
}
