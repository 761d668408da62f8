package io.pendula.demonstrations;

import io.pendula.Timer;
import io.pendula.TimerHandle;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP server of several threads, each with its own selector and timers. Together they are one scheduler, which has no
 * thread else. One accepts; connections go to all in turn, and each is served, and its idle timer run, by one thread.
 *
 * <p>Whatever a reactor shall serve moves in by a timer that is due at once, and is served by the reactor that runs it:
 * mostly the one that was chosen, but if that one has just gone, the one that got its timers. So nothing is lost on the
 * way. A reactor that retires gives all that it serves to others in this manner; deadlines stay as they were.
 *
 * <p>Each line is answered with the name of the reactor that has read it. To see it at work:
 * {@code java -cp demonstrations/target/demonstrations.jar io.pendula.demonstrations.MultiReactor}
 */
public final class MultiReactor implements AutoCloseable {
    private static final int MAX_ACCEPTED = 64;
    private static final int MAX_RUN = 256;
    private static final Duration AFTER_FAILURE = Duration.ofMillis(100);

    private final TimerScheduler timers = TimerScheduler.builder().name("reactors").workers(0).build();
    private final Duration idleTimeout;
    private final List<Reactor> reactors = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    /** All that are open, also those that are on their way from one reactor to another. */
    private final Set<Guest> guests = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Serves from now on. Closes the acceptor, which is bound already, when it is closed itself. */
    MultiReactor(int threads, ServerSocketChannel acceptor, Duration idleTimeout) throws IOException {
        this.idleTimeout = idleTimeout;
        for (int i = 0; i < threads; i++) {
            reactors.add(new Reactor("reactor-" + i));
        }
        acceptor.configureBlocking(false);
        for (Reactor r : reactors) {
            r.start();
            r.loop.join();
        }
        reactors.get(0).take(new Acceptor(acceptor));
    }

    TimerScheduler timers() {
        return timers;
    }

    TimerLoop loop(int reactor) {
        return reactors.get(reactor).loop.join();
    }

    /** Returns when the reactor has given all its connections and timers to others, and its thread has ended. */
    void retire(int reactor) throws InterruptedException {
        reactors.get(reactor).retire();
        reactors.get(reactor).join();
    }

