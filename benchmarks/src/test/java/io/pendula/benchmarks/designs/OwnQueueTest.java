package io.pendula.benchmarks.designs;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Where a callback arms: at the queue whose thread runs it, as the processor that runs it does in Go. */
@Timeout(60)
class OwnQueueTest {
    private static final int STEPS = 200;

    static Stream<Named<Rival>> rivals() {
        return Stream.of(Named.of("64 queues", new Go110(64)), Named.of("3 queues", new Go110(3)),
                Named.of("workers", new Go114(3)), Named.of("loops", new EventLoops(3)));
    }

    @ParameterizedTest
    @MethodSource("rivals")
    void schedule_inCallback_staysWithItsThread(Rival rival) throws InterruptedException {
        try (rival) {
            assertEquals(1, chain(rival).size());
        }
    }

    @Test
    void schedule_inCallbackOfAnotherScheduler_isTheArmingThreadsChoice() throws InterruptedException {
        try (Rival outer = new Go110(2); Rival inner = new Go110(2)) {
            Set<Thread> ran = ConcurrentHashMap.newKeySet();
            CountDownLatch over = new CountDownLatch(1);
            outer.schedule(0, () -> {
                ran.add(Thread.currentThread());
                inner.schedule(0, () -> {
                    ran.add(Thread.currentThread());
                    over.countDown();
                });
            });
            assertTrue(over.await(20, SECONDS));
            assertEquals(2, ran.size());
        }
    }

    @Test
    void run_handedOver_isOnAThreadOfThePool() throws InterruptedException {
        try (Rival rival = new HandedOver(new Go19(), 2)) {
            Set<Thread> ran = chain(rival);
            assertTrue(ran.stream().allMatch(ForkJoinWorkerThread.class::isInstance), ran::toString);
        }
    }

    /** The threads that have run callbacks each of which armed the next. */
    private static Set<Thread> chain(Rival rival) throws InterruptedException {
        Set<Thread> ran = ConcurrentHashMap.newKeySet();
        CountDownLatch left = new CountDownLatch(STEPS);
        rival.schedule(0, new Rival.Task() {
            @Override
            public void run() {
                ran.add(Thread.currentThread());
                left.countDown();
                if (left.getCount() > 0) {
                    rival.schedule(left.getCount() % 2 * 100_000, this);
                }
            }
        });
        assertTrue(left.await(20, SECONDS));
        return ran;
    }
}
