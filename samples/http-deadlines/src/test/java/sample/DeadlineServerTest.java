package sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.junit.PendulaTest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@PendulaTest
@Timeout(60)
class DeadlineServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final HttpClient client = HttpClient.newHttpClient();

    private CompletableFuture<HttpResponse<String>> request(DeadlineServer server) {
        URI uri = URI.create("http://localhost:" + server.port() + "/x");
        return client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    @Test
    void quickService_isAnswered_andNoTimerIsLeft(TimerScheduler timers) throws Exception {
        try (DeadlineServer server = new DeadlineServer(0, timers, LIMIT, path -> "hello, " + path)) {
            HttpResponse<String> response = request(server).get();
            assertEquals(200, response.statusCode());
            assertEquals("hello, /x", response.body());
        }
    }

    @Test
    void slowService_isInterruptedAtTheDeadline_andTheClientGets503(ManualClock clock, TimerScheduler timers)
            throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        DeadlineServer.Service slow = path -> {
            begun.countDown();
            try {
                Thread.sleep(Duration.ofHours(1));
                return "late";
            } finally {
                interrupted.countDown();
            }
        };
        try (DeadlineServer server = new DeadlineServer(0, timers, LIMIT, slow)) {
            CompletableFuture<HttpResponse<String>> response = request(server);
            assertTrue(begun.await(30, TimeUnit.SECONDS));

            clock.advance(LIMIT.minusNanos(1));
            assertFalse(response.isDone());

            clock.advance(Duration.ofNanos(1));
            assertEquals(503, response.get().statusCode());
            assertTrue(interrupted.await(30, TimeUnit.SECONDS));
        }
    }
}
