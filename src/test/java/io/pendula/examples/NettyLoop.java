package io.pendula.examples;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Runs timers on a Netty event loop. For the event loop's thread to wait means to have one Netty task scheduled for the
 * next deadline; whoever arms an earlier timer, or the task itself, makes a turn, which schedules the next one. So
 * resets, and all timers but the earliest, cost Netty nothing.
 *
 * <p>The loop is confined, as Netty's own tasks are, and closed on its thread when the event loop shuts down: then its
 * timers are stopped. Handlers of the event loop may use any method of the scheduler, others the {@link #timers()}.
 */
public final class NettyLoop implements AutoCloseable {
    /** Callbacks in one turn; the rest waits until Netty has looked at its sockets. */
    private static final int MAX_RUN = 256;

    private final SingleThreadEventExecutor eventLoop;
    private final Runnable turn = this::turn;
    private final Runnable end = this::end;
    private final TimerLoop loop;
    private Future<?> next;
    private boolean ended;
    /** How many there were so far. For the event loop's thread. */
    private long turns;

    private NettyLoop(TimerScheduler timers, SingleThreadEventExecutor eventLoop) {
        this.eventLoop = eventLoop;
        this.loop = timers.attach(() -> eventLoop.execute(turn));
        eventLoop.addShutdownHook(end);
        turn();
    }

    /** Any thread may call this; the result is there at once if the event loop's own does. */
    static Future<NettyLoop> attach(TimerScheduler timers, EventLoop eventLoop) {
        SingleThreadEventExecutor executor = (SingleThreadEventExecutor) eventLoop;
        return executor.inEventLoop() ? executor.newSucceededFuture(new NettyLoop(timers, executor))
                : executor.submit(() -> new NettyLoop(timers, executor));
    }

    TimerLoop timers() {
        return loop;
    }

    long turns() {
        return turns;
    }

    private void turn() {
        turns++;
        if (eventLoop.isShuttingDown()) {
            end(); // Netty goes on as long as there are tasks, so they must come to an end
        }
        if (!ended) {
            try {
                loop.runDue(MAX_RUN);
            } finally {
                plan();
            }
        }
    }

    private void plan() {
        if (next != null) {
            next.cancel(false);
            next = null;
        }
        if (!ended) { // by a callback
            long nanos = loop.nanosUntilNext();
            if (nanos < Long.MAX_VALUE) {
                // Not execute, even if something is due by now: scheduled tasks let the sockets have their turn.
                next = eventLoop.schedule(turn, nanos, TimeUnit.NANOSECONDS);
            }
        }
    }

    /** Stops the timers. Any thread may call this; on the event loop it is done at once, else soon. */
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
}
