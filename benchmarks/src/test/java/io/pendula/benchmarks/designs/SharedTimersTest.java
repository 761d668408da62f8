package io.pendula.benchmarks.designs;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Designs that reset in place: several threads reset and stop the same timers while these fire. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedTimersTest {
    private static final int TIMERS = 32;
    private static final int STEPS = 40_000;

    static Stream<Named<Rival>> rivals() {
        return Stream.of(Named.of("Go 1.14, one worker", new Go114(1)), Named.of("Go 1.14, three", new Go114(3)),
                Named.of("Goim", new Goim()), Named.of("tree", new RedBlackTree()), Named.of("loop", new EventLoop()),
                Named.of("loops", new EventLoops(3)));
    }

    @ParameterizedTest
    @MethodSource("rivals")
    void resetAndStop_sameTimersInThreeThreads_eachStillObeys(Rival rival) throws Exception {
        try (rival) {
            Latched[] tasks = new Latched[TIMERS];
            Arrays.setAll(tasks, i -> new Latched());
            Object[] handles = Arrays.stream(tasks).map(task -> rival.schedule(HOURS.toNanos(1), task)).toArray();
            Thread[] threads = new Thread[3];
            Arrays.setAll(threads, i -> new Thread(() -> disturb(rival, handles, tasks, new SplittableRandom(i))));
            for (Thread thread : threads) {
                thread.setDaemon(true);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join(SECONDS.toMillis(30));
                assertFalse(thread.isAlive(), "a thread does not come to its end");
            }
            for (int i = 0; i < TIMERS; i++) {
                rival.reset(handles[i], HOURS.toNanos(1), tasks[i]);
                assertTrue(rival.cancel(handles[i]), "the stop of one that waits");
                tasks[i].ran = new CountDownLatch(1);
                rival.reset(handles[i], MILLISECONDS.toNanos(1), tasks[i]);
            }
            for (Latched task : tasks) {
                assertTrue(task.ran.await(20, SECONDS), "fires after its last reset");
            }
        }
    }

    private static void disturb(Rival rival, Object[] handles, Latched[] tasks, SplittableRandom random) {
        for (int step = 0; step < STEPS; step++) {
            int i = random.nextInt(TIMERS);
            switch (random.nextInt(4)) {
                case 0 -> rival.cancel(handles[i]);
                case 1 -> rival.reset(handles[i], HOURS.toNanos(1) + random.nextLong(HOURS.toNanos(1)), tasks[i]);
                default -> rival.reset(handles[i], random.nextLong(MILLISECONDS.toNanos(1)), tasks[i]);
            }
        }
    }

    private static final class Latched implements Rival.Task {
        volatile CountDownLatch ran = new CountDownLatch(1);

        @Override
        public void run() {
            ran.countDown();
        }
    }
}
