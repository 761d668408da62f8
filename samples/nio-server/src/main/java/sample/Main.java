package sample;

import io.pendula.TimerScheduler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;

/** Serves on port 7007, with timers but no thread for them. */
final class Main {
    public static void main(String[] args) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress("localhost", 7007));
        try (TimerScheduler timers = TimerScheduler.builder().workers(0).build();
                EchoServer server = new EchoServer(channel, timers, Duration.ofSeconds(10))) {
            while (!Thread.currentThread().isInterrupted()) {
                server.runOnce();
            }
        }
    }
}
