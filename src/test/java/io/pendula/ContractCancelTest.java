package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cancelling: what has not begun never does, what runs is interrupted if asked for, and nobody else is. */
class ContractCancelTest extends ContractCase {
    private void assertCancelled(Future<?> f) {
        assertTrue(f.isCancelled() && f.isDone());
        assertThrows(CancellationException.class, f::get);
        assertThrows(CancellationException.class, () -> f.get(0, NANOSECONDS));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancel_pendingOfAnyKind_neverRuns(boolean interrupt) throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicInteger runs = new AtomicInteger();
        List<ScheduledFuture<?>> all = List.of(
                pool.schedule(runs::incrementAndGet, 1, HOURS),
                pool.schedule((Runnable) runs::incrementAndGet, 1, HOURS),
                pool.scheduleAtFixedRate(runs::incrementAndGet, 1, 1, HOURS),
                pool.scheduleWithFixedDelay(runs::incrementAndGet, 1, 1, HOURS));
        for (ScheduledFuture<?> f : all) {
            assertTrue(f.cancel(interrupt));
            assertCancelled(f);
            f.cancel(interrupt);
            assertCancelled(f);
        }
        assertIdle(pool);
        assertEquals(0, runs.get());
    }

    @Test
    void cancel_beforeTheDeadline_neverRuns() throws Exception {
        ScheduledExecutorService pool = pool();
        int count = 300;
        AtomicBoolean[] ran = new AtomicBoolean[count];
        List<ScheduledFuture<?>> all = new ArrayList<>();
        long before = System.nanoTime();
        for (int i = 0; i < count; i++) {
            AtomicBoolean flag = ran[i] = new AtomicBoolean();
            all.add(pool.schedule(() -> flag.set(true), 30, MILLISECONDS));
        }
        boolean[] inTime = new boolean[count];
        for (int i = 0; i < count; i++) {
            boolean cancelled = all.get(i).cancel(i % 2 == 0);
            inTime[i] = cancelled && System.nanoTime() - before < MILLISECONDS.toNanos(30);
        }
        // The delayed ones that were not cancelled in time still run now.
        get(pool.schedule(NOTHING, 31, MILLISECONDS));
        finish(pool);
        for (int i = 0; i < count; i++) {
            assertFalse(inTime[i] && ran[i].get(), "ran although it was cancelled before it was due");
            assertTrue(all.get(i).isDone());
            assertTrue(all.get(i).isCancelled() || ran[i].get(), "neither ran nor was cancelled");
        }
    }

