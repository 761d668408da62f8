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
 * A Netty {@link Timer} on a {@link TimerScheduler}, for clients that take a {@code HashedWheelTimer} by that interface.
 *
 * <pre>{@code
 * ClientResources resources = DefaultClientResources.builder().timer(new PendulaTimer()).build(); // Lettuce
 * config.setNettyTimer(new PendulaTimer());                                                       // AsyncHttpClient
 * }</pre>
 *
 * <p><b>Time.</b> There is no tick: a timeout runs when its delay has passed, never before. A delay of zero or less is
 * due at once, one beyond 18 years never ends.
 *
 * <p><b>Threads.</b> Tasks run on the scheduler's threads, several at a time if the scheduler has several workers, and
 * should be short. {@link TimerTask#cancelled} is called by the thread that cancels, where {@code HashedWheelTimer}
 * calls it on its own thread; Netty 4.1 has no such hook. What a task or that hook throws is logged by Netty's logging, as a warning.
 *
 * <p><b>Lifetime.</b> {@link #stop()} ends the timeouts of this timer. The scheduler goes on, so many timers may share
 * one. The maximum of pending timeouts is the scheduler's
 * {@link TimerScheduler.Builder#maxPending(long) maxPending}.
 *
 * <p>All methods may be called by any thread at any time. What a thread did before {@code newTimeout} happens-before
 * the task runs.
 *
 * @since 0.1
 */
public final class PendulaTimer implements Timer {
    private final Timeouts<PendulaTimeout> timeouts;
    /** Set while the current thread runs a task of this timer. */
    private final ThreadLocal<Boolean> inTask = new ThreadLocal<>();

    /** A timer on the {@linkplain TimerScheduler#shared() shared scheduler}, whose threads are daemons. */
    public PendulaTimer() {
        this(TimerScheduler.shared());
    }

    /**
     * A timer on a scheduler of the caller's choice.
     *
     * @param scheduler stays open when this timer is stopped; closing it drops the timeouts of this timer
     * @throws NullPointerException if {@code scheduler} is null
     */
    public PendulaTimer(TimerScheduler scheduler) {
        this.timeouts = new Timeouts<>(scheduler);
    }

    /**
     * Runs {@code task} once after {@code delay}.
     *
     * @param task what to run
     * @param delay how long to wait, in {@code unit}s
     * @param unit the unit of {@code delay}
     * @return the armed timeout
     * @throws NullPointerException if {@code task} or {@code unit} is null
     * @throws IllegalStateException if this timer is stopped, or its scheduler closed
     * @throws RejectedExecutionException if the scheduler has as many timers as its {@code maxPending} allows
     */
    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(unit, "unit");
        return timeouts.arm(new PendulaTimeout(this, task), delay, unit);
    }

    /**
     * Takes no more timeouts, cancels those that have not run, interrupts tasks in progress and waits for their end. As in
     * {@link HashedWheelTimer}, the hook {@link TimerTask#cancelled} is not called, tasks that go on are interrupted
     * again each 100 ms, and a calling thread that is interrupted waits on; its flag is set when this returns.
     *
     * @return the timeouts that this call has cancelled; empty if the timer was stopped before
     * @throws IllegalStateException if a task of this timer calls
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
     * The scheduler, for people.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "PendulaTimer[" + timeouts + "]";
    }
}
