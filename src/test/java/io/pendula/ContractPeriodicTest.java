package io.pendula;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks that repeat: when each run comes, that runs never overlap, and how they end. */
class ContractPeriodicTest extends ContractCase {
    /**
     * Notes when its runs began and ended; it ends by throwing when it has noted all. Its runs last without a processor:
     * a busy machine would make them longer than the period.
     */
    private static final class Recorder implements Runnable {
        static final class Enough extends RuntimeException {
            private static final long serialVersionUID = 1;

            Enough() {
                super("meant");
            }
        }

        final long[] begin;
        final long[] end;
        private final long[] length;
        private int runs;

        Recorder(int runs, long... length) {
            begin = new long[runs];
            end = new long[runs];
            this.length = length;
        }

        @Override
        public void run() {
            // Plain fields: a run sees what the one before has written, on whatever thread that was.
            int run = runs++;
            begin[run] = System.nanoTime();
            if (length.length > 0) {
                LifeFixtures.block(length[Math.min(run, length.length - 1)]);
            }
            end[run] = System.nanoTime();
            if (runs == begin.length) {
                throw new Enough();
            }
        }
    }

    private void awaitEnough(ScheduledFuture<?> f) {
        assertEquals(Recorder.Enough.class, assertThrows(ExecutionException.class, () -> get(f)).getCause().getClass());
    }

    private ScheduledFuture<?> start(boolean rate, Runnable task, long first, long period, TimeUnit unit) {
        ScheduledExecutorService pool = pool();
        return rate ? pool.scheduleAtFixedRate(task, first, period, unit)
                : pool.scheduleWithFixedDelay(task, first, period, unit);
    }

