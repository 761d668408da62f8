package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.core.Scheduler;
import com.alipay.sofa.jraft.util.SPI;
import com.alipay.sofa.jraft.util.timer.RaftTimerFactory;
import com.alipay.sofa.jraft.util.timer.Timer;
import io.pendula.TimerScheduler;
import java.util.Objects;

/**
 * Timers for the elections, votes, step-downs, snapshots and heartbeats of all Raft groups of a process, on one
 * {@link TimerScheduler}. To use it, put a file onto the class path that is called
 * {@code META-INF/services/com.alipay.sofa.jraft.util.timer.RaftTimerFactory} and holds the name of this class.
 *
 * <p>Where JRaft's own factory starts a thread for each of a group's four timers, or a pool for all if they are shared,
 * here all have the threads of the scheduler, whether they are shared or not; and they have no tick. Callbacks of JRaft
 * may block, as for a connection; other timers run on other threads of the scheduler meanwhile, for which reason it
 * should be allowed some more threads than workers. Stopping a timer ends what was armed through it alone.
 *
 * <p>All methods may be called by any thread at any time.
 *
 * @since 0.1
 */
@SPI(priority = 10)
public class PendulaRaftTimerFactory implements RaftTimerFactory {
    private final TimerScheduler scheduler;

    /** On the {@linkplain TimerScheduler#shared() shared scheduler}. JRaft calls this. */
    public PendulaRaftTimerFactory() {
        this(TimerScheduler.shared());
    }

    /**
     * For a factory with a scheduler of its own: a subclass with a constructor without arguments, and an {@link SPI}
     * annotation of its own.
     *
     * @param scheduler stays open
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
