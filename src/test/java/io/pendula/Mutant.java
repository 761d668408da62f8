package io.pendula;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/** Executors with one fault each. The contract is worth something if it fails for every one of them but NONE. */
enum Mutant {
    /** The layer alone. */
    NONE(2, WrappedPool::new),

    NONE_WITH_ONE_WORKER(1, WrappedPool::new),

    // ---- time ----

    FIRES_EARLY(2, n -> new WrappedPool(n) {
        @Override
        long delay(long nanos) {
            return nanos > 200_000 ? nanos - 200_000 : nanos;
        }
    }, ContractTimingTest.class),

    PERIODIC_FIRST_RUN_EARLY(1, n -> new WrappedPool(n) {
        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            return super.scheduleAtFixedRate(task, 0, period, unit);
        }
    }, ContractPeriodicTest.class, "periodic_firstRun_comesAfterItsInitialDelay"),

    ENDLESS_DELAY_IS_NO_DELAY(1, n -> new WrappedPool(n) {
        @Override
        long delay(long nanos) {
            return nanos == Long.MAX_VALUE ? 0 : nanos;
        }
    }, ContractSubmissionTest.class),

    LATE_BY_A_POLL(2, n -> new WrappedPool(n) {
        @Override
        long delay(long nanos) {
            return nanos > 0 && nanos < Long.MAX_VALUE / 2 ? nanos + 50_000_000 : nanos;
        }
    }, ContractTimingTest.class, "schedule_quietPool_comesSoon"),

    // ---- how often ----

    LOSES_ONE_IN_2000(2, n -> new WrappedPool(n) {
        private final AtomicInteger tasks = new AtomicInteger();

        @Override
        Runnable task(Runnable task) {
            return tasks.incrementAndGet() % 2_000 == 0 ? () -> {} : task;
        }
    }, ContractStormTest.class),

    LOSES_ONE_IN_2000_FOR_GOOD(2, n -> new WrappedPool(n) {
        private final AtomicInteger tasks = new AtomicInteger();

        @Override
        public void execute(Runnable task) {
            if (tasks.incrementAndGet() % 2_000 != 0) {
                super.execute(task);
            }
        }
    }, ContractStormTest.class),

    RUNS_ONE_IN_500_TWICE(2, n -> new WrappedPool(n) {
        private final AtomicInteger tasks = new AtomicInteger();

        @Override
        <V> Callable<V> task(Callable<V> task) {
            if (tasks.incrementAndGet() % 500 != 0) {
                return task;
            }
            return () -> {
                task.call();
                return task.call();
            };
        }
    }, ContractStormTest.class),

    // ---- periodic ----

    SWALLOWS_PERIODIC_EXCEPTION(1, n -> new WrappedPool(n) {
        @Override
        Runnable periodic(Runnable task) {
            return () -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    Thread.yield();
                }
            };
        }
    }, ContractPeriodicTest.class, "periodic_runThrows_endsAndItsFutureTells"),

    FIXED_DELAY_IS_FIXED_RATE(1, n -> new WrappedPool(n) {
        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
            return scheduleAtFixedRate(task, first, delay, unit);
        }
    }, ContractPeriodicTest.class),

    FIXED_RATE_IS_FIXED_DELAY(1, n -> new WrappedPool(n) {
        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            return scheduleWithFixedDelay(task, first, period, unit);
        }
    }, ContractPeriodicTest.class),

    PERIODIC_OVERLAPS_ITSELF(2, n -> new WrappedPool(n) {
        @Override
        Runnable periodic(Runnable task) {
            return () -> {
                if (ThreadLocalRandom.current().nextInt(64) == 0) {
                    execute(task);
                }
                task.run();
            };
        }
    }, ContractPeriodicTest.class, "periodic_anyPeriod_runsNeverOverlapAndSeeEachOther"),

    DELAY_OF_A_RUN_IS_THE_NEXT_ONES(1, n -> new WrappedPool(n) {
        @Override
        long delayLeft(Wrapper<?> future, long nanos) {
            return future.isPeriodic() && nanos <= 0 ? TimeUnit.HOURS.toNanos(1) + nanos : nanos;
        }
    }, ContractPeriodicTest.class, "getDelay_whileItRuns_isThatOfTheRunInProgress"),

    // ---- cancelling ----

    IGNORES_INTERRUPT(2, n -> new WrappedPool(n) {
        @Override
        boolean cancel(Wrapper<?> future, boolean interrupt) {
            return future.cancelInner(false);
        }
    }, ContractCancelTest.class),

    INTERRUPTS_UNASKED(2, n -> new WrappedPool(n) {
        @Override
        boolean cancel(Wrapper<?> future, boolean interrupt) {
            return future.cancelInner(true);
        }
    }, ContractCancelTest.class),

    INTERRUPT_LEAKS_INTO_THE_NEXT(1, n -> new WrappedPool(n) {
        private volatile boolean leak;

        @Override
        boolean cancel(Wrapper<?> future, boolean interrupt) {
            leak = interrupt && ThreadLocalRandom.current().nextInt(100) == 0;
            return future.cancelInner(interrupt);
        }

        @Override
        protected void beforeExecute(Thread t, Runnable r) {
            if (leak) {
                leak = false;
                t.interrupt();
            }
        }
    }, ContractCancelTest.class, "cancel_withInterruptAtAnyMoment_neverHitsAnotherTask"),

    CANCEL_PREVENTS_NOTHING(2, n -> new WrappedPool(n) {
        @Override
        boolean cancel(Wrapper<?> future, boolean interrupt) {
            return future.pretendToCancel();
        }
    }, ContractCancelTest.class, "cancel_pendingOfAnyKind_neverRuns"),

    CANCEL_PREVENTS_ALMOST_ALWAYS(1, n -> new WrappedPool(n) {
        @Override
        boolean cancel(Wrapper<?> future, boolean interrupt) {
            boolean pretend = ThreadLocalRandom.current().nextInt(100) == 0;
            return pretend ? future.pretendToCancel() : future.cancelInner(interrupt);
        }
    }, ContractCancelTest.class, "cancel_racingWithTheRun_eachEndsInOneWay"),

    CANCEL_LIES(2, n -> new WrappedPool(n) {
        @Override
        boolean cancel(Wrapper<?> future, boolean interrupt) {
            future.cancelInner(interrupt);
            return false;
        }
    }, ContractCancelTest.class),

    // ---- futures ----

    WRAPS_THE_EXCEPTION(1, n -> new WrappedPool(n) {
        @Override
        <V> Callable<V> task(Callable<V> task) {
            return () -> {
                try {
                    return task.call();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            };
        }
    }, ContractFutureTest.class),

    INTERRUPT_BEATS_THE_OUTCOME(1, n -> new WrappedPool(n) {
        @Override
        void beforeGet() throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }, ContractFutureTest.class, "get_doneAndCallerInterrupted_givesTheOutcomeAndKeepsTheFlag"),

    KEEPS_CALLABLES(1, n -> new WrappedPool(n) {
        private final List<Object> kept = new ArrayList<>();

        @Override
        Runnable task(Runnable task) {
            kept.add(task);
            return task;
        }
    }, ContractRetentionTest.class, "cancel_pending_callableIsUnreachable"),

    KEEPS_CANCELLED_FUTURES(1, n -> {
        WrappedPool pool = new WrappedPool(n) {
            @Override
            public boolean remove(Runnable task) {
                return false;
            }
        };
        pool.setRemoveOnCancelPolicy(false);
        return pool;
    }, ContractRetentionTest.class, "futures_manyCancelledAndDropped_fewAreKept"),

    // ---- workers ----

    ONE_WORKER_ONLY(4, n -> new WrappedPool(1), ContractWorkersTest.class,
            "blockingTasks_fromOutside_runAtOnceAndNoMore"),

    ONE_WORKER_TOO_MANY(2, n -> new WrappedPool(n + 1), ContractWorkersTest.class),

    WANTS_A_WORKER_AT_LEAST(2, n -> {
        if (n < 1) {
            throw new IllegalArgumentException("workers must be at least 1");
        }
        return new WrappedPool(n);
    }, ContractWorkersTest.class, "poolOfNoWorkers_anySubmissions_runsThemOneAfterTheOther"),

    RUNS_IN_THE_CALLER(2, n -> new WrappedPool(n) {
        @Override
        public void execute(Runnable task) {
            if (isShutdown()) {
                super.execute(task);
            } else {
                task.run();
            }
        }
    }, ContractSubmissionTest.class, "submit_eachForm_runsOnAWorker"),

    /** What a task submits waits for the end of that very task. */
    PINS_TO_THE_WORKER(2, n -> new WrappedPool(n) {
        private final ThreadLocal<List<Runnable>> pinned = new ThreadLocal<>();

        @Override
        protected void beforeExecute(Thread t, Runnable r) {
            pinned.set(new ArrayList<>());
        }

        @Override
        Runnable task(Runnable task) {
            List<Runnable> mine = pinned.get();
            if (mine == null) {
                return task;
            }
            mine.add(task);
            return () -> {};
        }

        @Override
        protected void afterExecute(Runnable r, Throwable t) {
            List<Runnable> mine = pinned.get();
            pinned.remove();
            if (mine != null && !isShutdown()) {
                mine.forEach(this::execute);
            }
        }
    }, ContractWorkersTest.class, "blockingTasks_fromOneThatBlocksItself_runAtOnceAndNoMore"),

    NOT_FIRST_IN_FIRST_OUT(1, n -> new WrappedPool(n) {
        @Override
        long delay(long nanos) {
            return nanos <= 0 ? ThreadLocalRandom.current().nextInt(100_000) : nanos;
        }
    }, ContractWorkersTest.class),

    // ---- submission and the end ----

    TAKES_NULL_UNITS(1, n -> new WrappedPool(n) {
        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            return super.scheduleAtFixedRate(task, first, period, unit == null ? TimeUnit.NANOSECONDS : unit);
        }
    }, ContractSubmissionTest.class),

    QUEUES_BEFORE_IT_CHECKS(1, n -> new WrappedPool(n) {
        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            if (period <= 0 && !isShutdown()) {
                super.execute(task);
            }
            return super.scheduleAtFixedRate(task, first, period, unit);
        }
    }, ContractSubmissionTest.class),

    TAKES_ANY_PERIOD(1, n -> new WrappedPool(n) {
        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
            return super.scheduleWithFixedDelay(task, first, Math.max(1, delay), unit);
        }
    }, ContractSubmissionTest.class),

    REJECTS_NOTHING(1, n -> {
        WrappedPool pool = new WrappedPool(n);
        RejectedExecutionHandler deaf = (task, executor) -> {};
        pool.setRejectedExecutionHandler(deaf);
        return pool;
    }, ContractSubmissionTest.class, "submit_afterShutdown_isRejected"),

    INVOKE_ALL_WITHOUT_CANCEL(2, n -> new WrappedPool(n) {
        @Override
        public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
                throws InterruptedException {
            List<Future<T>> all = new ArrayList<>();
            for (Callable<T> task : tasks) {
                all.add(submit(task));
            }
            unit.sleep(timeout);
            return all;
        }
    }, ContractBulkTest.class, "invokeAll_timeoutPasses_cancelsWhatIsNotDone"),

    SHUTDOWN_DROPS_DELAYED(2, n -> new WrappedPool(n) {
        @Override
        public void shutdown() {
            setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            super.shutdown();
        }
    }, ContractShutdownTest.class, "shutdown_queuedAndDelayed_stillRunAtTheirTime"),

    SHUTDOWN_LEAVES_PERIODIC(2, n -> new WrappedPool(n) {
        @Override
        public void shutdown() {
            setContinueExistingPeriodicTasksAfterShutdownPolicy(true);
            super.shutdown();
        }
    }, ContractShutdownTest.class, "shutdown_periodicWaiting_isCancelledAtOnce"),

    SHUTDOWN_INTERRUPTS(2, n -> new WrappedPool(n) {
        @Override
        public void shutdown() {
            List<Runnable> waiting = shutdownNow();
            waiting.forEach(Runnable::run);
        }
    }, ContractShutdownTest.class, "shutdown_queuedAndDelayed_stillRunAtTheirTime"),

    SHUTDOWN_NOW_INTERRUPTS_NOBODY(2, n -> new WrappedPool(n) {
        @Override
        public List<Runnable> shutdownNow() {
            List<Runnable> waiting = new ArrayList<>();
            getQueue().drainTo(waiting);
            super.shutdown();
            return waiting;
        }
    }, ContractShutdownTest.class, "shutdownNow_running_areInterrupted"),

    SHUTDOWN_NOW_RETURNS_NOTHING(2, n -> new WrappedPool(n) {
        @Override
        public List<Runnable> shutdownNow() {
            super.shutdownNow();
            return List.of();
        }
    }, ContractShutdownTest.class, "shutdownNow_waiting_areHandedBackAndNeverRun"),

    SHUTDOWN_NOW_RETURNS_CANCELLED(2, n -> new WrappedPool(n) {
        @Override
        public List<Runnable> shutdownNow() {
            List<Runnable> waiting = super.shutdownNow();
            waiting.forEach(task -> ((Future<?>) task).cancel(false));
            return waiting;
        }
    }, ContractShutdownTest.class, "shutdownNow_waiting_areHandedBackAndNeverRun"),

    SHUTDOWN_CANCELS_RUNNING_PERIODIC(2, n -> new PeriodicPool(n) {
        @Override
        public void shutdown() {
            super.shutdown();
            periodic.forEach(f -> f.cancel(false));
        }
    }, ContractShutdownTest.class, "shutdown_periodicRunning_isNotDoneBeforeItsRunEnds"),

    SHUTDOWN_CANCELS_PERIODIC_THAT_THROWS(2, n -> new PeriodicPool(n) {
        @Override
        public void shutdown() {
            super.shutdown();
            periodic.forEach(f -> f.cancel(false));
        }
    }, ContractShutdownTest.class, "shutdown_periodicRunningThrows_itsFutureTells"),

    SHUTDOWN_ENDS_PERIODIC_FOR_GOOD(2, n -> new PeriodicPool(n) {
        private volatile boolean over;

        @Override
        public void shutdown() {
            over = true;
            super.shutdown();
        }

        @Override
        protected void afterExecute(Runnable r, Throwable t) {
            if (over && r instanceof Future<?> f && periodic.contains(f)) {
                f.cancel(false);
            }
        }
    }, ContractShutdownTest.class, "shutdown_periodicContinuedBeforeItsRunEnds_goesOn"),

    SHUTDOWN_NOW_CANCELS_RUNNING_PERIODIC(2, n -> new PeriodicPool(n) {
        @Override
        public List<Runnable> shutdownNow() {
            List<Runnable> waiting = super.shutdownNow();
            periodic.stream().filter(f -> !waiting.contains(f)).forEach(f -> f.cancel(false));
            return waiting;
        }
    }, ContractShutdownTest.class, "shutdownNow_periodicRunning_isNotDoneBeforeItsRunEnds"),

    SHUTDOWN_NOW_CANCELS_PERIODIC(2, n -> new PeriodicPool(n) {
        @Override
        public List<Runnable> shutdownNow() {
            List<Runnable> waiting = super.shutdownNow();
            periodic.forEach(f -> f.cancel(false));
            return waiting;
        }
    }, ContractShutdownTest.class, "shutdownNow_periodicWaiting_isHandedBackAndNeverRunsAgain"),

    SHUTDOWN_NOW_KEEPS_PERIODIC_BACK(2, n -> new PeriodicPool(n) {
        @Override
        public List<Runnable> shutdownNow() {
            List<Runnable> waiting = super.shutdownNow();
            waiting.removeAll(periodic);
            return waiting;
        }
    }, ContractShutdownTest.class, "shutdownNow_periodicDueBehindBusyWorkers_isHandedBackNotDone"),

    TERMINATED_TOO_SOON(2, n -> new WrappedPool(n) {
        @Override
        public boolean isTerminated() {
            return isShutdown();
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return isShutdown();
        }
    }, ContractShutdownTest.class),

    NEVER_TERMINATES_IF_NEVER_USED(1, n -> new WrappedPool(n) {
        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
            return getTaskCount() > 0 && super.awaitTermination(timeout, unit);
        }
    }, ContractShutdownTest.class, "shutdown_neverUsed_terminatesAtOnce"),

    LEAVES_ITS_THREADS(1, n -> new WrappedPool(n) {
        @Override
        public void setThreadFactory(ThreadFactory threads) {
            super.setThreadFactory(body -> {
                Thread t = threads.newThread(() -> {
                    body.run();
                    LifeFixtures.block(TimeUnit.HOURS.toNanos(1));
                });
                t.setDaemon(true);
                return t;
            });
        }
    }, ContractShutdownTest.class, "threads_afterTermination_end");

    /** A pool that knows its periodic tasks. */
    private static class PeriodicPool extends WrappedPool {
        final Queue<ScheduledFuture<?>> periodic = new ConcurrentLinkedQueue<>();

        PeriodicPool(int workers) {
            super(workers);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            return noted(super.scheduleAtFixedRate(task, first, period, unit));
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
            return noted(super.scheduleWithFixedDelay(task, first, delay, unit));
        }

        private ScheduledFuture<?> noted(ScheduledFuture<?> f) {
            periodic.add(f);
            return f;
        }
    }

    private final int workers;
    private final IntFunction<WrappedPool> maker;
    private final Class<?> theme;
    private final String test;

    /** One that nothing may fail for. */
    Mutant(int workers, IntFunction<WrappedPool> maker) {
        this(workers, maker, null, null);
    }

    /** One that some test of the theme fails for. */
    Mutant(int workers, IntFunction<WrappedPool> maker, Class<?> theme) {
        this(workers, maker, theme, null);
    }

    /** One that this test fails for; the others might wait long for what does not come. */
    Mutant(int workers, IntFunction<WrappedPool> maker, Class<?> theme, String test) {
        this.workers = workers;
        this.maker = maker;
        this.theme = theme;
        this.test = test;
    }

    /** The theme whose tests are run, or null for all. */
    Class<?> theme() {
        return theme;
    }

    /** The test of the theme that is run, or null for all of them. */
    String test() {
        return test;
    }

    ContractSubject subject() {
        long patience = theme == null ? Fixtures.PATIENCE_SECONDS : 1;
        return new ContractSubject(name(), workers, true, patience, (n, threads, afterwards) -> {
            WrappedPool pool = maker.apply(n);
            pool.setThreadFactory(threads);
            return pool;
        });
    }
}
