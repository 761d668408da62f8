package io.pendula.adapters.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lettuce uses its timer for the timeouts of commands and for the delay before it connects again. */
class LettuceTest {
    private static final long TIMEOUT = 300;
    private static final long BACK_OFF = 100;

    /** Short for the command that is never answered, and long for those that a busy machine may answer late. */
    private static final class Timeouts extends TimeoutOptions.TimeoutSource {
        @Override
        public long getTimeout(RedisCommand<?, ?, ?> command) {
            CommandArgs<?, ?> args = command.getArgs();
            boolean silent = args != null && args.toCommandString().contains("silent");
            return silent ? TIMEOUT : TimeUnit.SECONDS.toMillis(Patience.SECONDS);
        }
    }

    private TimerScheduler scheduler;
    private PendulaTimer timer;
    private RespServer server;
    private ClientResources resources;
    private RedisClient client;

    @BeforeEach
    void open() throws Exception {
        scheduler = TimerScheduler.builder().name("lettuce").build();
        timer = new PendulaTimer(scheduler);
        server = new RespServer();
        resources = DefaultClientResources.builder()
                .timer(timer)
                .reconnectDelay(Delay.constant(Duration.ofMillis(BACK_OFF)))
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .build();
        client = RedisClient.create(resources, RedisURI.create("localhost", server.port()));
        client.setOptions(ClientOptions.builder()
                .protocolVersion(ProtocolVersion.RESP2)
                .timeoutOptions(TimeoutOptions.builder().timeoutSource(new Timeouts()).build())
                .build());
    }

    @AfterEach
    void close() throws Exception {
        client.shutdown(0, 5, TimeUnit.SECONDS);
        resources.shutdown(0, 5, TimeUnit.SECONDS).get(Patience.SECONDS, TimeUnit.SECONDS);
        server.close();
        assertTrue(timer.stop().isEmpty(), "Lettuce cancels what it arms");
        scheduler.close();
    }

    @Test
    void commands_silentOnesTimeOut_andTheOthersCancelTheirTimeouts() throws Exception {
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            assertEquals("OK", connection.sync().set("key", "value"));
            long armedBefore = scheduler.stats().armed();
            List<RedisFuture<String>> answered = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                answered.add(connection.async().get("key"));
            }
            for (RedisFuture<String> future : answered) {
                assertEquals("value", future.get(Patience.SECONDS, TimeUnit.SECONDS));
            }
            assertTrue(scheduler.stats().armed() >= armedBefore + 1_000, "one timeout for each command");
            Patience.until("the timeouts are cancelled", () -> scheduler.pending() == 0);

            long start = System.nanoTime();
            RedisFuture<String> silent = connection.async().get("silent");
            ConcurrentLinkedQueue<Long> end = new ConcurrentLinkedQueue<>();
            silent.whenComplete((value, thrown) -> end.add(System.nanoTime()));
            ExecutionException failure =
                    assertThrows(ExecutionException.class, () -> silent.get(Patience.SECONDS, TimeUnit.SECONDS));
            assertEquals(RedisCommandTimeoutException.class, failure.getCause().getClass());
            Patience.until("told", () -> !end.isEmpty());
            Patience.assertElapsed(TIMEOUT, start, end.peek());
        }
    }

    @Test
    void lostConnection_isMadeAgain_afterTheDelay() throws Exception {
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            assertEquals("OK", connection.sync().set("key", "value"));
            long firedBefore = scheduler.stats().fired();
            long start = System.nanoTime();
            server.hangUp();
            Patience.until("a second connection", () -> server.accepted.get() == 2);
            Patience.assertElapsed(BACK_OFF, start, System.nanoTime());
            assertTrue(scheduler.stats().fired() > firedBefore, "the delay is one of the timer's");
            Patience.until("open", connection::isOpen);
            assertEquals("value", connection.async().get("key").get(Patience.SECONDS, TimeUnit.SECONDS));
        }
    }
}
