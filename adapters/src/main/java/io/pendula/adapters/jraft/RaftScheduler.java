package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.core.Scheduler;
import io.pendula.SchedulerExecutor;
import io.pendula.spi.TaskWrapper;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What JRaft uses for heartbeats and for replicators that pause. */
final class RaftScheduler implements Scheduler {
    private static final Logger LOG = LoggerFactory.getLogger(RaftScheduler.class);

    private final SchedulerExecutor executor;
    private final String name;

    /** Logs what a task throws, as JRaft's pools do: JRaft does not look at the future of a task that runs once. */
    private record Logged(Runnable task, String name) implements Runnable, TaskWrapper {
        @Override
        public void run() {
            try {
                task.run();
            } catch (Throwable e) {
                LOG.error("A task of the scheduler {} threw.", name, e);
                throw e;
            }
        }
    }

    RaftScheduler(SchedulerExecutor executor, String name) {
        this.executor = executor;
        this.name = name;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        return executor.schedule(new Logged(Objects.requireNonNull(command, "command"), name), delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
        return executor.scheduleAtFixedRate(command, initialDelay, period, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
        return executor.scheduleWithFixedDelay(command, initialDelay, delay, unit);
    }

    /** Does not wait, as JRaft's own does not. */
    @Override
    public void shutdown() {
        executor.shutdownNow();
    }

    @Override
    public String toString() {
        return "RaftScheduler[" + name + ", " + executor + "]";
    }
}
