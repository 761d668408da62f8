package sample;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.pendula.RunLimit;
import io.pendula.TimerScheduler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;

/** An HTTP server that answers each request within a limit: with what its service returns, or with status 503. */
final class DeadlineServer implements AutoCloseable {
    /** May block, as each call has a virtual thread. Should end when it is interrupted. */
    interface Service {
        String answer(String path) throws Exception;
    }

    private final HttpServer server;
    private final TimerScheduler timers;
    private final Duration limit;
    private final Service service;

    DeadlineServer(int port, TimerScheduler timers, Duration limit, Service service) throws IOException {
        this.timers = timers;
        this.limit = limit;
        this.service = service;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String answer;
        int status = 200;
        try (RunLimit deadline = timers.interruptAfter(limit)) {
            try {
                answer = service.answer(exchange.getRequestURI().getPath());
            } catch (Exception e) {
                status = deadline.isOver() ? 503 : 500;
                answer = deadline.isOver() ? "no answer within " + limit.toMillis() + " ms" : e.toString();
            }
        }
        send(exchange, status, answer); // after the limit is closed, so no interrupt can hit the response
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
