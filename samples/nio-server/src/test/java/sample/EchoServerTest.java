package sample;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import io.pendula.adapters.junit.PendulaTest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The test's thread is the server's: it runs the loop when something must have come. */
@PendulaTest
@Timeout(60)
class EchoServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ServerSocketChannel channel;

    EchoServerTest() throws IOException {
        channel = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), channel.socket().getLocalPort());
    }

    private static void assertEchoes(EchoServer server, Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(US_ASCII));
        server.runOnce();
        assertEquals(text, new String(client.getInputStream().readNBytes(text.length()), US_ASCII));
    }

    @Test
    void connection_silent_isClosedAtTheLimitAndNotBefore(ManualClock clock, TimerScheduler timers) throws IOException {
        try (EchoServer server = new EchoServer(channel, timers, LIMIT);
                Socket client = connect()) {
            server.runOnce(); // accepts
            clock.advance(LIMIT.minusNanos(1));
            assertEchoes(server, client, "still there");

            clock.advance(LIMIT.minusNanos(1)); // since the last message
            assertEchoes(server, client, "and again");

            clock.advance(LIMIT);
            server.runOnce();
            assertEquals(-1, client.getInputStream().read());
        }
    }

    @Test
    void server_closed_leavesNoTimer(TimerScheduler timers) throws IOException {
        try (EchoServer server = new EchoServer(channel, timers, LIMIT);
                Socket client = connect()) {
            server.runOnce();
            assertEchoes(server, client, "hello");
            assertEquals(1, timers.pending());
        }
    }
}
