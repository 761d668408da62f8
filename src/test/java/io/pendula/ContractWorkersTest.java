package io.pendula;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many tasks run at once, on which threads, and in which order. */
class ContractWorkersTest extends ContractCase {
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger mostInside = new AtomicInteger();

    private void counted(Runnable body) {
        mostInside.accumulateAndGet(inside.incrementAndGet(), Math::max);
        body.run();
        inside.decrementAndGet();
    }

    // ---- as many as there are workers ----

    @ParameterizedTest
    @ValueSource(longs = {0, 1_000})
    void blockingTasks_fromOutside_runAtOnceAndNoMore(long delayMicros) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < subject.workers(); i++) {
            Hold hold = hold();
            holds.add(hold);
            pool.schedule(() -> counted(hold), delayMicros, MICROSECONDS);
        }
        holds.forEach(hold -> await(hold.begun));
        assertNoMore(pool, holds);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1_000})
    void blockingTasks_fromOneThatBlocksItself_runAtOnceAndNoMore(long delayMicros) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < subject.workers(); i++) {
            holds.add(hold());
        }
        pool.execute(() -> {
            for (Hold hold : holds.subList(1, holds.size())) {
                pool.schedule(() -> counted(hold), delayMicros, MICROSECONDS);
            }
            counted(holds.get(0));
        });
        holds.forEach(hold -> await(hold.begun));
        assertNoMore(pool, holds);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1_000})
    void blockingTasks_eachFromTheOneBefore_runAtOnceAndNoMore(long delayMicros) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < subject.workers(); i++) {
            holds.add(hold());
        }
        blockAndGoOn(pool, holds, 0, delayMicros);
        holds.forEach(hold -> await(hold.begun));
        assertNoMore(pool, holds);
    }

    private void blockAndGoOn(ScheduledExecutorService pool, List<Hold> holds, int i, long delayMicros) {
        pool.schedule(() -> {
            if (i + 1 < holds.size()) {
                blockAndGoOn(pool, holds, i + 1, delayMicros);
            }
            counted(holds.get(i));
        }, delayMicros, MICROSECONDS);
    }

    /** With all workers blocked, others get the time to begin wrongly; then all of them run, never too many at once. */
    private void assertNoMore(ScheduledExecutorService pool, List<Hold> holds) throws Exception {
        List<Future<?>> more = new ArrayList<>();
        for (int i = 0; i < 8 * subject.workers(); i++) {
            Runnable body = () -> counted(() -> LifeFixtures.block(200_000));
            more.add(i % 2 == 0 ? pool.submit(body) : pool.schedule(body, 2, MILLISECONDS));
        }
        LifeFixtures.block(MILLISECONDS.toNanos(25));
        open(holds);
        for (Future<?> f : more) {
            get(f);
        }
        assertEquals(subject.workers(), mostInside.get(), "at once");
    }

    @Test
    void threads_ownFactory_areMadeWhenNeededAndNoMoreThanWorkers() throws Exception {
        Set<Thread> made = ConcurrentHashMap.newKeySet();
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        ScheduledExecutorService pool = pool(body -> {
            Thread t = new Thread(body);
            t.setDaemon(true);
            made.add(t);
            return t;
        });
        if (subject.ownsThreads()) {
            assertEquals(Set.of(), made, "nothing is to be done yet");
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                boolean throwing = i % 50 == 0;
                Runnable body = () -> {
                    used.add(Thread.currentThread());
                    if (throwing) {
                        throw new IllegalStateException("one that throws costs no thread");
                    }
                };
                all.add(pool.schedule(body, i % 3 * 300L, MICROSECONDS));
            }
            finish(pool);
            assertTrue(made.size() <= subject.workers(), () -> made.size() + " threads");
            assertTrue(made.containsAll(used), "a task ran elsewhere");
            all.forEach(f -> assertTrue(f.isDone()));
        }
    }

    /** A core of no threads is legal: what is submitted runs all the same, one task at a time. */
    @Test
    void poolOfNoWorkers_anySubmissions_runsThemOneAfterTheOther() throws Exception {
        if (subject.ownsThreads()) {
            Set<Thread> made = ConcurrentHashMap.newKeySet();
            ScheduledExecutorService pool = pool(0, body -> {
                Thread t = new Thread(body);
                made.add(t);
                return t;
            });
            assertEquals(Set.of(), made, "nothing is to be done yet");
            int count = 200;
            for (int i = 0; i < count; i++) {
                pool.execute(numbered(i));
            }
            Future<Integer> later = pool.schedule(() -> 1, 30, MILLISECONDS);
            CountDownLatch ticks = new CountDownLatch(3);
            Future<?> periodic = pool.scheduleAtFixedRate(ticks::countDown, 0, 1, MILLISECONDS);
            await(ticks);
            assertTrue(periodic.cancel(false));
            assertEquals(1, get(later));
            finish(pool);
            assertEquals(upTo(count), order);
            assertEquals(1, mostInside.get());
        }
    }

    // ---- order ----

    /** The numbers of the tasks in the order in which they ran. */
    private final List<Integer> order = Collections.synchronizedList(new ArrayList<>());

    private static List<Integer> upTo(int count) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(i);
        }
        return all;
    }

    private Runnable numbered(int i) {
        return () -> counted(() -> order.add(i));
    }

    /** A single worker's pool alone promises an order. */
    private boolean isSequential() {
        return subject.workers() == 1;
    }

    @Test
    void order_dueAtOnce_firstInFirstOut() throws Exception {
        ScheduledExecutorService pool = pool();
        int count = 3_000;
        List<Hold> busy = isSequential() ? occupyAll(pool) : List.of();
        for (int i = 0; i < count; i++) {
            switch (i % 6) {
                case 0 -> pool.execute(numbered(i));
                case 1 -> pool.submit(numbered(i));
                case 2 -> pool.schedule(numbered(i), 0, NANOSECONDS);
                case 3 -> pool.schedule(numbered(i), -1_000_000, NANOSECONDS);
                case 4 -> pool.schedule(numbered(i), Long.MIN_VALUE, MILLISECONDS);
                default -> pool.submit(numbered(i), "result");
            }
        }
        open(busy);
        finish(pool);
        assertOrder(count);
    }

    @Test
    void order_whileItRuns_firstInFirstOut() throws Exception {
        ScheduledExecutorService pool = pool();
        int count = 20_000;
        for (int i = 0; i < count; i++) {
            pool.execute(numbered(i));
        }
        finish(pool);
        assertOrder(count);
    }

    @Test
    void order_sameDelay_asScheduled() throws Exception {
        ScheduledExecutorService pool = pool();
        int count = 2_000;
        for (int i = 0; i < count; i++) {
            pool.schedule(numbered(i), 3, MILLISECONDS);
        }
        finish(pool);
        assertOrder(count);
    }

    @Test
    void order_dueBehindABusyWorker_byDeadline() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = isSequential() ? occupyAll(pool) : List.of();
        int count = 500;
        Random random = new Random(1);
        long[] earliest = new long[count];
        long[] latest = new long[count];
        for (int i = 0; i < count; i++) {
            long delay = random.nextInt(5_000_000);
            earliest[i] = System.nanoTime() + delay;
            pool.schedule(numbered(i), delay, NANOSECONDS);
            latest[i] = System.nanoTime() + delay;
        }
        LifeFixtures.block(6_000_000);
        open(busy);
        finish(pool);
        assertEquals(count, order.size());
        if (isSequential()) {
            long before = earliest[order.get(0)];
            for (int i : order) {
                assertTrue(latest[i] - before >= 0, "one that was due later ran before");
                before = Math.max(before, earliest[i]);
            }
        }
    }

    private void assertOrder(int count) {
        if (!isSequential()) {
            order.sort(null);
        } else {
            assertEquals(1, mostInside.get(), "one at a time");
        }
        assertEquals(upTo(count), order);
    }
}
