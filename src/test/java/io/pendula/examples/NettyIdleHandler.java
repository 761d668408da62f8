package io.pendula.examples;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;

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
        idle = timers.after(timeout, ctx::close);
        ctx.fireChannelActive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        idle.reset(timeout);
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        idle.cancel();
        ctx.fireChannelInactive();
    }
}
