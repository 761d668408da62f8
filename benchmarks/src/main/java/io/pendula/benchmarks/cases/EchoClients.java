package io.pendula.benchmarks.cases;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/** A thread that sends small messages on several connections at a given rate, and takes what comes back. */
final class EchoClients extends Thread {
    private static final int CONNECTIONS = 16;
    private static final int MESSAGE_BYTES = 64;

    private final SocketChannel[] channels = new SocketChannel[CONNECTIONS];
    private final long pauseNanos;
    /** Bytes that have come back. */
    private volatile long received;

    EchoClients(int port, int messagesPerSecond) throws IOException {
        super("clients");
        setDaemon(true);
        pauseNanos = 1_000_000_000L / messagesPerSecond;
        for (int i = 0; i < CONNECTIONS; i++) {
            channels[i] = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channels[i].configureBlocking(false);
            channels[i].socket().setTcpNoDelay(true);
        }
    }

    long messages() {
        return received / MESSAGE_BYTES;
    }

    /** Sends one message after the other in turn; what could not be sent in time, as it slept too long, at once. */
    @Override
    public void run() {
        ByteBuffer out = ByteBuffer.allocateDirect(MESSAGE_BYTES);
        ByteBuffer in = ByteBuffer.allocateDirect(64 * 1024);
        long next = System.nanoTime();
        try {
            for (int i = 0; ; i = (i + 1) % CONNECTIONS) {
                for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                next += pauseNanos;
                channels[i].write(out.clear());
                in.clear();
                received = received + channels[i].read(in); // of the round before; nobody else writes it
            }
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
