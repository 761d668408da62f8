package io.pendula;

import static io.pendula.LifeFixtures.inParallel;
import static io.pendula.LifeFixtures.spin;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Pools whose threads block for as long as the test wants, all but one: what else is submitted must run, as that one is
 * idle again and again, whoever keeps its queue. So a task that nobody looks after hangs the round, however fast the
 * machine is. Blockers arm tasks of their own just before they block, which go to the queue that they leave behind.
 */
@Tag("stress")
@Timeout(120)
class StandbyStressTest {
    private static final int ROUNDS = Scale.of(40, 150);
    private static final int SUBMITTERS = 2;
    private static final int OPERATIONS = 40;

    /** One pool, and the account of each task. */
    private static final class Round {
        final int threads;
        final SchedulerExecutor pool;
        final CountDownLatch gate = new CountDownLatch(1);
        final Queue<Subject> all = new ConcurrentLinkedQueue<>();
        final AtomicInteger blocked = new AtomicInteger();
        final AtomicInteger interrupted = new AtomicInteger();

        Round(int threads) {
            this.threads = threads;
            this.pool = TimerExecutors.newScheduledThreadPool(threads);
        }

        private void add(Subject s) {
            all.add(s);
            s.submit();
        }

        private void block() {
            blocked.incrementAndGet();
            try {
                gate.await();
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            }
        }

        private void operate() {
            ThreadLocalRandom r = ThreadLocalRandom.current();
            List<Subject> mine = new ArrayList<>();
            for (int i = 0; i < OPERATIONS; i++) {
                int kind = r.nextInt(10);
                Subject s = new Subject(this, kind < 2 ? Kind.PERIODIC : kind < 4 ? Kind.CHAIN : Kind.SHORT);
                add(s);
                mine.add(s);
                if (r.nextInt(4) == 0) {
                    mine.get(r.nextInt(mine.size())).cancel(r.nextBoolean());
                }
                if (r.nextInt(3) == 0) {
                    spin(r.nextInt(100_000));
                }
            }
        }

        private void submitBlockers() {
            ThreadLocalRandom r = ThreadLocalRandom.current();
            for (int i = 1; i < threads; i++) {
                spin(r.nextInt(500_000));
                add(new Subject(this, Kind.BLOCKING));
            }
        }

        /** Runs all threads at once; thread 0 submits those that block, then does something else. */
        void storm(Runnable then) throws Exception {
            inParallel(SUBMITTERS + 1, n -> {
                if (n == 0) {
                    submitBlockers();
                    then.run();
                } else {
                    operate();
                }
            });
        }

        void terminate() throws InterruptedException {
            assertTrue(pool.awaitTermination(30, SECONDS), () -> "hangs: " + pool);
            assertTrue(pool.isTerminated());
        }
    }

    private enum Kind { SHORT, CHAIN, PERIODIC, BLOCKING }

    private static final class Subject implements Runnable {
        final Round round;
        final Kind kind;
        final AtomicInteger runs = new AtomicInteger();
        final CountDownLatch ready = new CountDownLatch(1);
        volatile Future<?> future;
        volatile boolean cancelled;

        Subject(Round round, Kind kind) {
            this.round = round;
            this.kind = kind;
        }

        void submit() {
            ThreadLocalRandom r = ThreadLocalRandom.current();
            long delay = r.nextBoolean() ? 0 : r.nextInt(300_000);
            try {
                future = kind == Kind.PERIODIC
                        ? round.pool.scheduleAtFixedRate(this, delay, 20_000 + r.nextInt(100_000), NANOSECONDS)
                        : round.pool.schedule(this, delay, NANOSECONDS);
            } catch (RejectedExecutionException e) {
                assertTrue(round.pool.isShutdown());
            } finally {
                ready.countDown();
            }
        }

        void cancel(boolean interrupt) {
            if (future != null && future.cancel(interrupt)) {
                cancelled = true;
            }
        }

        @Override
        public void run() {
            int run = runs.incrementAndGet();
            ThreadLocalRandom r = ThreadLocalRandom.current();
            switch (kind) {
                case BLOCKING -> {
                    round.add(new Subject(round, Kind.SHORT));
                    round.block();
                }
                case CHAIN -> round.add(new Subject(round, r.nextInt(4) == 0 ? Kind.SHORT : Kind.CHAIN));
                case PERIODIC -> {
                    if (run >= 5) {
                        cancel(false);
                    }
                }
                default -> spin(r.nextInt(20_000));
            }
        }

        boolean isOver() {
            return ready.getCount() == 0 && (future == null || future.isDone());
        }
    }

    /** Nobody opens the gate before all others have ended. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void pool_allButOneBlocked_runsAllElse(int threads) throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(threads);
            round.storm(() -> {});
            LifeFixtures.eventually("the blockers begin", () -> round.blocked.get() == threads - 1);
            LifeFixtures.eventually("all else runs while one thread is free",
                    () -> round.all.stream().allMatch(s -> s.kind == Kind.BLOCKING || s.isOver()));
            assertEquals(threads - 1, round.blocked.get());
            if (i % 2 == 0) {
                round.gate.countDown();
                round.pool.shutdown();
                round.terminate();
                assertEquals(0, round.interrupted.get(), "an interrupt hit another task");
            } else {
                assertEquals(List.of(), round.pool.shutdownNow());
                round.terminate();
                assertEquals(threads - 1, round.interrupted.get());
            }
            account(round, List.of());
        }
    }

    /** An end at any time: each task has run, was cancelled, rejected or returned, and but one of them. */
    @Test
    void shutdownNow_atAnyTime_accountsForAll() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(3 + i % 2);
            List<Runnable> returned = new ArrayList<>();
            round.storm(() -> {
                spin(ThreadLocalRandom.current().nextInt(1_000_000));
                returned.addAll(round.pool.shutdownNow());
            });
            round.terminate();
            assertEquals(round.blocked.get(), round.interrupted.get(), "a blocker was not interrupted");
            account(round, returned);
        }
    }

    private static void account(Round round, List<Runnable> returned) {
        Set<Object> back = Collections.newSetFromMap(new IdentityHashMap<>());
        back.addAll(returned);
        assertEquals(returned.size(), back.size(), "returned twice");
        for (Subject s : round.all) {
            int runs = s.runs.get();
            if (s.future == null) {
                assertEquals(0, runs, "rejected, but ran");
            } else if (back.remove(s.future)) {
                assertTrue(s.kind == Kind.PERIODIC || runs == 0, "returned, but ran");
                assertEquals(s.cancelled, s.future.isCancelled(), "returned, and not cancelled but by its owner");
                assertEquals(s.cancelled, s.future.isDone(), "returned, and not done");
            } else {
                assertTrue(s.future.isDone(), () -> "neither done nor returned: " + s.future);
                assertTrue(s.future.isCancelled() || runs == 1, () -> s.kind + " ran " + runs + " times");
                assertTrue(s.kind == Kind.PERIODIC || runs <= 1, () -> s.kind + " ran " + runs + " times");
            }
        }
        assertEquals(Set.of(), back, "returned, but never accepted");
    }
}