    @Test
    void cancel_queuedBehindBusyWorkers_neverRuns() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        AtomicInteger runs = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(pool.submit(runs::incrementAndGet));
        }
        for (int i = 0; i < 100; i += 2) {
            assertTrue(all.get(i).cancel(i % 4 == 0));
            assertCancelled(all.get(i));
        }
        open(busy);
        finish(pool);
        assertEquals(50, runs.get());
        busy.forEach(hold -> assertFalse(hold.interrupted));
    }

    @Test
    void cancel_runningWithInterrupt_interruptsItAlone() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> holds = new ArrayList<>();
        List<Future<?>> futures = new ArrayList<>();
        for (int i = 0; i < subject.workers(); i++) {
            Hold hold = hold();
            holds.add(hold);
            futures.add(pool.submit(hold));
        }
        holds.forEach(hold -> await(hold.begun));
        assertTrue(futures.get(0).cancel(true));
        assertCancelled(futures.get(0));
        await(holds.get(0).ended);
        assertTrue(holds.get(0).interrupted);
        // The worker is free again, and knows nothing of the interrupt.
        assertFalse(get(pool.submit(Thread::interrupted)));
        open(holds);
        finish(pool);
        for (int i = 1; i < subject.workers(); i++) {
            assertFalse(holds.get(i).interrupted);
            assertFalse(futures.get(i).isCancelled());
        }
    }

    @Test
    void cancel_runningWithoutInterrupt_letsItEnd() throws Exception {
        ScheduledExecutorService pool = pool();
        Hold hold = hold();
        Future<?> f = pool.submit(hold);
        await(hold.begun);
        assertTrue(f.cancel(false));
        assertCancelled(f);
        assertEquals(1, hold.ended.getCount(), "it runs on");
        hold.open();
        await(hold.ended);
        assertFalse(hold.interrupted);
        assertCancelled(f);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancel_periodicWhileItRuns_isItsLastRun(boolean interrupt) throws Exception {
        for (boolean rate : new boolean[] {true, false}) {
            ScheduledExecutorService pool = pool();
            Hold hold = hold();
            AtomicInteger runs = new AtomicInteger();
            Runnable task = () -> {
                runs.incrementAndGet();
                hold.run();
            };
            ScheduledFuture<?> f = rate ? pool.scheduleAtFixedRate(task, 0, 1, NANOSECONDS)
                    : pool.scheduleWithFixedDelay(task, 0, 1, NANOSECONDS);
            await(hold.begun);
            assertTrue(f.cancel(interrupt));
            assertCancelled(f);
            if (!interrupt) {
                hold.open();
            }
            await(hold.ended);
            assertEquals(interrupt, hold.interrupted);
            get(pool.schedule(NOTHING, 2, MILLISECONDS));
            assertIdle(pool);
            assertEquals(1, runs.get());
        }
    }

    @Test
    void cancel_ownFutureFromInside_endsIt() throws Exception {
        ScheduledExecutorService pool = pool();
        for (boolean interrupt : new boolean[] {false, true}) {
            AtomicReference<Future<?>> own = new AtomicReference<>();
            AtomicInteger runs = new AtomicInteger();
            CountDownLatch known = new CountDownLatch(1);
            CountDownLatch ended = new CountDownLatch(1);
            AtomicBoolean flag = new AtomicBoolean();
            own.set(pool.scheduleWithFixedDelay(() -> {
                await(known);
                runs.incrementAndGet();
                own.get().cancel(interrupt);
                flag.set(Thread.currentThread().isInterrupted());
                ended.countDown();
            }, 0, 1, NANOSECONDS));
            known.countDown();
            await(ended);
            assertCancelled(own.get());
            assertEquals(interrupt, flag.get());
            for (int i = 0; i < 2 * subject.workers(); i++) {
                assertFalse(get(pool.submit(Thread::interrupted)));
            }
            assertEquals(1, runs.get());
        }
    }

    /** One task cancels many that are due at the same time as it is, the head of the queue and its tail. */
    @Test
    void cancel_manyFromInsideATask_noneOfTheseRuns() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Hold> busy = occupyAll(pool);
        AtomicInteger runs = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        AtomicInteger cancelled = new AtomicInteger();
        pool.execute(() -> {
            for (Future<?> f : all) {
                if (f.cancel(false)) {
                    cancelled.incrementAndGet();
                }
            }
        });
        for (int i = 0; i < 3_000; i++) {
            all.add(i % 3 == 0 ? pool.schedule(runs::incrementAndGet, 1, HOURS) : pool.submit(runs::incrementAndGet));
        }
        open(busy);
        get(pool.submit(NOTHING));
        finish(pool);
        for (Future<?> f : all) {
            assertTrue(f.isDone());
        }
        if (subject.workers() == 1) {
            assertEquals(3_000, cancelled.get());
            assertEquals(0, runs.get());
        }
        assertTrue(runs.get() >= 3_000 - cancelled.get(), "neither run nor cancelled");
    }

    // ---- the interrupt is for nobody else ----

    @Test
    void interrupt_leftBehindByATask_isNotSeenByTheNext() throws Exception {
        ScheduledExecutorService pool = pool();
        for (int i = 0; i < 50; i++) {
            List<Future<Boolean>> next = new ArrayList<>();
            for (int w = 0; w < subject.workers(); w++) {
                pool.execute(() -> Thread.currentThread().interrupt());
                next.add(pool.schedule(Thread::interrupted, i % 2 * 100_000L, NANOSECONDS));
            }
            for (Future<Boolean> f : next) {
                assertFalse(get(f));
            }
        }
    }

    /** Victims of interrupts alternate with tasks that must not see any, and the cancel comes at any moment. */
    @Test
    void cancel_withInterruptAtAnyMoment_neverHitsAnotherTask() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicInteger hits = new AtomicInteger();
        AtomicInteger innocents = new AtomicInteger();
        Runnable innocent = () -> {
            if (Thread.currentThread().isInterrupted()) {
                hits.incrementAndGet();
            }
            LifeFixtures.spin(3_000);
            if (Thread.interrupted()) {
                hits.incrementAndGet();
            }
            innocents.incrementAndGet();
        };
        int rounds = 4_000;
        LifeFixtures.inParallel(2, n -> {
            ThreadLocalRandom r = ThreadLocalRandom.current();
            for (int i = 0; i < rounds; i++) {
                Future<?> victim = i % 2 == 0 ? pool.submit(() -> LifeFixtures.spin(2_000))
                        : pool.scheduleAtFixedRate(() -> LifeFixtures.spin(1_000), 0, 1_000, NANOSECONDS);
                Future<?> next = pool.submit(innocent);
                LifeFixtures.spin(r.nextInt(15_000));
                victim.cancel(true);
                get(next);
            }
        });
        finish(pool);
        assertEquals(2 * rounds, innocents.get());
        assertEquals(0, hits.get());
    }

    // ---- against the run ----

    /** A task that notes how often it ran, and as the how-manieth of all. */
    private static final class Racer implements Runnable {
        private final AtomicInteger starts;
        private final AtomicInteger runs = new AtomicInteger();
        volatile int startedAs;
        ScheduledFuture<?> future;
        boolean tried;
        boolean cancelled;
        int startsWhenCancelled;

        Racer(AtomicInteger starts) {
            this.starts = starts;
        }

        @Override
        public void run() {
            startedAs = starts.incrementAndGet();
            runs.incrementAndGet();
        }

        void cancel() {
            tried = true;
            cancelled = future.cancel(false);
            startsWhenCancelled = starts.get();
        }
    }

    /**
     * Each task ends in one way: it is cancelled, or it runs once and says so. A task that is just about to start when
     * it is cancelled may count as both; with one worker it is then the very next to start, and no later one.
     */
    @Test
    void cancel_racingWithTheRun_eachEndsInOneWay() throws Exception {
        ScheduledExecutorService pool = pool();
        AtomicInteger starts = new AtomicInteger();
        List<List<Racer>> all = List.of(new ArrayList<>(), new ArrayList<>());
        LifeFixtures.inParallel(2, n -> {
            ThreadLocalRandom r = ThreadLocalRandom.current();
            for (int i = 0; i < 10_000; i++) {
                Racer racer = new Racer(starts);
                all.get(n).add(racer);
                racer.future = pool.schedule(racer, r.nextInt(60_000), NANOSECONDS);
                Racer other = all.get(n).get(Math.max(0, i - r.nextInt(4)));
                if (r.nextInt(3) > 0 && !other.tried) {
                    other.cancel();
                }
            }
        });
        finish(pool);
        int ran = 0;
        int cancelled = 0;
        for (List<Racer> racers : all) {
            for (Racer racer : racers) {
                assertNotNull(racer.future);
                assertTrue(racer.future.isDone());
                assertEquals(racer.cancelled, racer.future.isCancelled());
                assertTrue(racer.runs.get() <= 1, "ran twice");
                if (racer.cancelled) {
                    cancelled++;
                    assertCancelled(racer.future);
                    assertTrue(subject.workers() > 1 || racer.startedAs <= racer.startsWhenCancelled + 1,
                            "started later, although it was cancelled");
                } else {
                    ran++;
                    assertEquals(1, racer.runs.get(), "neither cancelled nor run");
                    racer.future.get();
                }
            }
        }
        assertTrue(ran > 100 && cancelled > 100, ran + " ran and " + cancelled + " were cancelled: no race");
    }
}
