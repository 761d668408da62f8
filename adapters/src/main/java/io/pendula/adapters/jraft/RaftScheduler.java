package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.core.Scheduler;
import io.pendula.SchedulerExecutor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** What JRaft uses for heartbeats and for replicators that pause. */
final class RaftScheduler implements Scheduler {
    private final SchedulerExecutor executor;
    private final String name;

    RaftScheduler(SchedulerExecutor executor, String name) {
        this.executor = executor;
        this.name = name;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        return executor.schedule(command, delay, unit);
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
