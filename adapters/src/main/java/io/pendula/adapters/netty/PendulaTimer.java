package io.pendula.adapters.netty;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.pendula.TimerScheduler;
import io.pendula.adapters.internal.Timeouts;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A Netty {@link Timer} on a {@link TimerScheduler}, for clients that accept that interface instead of the class
 * {@code HashedWheelTimer}.
 *
 * <pre>{@code
 * ClientResources resources = DefaultClientResources.builder().timer(new PendulaTimer()).build(); // Lettuce
 * config.setNettyTimer(new PendulaTimer());                                                       // AsyncHttpClient
 * }</pre>
 *
 * <p><b>Time.</b> There is no tick: a timeout runs when its delay has passed, never before. With a delay of zero or
 * less, it is due at once; with more than 18 years, it never runs.
 *
 * <p><b>Threads.</b> Tasks run on the scheduler's threads, several at a time if the scheduler has several workers. They
 * should be short. {@link TimerTask#cancelled} is called by the thread that cancels; {@code HashedWheelTimer} calls it
 * on its own thread, and Netty 4.1 does not have it. Exceptions of a task or of that method are logged as warnings by
 * Netty's logging.
 *
 * <p><b>Lifetime.</b> {@link #stop()} ends the timeouts of this timer. The scheduler stays open, so several timers may
 * share it. The maximum number of pending timeouts is the scheduler's
 * {@link TimerScheduler.Builder#maxPending(long) maxPending}.
 *
 * <p>All methods may be called by any thread at any time. Actions in a thread before {@code newTimeout} happen-before
 * the task runs.
 *
 * @since 0.1
 */
public final class PendulaTimer implements Timer {
    private final Timeouts<PendulaTimeout> timeouts;
    /** Set while the current thread runs a task of this timer. */
    private final ThreadLocal<Boolean> inTask = new ThreadLocal<>();

    /** Creates a timer on the {@linkplain TimerScheduler#shared() shared scheduler}, whose threads are daemons. */
    public PendulaTimer() {
        this(TimerScheduler.shared());
    }

    /**
     * Creates a timer on the given scheduler.
     *
     * @param scheduler the scheduler, which stays open when this timer is stopped; closing it drops the timeouts of
     *     this timer
     * @throws NullPointerException if {@code scheduler} is null
     */
    public PendulaTimer(TimerScheduler scheduler) {
        this.timeouts = new Timeouts<>(scheduler);
    }

    /**
     * Runs {@code task} once after {@code delay}.
     *
     * @param task the task to run
     * @param delay how long to wait, in {@code unit}s; zero or negative: due at once; beyond 18 years: never
     * @param unit the unit of {@code delay}
     * @return the armed timeout
     * @throws NullPointerException if {@code task} or {@code unit} is null
     * @throws IllegalStateException if this timer is stopped, or its scheduler is closed
     * @throws RejectedExecutionException if {@code maxPending} timers of the scheduler are armed, or memory is short
     */
    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(unit, "unit");
        return timeouts.arm(new PendulaTimeout(this, task), delay, unit);
    }

    /**
     * Rejects new timeouts, cancels those that have not run, interrupts tasks in progress, and waits for their end. As
     * in {@link HashedWheelTimer}, {@link TimerTask#cancelled} is not called, and tasks that continue are interrupted
     * again every 100 ms. If the calling thread is interrupted, it continues to wait; its interrupt flag is set when
     * this method returns.
     *
     * @return the timeouts that this call has cancelled; empty if the timer was stopped before
     * @throws IllegalStateException if called by a task of this timer
     */
    @Override
    public Set<Timeout> stop() {
        if (inTask.get() != null) {
            throw new IllegalStateException("a task of the timer on " + timeouts + " must not stop that timer");
        }
        Set<Timeout> cancelled = new HashSet<>(timeouts.stop());
        timeouts.awaitEnd();
        return cancelled;
    }

    void run(PendulaTimeout timeout) throws Exception {
        inTask.set(Boolean.TRUE);
        try {
            timeout.task().run(timeout);
        } finally {
            inTask.remove();
        }
    }

    /**
     * Returns the scheduler, for humans.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "PendulaTimer[" + timeouts + "]";
    }
}
