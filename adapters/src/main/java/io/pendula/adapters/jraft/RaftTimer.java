package io.pendula.adapters.jraft;

import com.alipay.sofa.jraft.util.timer.Timeout;
import com.alipay.sofa.jraft.util.timer.Timer;
import com.alipay.sofa.jraft.util.timer.TimerTask;
import io.pendula.TimerScheduler;
import io.pendula.adapters.internal.OneTimeout;
import io.pendula.adapters.internal.Timeouts;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A timer of JRaft. */
final class RaftTimer implements Timer {
    private static final Logger LOG = LoggerFactory.getLogger(RaftTimer.class);

    private final Timeouts<RaftTimeout> timeouts;
    private final String name;

    RaftTimer(TimerScheduler scheduler, String name) {
        this.timeouts = new Timeouts<>(scheduler);
        this.name = name;
    }

    /** One timeout. */
    private static final class RaftTimeout extends OneTimeout implements Timeout {
        private final RaftTimer timer;
        private final TimerTask task;

        RaftTimeout(RaftTimer timer, TimerTask task) {
            this.timer = timer;
            this.task = task;
        }

        @Override
        protected void expire() {
            try {
                task.run(this);
            } catch (Throwable e) {
                LOG.warn("A task of the timer {} threw.", timer.name, e);
            }
        }

        @Override
        public boolean cancel() {
            return prevent();
        }

        @Override
        public Timer timer() {
            return timer;
        }

        @Override
        public TimerTask task() {
            return task;
        }
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(unit, "unit");
        return timeouts.arm(new RaftTimeout(this, task), delay, unit);
    }

    /** Does not wait: JRaft calls it with a lock that a task in progress may want. */
    @Override
    public Set<Timeout> stop() {
        return new HashSet<>(timeouts.stop());
    }

    @Override
    public String toString() {
        return "RaftTimer[" + name + ", " + timeouts + "]";
    }
}
