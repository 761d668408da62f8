package io.pendula.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.pendula.Timer;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/** Sends back what it hears and closes connections that are silent for too long: sockets and timers on one thread. */
public final class EchoLoop {
    private EchoLoop() {}

    // tag::readme[]
    /** Serves until the thread is interrupted. */
    static void serve(ServerSocketChannel server, Selector selector, Duration limit) throws IOException {
        server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        try (TimerScheduler timers = TimerScheduler.builder().workers(0).build(); // starts no thread
                TimerLoop loop = timers.attach(selector::wakeup)) {               // this one runs the timers
            while (!Thread.currentThread().isInterrupted()) {
                loop.select(selector); // until a channel is ready or a timer is due
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        SocketChannel peer = server.accept();
                        if (peer == null) {
                            continue; // gone already, or taken by another thread
                        }
                        peer.configureBlocking(false);
                        Timer silence = loop.after(limit, () -> close(peer));
                        peer.register(selector, SelectionKey.OP_READ, silence);
                    } else if (echo((SocketChannel) key.channel())) {
                        ((Timer) key.attachment()).reset(limit); // to later: one compare-and-set, however many timers
                    } else {
                        ((Timer) key.attachment()).cancel();
                    }
                }
                selector.selectedKeys().clear();
                loop.runDue();
            }
        }
    }
    // end::readme[]

    /** False if the peer has gone. A message that does not fit into the socket's buffer ends the connection. */
    private static boolean echo(SocketChannel peer) {
        ByteBuffer buffer = ByteBuffer.allocate(1024);
        try {
            if (peer.read(buffer) >= 0) {
                peer.write(buffer.flip());
                if (!buffer.hasRemaining()) {
                    return true;
                }
            }
        } catch (IOException e) {
            System.err.println("lost a peer: " + e.getMessage());
        }
        close(peer);
        return false;
    }

    private static void close(SocketChannel peer) {
        try {
            peer.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // out of a callback it goes to the scheduler's listener
        }
    }

    /**
     * Talks to such a server three times, then waits until that has had enough.
     *
     * @param args none
     * @throws Exception if a socket fails, or interrupted
     */
    public static void main(String[] args) throws Exception {
        Duration limit = Duration.ofMillis(200);
        try (ServerSocketChannel server = ServerSocketChannel.open(); Selector selector = Selector.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread loop = new Thread(() -> {
                try {
                    serve(server, selector, limit);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }, "echo");
            loop.start();
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                ByteBuffer answer = ByteBuffer.allocate(16);
                long lastWrite = 0;
                for (int i = 1; i <= 3; i++) {
                    lastWrite = System.nanoTime();
                    client.write(ByteBuffer.wrap(new byte[] {(byte) ('0' + i)}));
                    client.read(answer);
                }
                System.out.println("heard: " + new String(answer.array(), 0, answer.position(), US_ASCII));
                boolean ended = client.read(answer) < 0;
                boolean early = System.nanoTime() - lastWrite < limit.toNanos();
                System.out.println(ended && !early ? "closed after " + limit.toMillis() + " ms of silence" : "closed too early");
            } finally {
                loop.interrupt();
                loop.join();
            }
        }
    }
}
