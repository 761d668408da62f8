package io.pendula.demonstrations;

import io.pendula.Timer;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.io.IOException;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A TCP server of one thread, which waits for sockets and timers at the same place. A connection that has sent nothing
 * for some time is closed; a request that is not answered by its deadline gets an error for an answer.
 *
 * <p>Each line is a request, {@code NAME MILLIS}: work for so many milliseconds. The answer is {@code NAME ok}, or
 * {@code NAME late} if the deadline came first. What is no request ends its connection, and no other.
 *
 * <p>The loop is confined, so callbacks and sockets share one thread and need no lock. {@link IdleTimeoutDemo} puts it
 * under load.
 */
class IdleTimeoutServer implements Runnable, AutoCloseable {
    /** In one turn, so that neither new connections nor timers keep the others waiting. */
    private static final int MAX_ACCEPTED = 64;
    private static final int MAX_RUN = 256;
    /** A connection that has so many is not read until one is answered. */
    private static final int MAX_OPEN_REQUESTS = 100;
    private static final Duration AFTER_FAILURE = Duration.ofMillis(100);

    private final TimerScheduler timers;
    private final ServerSocketChannel acceptor;
    private final Duration idleTimeout;
    private final Duration requestLimit;
    private final Selector selector;
    private volatile boolean closed;
    /** For the loop's thread, as all that follows. */
    private TimerLoop loop;

    /** Closes the acceptor, which is bound already, when it ends. */
    IdleTimeoutServer(TimerScheduler timers, ServerSocketChannel acceptor, Duration idleTimeout, Duration requestLimit)
            throws IOException {
        this.timers = timers;
        this.acceptor = acceptor;
        this.idleTimeout = idleTimeout;
        this.requestLimit = requestLimit;
        this.selector = Selector.open();
    }

    /** Serves until it is closed. */
    @Override
    public void run() {
        try (selector; acceptor; TimerLoop attached = timers.attach(selector::wakeup)) {
            loop = attached;
            try {
                acceptor.configureBlocking(false);
                acceptor.register(selector, SelectionKey.OP_ACCEPT);
                while (!closed) {
                    turn();
                }
            } finally {
                selector.keys().forEach(key -> closeQuietly(key.channel()));
            }
        } catch (IOException e) {
            throw new IllegalStateException("the selector or the acceptor has failed", e); // no connection does that
        }
    }

    /** Makes {@code run} return, which closes all connections. Any thread may call this. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
    }

    private void turn() throws IOException {
        select(loop, selector);
        for (SelectionKey key : selector.selectedKeys()) {
            if (key.attachment() instanceof Connection connection) {
                connection.ready();
            } else {
                accept(key);
            }
        }
        selector.selectedKeys().clear();
        runDue(loop, MAX_RUN);
    }

    private void accept(SelectionKey key) {
        try {
            SocketChannel channel;
            for (int n = 0; n < MAX_ACCEPTED && (channel = acceptor.accept()) != null; n++) {
                admit(channel);
            }
        } catch (IOException e) {
            // Perhaps no file descriptor is free. The acceptor stays ready, so to try at once would be a busy loop.
            key.interestOps(0);
            loop.after(AFTER_FAILURE, () -> key.interestOps(SelectionKey.OP_ACCEPT));
        }
    }

    private void admit(SocketChannel channel) {
        try {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, 0);
            key.attach(new Connection(key));
        } catch (IOException | RuntimeException e) {
            closeQuietly(channel);
        }
    }

    private static void closeQuietly(Channel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It is gone all the same.
            return;
        }
    }

    /** A peer, and the timers that watch it. */
    final class Connection {
        private final SelectionKey key;
        private final Lines lines;
        private final Timer idle;
        private final Set<Request> open = new HashSet<>();
        private long heardAt = System.nanoTime();

        private Connection(SelectionKey key) {
            this.key = key;
            this.lines = new Lines(key);
            this.idle = loop.after(idleTimeout, this::silent);
        }

        private void ready() {
            try {
                if (!lines.ready(this::received)) {
                    close();
                }
            } catch (IOException | RuntimeException e) {
                close();
            }
        }

        private void received(String line) throws IOException {
            heard(this);
            String[] words = line.split(" ");
            if (words.length != 2) {
                throw new IOException("no request: " + line);
            }
            open.add(new Request(this, words[0], Long.parseLong(words[1])));
            lines.hold(open.size() >= MAX_OPEN_REQUESTS);
        }

        private void silent() {
            if (lines.isHeld()) {
                idle.reset(idleTimeout); // there may be something that was not read
                return;
            }
            if (!lines.isBlocked()) {
                ready(); // what has come since the selector was asked counts
            }
            if (!idle.isPending() && key.isValid()) {
                lost(this, System.nanoTime() - heardAt);
                close();
            }
        }

        private void ended(Request request) {
            open.remove(request);
            if (lines.isHeld() && key.isValid()) {
                lines.hold(open.size() >= MAX_OPEN_REQUESTS);
            }
        }

        private void answer(String line) {
            try {
                lines.write(line);
            } catch (IOException | RuntimeException e) {
                close();
            }
        }

        private void close() {
            idle.cancel();
            List.copyOf(open).forEach(Request::end);
            closeQuietly(key.channel());
        }
    }

    /** Ends when its work is done or its time is up, whichever comes first. */
    private final class Request {
        private final Connection from;
        private final Timer work;
        private final Timer deadline;

        Request(Connection from, String name, long millis) {
            this.from = from;
            this.work = loop.after(millis, TimeUnit.MILLISECONDS, () -> answer(name + " ok"));
            this.deadline = loop.after(requestLimit, () -> answer(name + " late"));
        }

        private void answer(String line) {
            end();
            from.answer(line);
        }

        void end() {
            work.stop();
            deadline.stop();
            from.ended(this);
        }
    }

    // ---- what one may want to measure ----

    void select(TimerLoop loop, Selector selector) throws IOException {
        loop.select(selector);
    }

    int runDue(TimerLoop loop, int limit) {
        return loop.runDue(limit);
    }

    /** A message has come: the connection may be silent for the whole time again. */
    void heard(Connection connection) {
        connection.heardAt = System.nanoTime();
        connection.idle.reset(idleTimeout);
    }

    /** An idle connection is about to be closed. */
    void lost(Connection connection, long silentNanos) {}
}
