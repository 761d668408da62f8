package io.pendula.demonstrations;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Lines of text over a channel that does not block: the beginning of a line waits for its end, and what the peer does
 * not take waits until it does. Meanwhile the peer is not read either, so that one who speaks and never listens cannot
 * fill the memory. For one thread.
 */
final class Lines {
    private static final int MAX_LINE = 256;

    interface Receiver {
        void line(String line) throws IOException;
    }

    private final SocketChannel channel;
    private SelectionKey key;
    private final ByteBuffer in = ByteBuffer.allocate(MAX_LINE);
    private final Queue<ByteBuffer> out = new ArrayDeque<>();
    private boolean held;

    /** The key's channel is a connected socket. */
    Lines(SelectionKey key) {
        this.channel = (SocketChannel) key.channel();
        moveTo(key);
    }

    /** The channel is registered with another selector. */
    void moveTo(SelectionKey key) {
        this.key = key;
        showInterest();
    }

    /** The channel is ready for what it was asked for. False if the peer has said that no more will come. */
    boolean ready(Receiver receiver) throws IOException {
        if (isBlocked()) {
            flush();
            return true;
        }
        return read(receiver);
    }

    /** Takes what has come, to the buffer's size; false if the peer has said that no more will. */
    private boolean read(Receiver receiver) throws IOException {
        int n = channel.read(in);
        int begin = 0;
        for (int i = in.position() - Math.max(n, 0); i < in.position(); i++) {
            if (in.get(i) == '\n') {
                String line = new String(in.array(), begin, i - begin, StandardCharsets.US_ASCII);
                begin = i + 1;
                receiver.line(line);
            }
        }
        in.flip().position(begin);
        in.compact();
        if (!in.hasRemaining()) {
            throw new IOException("a line of more than " + MAX_LINE + " bytes");
        }
        return n >= 0;
    }

    void write(String line) throws IOException {
        out.add(ByteBuffer.wrap((line + '\n').getBytes(StandardCharsets.US_ASCII)));
        flush();
    }

    /** The peer does not take what is written. */
    boolean isBlocked() {
        return !out.isEmpty();
    }

    boolean isHeld() {
        return held;
    }

    /** Leaves what comes to the network for some time, or no longer. */
    void hold(boolean on) {
        held = on;
        showInterest();
    }

    private void flush() throws IOException {
        for (ByteBuffer first; (first = out.peek()) != null; out.remove()) {
            channel.write(first);
            if (first.hasRemaining()) {
                break;
            }
        }
        showInterest();
    }

    private void showInterest() {
        key.interestOps(isBlocked() ? SelectionKey.OP_WRITE : held ? 0 : SelectionKey.OP_READ);
    }
}
