package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.engine.Receiver;
import io.pendula.internal.queue.Timeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that wait for firings, and the timers' side, which never waits for them. */
@Timeout(60)
class ReceiverTest {
    private static final long FOR_EVER = Long.MAX_VALUE;

    private final ExecutorService pool = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        pool.shutdownNow();
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** A receiver that is suspended while it takes a firing; it goes on when the latch is opened. */
    private Future<Boolean> suspendReceiver(Receiver signal, CountDownLatch goOn) throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        Future<Boolean> receiver = pool.submit(() -> signal.await(() -> {
            inside.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return true;
        }, FOR_EVER));
        Fixtures.await(inside);
        return receiver;
    }

    @Test
    void run_receiverSuspendedInside_doesNotWaitForIt() throws Exception {
        Receiver signal = new Receiver();
        CountDownLatch goOn = new CountDownLatch(1);
        Future<Boolean> receiver = suspendReceiver(signal, goOn);
        get(pool.submit(signal));
        goOn.countDown();
        assertTrue(get(receiver));
    }

    @Test
    void tickOrDiscard_receiverSuspendedInside_doesNotWaitForIt() throws Exception {
        Receiver.Ticks ticks = new Receiver.Ticks();
        CountDownLatch goOn = new CountDownLatch(1);
        Future<Boolean> receiver = suspendReceiver(ticks, goOn);
        get(pool.submit(() -> {
            ticks.tick(10);
            ticks.tick(20);
            assertEquals(1, ticks.dropped.get());
            ticks.discardBefore(30);
        }));
        assertFalse(ticks.take());
        goOn.countDown();
        assertTrue(get(receiver));
    }

    @Test
    void tick_aroundADiscard_isKeptOrNot() {
        Receiver.Ticks ticks = new Receiver.Ticks();
        ticks.discardBefore(30);
        ticks.tick(29);
        assertFalse(ticks.take());
        ticks.tick(30);
        ticks.discardBefore(20); // a thread that was held up: it does not mean this tick
        assertTrue(ticks.take());
        ticks.tick(29);
        assertFalse(ticks.take());
        ticks.tick(Timeline.NEVER - 1);
        assertTrue(ticks.take());
        assertFalse(ticks.take());
        assertEquals(2, ticks.dropped.get());
        ticks.tick(Timeline.NEVER - 1);
        ticks.discardBefore(Timeline.NEVER);
        assertFalse(ticks.take());
        assertEquals(3, ticks.dropped.get());
    }

    /** The second tick comes as soon as the first is taken, perhaps before its receiver has left the queue. */
    @Test
    void tick_twoReceivers_eachGetsOne() throws Exception {
        for (int round = 0; round < 5_000; round++) {
            Receiver.Ticks ticks = new Receiver.Ticks();
            List<Future<Boolean>> receivers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                receivers.add(pool.submit(() -> ticks.await(ticks::take, FOR_EVER)));
            }
            if (round % 100 == 0) {
                Thread.sleep(1); // both wait, most likely
            }
            ticks.tick(1);
            while (receivers.stream().noneMatch(Future::isDone) && !isTaken(ticks)) {
                Thread.onSpinWait();
            }
            ticks.tick(2);
            for (Future<Boolean> r : receivers) {
                assertTrue(get(r));
            }
            assertEquals(0, ticks.dropped.get());
        }
    }

    /** Takes it and gives it back, if it is there. */
    private static boolean isTaken(Receiver.Ticks ticks) {
        if (ticks.take()) {
            ticks.tick(1);
            return false;
        }
        return true;
    }

    /** The second tick comes while the receiver of the first is in the queue still, and wakes that one once more. */
    @Test
    void tick_firstReceiverHasNotLeftYet_secondGetsIt() throws Exception {
        Receiver.Ticks ticks = new Receiver.Ticks();
        AtomicBoolean first = new AtomicBoolean(true);
        BooleanSupplier taken = () -> {
            boolean got = ticks.take();
            if (got && first.compareAndSet(true, false)) {
                ticks.tick(2);
            }
            return got;
        };
        List<Future<Boolean>> receivers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            CountDownLatch running = new CountDownLatch(1);
            Thread[] thread = new Thread[1];
            receivers.add(pool.submit(() -> {
                thread[0] = Thread.currentThread();
                running.countDown();
                return ticks.await(taken, FOR_EVER);
            }));
            Fixtures.await(running);
            Fixtures.awaitWaiting(thread[0]);
        }
        ticks.tick(1);
        for (Future<Boolean> r : receivers) {
            assertTrue(r.get(LifeFixtures.LOST_SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void tick_firstReceiverIsInterruptedAtThatMoment_anotherGetsIt() throws Exception {
        for (int round = 0; round < 300; round++) {
            Receiver.Ticks ticks = new Receiver.Ticks();
            CountDownLatch running = new CountDownLatch(1);
            Thread[] first = new Thread[1];
            Future<Boolean> interrupted = pool.submit(() -> {
                first[0] = Thread.currentThread();
                running.countDown();
                return ticks.await(ticks::take, FOR_EVER);
            });
            Fixtures.await(running);
            Fixtures.awaitWaiting(first[0]);
            Future<Boolean> second = pool.submit(() -> ticks.await(ticks::take, FOR_EVER));
            Future<?> ticker = pool.submit(() -> ticks.tick(1));
            first[0].interrupt();
            get(ticker);
            try {
                get(interrupted);
                ticks.tick(2);
            } catch (ExecutionException e) {
                assertEquals(InterruptedException.class, e.getCause().getClass());
            }
            assertTrue(get(second));
        }
    }

    @Test
    void cancel_severalThreadsWait_allLeave() throws Exception {
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build()) {
            Alarm t = timers.alarm(Duration.ofSeconds(1));
            List<Thread> threads = new ArrayList<>();
            List<Future<?>> waiters = new ArrayList<>();
            CountDownLatch begun = new CountDownLatch(5);
            for (int i = 0; i < 5; i++) {
                waiters.add(pool.submit(() -> {
                    synchronized (threads) {
                        threads.add(Thread.currentThread());
                    }
                    begun.countDown();
                    return assertThrows(CancellationException.class, t::await);
                }));
            }
            Fixtures.await(begun);
            threads.forEach(Fixtures::awaitWaiting);
            t.cancel();
            for (Future<?> w : waiters) {
                get(w);
            }
        }
    }
}
