package io.pendula.examples;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ManualClock;
import io.pendula.Ticker;
import io.pendula.TimerScheduler;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples do what the README says of them. */
@Timeout(60)
class ExamplesTest {
    private static final Duration LIMIT = ofSeconds(5);

    private final ManualClock clock = new ManualClock();
    private final TimerScheduler timers = TimerScheduler.builder().clock(clock).build();

    @AfterEach
    void close() {
        timers.close();
    }

    @Test
    void requestTimeout_noAnswer_failsAtTheLimit() {
        CompletableFuture<String> request = RequestTimeout.within(LIMIT, new CompletableFuture<>(), timers);
        clock.advance(LIMIT.minusNanos(1));
        assertFalse(request.isDone());
        clock.advance(ofNanos(1));
        CompletionException e = assertThrows(CompletionException.class, request::join);
        assertInstanceOf(TimeoutException.class, e.getCause());
        assertEquals(0, timers.pending());
    }

    @Test
    void requestTimeout_answerInTime_stopsTheTimer() {
        CompletableFuture<String> request = RequestTimeout.within(LIMIT, new CompletableFuture<>(), timers);
        clock.advance(LIMIT.minusNanos(1));
        request.complete("answer");
        assertEquals(0, timers.pending());
        assertEquals(0, clock.advance(LIMIT));
        assertEquals("answer", request.join());
    }

    @Test
    void requestTimeout_answeredBefore_leavesNoTimer() {
        RequestTimeout.within(LIMIT, CompletableFuture.completedFuture("answer"), timers);
        assertEquals(0, timers.pending());
    }

    @Test
    void heartbeat_messagesInTime_keepThePeer() {
        AtomicInteger lost = new AtomicInteger();
        try (Heartbeat peer = new Heartbeat(timers, LIMIT, lost::incrementAndGet)) {
            for (int i = 0; i < 10; i++) {
                clock.advance(LIMIT.minusNanos(1));
                peer.heard();
            }
            assertEquals(0, lost.get());
            clock.advance(LIMIT.minusNanos(1));
            assertEquals(0, lost.get());
            clock.advance(ofNanos(1));
            assertEquals(1, lost.get());
        }
    }

    @Test
    void heartbeat_messageAfterLoss_watchesAgain() {
        AtomicInteger lost = new AtomicInteger();
        try (Heartbeat peer = new Heartbeat(timers, LIMIT, lost::incrementAndGet)) {
            clock.advance(LIMIT);
            peer.heard();
            clock.advance(LIMIT);
            assertEquals(2, lost.get());
        }
    }

    @Test
    void heartbeat_closed_tellsNothing() {
        AtomicInteger lost = new AtomicInteger();
        new Heartbeat(timers, LIMIT, lost::incrementAndGet).close();
        clock.advance(LIMIT.multipliedBy(2));
        assertEquals(0, lost.get());
    }

    @Test
    void heartbeat_messageAfterClose_isRefusedAndTellsNothing() {
        AtomicInteger lost = new AtomicInteger();
        Heartbeat peer = new Heartbeat(timers, LIMIT, lost::incrementAndGet);
        peer.close();
        assertThrows(IllegalStateException.class, peer::heard);
        assertEquals(0, timers.pending());
        clock.advance(LIMIT.multipliedBy(2));
        assertEquals(0, lost.get());
    }

    @Test
    void metricsTicker_eachPeriod_flushesWhatWasCounted() {
        LongAdder requests = new LongAdder();
        List<Long> flushed = new ArrayList<>();
        try (Ticker flush = MetricsTicker.flushing(requests, ofSeconds(1), flushed::add, timers)) {
            requests.add(3);
            clock.advance(ofSeconds(1).minusNanos(1));
            assertEquals(List.of(), flushed);
            clock.advance(ofNanos(1));
            clock.advance(ofSeconds(1));
            requests.add(4);
            clock.advance(ofSeconds(1));
            assertEquals(List.of(3L, 0L, 4L), flushed);
            assertEquals(0, flush.missed());
        }
        assertEquals(0, clock.advance(ofSeconds(1)));
    }

