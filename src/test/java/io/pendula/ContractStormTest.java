package io.pendula;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many tasks of many threads: each runs once, and a shutdown in their midst loses none. */
@Tag("stress")
class ContractStormTest extends ContractCase {
    /** Submits in any way; null if there is no future. */
    private static Future<?> submit(ScheduledExecutorService pool, Runnable task, int most) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        int way = r.nextInt(6);
        if (way == 0) {
            pool.execute(task);
            return null;
        }
        if (way == 1) {
            return pool.submit(task);
        }
        Callable<Object> callable = () -> {
            task.run();
            return task;
        };
        if (way == 2) {
            return pool.submit(callable);
        }
        return way == 3 ? pool.schedule(callable, r.nextInt(most), NANOSECONDS)
                : pool.schedule(task, r.nextInt(most), NANOSECONDS);
    }

    private static void assertEachOnce(AtomicIntegerArray runs) {
        for (int i = 0; i < runs.length(); i++) {
            int task = i;
            assertEquals(1, runs.get(i), () -> "runs of task " + task);
        }
    }

    @Test
    void submit_tensOfThousands_eachRunsOnce() throws Exception {
        ScheduledExecutorService pool = pool();
        int perThread = 15_000;
        AtomicIntegerArray runs = new AtomicIntegerArray(3 * perThread);
        LifeFixtures.inParallel(3, n -> {
            for (int i = 0; i < perThread; i++) {
                int slot = n * perThread + i;
                submit(pool, () -> runs.incrementAndGet(slot), 3_000_000);
            }
        });
        finish(pool);
        assertEachOnce(runs);
    }

    @Test
    void submit_byTasks_eachRunsOnce() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicIntegerArray runs = new AtomicIntegerArray(1 << 14);
        CountDownLatch all = new CountDownLatch(runs.length() - 1);
        class Node implements Runnable {
            private final int number;

            Node(int number) {
                this.number = number;
            }

            @Override
            public void run() {
                runs.incrementAndGet(number);
                for (int child = 2 * number; child <= 2 * number + 1 && child < runs.length(); child++) {
                    submit(pool, new Node(child), 100_000);
                }
                all.countDown();
            }
        }
        pool.execute(new Node(1));
        await(all);
        finish(pool);
        runs.incrementAndGet(0);
        assertEachOnce(runs);
    }

    /** What a thread has handed over while others end the pool. */
    private static final class Submission implements Runnable {
        final AtomicInteger runs = new AtomicInteger();
        Future<?> future;
        boolean rejected;

        @Override
        public void run() {
            runs.incrementAndGet();
        }
    }

    /**
     * Each submission is accounted for: rejected and never run; or run once; or cancelled; or handed back. The JDK's
     * pool may also cancel one that nobody has a future of.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void submit_racingWithShutdown_noneIsLost(boolean now) throws Exception {
        for (int round = 0; round < Scale.of(40, 150); round++) {
            ScheduledExecutorService pool = pool();
            ConcurrentLinkedQueue<Submission> all = new ConcurrentLinkedQueue<>();
            List<Runnable> returned = new ArrayList<>();
            CountDownLatch warm = new CountDownLatch(2);
            LifeFixtures.inParallel(3, n -> {
                ThreadLocalRandom r = ThreadLocalRandom.current();
                if (n == 0) {
                    await(warm);
                    LifeFixtures.spin(r.nextInt(100_000));
                    if (now) {
                        returned.addAll(pool.shutdownNow());
                    } else {
                        pool.shutdown();
                    }
                    return;
                }
                for (int i = 0; i < 400; i++) {
                    Submission s = new Submission();
                    all.add(s);
                    try {
                        s.future = submit(pool, s, 200_000);
                    } catch (RejectedExecutionException e) {
                        s.rejected = true;
                    }
                    if (i == 5) {
                        warm.countDown();
                    }
                }
            });
            awaitTermination(pool);
            account(all, returned);
        }
    }

    private static void account(Iterable<Submission> all, List<Runnable> returned) {
        Set<Object> back = Collections.newSetFromMap(new IdentityHashMap<>());
        back.addAll(returned);
        int unnamed = 0;
        int named = 0;
        for (Submission s : all) {
            assertTrue(s.runs.get() <= 1, "ran twice");
            if (s.rejected) {
                assertEquals(0, s.runs.get(), "ran although it was rejected");
            } else if (s.future == null) {
                unnamed += 1 - s.runs.get();
            } else if (back.contains(s.future)) {
                named++;
                assertFalse(s.future.isDone());
                assertEquals(0, s.runs.get(), "ran although it was handed back");
            } else {
                assertTrue(s.future.isDone(), "neither run nor rejected nor handed back");
                assertEquals(s.future.isCancelled() ? 0 : 1, s.runs.get());
            }
        }
        int others = returned.size() - named;
        assertTrue(others >= 0 && others <= unnamed, "handed back without a future: " + others + " of " + unnamed);
    }
}
