package io.pendula.clients;

import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * The executors that each client is tried with: Pendula's two, and the JDK's pool, for which the same assertions hold;
 * so a test that asks for something that no executor promises is found out.
 */
enum ExecutorKind {
    PENDULA_POOL {
        @Override
        Subject open(int workers) {
            Subject.Threads threads = new Subject.Threads();
            return new Subject(TimerExecutors.newScheduledThreadPool(workers, threads), workers, threads, null);
        }
    },

    PENDULA_VIEW {
        @Override
        Subject open(int workers) {
            Subject.Threads threads = new Subject.Threads();
            TimerScheduler scheduler = TimerScheduler.builder().workers(workers).threadFactory(threads).build();
            return new Subject(scheduler.asScheduledExecutorService(), workers, threads, scheduler);
        }
    },

    JDK_POOL {
        @Override
        Subject open(int workers) {
            Subject.Threads threads = new Subject.Threads();
            ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(workers, threads);
            pool.setRemoveOnCancelPolicy(true);
            return new Subject(pool, workers, threads, null);
        }
    };

    /** A new executor with so many workers. */
    abstract Subject open(int workers);
}
