package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many tasks handed over at once: all results, or any. */
class ContractBulkTest extends ContractCase {
    private static final IOException MEANT = new IOException("meant");

    private static final Callable<Integer> FAILING = () -> {
        throw MEANT;
    };

    private Callable<Integer> holding(Hold hold) {
        return Executors.callable(hold, -1);
    }

    private static List<Callable<Integer>> numbers(int count) {
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            tasks.add(() -> number);
        }
        return tasks;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void invokeAll_manyTasks_allDoneInOrder(boolean timed) throws Exception {
        ScheduledExecutorService pool = pool();
        List<Callable<Integer>> tasks = numbers(50);
        tasks.set(7, FAILING);
        List<Future<Integer>> all = timed ? pool.invokeAll(tasks, 1, HOURS) : pool.invokeAll(tasks);
        assertEquals(tasks.size(), all.size());
        for (int i = 0; i < all.size(); i++) {
            Future<Integer> f = all.get(i);
            assertTrue(f.isDone());
            if (i == 7) {
                assertSame(MEANT, assertThrows(ExecutionException.class, f::get).getCause());
            } else {
                assertEquals(i, f.get());
            }
        }
        assertEquals(List.of(), timed ? pool.invokeAll(List.of(), 1, HOURS) : pool.invokeAll(List.of()));
        assertIdle(pool);
    }

    @Test
    void invokeAll_timeoutPasses_cancelsWhatIsNotDone() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        List<Callable<Integer>> tasks = numbers(5);
        tasks.add(holding(hold));
        // With one worker these are still queued.
        tasks.addAll(numbers(5));
        long start = System.nanoTime();
        List<Future<Integer>> all = pool.invokeAll(tasks, 30, MILLISECONDS);
        assertTrue(System.nanoTime() - start >= MILLISECONDS.toNanos(30));
        assertEquals(11, all.size());
        for (Future<Integer> f : all) {
            assertTrue(f.isDone());
        }
        assertTrue(all.get(5).isCancelled());
        if (hold.begun.getCount() == 0) {
            await(hold.ended);
            assertTrue(hold.interrupted);
        }
        assertEquals(1, get(pool.submit(() -> 1)));
        finish(pool); // a worker may have claimed what was cancelled, and be held up before it finds that out
    }

    @Test
    void invokeAll_noTimeAtAll_returnsWithAllDone() throws Exception {
        ScheduledExecutorService pool = pool();
        for (long timeout : new long[] {0, -1, Long.MIN_VALUE}) {
            Hold hold = hold();
            List<Future<Integer>> all = pool.invokeAll(List.of(holding(hold), holding(hold)), timeout, MILLISECONDS);
            assertEquals(2, all.size());
            for (Future<Integer> f : all) {
                assertTrue(f.isCancelled());
            }
        }
        get(pool.submit(NOTHING));
    }

    @Test
    void invokeAny_someFail_givesASuccess() throws Exception {
        ScheduledExecutorService pool = pool();
        assertEquals(3, pool.invokeAny(List.of(FAILING, FAILING, () -> 3)));
        assertEquals(3, pool.invokeAny(List.of(FAILING, FAILING, () -> 3), 1, HOURS));
        int any = pool.invokeAny(numbers(20));
        assertTrue(any >= 0 && any < 20);
    }

    @Test
    void invokeAny_allFail_givesTheCauseOfOne() {
        ScheduledExecutorService pool = pool();
        List<Callable<Integer>> tasks = Collections.nCopies(3, FAILING);
        assertSame(MEANT, assertThrows(ExecutionException.class, () -> pool.invokeAny(tasks)).getCause());
        assertSame(MEANT, assertThrows(ExecutionException.class, () -> pool.invokeAny(tasks, 1, HOURS)).getCause());
    }

    @Test
    void invokeAny_noTask_isAnIllegalArgument() {
        ScheduledExecutorService pool = pool();
        assertThrows(IllegalArgumentException.class, () -> pool.invokeAny(List.of()));
        assertThrows(IllegalArgumentException.class, () -> pool.invokeAny(List.of(), 1, HOURS));
    }

    @Test
    void invokeAny_oneSucceeds_cancelsTheOthers() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        Callable<Integer> quick = () -> {
            if (subject.workers() > 1) {
                await(hold.begun);
            }
            return 1;
        };
        List<Callable<Integer>> tasks = subject.workers() > 1 ? List.of(holding(hold), quick)
                : List.of(quick, holding(hold));
        assertEquals(1, pool.invokeAny(tasks, 1, HOURS));
        if (subject.workers() > 1) {
            await(hold.ended);
            assertTrue(hold.interrupted);
        }
        get(pool.submit(NOTHING));
        assertEquals(List.of(), pool.shutdownNow());
    }

    @Test
    void invokeAny_timeoutPasses_cancelsAll() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        long start = System.nanoTime();
        assertThrows(TimeoutException.class, () -> pool.invokeAny(List.of(holding(hold)), 30, MILLISECONDS));
        assertTrue(System.nanoTime() - start >= MILLISECONDS.toNanos(30));
        get(pool.submit(NOTHING));
        if (hold.begun.getCount() == 0) {
            await(hold.ended);
            assertTrue(hold.interrupted);
        }
        assertEquals(List.of(), pool.shutdownNow());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void invoke_callerInterrupted_cancelsAll(boolean any) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread caller = new Thread(() -> {
            try {
                List<Callable<Integer>> tasks = List.of(holding(hold));
                if (any) {
                    pool.invokeAny(tasks);
                } else {
                    pool.invokeAll(tasks);
                }
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        caller.start();
        await(hold.begun);
        assertFalse(hold.interrupted);
        caller.interrupt();
        join(caller);
        assertTrue(seen.get() instanceof InterruptedException, () -> "" + seen.get());
        await(hold.ended);
        assertTrue(hold.interrupted);
    }
}
