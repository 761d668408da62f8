package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a future tells of its task, and when. */
class ContractFutureTest extends ContractCase {
    private static <E extends Throwable> void sneak(Throwable e) throws E {
        @SuppressWarnings("unchecked")
        E unchecked = (E) e;
        throw unchecked;
    }

    static Stream<Throwable> throwables() {
        return Stream.of(new IllegalStateException("meant"), new IOException("meant"),
                new AssertionError("meant"), new InterruptedException("meant"),
                new CancellationException("meant"));
    }

    @ParameterizedTest
    @MethodSource("throwables")
    void get_taskThrew_givesTheSameThrowable(Throwable thrown) throws Exception {
        ScheduledExecutorService pool = pool();
        Runnable throwing = () -> ContractFutureTest.<RuntimeException>sneak(thrown);
        for (Future<?> f : List.of(
                pool.submit(throwing),
                pool.submit(throwing, "result"),
                pool.submit(() -> {
                    sneak(thrown);
                    return null;
                }),
                pool.schedule(throwing, 1, MILLISECONDS),
                pool.scheduleAtFixedRate(throwing, 0, 1, MILLISECONDS),
                pool.scheduleWithFixedDelay(throwing, 0, 1, MILLISECONDS))) {
            assertSame(thrown, assertThrows(ExecutionException.class, () -> get(f)).getCause());
            assertSame(thrown, assertThrows(ExecutionException.class, f::get).getCause());
            assertTrue(f.isDone());
            assertFalse(f.isCancelled());
            assertFalse(f.cancel(true));
        }
        assertEquals("alive", get(pool.submit(() -> "alive")));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void get_noTimeToWait_decidesAtOnce(long timeout) throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<String> pending = pool.schedule(() -> "late", 1, HOURS);
        Future<String> done = pool.submit(() -> "soon");
        assertEquals("soon", done.get());
        for (TimeUnit unit : TimeUnit.values()) {
            assertThrows(TimeoutException.class, () -> pending.get(timeout, unit));
            assertEquals("soon", done.get(timeout, unit));
        }
        assertFalse(pending.isDone());
    }

    @Test
    void get_timeoutPasses_throwsNotEarlierAndLeavesTheTask() throws Exception {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> pending = pool.schedule(NOTHING, 1, HOURS);
        ScheduledFuture<?> periodic = pool.scheduleAtFixedRate(NOTHING, 0, 1, MILLISECONDS);
        for (ScheduledFuture<?> f : List.of(pending, periodic)) {
            long start = System.nanoTime();
            assertThrows(TimeoutException.class, () -> f.get(10, MILLISECONDS));
            assertTrue(System.nanoTime() - start >= MILLISECONDS.toNanos(10));
            assertFalse(f.isDone() || f.isCancelled());
        }
    }

    @Test
    void get_endlessTimeout_returnsWhenDone() throws Exception {
        ScheduledExecutorService pool = pool();
        for (TimeUnit unit : TimeUnit.values()) {
            assertEquals(unit, pool.schedule(() -> unit, 1, MILLISECONDS).get(Long.MAX_VALUE, unit));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void get_waiterInterrupted_throwsAndLeavesTheTask(boolean timed) throws Exception {
        ScheduledFuture<?> f = pool().schedule(NOTHING, 1, HOURS);
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            try {
                if (timed) {
                    f.get(1, HOURS);
                } else {
                    f.get();
                }
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        waiter.start();
        waiter.interrupt();
        join(waiter);
        assertTrue(seen.get() instanceof InterruptedException, () -> "" + seen.get());
        assertFalse(f.isDone());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void get_doneAndCallerInterrupted_givesTheOutcomeAndKeepsTheFlag(boolean timed) throws Exception {
        ScheduledExecutorService pool = pool();
        Future<String> done = pool.submit(() -> "value");
        Future<?> failed = pool.submit(() -> {
            throw new IllegalStateException("meant");
        });
        Future<?> cancelled = pool.schedule(NOTHING, 1, HOURS);
        cancelled.cancel(false);
        eventually("they have not run", () -> done.isDone() && failed.isDone());
        Thread.currentThread().interrupt();
        try {
            assertEquals("value", timed ? done.get(0, NANOSECONDS) : done.get());
            assertThrows(ExecutionException.class, () -> Object.class.cast(timed ? failed.get(1, HOURS) : failed.get()));
            assertThrows(CancellationException.class,
                    () -> Object.class.cast(timed ? cancelled.get(1, HOURS) : cancelled.get()));
        } finally {
            assertTrue(Thread.interrupted(), "the flag is gone");
        }
    }

    @Test
    void get_manyWaiters_allReturn() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        Future<String> f = pool.submit(hold, "result");
        CountDownLatch waiting = new CountDownLatch(6);
        Thread opener = new Thread(() -> {
            await(waiting);
            hold.open();
        });
        opener.start();
        LifeFixtures.inParallel(6, n -> {
            waiting.countDown();
            assertEquals("result", n % 2 == 0 ? f.get() : get(f));
        });
        join(opener);
    }

    @Test
    void isDone_fromPendingToDone_tellsEachStep() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        ScheduledFuture<?> f = pool.schedule(hold, 2, MILLISECONDS);
        assertFalse(f.isDone() || f.isCancelled());
        await(hold.begun);
        assertFalse(f.isDone() || f.isCancelled());
        hold.open();
        get(f);
        assertTrue(f.isDone());
        assertFalse(f.isCancelled());
        assertFalse(f.cancel(true));
        assertFalse(f.isCancelled());
    }

    // ---- delays and their order ----

    @Test
    void getDelay_pending_countsDownInEachUnit() throws Exception {
        ScheduledExecutorService pool = pool();
        long before = System.nanoTime();
        ScheduledFuture<?> f = pool.schedule(NOTHING, 1, HOURS);
        long after = System.nanoTime();
        long beforeAsking = System.nanoTime();
        long delay = f.getDelay(NANOSECONDS);
        long afterAsking = System.nanoTime();
        assertTrue(delay <= HOURS.toNanos(1) - (beforeAsking - after), "it counts down");
        assertTrue(delay >= HOURS.toNanos(1) - (afterAsking - before), "it counts from the call on");
        assertTrue(f.getDelay(SECONDS) <= 3_600 && f.getDelay(SECONDS) > 3_000);
        assertEquals(0, f.getDelay(HOURS));
        ScheduledFuture<?> past = pool.schedule(NOTHING, 1, MILLISECONDS);
        get(past);
        assertTrue(past.getDelay(NANOSECONDS) <= 0);
    }

    @Test
    void getDelay_periodic_tellsTheNextRun() {
        ScheduledExecutorService pool = pool();
        ScheduledFuture<?> f = pool.scheduleAtFixedRate(NOTHING, 1, 1, HOURS);
        assertTrue(f.getDelay(SECONDS) > 3_000);
        CountDownLatch ran = new CountDownLatch(1);
        ScheduledFuture<?> soon = pool.scheduleWithFixedDelay(ran::countDown, 0, 2, HOURS);
        await(ran);
        eventually("two hours from now on", () -> soon.getDelay(SECONDS) > 6_600);
        assertTrue(soon.getDelay(SECONDS) <= 7_200);
    }

    private record Foreign(long nanos) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(nanos, NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(nanos, other.getDelay(NANOSECONDS));
        }
    }

    @Test
    void compareTo_anyOrder_agreesWithDelays() {
        ScheduledExecutorService pool = pool();
        List<ScheduledFuture<?>> ordered = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            ordered.add(pool.schedule(NOTHING, 3_600 + i, SECONDS));
        }
        ordered.add(pool.schedule(NOTHING, Long.MAX_VALUE, NANOSECONDS));
        List<ScheduledFuture<?>> sorted = new ArrayList<>(ordered);
        Collections.shuffle(sorted, new Random(1));
        Collections.sort(sorted);
        assertEquals(ordered, sorted);
        for (ScheduledFuture<?> a : ordered) {
            assertEquals(0, a.compareTo(a));
            for (ScheduledFuture<?> b : ordered) {
                assertEquals(Integer.signum(a.compareTo(b)), -Integer.signum(b.compareTo(a)));
            }
        }
    }

