package io.pendula.adapters.pekko;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.actor.Scheduler;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.event.NoLogging;
import scala.concurrent.ExecutionContext;

/** The adapter, and Pekko's own scheduler to show that the tests ask for what users are used to. */
enum SchedulerKind {
    PENDULA {
        @Override
        Scheduler make(Config config, LoggingAdapter log) {
            return new PendulaScheduler(config, log, Thread::new);
        }
    },
    PEKKO {
        @Override
        Scheduler make(Config config, LoggingAdapter log) {
            return new LightArrayRevolverScheduler(config, log, Thread::new);
        }
    };

    abstract Scheduler make(Config config, LoggingAdapter log);

    Subject open() {
        return new Subject(make(ConfigFactory.parseString("pekko.scheduler { tick-duration = 10ms, ticks-per-wheel = 512,"
                + " error-on-tick-duration-verification-failed = on, shutdown-timeout = 5s }"), NoLogging.getInstance()));
    }

    /** A scheduler, and an executor that keeps the failures that it is told of. */
    static final class Subject implements AutoCloseable, ExecutionContext {
        final Scheduler scheduler;
        final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private final ExecutorService threads = Executors.newFixedThreadPool(4);

        Subject(Scheduler scheduler) {
            this.scheduler = scheduler;
        }

        @Override
        public void execute(Runnable task) {
            if (threads.isShutdown()) {
                throw new RejectedExecutionException("shut down");
            }
            threads.execute(() -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    reportFailure(e);
                }
            });
        }

        @Override
        public void reportFailure(Throwable thrown) {
            failures.add(thrown);
        }

        ExecutorService threads() {
            return threads;
        }

        void closeScheduler() {
            try {
                ((Closeable) scheduler).close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() {
            closeScheduler();
            threads.shutdownNow();
        }
    }
}
