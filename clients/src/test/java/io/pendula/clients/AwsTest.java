package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.async.AsyncExecuteRequest;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.ssooidc.SsoOidcAsyncClient;
import software.amazon.awssdk.services.ssooidc.model.RegisterClientResponse;

/** The AWS SDK's time-outs and pauses: the smallest of its services, on a transport without a network. */
class AwsTest {
    private static final long LIMIT = 100;

    /** Leaves so many requests without an answer, then answers at once. */
    private static final class Transport implements SdkAsyncHttpClient {
        final List<Long> attempts = new CopyOnWriteArrayList<>();
        private final AtomicInteger unanswered;

        Transport(int unanswered) {
            this.unanswered = new AtomicInteger(unanswered);
        }

        @Override
        public CompletableFuture<Void> execute(AsyncExecuteRequest request) {
            attempts.add(System.nanoTime());
            if (unanswered.getAndDecrement() > 0) {
                return new CompletableFuture<>();
            }
            request.responseHandler().onHeaders(SdkHttpResponse.builder().statusCode(200).build());
            request.responseHandler().onStream(SdkPublisher.fromIterable(List.of()));
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void close() {}
    }

    private static SsoOidcAsyncClient client(Transport transport, ScheduledExecutorService executor, Duration call,
            Duration attempt) {
        return SsoOidcAsyncClient.builder()
                .httpClient(transport)
                .region(Region.EU_NORTH_1)
                .endpointOverride(URI.create("http://localhost"))
                .overrideConfiguration(c -> c.scheduledExecutorService(executor)
                        .apiCallTimeout(call)
                        .apiCallAttemptTimeout(attempt)
                        .retryStrategy(retry -> retry.maxAttempts(3).backoffStrategy(
                                BackoffStrategy.fixedDelayWithoutJitter(Duration.ofMillis(LIMIT)))))
                .build();
    }

    private static CompletableFuture<RegisterClientResponse> call(SsoOidcAsyncClient client) {
        return client.registerClient(request -> request.clientName("test").clientType("public"));
    }

    /** 20,000 calls, one after the other, that are answered at once: two timers that are cancelled for each. */
    static void answer(ScheduledExecutorService executor) {
        try (SsoOidcAsyncClient client =
                client(new Transport(0), executor, Duration.ofMinutes(1), Duration.ofSeconds(10))) {
            for (int i = 0; i < 20_000; i++) {
                Patience.get(call(client));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void attemptTimeout_endsASlowAttempt_andAnotherFollowsAfterAPause(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Transport transport = new Transport(2);
            Duration limit = Duration.ofMillis(LIMIT);
            try (SsoOidcAsyncClient client = client(transport, subject.executor, Duration.ofHours(1), limit)) {
                Patience.get(call(client));
            }
            assertEquals(3, transport.attempts.size());
            Patience.assertSpaced(2 * LIMIT, transport.attempts);
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void callTimeout_endsTheCall_andItsAttemptIsTheLast(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Transport transport = new Transport(1);
            Duration limit = Duration.ofMillis(LIMIT);
            try (SsoOidcAsyncClient client = client(transport, subject.executor, limit, Duration.ofHours(1))) {
                long start = System.nanoTime();
                ExecutionException thrown = assertThrows(ExecutionException.class,
                        () -> call(client).get(Patience.SECONDS, TimeUnit.SECONDS));
                Patience.assertElapsed(LIMIT, start, System.nanoTime());
                assertInstanceOf(ApiCallTimeoutException.class, thrown.getCause());
                subject.letPass(2 * LIMIT);
            }
            assertEquals(1, transport.attempts.size());
            subject.assertLeftRunning(0);
        }
    }
}
