package io.pendula.adapters.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.pendula.Timer;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;

/**
 * Closes a channel that has read nothing for some time, as an {@code IdleStateHandler} and a handler of its events do.
 * The time counts from the end of a read, when the handlers have had all its messages. Each message resets one timer to a
 * later time, which is one compare-and-set, and so does that end.
 *
 * <p>The timer runs on the channel's event loop if a {@link NettyLoop} is attached to that, else on a worker of the
 * scheduler, which passes it on to the event loop. If the timer cannot be armed, as the loop or the scheduler is closed
 * or full, the channel is closed.
 *
 * <p>A handler serves one channel. It may be added to a channel that is active already.
 *
 * @since 0.1
 */
public class NettyIdleHandler extends ChannelInboundHandlerAdapter {
    private final TimerScheduler timers;
    private final Duration timeout;
    /** Null while the channel is not active. For the event loop's thread. */
    private Timer idle;
    /** Handlers have a message, and the read has not ended. For the event loop's thread. */
    private boolean reading;

    /**
     * A handler for one channel.
     *
     * @param timers where the timer is armed
     * @param timeout how long the channel may be silent
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code timeout} is not positive
     */
    public NettyIdleHandler(TimerScheduler timers, Duration timeout) {
        this.timers = Objects.requireNonNull(timers, "timers");
        this.timeout = Objects.requireNonNull(timeout, "timeout");
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("timeout must be positive, but is " + timeout);
        }
    }

    /**
     * Called on the event loop when the channel has been silent for the timeout. Closes the channel; a subclass may do
     * something else, and is called again if the channel is silent for that long after its next message. What it throws
     * goes to {@code exceptionCaught} of the next handler, as with an {@code IdleStateHandler}.
     *
     * @param ctx the context of this handler
     */
    protected void channelIdle(ChannelHandlerContext ctx) {
        ctx.close();
    }

    /**
     * Begins to measure, if the channel is active already.
     *
     * @param ctx the context of this handler
     */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            begin(ctx);
        }
    }

    /**
     * Begins to measure.
     *
     * @param ctx the context of this handler
     */
    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (idle != null || begin(ctx)) {
            ctx.fireChannelActive();
        }
    }

    /**
     * Begins anew; the channel is not idle until {@link #channelReadComplete}.
     *
     * @param ctx the context of this handler
     * @param message is passed on; released if the channel is closed instead
     */
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (idle != null) {
                idle.reset(timeout);
                reading = true;
            }
        } catch (RejectedExecutionException e) {
            ReferenceCountUtil.release(message);
            ctx.close();
            return;
        }
        ctx.fireChannelRead(message);
    }

    /**
     * Begins anew, if there was a message: the handlers may have been busy with it for longer than the timeout.
     *
     * @param ctx the context of this handler
     */
    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (reading) {
            reading = false;
            try {
                idle.reset(timeout);
            } catch (RejectedExecutionException e) {
                ctx.close();
            }
        }
        ctx.fireChannelReadComplete();
    }

    /**
     * Ends the measuring.
     *
     * @param ctx the context of this handler
     */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end();
        ctx.fireChannelInactive();
    }

    /**
     * Ends the measuring.
     *
     * @param ctx the context of this handler
     */
    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        end();
    }

    private boolean begin(ChannelHandlerContext ctx) {
        try {
            idle = timers.after(timeout, () -> expire(ctx));
            return true;
        } catch (RejectedExecutionException e) {
            ctx.close();
            return false;
        }
    }

    private void end() {
        reading = false;
        if (idle != null) {
            idle.cancel();
            idle = null;
        }
    }

    private void expire(ChannelHandlerContext ctx) {
        if (ctx.executor().inEventLoop()) {
            if (!reading) {
                callIdle(ctx);
            }
        } else {
            passOn(ctx);
        }
    }

    private void passOn(ChannelHandlerContext ctx) {
        try {
            ctx.executor().execute(() -> {
                // else a message came first, or the channel has ended
                if (idle != null && !idle.isPending() && !reading) {
                    callIdle(ctx);
                }
            });
        } catch (RejectedExecutionException e) {
            // The event loop has shut down, and its channels are closed.
            return;
        }
    }

    private void callIdle(ChannelHandlerContext ctx) {
        try {
            channelIdle(ctx);
        } catch (Throwable e) {
            ctx.fireExceptionCaught(e);
        }
    }
}
