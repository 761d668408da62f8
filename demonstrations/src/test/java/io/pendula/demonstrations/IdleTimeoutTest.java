package io.pendula.demonstrations;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Figures;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The idle-timeout server keeps its word over real sockets, and its load client would tell if it did not. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class IdleTimeoutTest {
    /** For the test that needs the processors: none of the others runs beside it. */
    static final String QUIET = "a quiet JVM";
    private static final Duration TIMEOUT = Duration.ofMillis(500);
    private static final Duration LIMIT = Duration.ofMillis(100);
    private static final Duration NEVER = Duration.ofDays(1);
    private static final int PATIENCE_MILLIS = 30_000;

    private final TimerScheduler timers = TimerScheduler.builder().name("idle-timeout-test").workers(0).build();
    private final List<Socket> clients = new ArrayList<>();
    private IdleTimeoutServer server;
    private Thread thread;
    private InetSocketAddress address;

    @AfterEach
    void stop() throws Exception {
        for (Socket s : clients) {
            s.close();
        }
        if (server != null) {
            server.close();
            thread.join();
        }
        assertEquals(0, timers.pending());
        timers.close();
    }

    private void serve(Duration idleTimeout, Duration requestLimit) throws IOException {
        ServerSocketChannel acceptor = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        serve(acceptor, new IdleTimeoutServer(timers, acceptor, idleTimeout, requestLimit));
    }

    private void serve(ServerSocketChannel acceptor, IdleTimeoutServer server) throws IOException {
        this.address = (InetSocketAddress) acceptor.getLocalAddress();
        this.server = server;
        this.thread = new Thread(server, "idle-timeout-test");
        thread.start();
    }

    private Socket connect() throws IOException {
        Socket s = new Socket(address.getAddress(), address.getPort());
        s.setSoTimeout(PATIENCE_MILLIS);
        s.setTcpNoDelay(true);
        clients.add(s);
        return s;
    }

    private static void send(Socket s, String text) throws IOException {
        s.getOutputStream().write(text.getBytes(US_ASCII));
    }

    private static BufferedReader reader(Socket s) throws IOException {
        return new BufferedReader(new InputStreamReader(s.getInputStream(), US_ASCII));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertNotBefore(Duration least, long start) {
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertTrue(took.compareTo(least) >= 0, () -> "after " + took + ", but not before " + least);
    }

    // ---- the whole ----

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ_WRITE)
    void demo_thousandsOfConnections_idleOnesAreClosedInTimeAndNoOthers() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = IdleTimeoutDemo.run(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8),
                "--connections 5000 --alive 500 --rate 2000 --timeout 1500 --seconds 3".split(" "));
        String text = out.toString(UTF_8);
        Figures.figure("idle connections of a server with one thread%n%s", text.indent(4));
        assertEquals("", err.toString(UTF_8), text);
        assertEquals(0, status, text);
        assertEquals(text.contains("Only") ? figure("Only", text) : 5000,
                figure("connections closed for silence", text));
        assertTrue(figure("answered in time", text) >= 5000, text);
        assertTrue(figure("not within the deadline", text) > 0, text);
        assertTrue(text.lines().allMatch(line -> line.length() <= 80), text);
    }

    private static int figure(String label, String text) {
        Matcher m = Pattern.compile("(?m)^ *" + label + " +([0-9,]+)").matcher(text);
        assertTrue(m.find(), () -> "no figure '" + label + "' in\n" + text);
        return Integer.parseInt(m.group(1).replace(",", ""));
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void demo_badOptions_areRefused() {
        for (String args : List.of("--connections 0", "--timeout 0", "--rate 1", "--nonsense")) {
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            assertEquals(2, IdleTimeoutDemo.run(new PrintStream(new ByteArrayOutputStream(), true, UTF_8),
                    new PrintStream(err, true, UTF_8), args.split(" ")));
            assertTrue(err.toString(UTF_8).contains(args.split(" ")[0]), () -> err.toString(UTF_8));
        }
    }

    // ---- the judge ----

    private LoadClient.Outcome load(Duration expectedTimeout, Duration expectedLimit) throws IOException {
        return new LoadClient(new LoadClient.Plan(address, 40, 20, 200, Duration.ofMillis(1000), expectedTimeout,
                expectedLimit, Duration.ofSeconds(2)), (elapsed, open, messages) -> {}).run();
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void client_serverKeepsItsWord_hasNothingToObject() throws Exception {
        serve(TIMEOUT, LIMIT);
        LoadClient.Outcome o = load(TIMEOUT, LIMIT);
        assertEquals(40, o.opened);
        assertEquals(40, o.closed);
        assertTrue(o.inTime > 0 && o.late > 0);
        assertTrue(o.messages == o.inTime + o.late || o.neglected > 0);
        assertEquals(0, o.early + o.killed + o.leftOpen + o.wrong + o.broken, o.firstFailure);
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void client_serverClosesTooEarly_noticesIt() throws Exception {
        serve(TIMEOUT.dividedBy(2), LIMIT);
        assertTrue(load(TIMEOUT, LIMIT).early > 0);
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void client_serverForgetsToClose_noticesEach() throws Exception {
        serve(NEVER, LIMIT);
        LoadClient.Outcome o = load(TIMEOUT, LIMIT);
        assertEquals(40, o.leftOpen);
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void client_serverClosesLate_noticesIt() throws Exception {
        serve(TIMEOUT.multipliedBy(2), LIMIT);
        assertTrue(load(TIMEOUT, LIMIT).lateness.getMinValue() >= TIMEOUT.toNanos() * 999 / 1000);
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void client_serverDoesNotReset_noticesThatLiveOnesDie() throws Exception {
        ServerSocketChannel acceptor = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        serve(acceptor, new IdleTimeoutServer(timers, acceptor, TIMEOUT, LIMIT) {
            @Override
            void heard(Connection connection) {}
        });
        LoadClient.Outcome o = load(TIMEOUT, LIMIT);
        assertTrue(o.killed + o.early > 0);
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void client_serverAnswersLateRequests_noticesIt() throws Exception {
        serve(TIMEOUT, NEVER);
        assertNotEquals(0, load(TIMEOUT, LIMIT).wrong);
    }

    // ---- one connection ----

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void request_workDoneInTime_isAnswered() throws Exception {
        serve(NEVER, NEVER);
        Socket s = connect();
        long start = System.nanoTime();
        send(s, "a 50\nb 0\n");
        BufferedReader in = reader(s);
        assertEquals("b ok", in.readLine());
        assertEquals("a ok", in.readLine());
        assertNotBefore(Duration.ofMillis(50), start);
        assertEquals(1, timers.pending(), "the idle timer alone");
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void request_deadlineComesFirst_getsAnErrorAndNoAnswer() throws Exception {
        serve(NEVER, LIMIT);
        Socket s = connect();
        long start = System.nanoTime();
        send(s, "a 200\n");
        BufferedReader in = reader(s);
        assertEquals("a late", in.readLine());
        assertNotBefore(LIMIT, start);
        assertEquals(1, timers.pending(), "the idle timer alone");
        send(s, "b 0\n");
        assertEquals("b ok", in.readLine());
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void line_inPieces_countsWhenItIsComplete() throws Exception {
        serve(NEVER, NEVER);
        Socket s = connect();
        for (String piece : List.of("na", "me ", "0", "\nx", "y 0\nz")) {
            send(s, piece);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5)); // only to make several packets likely
        }
        BufferedReader in = reader(s);
        assertEquals("name ok", in.readLine());
        assertEquals("xy ok", in.readLine());
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void dribble_neverALine_isClosedAsIdle() throws Exception {
        serve(TIMEOUT, NEVER);
        Socket s = connect();
        BufferedReader in = reader(s);
        long start = System.nanoTime();
        send(s, "a 0\n");
        assertEquals("a ok", in.readLine());
        Thread dribble = new Thread(() -> {
            try {
                for (int i = 0; i < 200; i++) {
                    send(s, ".");
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                }
            } catch (IOException e) {
                // The server has closed the connection, as it should.
                return;
            }
        });
        dribble.start();
        try {
            assertNull(in.readLine());
        } catch (IOException e) {
            // A reset, as something was sent that nobody read.
            assertFalse(e instanceof java.net.SocketTimeoutException, "still open");
        }
        assertNotBefore(TIMEOUT, start);
        s.close();
        dribble.join();
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void message_betweenTheLooksAtSocketsAndTimers_keepsTheConnection() throws Exception {
        CountDownLatch due = new CountDownLatch(1);
        CountDownLatch sent = new CountDownLatch(1);
        ServerSocketChannel acceptor = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        serve(acceptor, new IdleTimeoutServer(timers, acceptor, TIMEOUT, NEVER) {
            private long before;
            private long after;

            @Override
            void heard(Connection connection) {
                before = System.nanoTime();
                super.heard(connection);
                after = System.nanoTime();
            }

            @Override
            void select(TimerLoop loop, Selector selector) throws IOException {
                super.select(loop, selector);
                if (before != 0 && System.nanoTime() - before >= TIMEOUT.toNanos() && due.getCount() > 0) {
                    due.countDown();
                    await(sent);
                    while (System.nanoTime() - after < TIMEOUT.toNanos()) {
                        Thread.onSpinWait(); // now the idle timer is due, and nobody has looked at the socket
                    }
                }
            }
        });
        Socket s = connect();
        BufferedReader in = reader(s);
        send(s, "a 0\n");
        assertEquals("a ok", in.readLine());
        await(due);
        long start = System.nanoTime();
        send(s, "b 0\n");
        sent.countDown();
        assertEquals("b ok", in.readLine());
        assertNull(in.readLine());
        assertNotBefore(TIMEOUT, start);
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void brokenPeers_ofAllKinds_harmNobodyElse() throws Exception {
        serve(NEVER, NEVER);
        Socket good = connect();
        BufferedReader in = reader(good);
        for (int i = 0; i < 20; i++) {
            Socket reset = connect();
            send(reset, "r 20\n");
            reset.setSoLinger(true, 0);
            reset.close();
            Socket rude = connect();
            send(rude, "nonsense\n");
            Socket notANumber = connect();
            send(notANumber, "a b\n");
            Socket endless = connect();
            send(endless, "x".repeat(256));
            for (Socket bad : List.of(rude, notANumber, endless)) {
                assertEquals(-1, bad.getInputStream().read());
            }
            Socket brief = connect();
            send(brief, "c 0\n");
            brief.shutdownOutput();
            send(good, "g 30\n");
            assertEquals("g ok", in.readLine());
        }
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30); timers.pending() > 1; ) {
            assertTrue(System.nanoTime() < end, () -> timers.pending() + " timers of connections that are gone");
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void peer_asksWithoutListening_isHeldUpAndLosesNoAnswer() throws Exception {
        serve(NEVER, NEVER);
        String request = "a-rather-long-name-so-that-the-buffers-are-soon-full 0\n";
        ByteBuffer requests = ByteBuffer.wrap(request.repeat(200).getBytes(US_ASCII));
        int asked = 0;
        try (SocketChannel channel = SocketChannel.open()) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, 4096).setOption(StandardSocketOptions.SO_RCVBUF, 4096);
            channel.connect(address);
            channel.configureBlocking(false);
            for (int idle = 0; idle < 100; idle++) {
                while (channel.write(requests) > 0) {
                    idle = 0;
                }
                if (requests.hasRemaining()) {
                    LockSupport.parkNanos(1_000_000);
                } else {
                    asked += 200;
                    requests.rewind();
                }
            }
            int cut = requests.position() % request.length();
            asked += requests.position() / request.length() + (cut == 0 ? 0 : 1);
            assertTrue(timers.pending() < 1000, "the server went on reading");
            // The listener comes back.
            channel.configureBlocking(true);
            Socket s = channel.socket();
            s.setSoTimeout(PATIENCE_MILLIS);
            BufferedReader in = reader(s);
            Thread rest = null;
            if (cut != 0) {
                requests.limit(requests.position() + request.length() - cut);
                rest = new Thread(() -> {
                    try {
                        while (requests.hasRemaining()) {
                            channel.write(requests);
                        }
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                rest.start();
            }
            for (int i = 0; i < asked; i++) {
                assertEquals("a-rather-long-name-so-that-the-buffers-are-soon-full ok", in.readLine());
            }
            if (rest != null) {
                rest.join();
            }
        }
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void requests_manyAtOnce_areAllAnswered() throws Exception {
        serve(NEVER, NEVER);
        Socket s = connect();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            all.append(i).append(" 20\n");
        }
        send(s, all.toString());
        BufferedReader in = reader(s);
        for (int i = 0; i < 1000; i++) {
            assertEquals(i + " ok", in.readLine());
            assertTrue(timers.pending() < 500, "all were read at once");
        }
    }

    @Test
    @ResourceLock(value = QUIET, mode = ResourceAccessMode.READ)
    void close_withOpenConnectionsAndRequests_endsAll() throws Exception {
        serve(NEVER, NEVER);
        Socket s = connect();
        BufferedReader in = reader(s);
        send(s, "a 0\nb 1000000\n");
        assertEquals("a ok", in.readLine());
        server.close();
        thread.join();
        assertNull(in.readLine());
        assertEquals(0, timers.pending());
        assertTrue(timers.toString().contains("0 workers") && !timers.toString().contains("loop"), timers::toString);
    }
}
