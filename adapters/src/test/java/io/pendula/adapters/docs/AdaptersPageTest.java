package io.pendula.adapters.docs;

import static org.asynchttpclient.Dsl.asyncHttpClient;
import static org.asynchttpclient.Dsl.config;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.pendula.ManualClock;
import io.pendula.TimerListener;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import io.pendula.adapters.dbscheduler.DueTimers;
import io.pendula.adapters.dbscheduler.Tables;
import io.pendula.adapters.jfr.PendulaJfr;
import io.pendula.adapters.jmx.PendulaJmx;
import io.pendula.adapters.micrometer.PendulaMetrics;
import io.pendula.adapters.netty.EventLoops;
import io.pendula.adapters.netty.NettyIdleHandler;
import io.pendula.adapters.netty.NettyLoop;
import io.pendula.adapters.netty.PendulaTimer;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import org.asynchttpclient.AsyncHttpClient;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/adapters.md and docs/beyond-one-process.md. */
@Timeout(60)
class AdaptersPageTest {
    @Test
    void netty_clientsHaveTheTimer() throws Exception {
        ClientResources resources = DefaultClientResources.builder().timer(new PendulaTimer()).build(); // Lettuce
        AsyncHttpClient client = asyncHttpClient(config().setNettyTimer(new PendulaTimer()));           // AsyncHttpClient

        assertInstanceOf(PendulaTimer.class, resources.timer());
        assertInstanceOf(PendulaTimer.class, client.getConfig().getNettyTimer());
        client.close();
        assertTrue(resources.shutdown(0, 1, TimeUnit.SECONDS).get(Patience.SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void netty_handlersHaveTimersOfTheirEventLoop() throws Exception {
        EventLoopGroup group = EventLoops.group(2);

        TimerScheduler timers = TimerScheduler.builder().workers(0).build(); // starts no thread
        for (EventExecutor eventLoop : group) {
            NettyLoop.attach(timers, (EventLoop) eventLoop).syncUninterruptibly();
        }

        Duration limit = Duration.ofMillis(50);
        ChannelInitializer<Channel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                ChannelPipeline pipeline = channel.pipeline();
                pipeline.addLast(new NettyIdleHandler(timers, limit)); // closes the channel after so long without a message
            }
        };
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(initializer).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        try (Socket client = new Socket(address.getAddress(), address.getPort())) {
            assertEquals(-1, client.getInputStream().read());
        }
        assertTrue(group.shutdownGracefully(0, 20, TimeUnit.SECONDS).await(Patience.SECONDS, TimeUnit.SECONDS));
        assertEquals("TimerScheduler[0 workers]", timers.toString().replaceAll("\\[.*, ", "["), "the loops are closed");
        timers.close();
    }

    @Test
    void recorder_listens() {
        PendulaJfr recorder = PendulaJfr.start();         // close() when the program ends
        TimerScheduler scheduler = TimerScheduler.builder().name("io")
                .listener(TimerListener.logging().andThen(recorder)).build();
        recorder.watch(scheduler);                        // for the statistics

        assertEquals("io", scheduler.after(Duration.ofHours(1), () -> {}).schedulerName());
        scheduler.close();
        recorder.close();
    }

    @Test
    void micrometer_metersAreThere() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (TimerScheduler scheduler = TimerScheduler.builder().clock(new ManualClock()).build()) {
            scheduler.after(Duration.ofSeconds(1), () -> {});

            new PendulaMetrics(scheduler).bindTo(registry);   // or a pool of TimerExecutors

            assertEquals(1, registry.get("pendula.armed").functionCounter().count());
        }
    }

    @Test
    void jmx_beanIsThere_untilClosed() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try (TimerScheduler scheduler = TimerScheduler.builder().clock(new ManualClock()).build()) {

            PendulaJmx jmx = PendulaJmx.register(scheduler);   // close() removes the bean

            assertTrue(server.isRegistered(jmx.objectName()));
            jmx.close();
            assertFalse(server.isRegistered(jmx.objectName()));
        }
    }

    @Test
    void dbScheduler_runsWhatIsDue() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:page;DB_CLOSE_DELAY=-1");
        Tables.create(dataSource);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        CountDownLatch ran = new CountDownLatch(1);
        OneTimeTask<Void> task = Tasks.oneTime("reminder").execute((instance, context) -> ran.countDown());
        try (TimerScheduler timers = TimerScheduler.builder().build()) {

            DueTimers due = new DueTimers(timers, dataSource, "scheduled_tasks", Duration.ofSeconds(10), executor);
            Scheduler scheduler = Scheduler.create(dataSource, task).addSchedulerListener(due).build();
            scheduler.start();
            due.start(scheduler);

            Patience.until("the first poll is over", () -> scheduler.getSchedulerState().isStarted());
            scheduler.schedule(task.instance("1"), Instant.now().plusMillis(200));
            assertTrue(ran.await(Patience.SECONDS, TimeUnit.SECONDS));
            due.close();
            scheduler.stop();
        }
        executor.shutdown();
    }
}