    @Test
    void eachBeat_realTime_neverEarly() throws InterruptedException {
        Duration period = ofMillis(2);
        try (TimerScheduler real = TimerScheduler.builder().workers(1).build()) {
            long start = System.nanoTime();
            List<Duration> beats = new ArrayList<>();
            MetricsTicker.eachBeat(real, period, 5, () -> beats.add(ofNanos(System.nanoTime() - start)));
            assertEquals(5, beats.size());
            for (int i = 0; i < beats.size(); i++) {
                Duration due = period.multipliedBy(i + 1);
                assertTrue(beats.get(i).minus(due).compareTo(ZERO) >= 0, "beat " + i + " came at " + beats.get(i));
            }
            assertEquals(0, real.pending());
        }
    }

    @Test
    void requestTimeout_main_showsBothEnds() throws Exception {
        assertEquals(List.of("answered: 42", "silent: no answer within 50 ms"),
                printedBy(() -> RequestTimeout.main(new String[0])));
    }

    @Test
    void heartbeat_main_losesThePeerInTheEnd() throws Exception {
        assertEquals(List.of("five messages heard", "peer lost: silent for 250 ms"),
                printedBy(() -> Heartbeat.main(new String[0])));
    }

    @Test
    void metricsTicker_main_flushesAll() throws Exception {
        List<String> lines = printedBy(() -> MetricsTicker.main(new String[0]));
        assertEquals(1, lines.size());
        assertTrue(lines.get(0).startsWith("flushed 20 requests"), lines.get(0));
    }

    @Test
    void polling_onAView_asksUntilThereIsAnAnswer() {
        AtomicInteger questions = new AtomicInteger();
        CompletableFuture<String> answer = Polling.poll(timers.asScheduledExecutorService(), 10,
                () -> questions.incrementAndGet() < 5 ? Optional.<String>empty() : Optional.of("42"));
        clock.advance(ofMillis(39));
        assertEquals(4, questions.get());
        assertFalse(answer.isDone());
        clock.advance(ofMillis(1));
        assertEquals("42", answer.join());
        assertEquals(0, timers.pending());
    }

    @Test
    void polling_sourceThrows_failsAndAsksNoMore() {
        AtomicInteger questions = new AtomicInteger();
        IllegalStateException e = new IllegalStateException("meant");
        CompletableFuture<String> answer = Polling.poll(timers.asScheduledExecutorService(), 10, () -> {
            questions.incrementAndGet();
            throw e;
        });
        clock.advance(ofMillis(100));
        assertTrue(answer.isDone());
        assertEquals(e, assertThrows(CompletionException.class, answer::join).getCause());
        assertEquals(1, questions.get());
        assertEquals(0, timers.pending());
    }

    @Test
    void polling_main_getsTheAnswer() throws Exception {
        assertEquals(List.of("answer: 42 to question 5"), printedBy(() -> Polling.main(new String[0])));
    }

    @Test
    void echoLoop_main_isEchoedThenClosedForItsSilence() throws Exception {
        assertEquals(List.of("heard: 123", "closed after 200 ms of silence"),
                printedBy(() -> EchoLoop.main(new String[0])));
    }

    /** Both are woken for one peer, and one of them gets it. */
    @Test
    void echoLoop_twoServeOneSocket_bothServeOn() throws Exception {
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            List<Thread> loops = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Thread loop = new Thread(() -> {
                    try (Selector selector = Selector.open()) {
                        EchoLoop.serve(server, selector, ofSeconds(30));
                    } catch (Throwable e) {
                        thrown.add(e);
                    }
                }, "echo " + i);
                loop.start();
                loops.add(loop);
            }
            for (int i = 0; i < 300; i++) {
                try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                    client.write(ByteBuffer.wrap(new byte[] {7}));
                    assertEquals(1, client.read(ByteBuffer.allocate(1)));
                }
            }
            loops.forEach(Thread::interrupt);
            for (Thread loop : loops) {
                loop.join();
            }
        }
        assertEquals(List.of(), thrown);
    }

    private interface Program {
        void run() throws Exception;
    }

    private static List<String> printedBy(Program program) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream capture = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(capture);
            program.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
