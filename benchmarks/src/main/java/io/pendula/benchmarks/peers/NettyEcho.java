package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.pendula.benchmarks.rivals.EchoServer;
import io.pendula.benchmarks.rivals.Rival;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An echo server on a Netty loop. */
class NettyEcho implements EchoServer {
    final EventLoopGroup loop;
    private final Channel listening;

    NettyEcho(EventLoopGroup loop, Class<? extends ServerChannel> channels) {
        this.loop = loop;
        this.listening = new ServerBootstrap().group(loop).channel(channels)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Echo());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0).syncUninterruptibly().channel();
    }

    @Override
    public int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public void schedule(long delayNanos, Rival.Task task) {
        loop.schedule(task, delayNanos, NANOSECONDS);
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }
}
