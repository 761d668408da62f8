package io.pendula.demonstrations;

import static io.pendula.Figures.figure;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several loops form one scheduler: each connection belongs to one of them, and moves when that one goes. */
@Timeout(60)
class MultiReactorTest {
    private static final Duration NEVER = Duration.ofDays(1);
    private static final int REACTORS = 3;

    private final List<Client> clients = new ArrayList<>();
    private MultiReactor server;
    private InetSocketAddress address;

    private void serve(Duration idleTimeout) throws IOException {
        ServerSocketChannel acceptor = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        address = (InetSocketAddress) acceptor.getLocalAddress();
        server = new MultiReactor(REACTORS, acceptor, idleTimeout);
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        for (Client c : clients) {
            assertNull(c.answer(), "the end, and nothing else");
            c.socket.close();
        }
        assertEquals(0, server.timers().pending());
        assertEquals(Set.of(), threads("reactor-"));
        assertEquals(Set.of(), threads("pendula-reactors"));
    }

    private static Set<String> threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith(prefix)).collect(Collectors.toSet());
    }

    private final class Client {
        final Socket socket = new Socket(address.getAddress(), address.getPort());
        final BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
        long askedAt;
        String servedBy;

        Client() throws IOException {
            socket.setSoTimeout(30_000);
            socket.setTcpNoDelay(true);
            clients.add(this);
        }

        String answer() throws IOException {
            return in.readLine();
        }

        String ask() throws IOException {
            askedAt = System.nanoTime();
            socket.getOutputStream().write('\n');
            return answer();
        }

        /** When the server closed the connection. */
        CompletableFuture<Long> end() {
            CompletableFuture<Long> end = new CompletableFuture<>();
            new Thread(() -> {
                try {
                    assertNull(answer());
                    end.complete(System.nanoTime());
                } catch (IOException | RuntimeException | AssertionError e) {
                    end.completeExceptionally(e);
                }
            }).start();
            return end;
        }
    }

    private List<Client> connect(int n) throws IOException {
        List<Client> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Client c = new Client();
            c.servedBy = c.ask();
            assertNotNull(c.servedBy);
            all.add(c);
        }
        return all;
    }

    private static Set<String> reactorsOf(List<Client> clients) {
        return clients.stream().map(c -> c.servedBy).collect(Collectors.toSet());
    }

    @Test
    void connections_many_areSpreadAndEachIsServedByOneThread() throws Exception {
        serve(NEVER);
        List<Client> all = connect(60);
        assertEquals(Set.of("reactor-0", "reactor-1", "reactor-2"), reactorsOf(all));
        for (int round = 0; round < 20; round++) {
            for (Client c : all) {
                assertEquals(c.servedBy, c.ask());
            }
        }
    }

    @Test
    void threads_whileServing_areTheReactorsAlone() throws Exception {
        serve(NEVER);
        connect(3);
        assertEquals(Set.of("reactor-0", "reactor-1", "reactor-2"), threads("reactor-"));
        assertEquals(Set.of(), threads("pendula-reactors"));
        assertEquals(3, server.timers().pending(), "one idle timer each");
    }

    @Test
    void idle_connections_areClosedInTimeAndNoOthers() throws Exception {
        Duration timeout = Duration.ofMillis(1500);
        serve(timeout);
        List<Client> live = connect(30);
        List<Client> idle = connect(30);
        List<CompletableFuture<Long>> ends = new ArrayList<>();
        idle.forEach(c -> ends.add(c.end()));
        while (!ends.stream().allMatch(CompletableFuture::isDone)) {
            for (Client c : live) {
                long before = c.askedAt;
                String by;
                try {
                    by = c.ask();
                } catch (IOException e) {
                    by = e.toString();
                }
                assumeTrue(System.nanoTime() - before < timeout.toNanos(), "the machine held this test up");
                assertEquals(c.servedBy, by);
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        long latest = 0;
        for (int i = 0; i < idle.size(); i++) {
            long silent = ends.get(i).get() - idle.get(i).askedAt;
            assertTrue(silent >= timeout.toNanos(), "closed after " + silent + " ns");
            latest = Math.max(latest, silent - timeout.toNanos());
        }
        figure("%d reactors, idle connections closed at most %.1f ms late", REACTORS, latest / 1e6);
        assertTrue(latest < TimeUnit.SECONDS.toNanos(10), "closed " + latest + " ns late");
    }

    @Test
    void retire_oneAfterTheOther_allConnectionsAreServedOn() throws Exception {
        serve(NEVER);
        List<Client> all = new ArrayList<>(connect(30));
        for (int gone = 0; gone < REACTORS - 1; gone++) {
            server.retire(gone);
            Set<String> left = new HashSet<>(Set.of("reactor-1", "reactor-2"));
            left.remove("reactor-" + gone);
            for (Client c : all) {
                String by = c.ask();
                assertTrue(left.contains(by), by);
                assertTrue(by.equals(c.servedBy) || c.servedBy.equals("reactor-" + gone), "moved though not needed");
                c.servedBy = by;
            }
            all.addAll(connect(10)); // the one that accepts was the first to go
            assertEquals(all.size(), server.timers().pending(), "one idle timer each");
        }
    }

    @Test
    void retire_whileClientsCome_losesNobodyOnTheWay() throws Exception {
        for (int round = 0; round < 10; round++) {
            serve(NEVER);
            int gone = round % REACTORS;
            CountDownLatch some = new CountDownLatch(20);
            CompletableFuture<Void> coming = CompletableFuture.runAsync(() -> {
                try {
                    for (int i = 0; i < 60; i++) {
                        connect(1);
                        some.countDown();
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertTrue(some.await(30, TimeUnit.SECONDS));
            server.retire(gone);
            coming.get(30, TimeUnit.SECONDS);
            for (Client c : clients) {
                assertNotEquals("reactor-" + gone, c.ask());
            }
            close();
            clients.clear();
        }
    }

    @Test
    void retire_idleConnections_keepTheirDeadlines() throws Exception {
        Duration timeout = Duration.ofSeconds(3);
        serve(timeout);
        List<Client> idle = connect(30);
        List<CompletableFuture<Long>> ends = new ArrayList<>();
        idle.forEach(c -> ends.add(c.end()));
        TimeUnit.MILLISECONDS.sleep(2400); // a park would return at once for a permit that is left
        server.retire(0);
        server.retire(1);
        long moved = System.nanoTime();
        for (int i = 0; i < idle.size(); i++) {
            long end = ends.get(i).get(30, TimeUnit.SECONDS);
            assertTrue(end - idle.get(i).askedAt >= timeout.toNanos(), "closed early");
            if (!idle.get(i).servedBy.equals("reactor-2")) {
                assertTrue(end - moved < timeout.toNanos(), "the time began anew with the move");
            }
        }
    }

    @Test
    void retire_theLastOne_closesAllConnections() throws Exception {
        serve(NEVER);
        connect(10);
        for (int i = 0; i < REACTORS; i++) {
            server.retire(i);
        }
        for (Client c : clients) {
            assertNull(c.answer());
        }
        assertThrows(IOException.class, Client::new);
    }

    @Test
    void retire_allAtOnce_leavesNobodyOnTheWay() throws Exception {
        for (int round = 0; round < 20; round++) {
            serve(NEVER);
            connect(12);
            CompletableFuture<?>[] gone = new CompletableFuture<?>[REACTORS];
            for (int i = 0; i < REACTORS; i++) {
                int reactor = i;
                gone[i] = CompletableFuture.runAsync(() -> retire(reactor));
            }
            CompletableFuture.allOf(gone).get(30, TimeUnit.SECONDS);
            for (Client c : clients) {
                assertNull(c.answer());
            }
            close();
            clients.clear();
        }
    }

    private void retire(int reactor) {
        try {
            server.retire(reactor);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void brokenPeers_ofAllKinds_harmNobodyElse() throws Exception {
        serve(NEVER);
        List<Client> good = connect(REACTORS);
        for (int i = 0; i < 30; i++) {
            Socket reset = new Socket(address.getAddress(), address.getPort());
            reset.getOutputStream().write("abc\n".getBytes(US_ASCII));
            reset.setSoLinger(true, 0);
            reset.close();
            Socket endless = new Socket(address.getAddress(), address.getPort());
            endless.getOutputStream().write("x".repeat(256).getBytes(US_ASCII));
            assertEquals(-1, endless.getInputStream().read());
            endless.close();
        }
        for (Client c : good) {
            assertEquals(c.servedBy, c.ask());
        }
    }
}
