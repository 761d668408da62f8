package io.pendula.adapters.netty;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Runs timers of Pendula on the thread of a Netty event loop (Netty 4.1 or 4.2).
 *
 * <pre>{@code
 * TimerScheduler timers = TimerScheduler.builder().workers(0).build(); // starts no thread
 * for (EventExecutor eventLoop : group) {
 *     NettyLoop.attach(timers, (EventLoop) eventLoop).syncUninterruptibly();
 * }
 * }</pre>
 *
 * <p>A timer that a handler arms on an event loop, by any method of the scheduler except alarms, then belongs to that
 * event loop. Its callback runs there, so it may use the channel's state without a lock. Other threads arm timers of
 * the event loop through {@link #timers()}. Any thread may stop and reset them.
 *
 * <p><b>Cost.</b> Netty has one scheduled task for all timers of the event loop, for the earliest deadline. A reset to
 * a later time costs Netty nothing, nor does a timer that is not the earliest.
 *
 * <p><b>Lifetime.</b> When the event loop shuts down, or the scheduler was closed, the event loop closes this object.
 * Pending timers are then stopped. Afterwards, arming and resetting throw {@link RejectedExecutionException}.
 *
 * @since 0.1
 */
public final class NettyLoop implements AutoCloseable {
    /** Callbacks in one turn; the rest waits until Netty has looked at its sockets. */
    private static final int MAX_RUN = 256;
    private static final long YEAR_NANOS = TimeUnit.DAYS.toNanos(365);

    private final TimerScheduler scheduler;
    private final SingleThreadEventExecutor eventLoop;
    private final Runnable turn = this::turn;
    private final Runnable end = this::end;
    private final TimerLoop loop;
    // The rest is for the event loop's thread.
    private Future<?> next;
    private boolean ended;
    private long turns;

    private NettyLoop(TimerScheduler timers, SingleThreadEventExecutor eventLoop) {
        this.scheduler = timers;
        this.eventLoop = eventLoop;
        this.loop = timers.attach(() -> eventLoop.execute(turn));
        eventLoop.addShutdownHook(end);
        turn();
    }

    /**
     * Makes an event loop run timers of a scheduler. Any thread may call this method.
     *
     * @param timers the scheduler; it needs no threads of its own
     * @param eventLoop an event loop with its own thread, like those of all groups for sockets
     * @return a future of the new object: complete already if called on the event loop, otherwise completed by its
     *     thread
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code eventLoop} is not a {@link SingleThreadEventExecutor}
     * @throws IllegalStateException if the scheduler is closed or was built with an executor, or if the event loop
     *     already runs its timers. If called by a thread other than the event loop's, the future fails with this
     *     exception instead
     * @throws RejectedExecutionException if the event loop is closed; instead, the future may fail with this exception
     */
    public static Future<NettyLoop> attach(TimerScheduler timers, EventLoop eventLoop) {
        Objects.requireNonNull(timers, "timers");
        Objects.requireNonNull(eventLoop, "eventLoop");
        if (!(eventLoop instanceof SingleThreadEventExecutor executor)) {
            throw new IllegalArgumentException("eventLoop must be a SingleThreadEventExecutor, but is a "
                    + eventLoop.getClass().getName());
        }
        return executor.inEventLoop() ? executor.newSucceededFuture(new NettyLoop(timers, executor))
                : executor.submit(() -> new NettyLoop(timers, executor));
    }

    /**
     * Returns the loop through which any thread arms timers that run on the event loop.
     *
     * @return the loop; to close it, call {@link #close()} of this object
     */
    public TimerLoop timers() {
        return loop;
    }

    /** How many there were so far. */
    long turns() {
        return turns;
    }

    /** Runs what is due. The task for the next deadline calls this, and the loop's wakeup when an earlier timer is armed. */
    private void turn() {
        turns++;
        // Netty goes on as long as there are tasks, so they must come to an end; a closed scheduler is to be let go.
        if (eventLoop.isShuttingDown() || scheduler.isClosed()) {
            end();
        }
        if (!ended) {
            try {
                loop.runDue(MAX_RUN);
            } finally {
                plan();
            }
        }
    }

    /**
     * Leaves one task of Netty, for the next deadline. If there is none the task has nothing to do but to be there: as
     * long as there is a task, Netty 4.2 does not end the event loop's thread to go on later with another.
     */
    private void plan() {
        if (next != null) {
            next.cancel(false);
            next = null;
        }
        if (!ended) { // by a callback
            long nanos = Math.min(loop.nanosUntilNext(), YEAR_NANOS);
            // Not execute, even if a timer is due by now: scheduled tasks let the sockets have their turn.
            next = eventLoop.schedule(turn, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /**
     * Stops the timers. Afterwards, another object can be attached to the event loop. Any thread may call this method.
     * On the event loop, all is done when the method returns; otherwise soon afterwards. If a callback of this loop
     * calls it, another object can be attached when that callback has returned. Further calls do nothing.
     */
    @Override
    public void close() {
        if (eventLoop.inEventLoop()) {
            end();
        } else {
            try {
                eventLoop.execute(end);
            } catch (RejectedExecutionException e) {
                // The event loop has shut down, hence closed this one.
                return;
            }
        }
    }

    private void end() {
        if (!ended) {
            ended = true;
            loop.close();
            eventLoop.removeShutdownHook(end);
            plan();
        }
    }

    /**
     * Returns the event loop and its timers, for humans.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "NettyLoop[" + loop + "]";
    }
}