    /** Closes all connections and waits for the threads; not to be called by one of them. */
    @Override
    public void close() {
        closed = true;
        reactors.forEach(Reactor::retire);
        boolean interrupted = false;
        for (Reactor r : reactors) {
            while (r.isAlive()) {
                try {
                    r.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        guests.forEach(Guest::close);
        timers.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends a guest to the next reactor that takes it. */
    private void assign(Guest guest) {
        for (int i = 0; i < reactors.size() && !closed; i++) {
            Reactor next = reactors.get(Math.floorMod(turn.getAndIncrement(), reactors.size()));
            if (!next.retired && next.take(guest)) {
                return;
            }
        }
        guest.close();
    }

    /** One thread, its selector and its timers. */
    private final class Reactor extends Thread {
        private final Selector selector = Selector.open();
        private final CompletableFuture<TimerLoop> loop = new CompletableFuture<>();
        private volatile boolean retired;

        Reactor(String name) throws IOException {
            super(name);
        }

        /** Any thread may call this. False if this reactor takes nobody any more. */
        boolean take(Guest guest) {
            guests.add(guest);
            try {
                loop.join().after(0, TimeUnit.NANOSECONDS, new Arrival(guest));
                return true;
            } catch (RejectedExecutionException e) {
                return false;
            }
        }

        /** Any thread may call this. */
        void retire() {
            retired = true;
            selector.wakeup();
        }

        @Override
        public void run() {
            try (selector; TimerLoop attached = timers.attach(selector::wakeup)) {
                loop.complete(attached);
                try {
                    while (!retired) {
                        attached.select(selector);
                        selector.selectedKeys().forEach(key -> ((Guest) key.attachment()).ready());
                        selector.selectedKeys().clear();
                        attached.runDue(MAX_RUN);
                    }
                } finally {
                    leave();
                    for (TimerHandle unfired : attached.detach()) {
                        if (unfired.task() instanceof Arrival late) {
                            assign(late.guest()); // it was on its way here
                        }
                    }
                }
            } catch (IOException e) {
                throw new IllegalStateException("the selector has failed", e); // no connection does that
            }
        }

        private void leave() {
            List<Guest> all = new ArrayList<>();
            for (SelectionKey key : selector.keys()) {
                if (key.isValid()) {
                    Guest guest = (Guest) key.attachment();
                    guest.leave();
                    all.add(guest);
                }
            }
            all.forEach(MultiReactor.this::assign); // from now on they may be at work elsewhere
        }
    }

    /** Runs on the loop of the reactor that takes the guest. */
    private record Arrival(Guest guest) implements Runnable {
        @Override
        public void run() {
            guest.moveTo((Reactor) Thread.currentThread());
        }
    }

    /** A channel that one reactor at a time serves; all methods but {@code close} are for its thread. */
    private abstract class Guest {
        final SelectableChannel channel;
        Reactor host;
        SelectionKey key;

        Guest(SelectableChannel channel) {
            this.channel = channel;
        }

        final void moveTo(Reactor reactor) {
            host = reactor;
            try {
                key = channel.register(reactor.selector, 0, this);
                arrived(reactor.loop.join());
            } catch (IOException | RuntimeException e) {
                close();
            }
        }

        abstract void arrived(TimerLoop loop);

        abstract void ready();

        /** Takes its timers with it. */
        void leave() {
            key.cancel();
        }

        void close() {
            guests.remove(this);
            try {
                channel.close();
            } catch (IOException e) {
                // It is gone all the same.
                return;
            }
        }
    }

    private final class Acceptor extends Guest {
        private final ServerSocketChannel acceptor;
        private Timer pause;

        Acceptor(ServerSocketChannel acceptor) {
            super(acceptor);
            this.acceptor = acceptor;
        }

        @Override
        void arrived(TimerLoop loop) {
            listen();
            pause = loop.after(AFTER_FAILURE, this::listen);
            pause.stop();
        }

        private void listen() {
            key.interestOps(SelectionKey.OP_ACCEPT);
        }

        @Override
        void ready() {
            try {
                SocketChannel accepted;
                for (int n = 0; n < MAX_ACCEPTED && (accepted = acceptor.accept()) != null; n++) {
                    accepted.configureBlocking(false);
                    assign(new Connection(accepted));
                }
            } catch (IOException e) {
                // Perhaps no file descriptor is free. It stays ready, so to try at once would be a busy loop.
                key.interestOps(0);
                pause.reset(AFTER_FAILURE);
            }
        }

        @Override
        void leave() {
            pause.cancel();
            super.leave();
        }
    }

    private final class Connection extends Guest {
        private Lines lines;
        private Timer idle;
        private long heardAt = System.nanoTime();

        Connection(SocketChannel channel) {
            super(channel);
        }

        @Override
        void arrived(TimerLoop loop) {
            if (lines == null) {
                lines = new Lines(key);
            } else {
                lines.moveTo(key);
            }
            idle = loop.after(idleTimeout.minusNanos(System.nanoTime() - heardAt), this::silent);
        }

        @Override
        void ready() {
            try {
                if (!lines.ready(this::received)) {
                    close();
                }
            } catch (IOException | RuntimeException e) {
                close();
            }
        }

        private void received(String line) throws IOException {
            heardAt = System.nanoTime();
            idle.reset(idleTimeout);
            lines.write(host.getName());
        }

        private void silent() {
            if (!lines.isBlocked()) {
                ready(); // what has come since the selector was asked counts
            }
            if (!idle.isPending()) {
                close();
            }
        }

        @Override
        void leave() {
            idle.cancel();
            super.leave();
        }

        @Override
        void close() {
            if (idle != null) {
                idle.cancel();
            }
            super.close();
        }
    }

    // ---- to see it at work ----

    /**
     * Opens some connections, retires a reactor, and shows who serves them before and after.
     *
     * @param args none
     * @throws IOException if the network fails
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        int threads = Math.max(2, Runtime.getRuntime().availableProcessors());
        Duration idleTimeout = Duration.ofSeconds(2);
        ServerSocketChannel acceptor = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        List<Socket> clients = new ArrayList<>();
        try (MultiReactor server = new MultiReactor(threads, acceptor, idleTimeout)) {
            SocketAddress address = acceptor.getLocalAddress();
            for (int i = 0; i < 100; i++) {
                Socket client = new Socket();
                client.connect(address);
                clients.add(client);
            }
            System.out.println("served by " + servedBy(clients));
            server.retire(0);
            System.out.println("reactor-0 has retired, now by " + servedBy(clients));
            long start = System.nanoTime();
            for (Socket client : clients) {
                if (client.getInputStream().read() != -1) {
                    throw new IOException("an idle connection got something else than its end");
                }
            }
            System.out.println("all were idle, and closed "
                    + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms later");
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    private static Map<String, Integer> servedBy(List<Socket> clients) throws IOException {
        Map<String, Integer> names = new TreeMap<>();
        for (Socket client : clients) {
            client.getOutputStream().write('\n');
        }
        for (Socket client : clients) {
            String name = new BufferedReader(
                    new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII)).readLine();
            names.merge(String.valueOf(name), 1, Integer::sum);
        }
        return names;
    }
}
