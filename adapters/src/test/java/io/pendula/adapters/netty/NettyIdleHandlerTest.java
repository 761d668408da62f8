package io.pendula.adapters.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An idle handler in steps of a manual clock; {@link NettyLoopTest} has it over sockets. */
@Timeout(60)
class NettyIdleHandlerTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration ALMOST = Duration.ofSeconds(29);

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();

    private static final class Throwing extends NettyIdleHandler {
        Throwing(TimerScheduler timers, Duration limit) {
            super(timers, limit);
        }

        @Override
        protected void channelIdle(ChannelHandlerContext ctx) {
            throw new IllegalStateException("meant");
        }
    }

    /** Keeps what it is told, and closes the channel. */
    private static final class Catching extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<String> caught = new CompletableFuture<>();

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            caught.complete(cause.getMessage());
            ctx.close();
        }
    }

    /** Counts instead of closing. */
    private static final class Counting extends NettyIdleHandler {
        private final AtomicInteger idle = new AtomicInteger();

        Counting(TimerScheduler timers) {
            super(timers, LIMIT);
        }

        @Override
        protected void channelIdle(ChannelHandlerContext ctx) {
            idle.incrementAndGet();
        }
    }

    @Test
    void channel_messages_postponeItsEnd() {
        EmbeddedChannel channel = new EmbeddedChannel(new NettyIdleHandler(timers, LIMIT));
        clock.advance(ALMOST);
        assertTrue(channel.writeInbound("a message"));
        assertEquals("a message", channel.readInbound());
        clock.advance(ALMOST);
        assertTrue(channel.isActive());
        clock.advance(Duration.ofSeconds(1));
        assertFalse(channel.isActive());
        assertEquals(0, timers.pending());
    }

    @Test
    void channel_handlerBusyWithAMessageForLong_isMeasuredFromTheEndOfTheRead() {
        EmbeddedChannel channel = new EmbeddedChannel(new NettyIdleHandler(timers, LIMIT),
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        clock.advance(LIMIT);
                    }
                });
        channel.writeInbound("a message");
        assertTrue(channel.isActive());
        clock.advance(ALMOST);
        channel.flushInbound(); // the end of a read without a message
        assertTrue(channel.isActive());
        clock.advance(Duration.ofSeconds(1));
        assertFalse(channel.isActive());
    }

    @Test
    void channelReadComplete_isPassedOn_alsoIfTheTimerCannotBeReset() {
        AtomicInteger ends = new AtomicInteger();
        EmbeddedChannel channel = new EmbeddedChannel(new NettyIdleHandler(timers, LIMIT),
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        if (message.equals("the last")) {
                            timers.close();
                        }
                    }

                    @Override
                    public void channelReadComplete(ChannelHandlerContext ctx) {
                        ends.incrementAndGet();
                    }
                });
        channel.writeInbound("a message");
        assertEquals(1, ends.get());
        assertTrue(channel.isActive());
        channel.writeInbound("the last");
        assertEquals(2, ends.get());
        assertFalse(channel.isActive());
    }

    @Test
    void channel_thatIsActiveAlready_isMeasuredFromThen() {
        EmbeddedChannel channel = new EmbeddedChannel();
        clock.advance(ALMOST);
        channel.pipeline().addLast(new NettyIdleHandler(timers, LIMIT));
        clock.advance(ALMOST);
        assertTrue(channel.isActive());
        clock.advance(Duration.ofSeconds(1));
        assertFalse(channel.isActive());
    }

    @Test
    void handler_removed_leavesTheChannelAndNoTimer() {
        NettyIdleHandler handler = new NettyIdleHandler(timers, LIMIT);
        EmbeddedChannel channel = new EmbeddedChannel(handler);
        assertEquals(1, timers.pending());
        channel.pipeline().remove(handler);
        assertEquals(0, timers.pending());
        clock.advance(LIMIT);
        assertTrue(channel.isActive());
        channel.close();
    }

    @Test
    void channel_closed_leavesNoTimer() {
        EmbeddedChannel channel = new EmbeddedChannel(new NettyIdleHandler(timers, LIMIT));
        channel.close();
        assertEquals(0, timers.pending());
    }

    @Test
    void channelIdle_overridden_isCalledOnceForEachSilence() {
        Counting handler = new Counting(timers);
        EmbeddedChannel channel = new EmbeddedChannel(handler);
        clock.advance(LIMIT);
        clock.advance(LIMIT);
        assertEquals(1, handler.idle.get());
        channel.writeInbound("a message");
        clock.advance(ALMOST);
        assertEquals(1, handler.idle.get());
        clock.advance(Duration.ofSeconds(1));
        assertEquals(2, handler.idle.get());
        assertTrue(channel.isActive());
        channel.close();
    }

    @Test
    void channelIdle_throws_reachesExceptionCaughtOfTheNextHandler() {
        Catching next = new Catching();
        EmbeddedChannel channel = new EmbeddedChannel(new Throwing(timers, LIMIT), next);
        clock.advance(LIMIT);
        assertEquals("meant", next.caught.getNow("not called"));
        assertFalse(channel.isActive());
        assertEquals(0, timers.stats().callbacksThrew());
    }

    @Test
    void channelIdle_timerOfAWorkerThrows_reachesExceptionCaughtOfTheNextHandler() throws Exception {
        Catching next = new Catching();
        try (TimerScheduler workers = TimerScheduler.builder().workers(1).build()) {
            serveOne(channel -> channel.pipeline().addLast(new Throwing(workers, Duration.ofMillis(20)), next));
        }
        assertEquals("meant", next.caught.getNow("not called"));
    }

    @Test
    void scheduler_closed_closesChannelsAndReleasesMessages() {
        EmbeddedChannel before = new EmbeddedChannel(new NettyIdleHandler(timers, LIMIT));
        timers.close();
        ByteBuf message = Unpooled.buffer(1);
        assertFalse(before.writeInbound(message));
        assertEquals(0, message.refCnt());
        assertFalse(before.isActive());
        assertFalse(new EmbeddedChannel(new NettyIdleHandler(timers, LIMIT)).isActive());
    }

    @Test
    void timeout_notPositive_isRefused() {
        assertEquals("timeout must be positive, but is PT-0.005S", assertThrows(IllegalArgumentException.class,
                () -> new NettyIdleHandler(timers, Duration.ofMillis(-5))).getMessage());
        assertThrows(IllegalArgumentException.class, () -> new NettyIdleHandler(timers, Duration.ZERO));
        assertThrows(IllegalArgumentException.class,
                () -> new NettyIdleHandler(timers, Duration.ofSeconds(Long.MIN_VALUE)));
        assertThrows(NullPointerException.class, () -> new NettyIdleHandler(timers, null));
        assertThrows(NullPointerException.class, () -> new NettyIdleHandler(null, LIMIT));
    }

    @Test
    void channelIdle_timerOfAWorker_isCalledOnTheEventLoop() throws Exception {
        CompletableFuture<Boolean> onTheEventLoop = new CompletableFuture<>();
        try (TimerScheduler workers = TimerScheduler.builder().workers(1).build()) {
            serveOne(channel -> channel.pipeline().addLast(new NettyIdleHandler(workers, Duration.ofMillis(20)) {
                @Override
                protected void channelIdle(ChannelHandlerContext ctx) {
                    onTheEventLoop.complete(ctx.executor().inEventLoop());
                    super.channelIdle(ctx);
                }
            }));
        }
        assertTrue(onTheEventLoop.get(Patience.SECONDS, TimeUnit.SECONDS));
    }

    /** Accepts one connection, whose client sends nothing, until the server has closed it. */
    private static void serveOne(Consumer<Channel> initializer) throws Exception {
        EventLoopGroup group = EventLoops.group(1);
        try {
            Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            initializer.accept(channel);
                        }
                    }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
            InetSocketAddress address = (InetSocketAddress) server.localAddress();
            try (Socket client = new Socket(address.getAddress(), address.getPort())) {
                client.setSoTimeout((int) TimeUnit.SECONDS.toMillis(Patience.SECONDS));
                assertEquals(-1, client.getInputStream().read());
            }
        } finally {
            group.shutdownGracefully(0, 20, TimeUnit.SECONDS).awaitUninterruptibly(30, TimeUnit.SECONDS);
        }
    }
}
