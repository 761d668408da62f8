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
 * Timers of Pendula that run on the thread of a Netty event loop, of Netty 4.1 or 4.2.
 *
 * <pre>{@code
 * TimerScheduler timers = TimerScheduler.builder().workers(0).build(); // starts no thread
 * for (EventExecutor eventLoop : group) {
 *     NettyLoop.attach(timers, (EventLoop) eventLoop).syncUninterruptibly();
 * }
 * }</pre>
 *
 * <p>Then each timer that a handler arms on an event loop, by any method of the scheduler, belongs to that event loop: its
 * callback runs there, so it may use the channel's state without a lock. Other threads arm such a timer through
 * {@link #timers()}. Any thread may stop and reset it.
 *
 * <p><b>Cost.</b> Netty holds one scheduled task for all timers of the event loop, for the earliest deadline. A reset to
 * a later time, and a timer that is not the earliest, cost Netty nothing.
 *
 * <p><b>Lifetime.</b> The event loop closes this when it shuts down, or when the scheduler was closed. The timers that
 * are pending then are stopped. Arming and resetting throw {@link RejectedExecutionException} afterwards.
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
     * Makes an event loop run timers of a scheduler. Any thread may call this.
     *
     * @param timers the scheduler; it needs no threads of its own
     * @param eventLoop an event loop with a thread, as those of all groups for sockets are
     * @return completed at once if the event loop's thread calls, else by that thread
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code eventLoop} is not a {@link SingleThreadEventExecutor}
     * @throws IllegalStateException if the scheduler is closed or was built with an executor, or the event loop runs
     *         its timers already; if another thread than the event loop's calls, the future has that exception
     * @throws RejectedExecutionException if the event loop is closed; the future may have that exception, too
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
     * Returns the loop, through which any thread arms timers that run on the event loop.
     *
     * @return the loop; to be closed by {@link #close()}, not by itself
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
     * Stops the timers, and lets another be attached. Any thread may call this; on the event loop it is done when the
     * call returns, else soon. If a callback of this loop calls it, another can be attached when that has returned.
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
     * The event loop and its timers, for people.
     *
     * @return a text without a fixed form
     */
    @Override
    public String toString() {
        return "NettyLoop[" + loop + "]";
    }
}
