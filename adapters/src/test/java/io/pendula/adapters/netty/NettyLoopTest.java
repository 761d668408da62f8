package io.pendula.adapters.netty;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.pendula.Timer;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Timers on Netty's event loops: on their thread, in time, and gone when they are. */
@Timeout(60)
class NettyLoopTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private final TimerScheduler timers = TimerScheduler.builder().name("netty").workers(0).build();
    private final EventLoopGroup group = EventLoops.group(1);
    private final EventLoop eventLoop = group.next();
    private NettyLoop netty;
    private Thread thread;

    @BeforeEach
    void attach() throws Exception {
        netty = NettyLoop.attach(timers, eventLoop).get();
        thread = eventLoop.submit(Thread::currentThread).get();
    }

    @AfterEach
    void shutDown() {
        assertTrue(group.shutdownGracefully(0, 20, TimeUnit.SECONDS).awaitUninterruptibly(30, TimeUnit.SECONDS));
        assertEquals(0, timers.pending());
        assertEquals("TimerScheduler[netty, 0 workers]", timers.toString(), "a loop was left");
        timers.close();
    }

    @Test
    void timers_fromManyThreads_runOnTheEventLoopNeverEarly() throws Exception {
        int threads = 4;
        int each = 3000;
        CountDownLatch ran = new CountDownLatch(threads * each);
        AtomicInteger early = new AtomicInteger();
        AtomicInteger elsewhere = new AtomicInteger();
        for (int i = 0; i < threads; i++) {
            int seed = i;
            new Thread(() -> {
                Random random = new Random(seed);
                for (int n = 0; n < each; n++) {
                    long delay = random.nextInt(30_000_000);
                    long due = System.nanoTime() + delay;
                    netty.timers().after(delay, TimeUnit.NANOSECONDS, () -> {
                        if (System.nanoTime() - due < 0) {
                            early.incrementAndGet();
                        }
                        if (Thread.currentThread() != thread) {
                            elsewhere.incrementAndGet();
                        }
                        ran.countDown();
                    });
                    if (n % 100 == 0) {
                        LockSupport.parkNanos(500_000);
                    }
                }
            }).start();
        }
        Patience.await(ran);
        assertEquals(0, early.get());
        assertEquals(0, elsewhere.get());
    }

    @Test
    void earlierTimer_fromAnotherThread_wakesTheEventLoop() throws Exception {
        netty.timers().after(HOUR, () -> {});
        for (int i = 0; i < 300; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            netty.timers().after(i % 3, TimeUnit.MILLISECONDS, ran::countDown);
            Patience.await(ran);
        }
    }

    @Test
    void earlierTimer_fromTheEventLoopItself_needsNoOtherThread() throws Exception {
        for (int i = 0; i < 300; i++) {
            int delay = i % 3;
            CountDownLatch ran = new CountDownLatch(1);
            AtomicReference<Thread> by = new AtomicReference<>();
            eventLoop.execute(() -> timers.after(HOUR, () -> {}));
            eventLoop.execute(() -> timers.after(delay, TimeUnit.MILLISECONDS, () -> {
                by.set(Thread.currentThread());
                ran.countDown();
            }));
            Patience.await(ran);
            assertEquals(thread, by.get());
        }
    }

    @Test
    void resets_ofOneTimer_moveItsOnlyFiring() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        Timer t = netty.timers().after(HOUR, ran::countDown);
        for (int ms : new int[] {1000, 3_600_000, 500, 20_000}) {
            assertTrue(t.reset(ms, TimeUnit.MILLISECONDS));
        }
        long start = System.nanoTime();
        assertTrue(t.reset(100, TimeUnit.MILLISECONDS));
        Patience.await(ran);
        assertTrue(System.nanoTime() - start >= 100_000_000);
    }

    @Test
    void waiting_forATimer_takesAFewTurns() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        long before = eventLoop.submit(netty::turns).get();
        netty.timers().after(HOUR, () -> {});
        netty.timers().after(Duration.ofMillis(300), ran::countDown);
        Patience.await(ran);
        long turns = eventLoop.submit(netty::turns).get() - before;
        assertTrue(turns <= 10, turns + " turns");
    }

    @Test
    void resets_ofManyTimers_takeATurnForEachTimeThatOneIsDueAtMost() throws Exception {
        int n = 1000;
        Timer[] all = new Timer[n];
        long turns = eventLoop.submit(() -> {
            long before = netty.turns();
            for (int i = 0; i < n; i++) {
                all[i] = timers.after(Duration.ofMillis(100), () -> {});
            }
            for (Timer t : all) {
                t.reset(HOUR); // in the same task, so that none can have fired
            }
            return before;
        }).get();
        for (int r = 1; r < 100; r++) {
            eventLoop.submit(() -> {
                for (Timer t : all) {
                    t.reset(HOUR);
                }
            }).get();
        }
        TimeUnit.MILLISECONDS.sleep(150); // the old deadlines have passed
        turns = eventLoop.submit(netty::turns).get() - turns;
        assertTrue(turns <= n, turns + " turns for " + 100 * n + " resets");
        assertEquals(n, timers.pending());
    }

    @Test
    void ownTasks_ofNetty_runBesideATimerThatIsAlwaysDue() throws Exception {
        Timer[] always = new Timer[1];
        eventLoop.submit(() -> always[0] = timers.after(0, TimeUnit.NANOSECONDS,
                () -> always[0].reset(0, TimeUnit.NANOSECONDS))).get();
        try (Idle server = new Idle(HOUR); Socket client = server.connect()) {
            for (int i = 0; i < 20; i++) {
                client.getOutputStream().write('x');
                assertEquals('x', client.getInputStream().read());
            }
        }
    } // and shutDown ends it

    @Test
    void callback_thatThrows_harmsNoOther() throws Exception {
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        thread.setUncaughtExceptionHandler((t, e) -> thrown.add(e));
        CountDownLatch ran = new CountDownLatch(10);
        for (int i = 0; i < 10; i++) {
            netty.timers().after(i, TimeUnit.MILLISECONDS, () -> {
                ran.countDown();
                throw new IllegalStateException("meant");
            });
        }
        Patience.await(ran);
        Patience.until("all were reported", () -> thrown.size() == 10);
    }

    @Test
    void close_byAnyThread_stopsTheTimersAndAllowsAnother() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        netty.timers().after(Duration.ofMillis(20), ran::incrementAndGet);
        Timer later = netty.timers().after(HOUR, () -> {});
        netty.close();
        eventLoop.submit(() -> {}).get();
        int then = ran.get();
        assertFalse(later.isPending());
        assertThrows(RejectedExecutionException.class, () -> netty.timers().after(HOUR, () -> {}));
        netty.close();
        CountDownLatch again = new CountDownLatch(1);
        NettyLoop second = NettyLoop.attach(timers, eventLoop).get();
        second.timers().after(Duration.ofMillis(50), again::countDown);
        Patience.await(again);
        assertEquals(then, ran.get());
        second.close();
    }

    @Test
    void close_byACallback_endsTheLoop() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch closed = new CountDownLatch(1);
        eventLoop.submit(() -> {
            timers.after(0, TimeUnit.NANOSECONDS, () -> {
                netty.close();
                closed.countDown();
            });
            timers.after(0, TimeUnit.NANOSECONDS, ran::incrementAndGet);
        }).get();
        Patience.await(closed);
        eventLoop.submit(() -> {}).get();
        assertEquals(0, ran.get());
        assertEquals(0, timers.pending());
    }

    @Test
    void attach_byTheCallbackThatHasClosedTheLoop_isPossibleAfterItOnly() throws Exception {
        CompletableFuture<NettyLoop> inside = new CompletableFuture<>();
        netty.timers().after(0, TimeUnit.NANOSECONDS, () -> {
            netty.close();
            try {
                inside.complete(NettyLoop.attach(timers, eventLoop).getNow());
            } catch (IllegalStateException e) {
                inside.completeExceptionally(e);
            }
        });
        ExecutionException refused = assertThrows(ExecutionException.class,
                () -> inside.get(Patience.SECONDS, TimeUnit.SECONDS));
        assertTrue(refused.getCause() instanceof IllegalStateException, refused::toString);
        NettyLoop.attach(timers, eventLoop).get();
    }

    @Test
    void shutdown_ofTheEventLoop_closesTheLoopOnItsThread() throws Exception {
        Timer t = netty.timers().after(HOUR, () -> {});
        Future<?> end = group.shutdownGracefully(0, 20, TimeUnit.SECONDS);
        assertTrue(end.await(30, TimeUnit.SECONDS));
        assertFalse(t.isPending());
        assertThrows(RejectedExecutionException.class, () -> netty.timers().after(HOUR, () -> {}));
        netty.close();
        assertThrows(RejectedExecutionException.class, () -> t.reset(HOUR));
    }

    @Test
    void shutdown_whileOthersArm_endsWithoutALoss() throws Exception {
        AtomicInteger armed = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch some = new CountDownLatch(1000);
        Thread arming = new Thread(() -> {
            try {
                for (;;) {
                    netty.timers().after(armed.get() % 2 == 0 ? 0 : 3_600_000, TimeUnit.MILLISECONDS,
                            ran::incrementAndGet);
                    armed.incrementAndGet();
                    some.countDown();
                }
            } catch (RejectedExecutionException e) {
                // The loop is closed.
                return;
            }
        });
        arming.start();
        Patience.await(some);
        assertTrue(group.shutdownGracefully(0, 20, TimeUnit.SECONDS).await(30, TimeUnit.SECONDS));
        arming.join(30_000);
        assertFalse(arming.isAlive());
        assertEquals(armed.get(), timers.stats().fired() + timers.stats().unfired());
        assertEquals(ran.get(), timers.stats().fired());
    }

    /** Netty 4.2 may suspend an event loop that has no task, and go on with another thread. */
    @Test
    void eventLoop_withNoTimer_keepsItsThread() throws Exception {
        assumeTrue(EventLoops.areNew(), "Netty 4.1 keeps threads");
        assertEquals(0, timers.pending());
        assertTrue(((SingleThreadEventExecutor) eventLoop).trySuspend());
        thread.join(500); // without a task in Netty's hands it ends at once
        CompletableFuture<Thread> by = new CompletableFuture<>();
        eventLoop.submit(() -> timers.after(0, TimeUnit.NANOSECONDS, () -> by.complete(Thread.currentThread()))).get();
        assertEquals(thread, by.get(Patience.SECONDS, TimeUnit.SECONDS));
        assertTrue(thread.isAlive());
    }

    private WeakReference<Object> listenerOfAClosedScheduler() throws Exception {
        TimerListener listener = new TimerListener() {
            @Override
            public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {}
        };
        try (TimerScheduler other = TimerScheduler.builder().workers(0).listener(listener).build()) {
            NettyLoop.attach(other, eventLoop).get();
        }
        return new WeakReference<>(listener);
    }

    @Test
    void scheduler_closed_isLetGoByTheEventLoop() throws Exception {
        WeakReference<Object> listener = listenerOfAClosedScheduler();
        Patience.until("it is collected", () -> {
            System.gc();
            return listener.get() == null;
        });
    }

    @Test
    void attach_thatTheSchedulerRefuses_saysWhy() throws Exception {
        TimerScheduler closed = TimerScheduler.builder().workers(0).build();
        closed.close();
        for (TimerScheduler refuses : List.of(timers, closed)) {
            Future<NettyLoop> refused = NettyLoop.attach(refuses, eventLoop);
            ExecutionException e = assertThrows(ExecutionException.class, refused::get);
            assertEquals(IllegalStateException.class, e.getCause().getClass());
        }
    }

    /** A Netty server that echoes, and closes what is idle. */
    private final class Idle implements AutoCloseable {
        private final Channel acceptor;

        Idle(Duration timeout) throws Exception {
            acceptor = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new NettyIdleHandler(timers, timeout))
                                    .addLast(new ChannelInboundHandlerAdapter() {
                                        @Override
                                        public void channelRead(ChannelHandlerContext ctx, Object message) {
                                            ctx.writeAndFlush(message);
                                        }

                                        @Override
                                        public void exceptionCaught(ChannelHandlerContext ctx, Throwable e) {
                                            ctx.close();
                                        }
                                    });
                        }
                    }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        }

        Socket connect() throws Exception {
            InetSocketAddress address = (InetSocketAddress) acceptor.localAddress();
            Socket s = new Socket(address.getAddress(), address.getPort());
            s.setSoTimeout(30_000);
            s.setTcpNoDelay(true);
            return s;
        }

        @Override
        public void close() {
            acceptor.close().awaitUninterruptibly();
        }
    }

    @Test
    void idleHandler_overSockets_closesTheSilentAndNoOthers() throws Exception {
        Duration timeout = Duration.ofMillis(1200);
        List<Socket> live = new ArrayList<>();
        List<CompletableFuture<Long>> silent = new ArrayList<>();
        try (Idle server = new Idle(timeout)) {
            long start = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                live.add(server.connect());
                Socket idle = server.connect();
                CompletableFuture<Long> end = new CompletableFuture<>();
                silent.add(end);
                new Thread(() -> {
                    try (idle) {
                        long sent = System.nanoTime();
                        idle.getOutputStream().write("x".getBytes(US_ASCII));
                        assertEquals('x', idle.getInputStream().read());
                        assertEquals(-1, idle.getInputStream().read());
                        end.complete(System.nanoTime() - sent - timeout.toNanos());
                    } catch (Throwable e) {
                        end.completeExceptionally(e);
                    }
                }).start();
            }
            long lastRound = start;
            while (!silent.stream().allMatch(CompletableFuture::isDone)) {
                long thisRound = System.nanoTime();
                for (Socket s : live) {
                    int answer;
                    try {
                        s.getOutputStream().write('x');
                        answer = s.getInputStream().read();
                    } catch (IOException e) {
                        answer = -1;
                    }
                    assumeTrue(System.nanoTime() - lastRound < timeout.toNanos(), "the machine held this test up");
                    assertEquals('x', answer);
                }
                lastRound = thisRound;
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            }
            long latest = 0;
            for (CompletableFuture<Long> end : silent) {
                long late = end.get();
                assertTrue(late >= 0, "closed " + -late + " ns early");
                latest = Math.max(latest, late);
            }
            assertTrue(latest < TimeUnit.SECONDS.toNanos(10), "closed " + latest + " ns late");
            for (Socket s : live) {
                s.close();
            }
        }
    }

    @Test
    void idleHandler_loopClosed_closesChannelsUntilThereIsAnother() throws Exception {
        try (Idle server = new Idle(HOUR); Socket before = server.connect()) {
            before.getOutputStream().write('x');
            assertEquals('x', before.getInputStream().read());
            netty.close();
            eventLoop.submit(() -> {}).get();
            try (Socket after = server.connect()) {
                assertEquals(-1, after.getInputStream().read());
            }
            before.getOutputStream().write('x'); // its timer cannot be reset any more
            assertEquals(-1, before.getInputStream().read());
            NettyLoop.attach(timers, eventLoop).get();
            try (Socket again = server.connect()) {
                again.getOutputStream().write('x');
                assertEquals('x', again.getInputStream().read());
            }
        }
    }

    @Test
    void attach_badArguments_areNamed() {
        EventLoop noThread = new EmbeddedChannel().eventLoop();
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> NettyLoop.attach(timers, noThread));
        assertEquals("eventLoop must be a SingleThreadEventExecutor, but is a " + noThread.getClass().getName(),
                e.getMessage());
        assertThrows(NullPointerException.class, () -> NettyLoop.attach(null, eventLoop));
        assertThrows(NullPointerException.class, () -> NettyLoop.attach(timers, null));
        assertTrue(netty.toString().startsWith("NettyLoop[TimerLoop["), netty::toString);
    }

    @Test
    void group_ofSeveralEventLoops_eachRunsItsOwn() throws Exception {
        EventLoopGroup several = EventLoops.group(3);
        try {
            CountDownLatch ran = new CountDownLatch(3);
            for (EventExecutor e : several) {
                NettyLoop loop = NettyLoop.attach(timers, (EventLoop) e).get();
                loop.timers().after(Duration.ofMillis(5), () -> {
                    if (e.inEventLoop()) {
                        ran.countDown();
                    }
                });
            }
            Patience.await(ran);
        } finally {
            assertTrue(several.shutdownGracefully(0, 20, TimeUnit.SECONDS).await(30, TimeUnit.SECONDS));
        }
    }
}