    /** The delay is long, or a thread that a busy machine starts late would hide a run that is too early. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void getDelay_whileItRuns_isThatOfTheRunInProgress(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(hold, 0, 1, TimeUnit.HOURS)
                : pool.scheduleWithFixedDelay(hold, 0, 1, TimeUnit.HOURS);
        ScheduledFuture<?> soon = pool.schedule(NOTHING, 30, TimeUnit.MINUTES);
        await(hold.begun);
        assertTrue(f.getDelay(TimeUnit.NANOSECONDS) <= 0, () -> "" + f.getDelay(TimeUnit.NANOSECONDS));
        assertTrue(f.compareTo(soon) < 0 && soon.compareTo(f) > 0);
        hold.open();
        eventually("it runs on", () -> f.getDelay(TimeUnit.NANOSECONDS) > 0);
        assertTrue(f.compareTo(soon) > 0 && soon.compareTo(f) < 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void getDelay_whileItRunsAndThePeriodIsCenturies_isThatOfTheRunInProgress(boolean rate) throws Exception {
        Hold hold = hold();
        ScheduledFuture<?> f = start(rate, hold, 0, Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        ScheduledFuture<?> soon = pool().schedule(NOTHING, 30, TimeUnit.MINUTES);
        await(hold.begun);
        long minutes = f.getDelay(TimeUnit.MINUTES);
        assertTrue(minutes <= 0 && minutes > -5, () -> minutes + " min");
        assertTrue(f.compareTo(soon) < 0 && soon.compareTo(f) > 0);
        hold.open();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void periodic_firstRun_comesAfterItsInitialDelay(boolean rate) throws Exception {
        Recorder task = new Recorder(1);
        long start = System.nanoTime();
        awaitEnough(start(rate, task, 1_000, 1, MILLISECONDS));
        assertTrue(task.begin[0] - start >= MILLISECONDS.toNanos(1_000), "the first run is early");
    }

    @Test
    void fixedRate_shortRuns_comeOnTheGridAndNeverBefore() throws Exception {
        long first = MILLISECONDS.toNanos(5);
        long period = MILLISECONDS.toNanos(10);
        int runs = 20;
        inTimeAtLeastOnce(() -> {
            Recorder task = new Recorder(runs, period / 2);
            long start = System.nanoTime();
            awaitEnough(start(true, task, 5, 10, MILLISECONDS));
            for (int i = 0; i < runs; i++) {
                assertTrue(task.begin[i] - start >= first + i * period, "run " + i + " is early");
            }
            // Were the length of the runs added, it took half as long again.
            return task.end[runs - 1] - start < first + (runs - 1) * period * 5 / 4;
        });
    }

    @Test
    void fixedRate_heldUp_catchesUpBackToBackAndKeepsThePhase() throws Exception {
        long period = MILLISECONDS.toNanos(20);
        int late = 10;
        inTimeAtLeastOnce(() -> {
            Recorder task = new Recorder(2 * late, late * period, 0);
            long start = System.nanoTime();
            awaitEnough(start(true, task, 0, 20, MILLISECONDS));
            for (int i = 0; i < task.begin.length; i++) {
                assertTrue(task.begin[i] - start >= i * period, "run " + i + " is early");
            }
            // Runs that kept their distance would need nine periods, and so would those after a skip.
            long caughtUp = task.begin[late - 1] - task.end[0];
            return caughtUp < 5 * period && task.begin[2 * late - 1] - start < (2 * late + 4) * period;
        });
    }

    @Test
    void fixedDelay_anyRuns_delayCountsFromTheEnd() throws Exception {
        long delay = MILLISECONDS.toNanos(2);
        Recorder task = new Recorder(25, 10 * delay, delay / 2, 2 * delay, 0);
        long start = System.nanoTime();
        awaitEnough(start(false, task, 4, 2, MILLISECONDS));
        assertTrue(task.begin[0] - start >= 2 * delay, "the first run is early");
        for (int i = 1; i < task.begin.length; i++) {
            assertTrue(task.begin[i] - task.end[i - 1] >= delay, "run " + i + " is early");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void periodic_anyPeriod_runsNeverOverlapAndSeeEachOther(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        int runs = 3_000;
        int[] plain = new int[1];
        Runnable task = () -> {
            if (inside.getAndIncrement() != 0) {
                overlaps.incrementAndGet();
            }
            int run = plain[0];
            if (run % 16 == 0) {
                // Longer than the period, and other workers are free.
                LifeFixtures.spin(100_000);
            }
            plain[0] = run + 1;
            inside.decrementAndGet();
            if (run + 1 == runs) {
                throw new Recorder.Enough();
            }
        };
        ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(task, 0, 10, MICROSECONDS)
                : pool.scheduleWithFixedDelay(task, 0, 1, MICROSECONDS);
        // No fixed rate: what a busy machine makes it miss would run before the other, and again be too much.
        ScheduledFuture<?> rival = pool.scheduleWithFixedDelay(() -> LifeFixtures.spin(5_000), 0, 20, MICROSECONDS);
        awaitEnough(f);
        assertEquals(runs, plain[0], "a run has not seen the one before");
        assertEquals(0, overlaps.get());
        assertTrue(rival.cancel(false));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void periodic_runThrows_endsAndItsFutureTells(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicInteger runs = new AtomicInteger();
        Error thrown = new Error("meant");
        Runnable task = () -> {
            if (runs.incrementAndGet() == 3) {
                throw thrown;
            }
        };
        CountDownLatch others = new CountDownLatch(30);
        ScheduledFuture<?> other = pool.scheduleAtFixedRate(others::countDown, 0, 1, MILLISECONDS);
        ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(task, 0, 1, MILLISECONDS)
                : pool.scheduleWithFixedDelay(task, 0, 1, MILLISECONDS);
        assertSame(thrown, assertThrows(ExecutionException.class, () -> get(f)).getCause());
        assertTrue(f.isDone());
        assertFalse(f.isCancelled());
        await(others);
        assertFalse(other.isDone());
        assertTrue(other.cancel(false));
        assertIdle(pool);
        assertEquals(3, runs.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void periodic_cancelledBetweenRuns_runsNoMore(boolean rate) throws Exception {
        ScheduledExecutorService pool = pool();
        for (int round = 0; round < 50; round++) {
            AtomicInteger runs = new AtomicInteger();
            CountDownLatch ran = new CountDownLatch(2);
            Runnable task = () -> {
                runs.incrementAndGet();
                ran.countDown();
            };
            ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(task, 0, 100, MICROSECONDS)
                    : pool.scheduleWithFixedDelay(task, 0, 100, MICROSECONDS);
            await(ran);
            assertTrue(f.cancel(false));
            // When all workers have met here no run is left that had begun before.
            LifeFixtures.spin(round * 2_000L);
            meet(pool);
            int last = runs.get();
            get(pool.schedule(NOTHING, 300, MICROSECONDS));
            meet(pool);
            assertEquals(last, runs.get());
        }
        assertIdle(pool);
    }

    /** Returns when each worker has left what it ran before. */
    private void meet(ScheduledExecutorService pool) {
        for (Hold hold : occupyAll(pool)) {
            hold.open();
            await(hold.ended);
        }
    }

    @Test
    void periodic_several_allGoOn() throws Exception {
        ScheduledExecutorService pool = pool();
        int tasks = 20;
        CountDownLatch[] ran = new CountDownLatch[tasks];
        for (int i = 0; i < tasks; i++) {
            CountDownLatch latch = ran[i] = new CountDownLatch(20);
            if (i % 2 == 0) {
                pool.scheduleAtFixedRate(latch::countDown, i, 500 + 50 * i, MICROSECONDS);
            } else {
                pool.scheduleWithFixedDelay(latch::countDown, i, 500 + 50 * i, MICROSECONDS);
            }
        }
        for (CountDownLatch latch : ran) {
            await(latch);
        }
    }
}
