package sample;

import io.pendula.Timer;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/** Sends back what it receives, and closes silent connections. One thread makes it, runs its loop and closes it. */
final class EchoServer implements AutoCloseable {
    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocate(4096);
    private final TimerLoop loop;
    private final Duration limit;

    EchoServer(ServerSocketChannel server, TimerScheduler timers, Duration limit) throws IOException {
        this.limit = limit;
        server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        loop = timers.attach(selector::wakeup); // from now on this thread runs the timers that it arms
    }

    /** Waits until a channel is ready or a timer is due, and serves both. */
    void runOnce() throws IOException {
        loop.select(selector);
        for (SelectionKey key : selector.selectedKeys()) {
            if (key.isAcceptable()) {
                accept((ServerSocketChannel) key.channel());
            } else {
                echo((SocketChannel) key.channel(), (Timer) key.attachment());
            }
        }
        selector.selectedKeys().clear();
        loop.runDue();
    }

    private void accept(ServerSocketChannel server) throws IOException {
        SocketChannel peer = server.accept();
        if (peer != null) {
            Timer silence = loop.after(limit, () -> close(peer));
            peer.configureBlocking(false).register(selector, SelectionKey.OP_READ, silence);
        }
    }

    private void echo(SocketChannel peer, Timer silence) {
        try {
            if (peer.read(buffer.clear()) >= 0 && peer.write(buffer.flip()) >= 0 && !buffer.hasRemaining()) {
                silence.reset(limit); // later than before: one compare-and-set
                return;
            }
        } catch (IOException e) {
            System.err.println("lost a peer: " + e.getMessage());
        }
        silence.cancel();
        close(peer);
    }

    private static void close(SocketChannel peer) {
        try {
            peer.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        loop.close();
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }
}
