package io.pendula.clients;

import static io.grpc.MethodDescriptor.MethodType.UNARY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** gRPC with both ends in this process and one executor for calls and deadlines; it never closes what it was given. */
class GrpcTest {
    private static final long LIMIT = 100;

    private static final MethodDescriptor<String, String> ECHO = MethodDescriptor.<String, String>newBuilder()
            .setType(UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName("test.Echo", "Echo"))
            .setRequestMarshaller(new Utf8())
            .setResponseMarshaller(new Utf8())
            .build();

    /** Strings as they are. */
    private static final class Utf8 implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Answers at once what is no "never". */
    private static final class Echo implements AutoCloseable {
        final AtomicInteger answered = new AtomicInteger();
        final AtomicInteger cancelled = new AtomicInteger();
        private final Server server;
        final ManagedChannel channel;

        Echo(Subject subject) throws IOException {
            String name = InProcessServerBuilder.generateName();
            server = InProcessServerBuilder.forName(name)
                    .executor(subject.executor)
                    .scheduledExecutorService(subject.executor)
                    .addService(ServerServiceDefinition.builder("test.Echo")
                            .addMethod(ECHO, ServerCalls.asyncUnaryCall(this::answer))
                            .build())
                    .build()
                    .start();
            channel = InProcessChannelBuilder.forName(name)
                    .executor(subject.executor)
                    .scheduledExecutorService(subject.executor)
                    .build();
        }

        private void answer(String request, StreamObserver<String> observer) {
            if (request.equals("never")) {
                Context.current().addListener(context -> cancelled.incrementAndGet(), Runnable::run);
            } else {
                answered.incrementAndGet();
                observer.onNext("re: " + request);
                observer.onCompleted();
            }
        }

        ListenableFuture<String> call(String request, CallOptions options) {
            return ClientCalls.futureUnaryCall(channel.newCall(ECHO, options), request);
        }

        @Override
        public void close() {
            channel.shutdown();
            server.shutdown();
            try {
                assertTrue(channel.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS), "the channel does not end");
                assertTrue(server.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS), "the server does not end");
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted while waiting", e);
            }
        }
    }

    private static CallOptions within(long millis) {
        return CallOptions.DEFAULT.withDeadlineAfter(millis, TimeUnit.MILLISECONDS);
    }

    private static Status.Code failure(Future<?> call) {
        ExecutionException e =
                assertThrows(ExecutionException.class, () -> call.get(Patience.SECONDS, TimeUnit.SECONDS));
        return assertInstanceOf(StatusRuntimeException.class, e.getCause()).getStatus().getCode();
    }

    @ParameterizedTest
    @EnumSource
    void deadline_endsEachSlowCallOnce_andNoFastOne(ExecutorKind kind) throws Exception {
        try (Subject subject = kind.open(2)) {
            int calls = 100;
            List<Future<String>> slow = new ArrayList<>();
            List<Future<String>> fast = new ArrayList<>();
            Queue<Long> lives = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(calls);
            try (Echo echo = new Echo(subject)) {
                assertEquals("re: warm", Patience.get(echo.call("warm", within(1_000 * Patience.SECONDS))));
                for (int i = 0; i < calls; i++) {
                    long start = System.nanoTime();
                    ListenableFuture<String> call = echo.call("never", within(LIMIT));
                    call.addListener(() -> {
                        lives.add(System.nanoTime() - start);
                        ended.countDown();
                    }, Runnable::run);
                    slow.add(call);
                    fast.add(echo.call("call " + i, within(1_000 * Patience.SECONDS)));
                }
                for (int i = 0; i < calls; i++) {
                    assertEquals("re: call " + i, Patience.get(fast.get(i)));
                    assertEquals(Status.Code.DEADLINE_EXCEEDED, failure(slow.get(i)));
                }
                Patience.await(ended);
                lives.forEach(nanos -> Patience.assertElapsed(LIMIT, 0, nanos));
                subject.letPass(LIMIT);
                assertEquals(calls, lives.size());
                assertEquals(calls + 1, echo.answered.get());
            }
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void deadline_reachesTheServer_onceForEachCallItHolds(ExecutorKind kind) throws Exception {
        try (Subject subject = kind.open(2)) {
            int calls = 20;
            List<Future<String>> slow = new ArrayList<>();
            try (Echo echo = new Echo(subject)) {
                for (int i = 0; i < calls; i++) {
                    slow.add(echo.call("never", within(10 * LIMIT)));
                }
                slow.forEach(call -> assertEquals(Status.Code.DEADLINE_EXCEEDED, failure(call)));
                Patience.until("all cancelled on the server", () -> echo.cancelled.get() >= calls);
                subject.letPass(LIMIT);
                assertEquals(calls, echo.cancelled.get());
            }
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelledCalls_leaveNoDeadlineBehind(ExecutorKind kind) throws Exception {
        try (Subject subject = kind.open(2)) {
            int calls = 100;
            List<ListenableFuture<String>> pending = new ArrayList<>();
            try (Echo echo = new Echo(subject)) {
                for (int i = 0; i < calls; i++) {
                    pending.add(echo.call("never", CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.HOURS)));
                }
                pending.forEach(call -> call.cancel(true));
                assertEquals(0, echo.answered.get());
            }
            subject.assertLeftRunning(0);
        }
    }
}
