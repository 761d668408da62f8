package io.pendula.adapters.netty;

import static org.asynchttpclient.Dsl.asyncHttpClient;
import static org.asynchttpclient.Dsl.config;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.pendula.TimerScheduler;
import io.pendula.adapters.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClientConfig;
import org.asynchttpclient.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** AsyncHttpClient uses its timer for the timeouts of requests and reads, and to clean its pool of connections. */
class AsyncHttpClientTest {
    private static final long LIMIT = 300;

    private final CountDownLatch released = new CountDownLatch(1);
    private TimerScheduler scheduler;
    private PendulaTimer timer;
    private HttpServer server;
    private ExecutorService serving;
    private EventLoopGroup loops;

    @BeforeEach
    @SuppressWarnings("deprecation") // the only kind, but for native ones, that this client takes
    void open() throws Exception {
        scheduler = TimerScheduler.builder().name("ahc").build();
        timer = new PendulaTimer(scheduler);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        loops = new NioEventLoopGroup(2);
        serving = Executors.newCachedThreadPool();
        server.setExecutor(serving);
        server.createContext("/quick", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.createContext("/silent", exchange -> {
            Patience.await(released);
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void close() {
        released.countDown();
        server.stop(0);
        serving.shutdown();
        Patience.until("the client's timeouts have ended", () -> scheduler.pending() == 0);
        timer.stop();
        scheduler.close();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private AsyncHttpClient client(DefaultAsyncHttpClientConfig.Builder settings) {
        // With a group of its own, the client would close its pool some time after its close has returned.
        return asyncHttpClient(settings.setNettyTimer(timer).setEventLoopGroup(loops).setMaxRequestRetry(0)
                .setPooledConnectionIdleTimeout(Duration.ofHours(1))
                .setCookieStore(null)); // which has a timeout of its own
    }

    private String url(String path) {
        return "http://localhost:" + server.getAddress().getPort() + path;
    }

    private static int status(CompletableFuture<Response> future) throws Exception {
        return future.get(Patience.SECONDS, TimeUnit.SECONDS).getStatusCode();
    }

    /** The client may arm a read timeout just after the answer has made it cancel all; that one runs out by itself. */
    @Test
    void requests_answered_leaveNoTimeoutBehind() throws Exception {
        try (AsyncHttpClient client = client(config().setRequestTimeout(Duration.ofHours(1))
                .setReadTimeout(Duration.ofSeconds(Patience.SECONDS / 3)))) {
            assertEquals(204, status(client.prepareGet(url("/quick")).execute().toCompletableFuture()));
            long armedBefore = scheduler.stats().armed();
            List<CompletableFuture<Response>> answers = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                answers.add(client.prepareGet(url("/quick")).execute().toCompletableFuture());
            }
            for (CompletableFuture<Response> answer : answers) {
                assertEquals(204, status(answer));
            }
            assertTrue(scheduler.stats().armed() >= armedBefore + 100, "at least one timeout for each request");
            Patience.until("only the pool's cleaner is left", () -> scheduler.pending() == 1);
        }
    }

    @Test
    void request_unanswered_failsAtItsLimit() {
        assertFailsAtTheLimit(config().setRequestTimeout(Duration.ofMillis(LIMIT)), "Request timeout");
    }

    @Test
    void read_silentServer_failsAtItsLimit() {
        assertFailsAtTheLimit(config().setReadTimeout(Duration.ofMillis(LIMIT)), "Read timeout");
    }

    private void assertFailsAtTheLimit(DefaultAsyncHttpClientConfig.Builder settings, String text) {
        try (AsyncHttpClient client = client(settings)) {
            long firedBefore = scheduler.stats().fired();
            long start = System.nanoTime();
            ExecutionException failure = assertThrows(ExecutionException.class,
                    () -> status(client.prepareGet(url("/silent")).execute().toCompletableFuture()));
            TimeoutException timeout = assertInstanceOf(TimeoutException.class, failure.getCause());
            assertTrue(timeout.getMessage().contains(text), timeout.getMessage());
            Patience.assertElapsed(LIMIT - 1, start, System.nanoTime()); // it counts in milliseconds of the wall clock
            assertTrue(scheduler.stats().fired() > firedBefore, "the limit is one of the timer's");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
