package io.pendula;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import org.junit.jupiter.api.Test;

/** Neither a pool nor a future keeps what is not needed any more. */
class ContractRetentionTest extends ContractCase {
    private final List<WeakReference<Object>> references = new ArrayList<>();

    /** A task of its own identity, known here only weakly. */
    private final class Task implements Runnable, Callable<Object> {
        private final boolean throwing;

        Task(boolean throwing) {
            this.throwing = throwing;
            references.add(new WeakReference<>(this));
        }

        Task() {
            this(false);
        }

        @Override
        public void run() {
            if (throwing) {
                throw new IllegalStateException("meant");
            }
        }

        @Override
        public Object call() {
            run();
            return "done";
        }
    }

    private void awaitAllCollected() {
        for (WeakReference<Object> reference : references) {
            awaitCollected(reference);
        }
    }

    private List<ScheduledFuture<?>> scheduleAll(ScheduledExecutorService pool, boolean throwing, long first) {
        return List.of(
                pool.schedule((Runnable) new Task(throwing), first, MILLISECONDS),
                pool.schedule((Callable<Object>) new Task(throwing), first, MILLISECONDS),
                pool.scheduleAtFixedRate(new Task(throwing), first, 1, MILLISECONDS),
                pool.scheduleWithFixedDelay(new Task(throwing), first, 1, MILLISECONDS));
    }

    @Test
    void cancel_pending_callableIsUnreachable() throws Exception {
        ScheduledExecutorService pool = pool();
        List<ScheduledFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.addAll(scheduleAll(pool, false, HOURS.toMillis(1)));
        }
        all.forEach(f -> assertTrue(f.cancel(false)));
        awaitAllCollected();
        all.forEach(f -> assertTrue(f.isCancelled()));
    }

    @Test
    void run_finished_callableIsUnreachable() throws Exception {
        ScheduledExecutorService pool = pool();
        List<Future<?>> all = List.of(
                pool.submit((Runnable) new Task()),
                pool.submit((Callable<Object>) new Task()),
                pool.submit(new Task(), "result"),
                pool.schedule((Runnable) new Task(), 1, MILLISECONDS),
                pool.schedule((Callable<Object>) new Task(), 1, MILLISECONDS));
        pool.execute(new Task());
        for (Future<?> f : all) {
            get(f);
        }
        awaitAllCollected();
        all.forEach(f -> assertTrue(f.isDone()));
    }

    @Test
    void run_threw_callableIsUnreachable() throws Exception {
        ScheduledExecutorService pool = pool();
        List<ScheduledFuture<?>> all = scheduleAll(pool, true, 0);
        for (Future<?> f : all) {
            assertThrows(ExecutionException.class, () -> get(f));
        }
        awaitAllCollected();
        all.forEach(f -> assertTrue(f.isDone()));
    }

    @Test
    void cancel_periodicThatHasRun_callableIsUnreachable() throws Exception {
        ScheduledExecutorService pool = pool();
        List<ScheduledFuture<?>> all = scheduleAll(pool, false, 0);
        get(pool.schedule(NOTHING, 5, MILLISECONDS));
        for (Future<?> f : all) {
            f.cancel(true);
        }
        awaitAllCollected();
        all.forEach(f -> assertTrue(f.isDone()));
    }

    @Test
    void shutdown_periodicAndDropped_callableIsUnreachable() throws Exception {
        ScheduledExecutorService pool = pool();
        keepExistingDelayedTasks(pool, false);
        List<ScheduledFuture<?>> all = scheduleAll(pool, false, HOURS.toMillis(1));
        finish(pool);
        awaitAllCollected();
        all.forEach(f -> assertTrue(f.isCancelled()));
    }

    @Test
    void futures_ranAndDropped_areUnreachable() throws Exception {
        ScheduledExecutorService pool = pool();
        for (WeakReference<Future<?>> f : runSome(pool)) {
            awaitCollected(f);
        }
        awaitAllCollected();
        get(pool.submit(NOTHING));
    }

    private List<WeakReference<Future<?>>> runSome(ScheduledExecutorService pool) throws Exception {
        List<WeakReference<Future<?>>> futures = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Future<?> ran = pool.schedule((Runnable) new Task(), i % 2, MILLISECONDS);
            get(ran);
            futures.add(new WeakReference<>(ran));
        }
        return futures;
    }

    /** A pool may keep some that are cancelled for a while, but what it keeps is bounded. */
    @Test
    void futures_manyCancelledAndDropped_fewAreKept() {
        ScheduledExecutorService pool = pool();
        List<WeakReference<Future<?>>> futures = cancelMany(pool, 20_000);
        eventually("most are let go", () -> {
            System.gc();
            return futures.stream().filter(f -> f.get() != null).count() <= 5_000;
        });
    }

    private static List<WeakReference<Future<?>>> cancelMany(ScheduledExecutorService pool, int count) {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(pool.schedule(NOTHING, 1 + i, HOURS));
        }
        List<WeakReference<Future<?>>> futures = new ArrayList<>();
        for (Future<?> f : all) {
            f.cancel(false);
            futures.add(new WeakReference<>(f));
        }
        return futures;
    }
}
