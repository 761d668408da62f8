package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * What a scheduled executor promises, one theme per subclass, each test against each {@link ContractSubject}. It asks
 * for what {@link ScheduledThreadPoolExecutor} documents and no more; where Pendula promises more is the matter of
 * other tests. {@link MutantsTest} shows that a broken executor does not get through.
 */
@Tag("contract")
@ParameterizedClass(name = "{0}")
@ArgumentsSource(ContractSubjects.class)
@Timeout(60)
abstract class ContractCase {
    static final Runnable NOTHING = () -> {};

    @Parameter
    ContractSubject subject;

    private final List<ScheduledExecutorService> pools = new ArrayList<>();
    private final List<Runnable> afterwards = new ArrayList<>();
    private final Queue<Hold> holds = new ConcurrentLinkedQueue<>();

    /** A task that keeps its worker until it is let go or interrupted. */
    static final class Hold implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch ended = new CountDownLatch(1);
        volatile boolean interrupted;
        private final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void run() {
            begun.countDown();
            try {
                open.await();
            } catch (InterruptedException e) {
                interrupted = true;
            } finally {
                ended.countDown();
            }
        }

        void open() {
            open.countDown();
        }
    }

    /** A pool that is ended after the test. */
    ScheduledExecutorService pool() {
        return pool(Executors.defaultThreadFactory());
    }

    ScheduledExecutorService pool(ThreadFactory threads) {
        return pool(subject.workers(), threads);
    }

    ScheduledExecutorService pool(int workers, ThreadFactory threads) {
        ScheduledExecutorService pool = subject.maker().make(workers, threads, afterwards::add);
        pools.add(pool);
        return pool;
    }

    /** A task that is let go after the test at the latest. */
    Hold hold() {
        Hold hold = new Hold();
        holds.add(hold);
        return hold;
    }

    /** Occupies so many workers. */
    List<Hold> occupy(ScheduledExecutorService pool, int workers) {
        List<Hold> all = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            Hold hold = hold();
            all.add(hold);
            pool.execute(hold);
        }
        all.forEach(hold -> await(hold.begun));
        return all;
    }

    List<Hold> occupyAll(ScheduledExecutorService pool) {
        return occupy(pool, subject.workers());
    }

    static void open(List<Hold> all) {
        all.forEach(Hold::open);
    }

    @AfterEach
    void endPools() throws InterruptedException {
        holds.forEach(Hold::open);
        pools.forEach(ExecutorService::shutdownNow);
        for (ScheduledExecutorService pool : pools) {
            awaitTermination(pool);
        }
        afterwards.forEach(Runnable::run);
    }

    void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(subject.patienceSeconds(), TimeUnit.SECONDS), "nothing happened for a long time");
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted while waiting", e);
        }
    }

    void eventually(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(subject.patienceSeconds()), what);
            Thread.yield();
        }
    }

    void join(Thread t) throws InterruptedException {
        t.join(TimeUnit.SECONDS.toMillis(subject.patienceSeconds()));
        assertFalse(t.isAlive(), () -> t + " does not end");
    }

    /** Fails unless the collector finds the referent unreachable. */
    void awaitCollected(Reference<?> reference) {
        eventually("it is still reachable", () -> {
            if (!reference.refersTo(null)) {
                System.gc();
            }
            return reference.refersTo(null);
        });
    }

    <V> V get(Future<V> future) throws Exception {
        return future.get(subject.patienceSeconds(), TimeUnit.SECONDS);
    }

    void awaitTermination(ExecutorService pool) throws InterruptedException {
        assertTrue(pool.awaitTermination(subject.patienceSeconds(), TimeUnit.SECONDS), "it does not terminate");
        assertTrue(pool.isTerminated() && pool.isShutdown());
    }

    /** Ends the pool as its users do; what was due or delayed has run then. */
    void finish(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        awaitTermination(pool);
    }

    /** Nothing waits and nothing runs. */
    void assertIdle(ExecutorService pool) throws InterruptedException {
        assertEquals(List.of(), pool.shutdownNow());
        awaitTermination(pool);
    }

    interface Attempt {
        boolean inTime() throws Exception;
    }

    /**
     * For upper bounds, which a busy machine may miss once, and an emulator each time. What must never be is asserted
     * within the attempt.
     */
    static void inTimeAtLeastOnce(Attempt attempt) throws Exception {
        atLeastOnce(5, attempt);
    }

    /** For what happens in some tries only. */
    static void atLeastOnce(int tries, Attempt attempt) throws Exception {
        for (int i = 0; i < tries; i++) {
            if (attempt.inTime() || Scale.EMULATED) {
                return;
            }
        }
        throw new AssertionError("not once in " + tries + " tries");
    }

    static void keepExistingDelayedTasks(ExecutorService pool, boolean value) {
        if (pool instanceof SchedulerExecutor ours) {
            ours.setExecuteExistingDelayedTasksAfterShutdownPolicy(value);
        } else {
            ((ScheduledThreadPoolExecutor) pool).setExecuteExistingDelayedTasksAfterShutdownPolicy(value);
        }
    }

    static void continueExistingPeriodicTasks(ExecutorService pool, boolean value) {
        if (pool instanceof SchedulerExecutor ours) {
            ours.setContinueExistingPeriodicTasksAfterShutdownPolicy(value);
        } else {
            ((ScheduledThreadPoolExecutor) pool).setContinueExistingPeriodicTasksAfterShutdownPolicy(value);
        }
    }
}
