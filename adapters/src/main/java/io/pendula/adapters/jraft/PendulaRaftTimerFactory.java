package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.core.Scheduler;
import com.alipay.sofa.jraft.util.SPI;
import com.alipay.sofa.jraft.util.timer.RaftTimerFactory;
import com.alipay.sofa.jraft.util.timer.Timer;
import io.pendula.TimerScheduler;
import java.util.Objects;

/**
 * Creates the timers of all Raft groups of a process on one {@link TimerScheduler}: for elections, votes, step-downs,
 * snapshots and heartbeats. To use it, add a file
 * {@code META-INF/services/com.alipay.sofa.jraft.util.timer.RaftTimerFactory} with the name of this class to the class
 * path.
 *
 * <p>All timers use the threads of the scheduler, whether JRaft shares them or not, and have no tick. (JRaft's own
 * factory starts a thread for each of a group's four timers, or a pool if they are shared.) Callbacks of JRaft may
 * block, for example for a connection. Meanwhile other timers run on other threads of the scheduler, so
 * {@code maxThreads} should be larger than the number of workers. Stopping a timer ends only the timeouts that were
 * armed through it.
 *
 * <p>All methods may be called by any thread at any time.
 *
 * @since 0.1
 */
@SPI(priority = 10)
public class PendulaRaftTimerFactory implements RaftTimerFactory {
    private final TimerScheduler scheduler;

    /** Creates a factory on the {@linkplain TimerScheduler#shared() shared scheduler}. Called by JRaft. */
    public PendulaRaftTimerFactory() {
        this(TimerScheduler.shared());
    }

    /**
     * Creates a factory on the given scheduler, for subclasses. A subclass needs a constructor without arguments, and
     * its own {@link SPI} annotation.
     *
     * @param scheduler the scheduler; stays open
     * @throws NullPointerException if {@code scheduler} is null
     */
    protected PendulaRaftTimerFactory(TimerScheduler scheduler) {
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
    }

    @Override
    public Timer getElectionTimer(boolean shared, String name) {
        return createTimer(name);
    }

    @Override
    public Timer getVoteTimer(boolean shared, String name) {
        return createTimer(name);
    }

    @Override
    public Timer getStepDownTimer(boolean shared, String name) {
        return createTimer(name);
    }

    @Override
    public Timer getSnapshotTimer(boolean shared, String name) {
        return createTimer(name);
    }

    @Override
    public Scheduler getRaftScheduler(boolean shared, int workerNum, String name) {
        return createScheduler(workerNum, name);
    }

    @Override
    public Timer createTimer(String name) {
        return new RaftTimer(scheduler, name);
    }

    @Override
    public Scheduler createScheduler(int workerNum, String name) {
        return new RaftScheduler(scheduler.asScheduledExecutorService(), name);
    }
}
