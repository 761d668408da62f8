package io.pendula;

import io.pendula.internal.scheduler.SharedScheduler;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A timer that fires once each time it is armed. It is armed when it is created (except by {@link Timers#timer}), and again
 * by each {@code reset}.
 *
 * <pre>{@code
 * Timer timeout = Timer.after(Duration.ofSeconds(5), connection::close);
 * ...
 * timeout.reset(Duration.ofSeconds(5));   // heard from the peer: five more seconds
 * ...
 * if (timeout.stop()) { ... }             // true: this call prevented the firing
 * }</pre>
 *
 * <p><b>Firing.</b> A timer never fires before its delay has passed on the scheduler's clock, and never inside the call
 * that armed it. Each time it is armed, exactly one of these happens: it fires; one call of {@code stop},
 * {@code cancel} or {@code reset} returns true; or its scheduler or loop is closed first. The callback runs on a worker
 * thread of the scheduler (or on its executor, if it was built with one). It may call any method of any timer,
 * including its own. It should be short: other timers wait behind it until another worker takes over. If it throws, the
 * exception goes to the {@link TimerListener}. A timer never overlaps itself: if it is armed again while its callback
 * runs, it fires again when that callback has returned, at the earliest.
 *
 * <p><b>Equal deadlines.</b> A worker claims timers with equal deadlines in the order in which they were armed. If two
 * of them run on two threads, either may begin first. A postponed timer does not take its place in that order when
 * {@code reset} is called, but later, at the latest when its old deadline passes. With a {@link ManualClock}, it takes
 * its place when {@code reset} is called.
 *
 * <p><b>Threads and memory.</b> All methods may be called by any thread at any time. Only {@code cancelAndAwait} blocks,
 * apart from the exceptions that {@link TimerScheduler} names. Actions in a thread before it arms a timer happen-before the
 * run; the run happens-before {@code cancelAndAwait} returns. A stopped timer keeps its task, for a later reset. If the
 * program no longer references the timer, both can be garbage-collected within a minute. In a {@link TimerLoop} this holds
 * while the loop is polled; with a {@link ManualClock}, once the deadline has passed. A cancelled timer drops its task at
 * once.
 *
 * <p>To make a thread wait instead of running a callback, use an {@link Alarm}.
 *
 * @since 0.1
 */
public sealed interface Timer extends TimerHandle permits OneShotTimer {
    /**
     * Runs {@code task} once after {@code delay} on the {@linkplain TimerScheduler#shared() shared scheduler}.
     *
     * @param delay how long to wait; zero or negative: due at once; beyond 18 years: never fires
     * @param task the task to run
     * @return the armed timer
     * @throws NullPointerException if an argument is null
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Timer after(Duration delay, Runnable task) {
        return OneShotTimer.arm(SharedScheduler.engine(), Check.nanos(delay, "delay"), task);
    }

    /**
     * Like {@link #after(Duration, Runnable)}, but allocates no {@code Duration}.
     *
     * @param delay how long to wait, in {@code unit}s; zero or negative: due at once; beyond 18 years: never fires
     * @param unit the unit of {@code delay}
     * @param task the task to run
     * @return the armed timer
     * @throws NullPointerException if {@code unit} or {@code task} is null
     * @throws RejectedExecutionException as {@link TimerScheduler#after(Duration, Runnable)} does
     */
    static Timer after(long delay, TimeUnit unit, Runnable task) {
        return OneShotTimer.arm(SharedScheduler.engine(), Check.delay(delay, unit), task);
    }

    /**
     * Prevents the next firing, if there is one. The timer can be armed again by {@code reset}.
     *
     * @return true if this call prevented a firing; false if the timer has fired, is firing, or was not armed
     */
    boolean stop();

    /**
     * Stops the timer permanently and drops its task at once, so that the timer keeps no object of the task alive. A
     * run in progress ends normally.
     *
     * @return true if this call prevented a firing
     */
    @Override
    boolean cancel();

    /**
     * Arms the timer again, whether it is waiting, has fired or was stopped. Postponing a waiting timer, the usual case
     * for a timeout, is one compare-and-set of its deadline, and allocates nothing. Resetting it to an earlier time, or
     * resetting a timer that is not waiting, costs about as much as arming a new timer, minus the allocation. If the
     * timer's own callback is running, the new arming takes effect when the callback has returned. If {@code reset}
     * throws one of the exceptions below, nothing has changed. If it returns, the timer is armed.
     *
     * @param delay how long to wait from now on; zero or negative: due at once; beyond 18 years: never fires
     * @return true if this call replaced a firing; false if the timer has fired, is firing, or was not armed
     * @throws NullPointerException if {@code delay} is null
     * @throws IllegalStateException if the timer was cancelled, or its scheduler's clock has counted 36 years
     * @throws RejectedExecutionException if the scheduler, loop or group is closed, or if the timer is not armed and
     *     {@code maxPending} other timers are
     */
    boolean reset(Duration delay);

    /**
     * Like {@link #reset(Duration)}, but allocates no {@code Duration}.
     *
     * @param delay how long to wait from now on, in {@code unit}s; zero or negative: due at once; beyond 18 years:
     *     never fires
     * @param unit the unit of {@code delay}
     * @return the same result as {@link #reset(Duration)}
     * @throws NullPointerException if {@code unit} is null
     * @throws IllegalStateException as {@link #reset(Duration)} does
     * @throws RejectedExecutionException as {@link #reset(Duration)} does
     */
    boolean reset(long delay, TimeUnit unit);

    /**
     * Returns true if the timer has a pending firing, which {@code stop} would prevent. The result is a snapshot if
     * other threads use the timer.
     *
     * @return true if the timer is armed
     */
    @Override
    boolean isPending();
}