    @Test
    void compareTo_foreignDelayed_agreesWithDelays() {
        ScheduledFuture<?> f = pool().schedule(NOTHING, 2, HOURS);
        assertTrue(f.compareTo(new Foreign(HOURS.toNanos(1))) > 0);
        assertTrue(f.compareTo(new Foreign(HOURS.toNanos(3))) < 0);
        assertTrue(f.compareTo(new Foreign(-1)) > 0);
        assertTrue(f.compareTo(new Foreign(Long.MAX_VALUE)) < 0);
    }

    // ---- from JDK 19 on ----

    private static Object call(Future<?> f, String method) throws Throwable {
        try {
            return Future.class.getMethod(method).invoke(f);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void assertState(String state, Future<?> f) throws Throwable {
        assertEquals(state, call(f, "state").toString());
        if (!state.equals("SUCCESS")) {
            assertThrows(IllegalStateException.class, () -> call(f, "resultNow"));
        }
        if (!state.equals("FAILED")) {
            assertThrows(IllegalStateException.class, () -> call(f, "exceptionNow"));
        }
    }

    @Test
    void state_throughoutItsLife_isRight() throws Throwable {
        assumeTrue(Runtime.version().feature() >= 19);
        ScheduledExecutorService pool = pool();
        ScheduledFuture<String> pending = pool.schedule(() -> "never", 1, HOURS);
        assertState("RUNNING", pending);
        pending.cancel(false);
        assertState("CANCELLED", pending);

        Future<String> good = pool.schedule(() -> "result", 1, MILLISECONDS);
        get(good);
        assertState("SUCCESS", good);
        assertEquals("result", call(good, "resultNow"));

        Exception thrown = new Exception("meant");
        Future<?> bad = pool.submit(() -> {
            throw thrown;
        });
        assertThrows(ExecutionException.class, () -> get(bad));
        assertState("FAILED", bad);
        assertSame(thrown, call(bad, "exceptionNow"));

        Hold hold = hold();
        Future<?> running = pool.submit(hold);
        await(hold.begun);
        assertState("RUNNING", running);
        assertTrue(running.cancel(false));
        assertState("CANCELLED", running);
    }

    @Test
    void state_periodic_runsUntilItFailsOrIsCancelled() throws Throwable {
        assumeTrue(Runtime.version().feature() >= 19);
        ScheduledExecutorService pool = pool();
        CountDownLatch twice = new CountDownLatch(2);
        ScheduledFuture<?> f = pool.scheduleAtFixedRate(twice::countDown, 0, 1, MILLISECONDS);
        await(twice);
        assertState("RUNNING", f);
        assertTrue(f.cancel(false));
        assertState("CANCELLED", f);
        RuntimeException thrown = new RuntimeException("meant");
        ScheduledFuture<?> failing = pool.scheduleWithFixedDelay(() -> {
            throw thrown;
        }, 0, 1, MILLISECONDS);
        assertThrows(ExecutionException.class, () -> get(failing));
        assertState("FAILED", failing);
        assertSame(thrown, call(failing, "exceptionNow"));
    }
}
