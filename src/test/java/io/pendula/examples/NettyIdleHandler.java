package io.pendula.examples;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

/**
 * Closes a channel that has read nothing for some time, as an {@code IdleStateHandler} can. Each message moves a timer
 * of Pendula back; it lives on the channel's event loop if a {@link NettyLoop} is attached to that. To be added before
 * the channel is active, as initializers do.
 */
final class NettyIdleHandler extends ChannelInboundHandlerAdapter {
    private final TimerScheduler timers;
    private final Duration timeout;
    private Timer idle;

    NettyIdleHandler(TimerScheduler timers, Duration timeout) {
        this.timers = timers;
        this.timeout = timeout;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        try {
            idle = timers.after(timeout, ctx::close);
        } catch (RejectedExecutionException e) {
            ctx.close(); // the loop is closed, as the event loop shuts down
            return;
        }
        ctx.fireChannelActive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            idle.reset(timeout);
        } catch (RejectedExecutionException e) {
            ReferenceCountUtil.release(message);
            ctx.close();
            return;
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (idle != null) {
            idle.cancel();
        }
        ctx.fireChannelInactive();
    }
}
