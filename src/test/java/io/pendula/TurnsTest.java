package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.scheduler.SchedulerEngine;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which worker a thread arms on. */
@Timeout(60)
class TurnsTest {
    private static final int WORKERS = 4;

    static Stream<Arguments> ids() {
        Random random = new Random(7);
        long[] some = random.longs(4096, 1, Long.MAX_VALUE).toArray();
        return Stream.of(ids("consecutive", i -> 31 + i), ids("stride of 2", i -> 12 + 2 * i),
                ids("stride of 4", i -> 21 + 4 * i), ids("stride of 8", i -> 8 * i + 5),
                ids("stride of 1024", i -> 1024 * i + 3), ids("stride of 2^32", i -> i << 32),
                ids("downwards", i -> -i),
                ids("random", i -> some[(int) i]));
    }

    private static Arguments ids(String name, LongUnaryOperator id) {
        return Arguments.of(name, id);
    }

    /** All threads of that class arm on one worker, and nothing else comes of it. */
    @Test
    void after_threadsTellTheSameId_timersOfAllRun() throws InterruptedException {
        try (TimerScheduler s = TimerScheduler.builder().workers(WORKERS).build()) {
            CountDownLatch ran = new CountDownLatch(2 * WORKERS);
            for (int i = 0; i < 2 * WORKERS; i++) {
                new Thread(() -> s.after(Duration.ofMillis(1), ran::countDown)) {
                    @Override
                    @SuppressWarnings("all")
                    public long getId() {
                        return 7;
                    }
                }.start();
            }
            Fixtures.await(ran);
        }
    }

    private static SchedulerEngine engine() {
        return TimerScheduler.builder().workers(0).build().engine;
    }

    private static void assertEven(int threads, LongUnaryOperator id, SchedulerEngine turns) {
        int[] load = new int[WORKERS];
        for (int i = 0; i < threads; i++) {
            load[turns.turnOf(id.applyAsLong(i)) % WORKERS]++;
        }
        int most = Arrays.stream(load).max().orElseThrow();
        int least = Arrays.stream(load).min().orElseThrow();
        assertTrue(most <= 2 * least, () -> threads + " threads: " + Arrays.toString(load));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    void of_fewThreads_areSpreadWithinAFactorOfTwo(String name, LongUnaryOperator id) {
        for (int threads : new int[] {16, 32, 100}) {
            assertEven(threads, id, engine());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    void of_manyThreads_areSpreadWithinAFactorOfTwo(String name, LongUnaryOperator id) {
        assertEven(4000, id, engine());
    }

    /** A program whose threads are short-lived has used every slot soon. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    void of_slotsAllTaken_areSpreadWithinAFactorOfTwo(String name, LongUnaryOperator id) {
        SchedulerEngine turns = engine();
        for (int i = 0; i < 20 * SchedulerEngine.SLOTS; i++) {
            turns.turnOf(i);
        }
        assertEven(400, i -> id.applyAsLong(i) + 20 * SchedulerEngine.SLOTS, turns);
    }

    @Test
    void of_sameThread_isAlwaysTheSame() {
        SchedulerEngine turns = engine();
        int first = turns.turnOf(1);
        for (int i = 2; i < 10_000; i++) {
            turns.turnOf(i);
        }
        assertEquals(first, turns.turnOf(1));
    }

    @Test
    void of_threadsAtTheSameMoment_neverSeeANumberChange() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            SchedulerEngine turns = engine();
            AtomicIntegerArray seen = new AtomicIntegerArray(2 * 64);
            LifeFixtures.inParallel(2, n -> {
                for (int id = 0; id < 64; id++) {
                    seen.set(n * 64 + id, turns.turnOf(id));
                }
            });
            for (int id = 0; id < 64; id++) {
                assertEquals(seen.get(id), seen.get(64 + id));
                assertEquals(seen.get(id), turns.turnOf(id));
            }
        }
    }

    private static TimerQueue queueOf(TimerScheduler s) throws InterruptedException {
        TimerQueue[] queue = new TimerQueue[1];
        Thread t = new Thread(() -> queue[0] = Fixtures.node(s.after(Duration.ofHours(1), () -> {})).queue);
        t.start();
        Fixtures.join(t);
        return queue[0];
    }

    @Test
    void after_threadsWhoseIdsHaveAStrideOfFour_useAllWorkers() throws InterruptedException {
        try (TimerScheduler s = TimerScheduler.builder().workers(WORKERS).build()) {
            for (int i = 0; i < 32; i++) {
                queueOf(s);
                for (int skipped = 0; skipped < WORKERS - 1; skipped++) {
                    new Thread(() -> {}); // takes an id
                }
            }
            for (TimerQueue q : s.engine.queues) {
                assertTrue(q.view().pending() >= 4 && q.view().pending() <= 16, () -> Arrays.toString(
                        Arrays.stream(s.engine.queues).mapToLong(each -> each.view().pending()).toArray()));
            }
        }
    }

    @Test
    void after_sameThread_staysOnOneWorker() {
        try (TimerScheduler s = TimerScheduler.builder().workers(WORKERS).build()) {
            TimerQueue first = Fixtures.node(s.after(Duration.ofHours(1), () -> {})).queue;
            for (int i = 0; i < 100; i++) {
                assertSame(first, Fixtures.node(s.after(Duration.ofHours(1), () -> {})).queue);
            }
        }
    }

    @Test
    void after_noWorkers_threadsAreDealtToTheLoops() throws InterruptedException {
        try (TimerScheduler s = TimerScheduler.builder().workers(0).build()) {
            LifeFixtures.inParallel(2, n -> {
                TimerLoop loop = s.attach(() -> {});
                if (n == 0) {
                    LifeFixtures.eventually("two loops", () -> s.engine.loops.all().length == 2);
                    for (int i = 0; i < 16; i++) {
                        queueOf(s);
                        new Thread(() -> {}); // takes an id
                    }
                    for (TimerQueue q : s.engine.queues) {
                        assertEquals(8, q.view().pending(), 4);
                    }
                    s.shutdownNow();
                } else {
                    LifeFixtures.eventually("the end", s::isClosed);
                }
                loop.close();
            });
        }
    }
}
