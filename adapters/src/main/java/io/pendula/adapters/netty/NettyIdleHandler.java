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
 * Closes a channel that has read nothing for some time. Replaces an {@code IdleStateHandler} whose events close the
 * channel. The time counts from the end of a read, when the handlers have received all its messages. Each message, and
 * the end of each read, postpones one timer, which is one compare-and-set.
 *
 * <p>If a {@link NettyLoop} is attached to the channel's event loop, the timer runs there. Otherwise it runs on a
 * worker of the scheduler, which passes it on to the event loop. If the timer cannot be armed, because the loop or the
 * scheduler is closed or full, the channel is closed.
 *
 * <p>A handler serves one channel. It may be added to a channel that is already active.
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
     * Creates a handler for one channel.
     *
     * @param timers the scheduler on which the timer is armed
     * @param timeout how long the channel may be silent, more than zero
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if {@code timeout} is zero or negative
     */
    public NettyIdleHandler(TimerScheduler timers, Duration timeout) {
        this.timers = Objects.requireNonNull(timers, "timers");
        this.timeout = Objects.requireNonNull(timeout, "timeout");
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("timeout must be positive, but is " + timeout);
        }
    }

    /**
     * Called on the event loop when the channel has been silent for the timeout. This implementation closes the
     * channel. A subclass may do something else; it is called again if the channel is silent for that long after its
     * next message. Exceptions go to {@code exceptionCaught} of the next handler, as with an {@code IdleStateHandler}.
     *
     * @param ctx the context of this handler
     */
    protected void channelIdle(ChannelHandlerContext ctx) {
        ctx.close();
    }

    /**
     * Starts the timer if the channel is already active.
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
     * Starts the timer.
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
     * Restarts the timer. The channel is not idle until {@link #channelReadComplete}.
     *
     * @param ctx the context of this handler
     * @param message the message, which is passed on; it is released if the channel is closed instead
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
     * Restarts the timer if there was a message, because handlers may have been busy with it for longer than the
     * timeout.
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
     * Cancels the timer.
     *
     * @param ctx the context of this handler
     */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end();
        ctx.fireChannelInactive();
    }

    /**
     * Cancels the timer.
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
