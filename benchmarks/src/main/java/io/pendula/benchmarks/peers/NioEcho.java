package io.pendula.benchmarks.peers;

import io.pendula.benchmarks.rivals.EchoServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** An echo server round a selector, as one writes it without a framework. */
abstract class NioEcho implements EchoServer, Runnable {
    final Selector selector;
    private final ServerSocketChannel listening;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 * 1024);
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    NioEcho() throws IOException {
        selector = Selector.open();
        listening = ServerSocketChannel.open();
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        listening.configureBlocking(false);
        listening.register(selector, SelectionKey.OP_ACCEPT);
    }

    final void start() {
        Thread thread = new Thread(this, "echo");
        thread.setDaemon(true);
        thread.start();
    }

    /** On the loop's thread, before everything else. */
    void begin() {}

    /** Selects until a channel is ready, somebody calls the selector's wakeup, or there is a timer to run. */
    abstract void await() throws IOException;

    abstract void runTimers();

    @Override
    public final void run() {
        try {
            begin();
            for (;;) {
                await();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        accept();
                    } else {
                        echo((SocketChannel) key.channel());
                    }
                }
                selector.selectedKeys().clear();
                runTimers();
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
            }
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void accept() throws IOException {
        SocketChannel client = listening.accept();
        client.configureBlocking(false);
        client.socket().setTcpNoDelay(true);
        client.register(selector, SelectionKey.OP_READ);
    }

    private void echo(SocketChannel client) throws IOException {
        buffer.clear();
        client.read(buffer);
        buffer.flip();
        while (buffer.hasRemaining()) { // never more than the few messages that are under way
            client.write(buffer);
        }
    }

    @Override
    public final int port() {
        return listening.socket().getLocalPort();
    }

    @Override
    public final void execute(Runnable task) {
        tasks.add(task);
        selector.wakeup();
    }
}
