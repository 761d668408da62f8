package io.pendula.demonstrations;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

/**
 * Opens many connections to an {@link IdleTimeoutServer}, keeps some of them alive with messages, and watches when
 * which of them is closed. It times everything itself and uses no timers of the library, as it is the judge.
 *
 * <p>A request's name is the time at which it was sent, so each answer tells until when, at least, the server has heard
 * from this connection: at most then may the idle time have begun.
 */
final class LoadClient {
    /** How many may be without an answer yet. */
    private static final int MAX_BEGINNERS = 64;
    private static final long CONNECT_GAP_NANOS = TimeUnit.SECONDS.toNanos(1) / 4000;
    /** Each so many messages of a connection one asks for more work than there is time for. */
    private static final int SLOW_EVERY = 4;
    private static final int SLOW_LIMITS = 3;
    private static final String QUICK = "q";
    private static final String SLOW = "s";
    private static final long STATUS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * What to do.
     *
     * @param connections how many to open, of which {@code alive} send messages, so many per second all together
     * @param duration for how long they do
     * @param idleTimeout the server's
     * @param requestLimit the server's
     * @param patience how long to wait at most for the last connection to be closed
     */
    record Plan(SocketAddress address, int connections, int alive, int messagesPerSecond, Duration duration,
            Duration idleTimeout, Duration requestLimit, Duration patience) {}

    /** Hears once a second how it goes. */
    interface Watcher {
        void see(Duration elapsed, int open, long messages);
    }

    /** What came of it. What the second part counts should be zero. */
    static final class Outcome {
        int opened;
        int closed;
        long messages;
        /** From the first connection to the last message. */
        long sendingNanos;
        long inTime;
        long late;
        /** Each closing, from when the last message was sent, beyond the timeout. */
        final Histogram lateness = new Histogram(TimeUnit.MINUTES.toNanos(10), 3);
        /** What the machine has withheld from the client. */
        final Withheld withheld = new Withheld();

        /** Closed sooner than the timeout after a message that the server had heard. */
        int early;
        /** Closed though its messages were never further apart than the timeout. */
        int killed;
        /** Closed, though it should live, as this very client was held up for longer than the timeout. */
        int neglected;
        int leftOpen;
        int wrong;
        int broken;
        String firstFailure = "";
    }

    private final Plan plan;
    private final Watcher watcher;
    private final Outcome outcome = new Outcome();
    private final List<Peer> peers = new ArrayList<>();
    private final long limitNanos;
    private final long timeoutNanos;
    private Selector selector;
    private int beginners;
    private boolean allIdle;

    LoadClient(Plan plan, Watcher watcher) {
        this.plan = plan;
        this.watcher = watcher;
        this.limitNanos = plan.requestLimit().toNanos();
        this.timeoutNanos = plan.idleTimeout().toNanos();
    }

    /** Returns when the server has closed all connections, or patience has ended. */
    Outcome run() throws IOException {
        try (Selector s = Selector.open()) {
            selector = s;
            try {
                load();
            } finally {
                for (Peer p : peers) {
                    p.channel.close();
                }
            }
        }
        outcome.leftOpen = outcome.opened - outcome.closed;
        return outcome;
    }

    private void load() throws IOException {
        long start = System.nanoTime();
        long gap = TimeUnit.SECONDS.toNanos(1) / Math.max(1, plan.messagesPerSecond());
        long nextStatus = start + STATUS_NANOS;
        long nextConnect = start;
        long nextMessage = 0;
        long end = 0;
        int turn = 0;
        while (!allIdle || outcome.closed < outcome.opened) {
            long now = System.nanoTime();
            if (now - nextStatus >= 0) {
                nextStatus += STATUS_NANOS;
                watcher.see(Duration.ofNanos(now - start), outcome.opened - outcome.closed, outcome.messages);
            }
            while (peers.size() < plan.connections() && beginners < MAX_BEGINNERS && now - nextConnect >= 0) {
                connect();
                nextConnect += CONNECT_GAP_NANOS;
            }
            if (end == 0 && peers.size() == plan.connections() && beginners == 0) {
                end = now + plan.duration().toNanos();
            } else if (end != 0 && now - end >= 0 && allIdle) {
                return;
            } else if (end != 0 && now - end >= 0) {
                allIdle = true;
                outcome.sendingNanos = now - start;
                end += plan.patience().toNanos();
            }
            if (nextMessage == 0 && peers.size() - beginners >= plan.alive()) { // the first ones are those that live
                nextMessage = now;
            }
            while (nextMessage != 0 && !allIdle && plan.alive() > 0 && now - nextMessage >= 0) {
                peers.get(turn++ % plan.alive()).send();
                nextMessage += gap;
            }
            outcome.withheld.waits();
            selector.select(1);
            outcome.withheld.runs();
            selector.selectedKeys().forEach(key -> ((Peer) key.attachment()).ready());
            selector.selectedKeys().clear();
        }
    }

