package io.pendula;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.ContractSubjects.PendulaOnly;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Everything at once: threads submit, cancel, and change the policies while another ends the executor. Whatever the
 * interleaving, it terminates, and then each task is done or was handed back, and ran as often as its future says.
 */
@Tag("stress")
class ExecutorStormTest extends ContractCase implements PendulaOnly {
    private static final int ROUNDS = Scale.of(30, 120);
    private static final int THREADS = 3;
    private static final int OPERATIONS = 250;

    enum Ending {
        SHUTDOWN, SHUTDOWN_NOW, SHUTDOWN_THEN_NOW, CLOSE, CLOSE_THE_SCHEDULER
    }

    private static final class Submission implements Runnable {
        final AtomicInteger runs = new AtomicInteger();
        ScheduledFuture<?> future;
        boolean periodic;
        boolean cancelled;

        @Override
        public void run() {
            runs.incrementAndGet();
        }
    }

    private static void submit(SchedulerExecutor pool, Submission s) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        long delay = r.nextInt(4) == 0 ? Long.MAX_VALUE : r.nextInt(3) == 0 ? 0 : r.nextInt(300_000);
        int kind = r.nextInt(8);
        s.periodic = kind < 2;
        try {
            s.future = switch (kind) {
                case 0 -> pool.scheduleAtFixedRate(s, delay, 1 + r.nextInt(50_000), NANOSECONDS);
                case 1 -> pool.scheduleWithFixedDelay(s, delay, 1 + r.nextInt(50_000), NANOSECONDS);
                case 2, 3 -> (ScheduledFuture<?>) pool.submit(s);
                default -> pool.schedule(s, delay, NANOSECONDS);
            };
        } catch (RejectedExecutionException e) {
            assertTrue(pool.isShutdown());
        }
    }

    private static void operate(SchedulerExecutor pool, List<Submission> all, CountDownLatch warm) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        for (int i = 0; i < OPERATIONS; i++) {
            int dice = r.nextInt(100);
            if (dice < 60 || all.isEmpty()) {
                Submission s = new Submission();
                all.add(s);
                submit(pool, s);
            } else if (dice < 95) {
                Submission s = all.get(r.nextInt(all.size()));
                if (s.future != null) {
                    s.cancelled |= s.future.cancel(dice % 2 == 0);
                }
            } else if (dice < 98) {
                pool.setContinueExistingPeriodicTasksAfterShutdownPolicy(dice % 2 == 0);
            } else {
                pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(dice % 2 == 0);
            }
            if (i == 20) {
                warm.countDown();
            }
        }
        // Now the shutdown leaves nothing that would never end.
        pool.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    private static List<Runnable> end(SchedulerExecutor pool, Ending ending) {
        switch (ending) {
            case SHUTDOWN -> pool.shutdown();
            case SHUTDOWN_THEN_NOW -> {
                pool.shutdown();
                LifeFixtures.spin(ThreadLocalRandom.current().nextInt(20_000));
                return pool.shutdownNow();
            }
            case SHUTDOWN_NOW -> {
                return pool.shutdownNow();
            }
            case CLOSE -> pool.close();
            default -> pool.engine.close(Long.MAX_VALUE);
        }
        return List.of();
    }

    @ParameterizedTest
    @EnumSource
    void end_inTheMidstOfAStorm_terminatesAndLosesNothing(Ending ending) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            SchedulerExecutor pool = (SchedulerExecutor) pool();
            if (ending == Ending.CLOSE_THE_SCHEDULER && pool.tracker.isOwner) {
                return; // a pool does not hand out its scheduler
            }
            List<List<Submission>> all = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            List<Runnable> returned = new ArrayList<>();
            CountDownLatch warm = new CountDownLatch(THREADS - 1);
            LifeFixtures.inParallel(THREADS, n -> {
                if (n == 0) {
                    await(warm);
                    LifeFixtures.spin(ThreadLocalRandom.current().nextInt(100_000));
                    returned.addAll(end(pool, ending));
                } else {
                    operate(pool, all.get(n), warm);
                }
            });
            awaitTermination(pool);
            Set<Object> back = Collections.newSetFromMap(new IdentityHashMap<>());
            back.addAll(returned);
            assertEquals(returned.size(), back.size(), "handed back twice");
            for (List<Submission> submissions : all) {
                submissions.forEach(s -> account(s, back));
            }
            assertEquals(Set.of(), back, "handed back, but never accepted");
        }
    }

    private static void account(Submission s, Set<Object> back) {
        int runs = s.runs.get();
        if (s.future == null) {
            assertEquals(0, runs, "ran although it was rejected");
        } else if (back.remove(s.future)) {
            assertTrue(s.periodic || runs == 0, () -> "ran and handed back: " + s.future);
            assertEquals(s.cancelled, s.future.isDone(), () -> "handed back: " + s.future);
            assertEquals(s.cancelled, s.future.isCancelled(), () -> "handed back: " + s.future);
        } else {
            assertTrue(s.future.isDone(), () -> "neither done nor handed back: " + s.future);
            assertTrue(s.periodic ? s.future.isCancelled() : runs <= 1, () -> runs + " runs of " + s.future);
            assertTrue(s.future.isCancelled() || runs == 1, () -> runs + " runs of " + s.future);
        }
    }
}
