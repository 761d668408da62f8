package io.pendula.benchmarks.peers;

import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.pendula.TimerExecutors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The thread pools under test, each called directly as the ScheduledExecutorService that it is. */
public enum PoolType {
    PENDULA_POOL {
        @Override
        public ScheduledExecutorService open(int threads) {
            return TimerExecutors.newScheduledThreadPool(threads);
        }
    },
    /** ScheduledThreadPoolExecutor, which removes what is cancelled. */
    STPE {
        @Override
        public ScheduledExecutorService open(int threads) {
            ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(threads);
            pool.setRemoveOnCancelPolicy(true);
            return pool;
        }
    },
    /** ForkJoinPool, a ScheduledExecutorService since JDK 25. */
    FJP {
        @Override
        public ScheduledExecutorService open(int threads) {
            return scheduled(new ForkJoinPool(threads));
        }
    },
    /** Netty's DefaultEventExecutorGroup: threads with a queue each, to which it deals what it gets in turn. */
    NETTY_EXECUTOR {
        @Override
        public ScheduledExecutorService open(int threads) {
            return new DefaultEventExecutorGroup(threads);
        }
    };

    public abstract ScheduledExecutorService open(int threads);

    /** The pool as what it is only since JDK 25. */
    static ScheduledExecutorService scheduled(Object pool) {
        if (pool instanceof ScheduledExecutorService scheduled) {
            return scheduled;
        }
        throw new UnsupportedOperationException("ForkJoinPool cannot schedule before JDK 25");
    }
}