    private void connect() throws IOException {
        Peer peer = new Peer(SocketChannel.open(), peers.size() < plan.alive());
        peers.add(peer);
        beginners++;
        peer.connect();
    }

    private final class Peer {
        final SocketChannel channel;
        private final boolean shallLive;
        private SelectionKey key;
        /** Once connected. */
        private Lines lines;
        private int sent;
        private long sentAt;
        private long widestGap;
        /** When the last message was sent that was answered, or 0. */
        private long heardAt;

        Peer(SocketChannel channel, boolean shallLive) {
            this.channel = channel;
            this.shallLive = shallLive;
        }

        void connect() throws IOException {
            channel.configureBlocking(false);
            key = channel.register(selector, SelectionKey.OP_CONNECT, this);
            sentAt = System.nanoTime(); // the server's patience may begin before the first message
            if (channel.connect(plan.address())) {
                ready();
            }
        }

        void ready() {
            try {
                if (lines == null) {
                    connected();
                } else if (!lines.ready(this::answered)) {
                    gone();
                }
            } catch (IOException | RuntimeException e) {
                outcome.broken++;
                outcome.firstFailure = outcome.firstFailure.isEmpty() ? e.toString() : outcome.firstFailure;
                gone();
            }
        }

        private void connected() throws IOException {
            channel.finishConnect();
            lines = new Lines(key);
            outcome.opened++;
            ask();
        }

        void send() {
            if (lines != null && channel.isOpen()) {
                try {
                    ask();
                } catch (IOException e) {
                    // Closed by the server: that is seen when the end of the stream is read.
                    return;
                }
            }
        }

        private void ask() throws IOException {
            long before = System.nanoTime();
            boolean both = ++sent % SLOW_EVERY == 0;
            lines.write((both ? SLOW + before + " " + SLOW_LIMITS * limitNanos / 1_000_000 + '\n' : "")
                    + QUICK + before + " 0");
            widestGap = Math.max(widestGap, System.nanoTime() - sentAt);
            sentAt = before;
            outcome.messages += both ? 2 : 1;
        }

        private void answered(String line) {
            String[] words = line.split(" ");
            long asked = Long.parseLong(words[0].substring(1));
            if (words[0].startsWith(QUICK) && words[1].equals("ok")) {
                outcome.inTime++;
                if (heardAt == 0) {
                    beginners--;
                }
                heardAt = asked;
            } else if (words[0].startsWith(SLOW) && words[1].equals("late")
                    && System.nanoTime() - asked >= limitNanos) {
                outcome.late++;
            } else {
                outcome.wrong++;
            }
        }

        private void gone() {
            long now = System.nanoTime();
            if (!channel.isOpen()) {
                return;
            }
            closeQuietly();
            if (heardAt == 0) {
                beginners--;
            }
            if (lines == null) {
                return;
            }
            outcome.closed++;
            long late = now - heardAt - timeoutNanos;
            if (heardAt != 0 && late < 0) {
                outcome.early++;
            }
            if (heardAt != 0 && (allIdle || !shallLive)) {
                outcome.lateness.recordValue(Math.max(0, late));
            } else if (Math.max(widestGap, now - sentAt) < timeoutNanos) {
                outcome.killed++;
            } else {
                outcome.neglected++;
            }
        }

        private void closeQuietly() {
            try {
                channel.close();
            } catch (IOException e) {
                // It is gone all the same.
                return;
            }
        }
    }
}
