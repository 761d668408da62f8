package io.pendula;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;

/** Creates and arms timers for all {@link Timers}. Each subclass chooses the queue. */
abstract sealed class Armer implements Timers permits TimerScheduler, TimerLoop, TimerGroup {
    final Timeline timeline;

    Armer(Timeline timeline) {
        this.timeline = timeline;
    }

    /** The queue on which the calling thread arms. */
    abstract TimerQueue queue();

    OneShotTimer make(TimerQueue queue, Runnable work) {
        return new OneShotTimer(queue, work);
    }

    PeriodicTimer make(TimerQueue queue, Runnable work, long period, MissedTicks missedTicks) {
        return new PeriodicTimer(queue, work, period, missedTicks);
    }

    /**
     * Takes an interface, because with a class the JVM would load all classes passed here before the first timer is armed.
     */
    <T extends TimerHandle> T arm(T timer, long deadline) {
        QueuedNode node = (QueuedNode) timer;
        node.queue.arm(node, deadline);
        return timer;
    }

    private static Runnable work(TimerQueue queue, Runnable task) {
        return ((Engine) queue.host).work(Check.notNull(task, "task"));
    }

    @Override
    public Timer after(long delay, TimeUnit unit, Runnable task) {
        long nanos = Check.delay(delay, unit);
        return arm(make(task), timeline.deadlineIn(nanos));
    }

    @Override
    public long now() {
        return timeline.now();
    }

    @Override
    public Timer at(long deadlineNanos, Runnable task) {
        long deadline = Timeline.deadlineAt(Check.instant(deadlineNanos));
        return arm(make(task), deadline);
    }

    @Override
    public Timer timer(Runnable task) {
        return make(task);
    }

    private OneShotTimer make(Runnable task) {
        TimerQueue queue = queue();
        return make(queue, work(queue, task));
    }

    @Override
    public Ticker every(Duration initialDelay, Duration period, MissedTicks missedTicks, Runnable task) {
        long nanos = Check.period(period);
        long first = Check.nanos(initialDelay, "initialDelay");
        Check.notNull(missedTicks, "missedTicks");
        TimerQueue queue = queue();
        return arm(make(queue, work(queue, task), nanos, missedTicks), timeline.deadlineIn(first));
    }

    @Override
    public TimerHandle schedule(Schedule schedule, InstantSource clock, Runnable task) {
        Check.notNull(schedule, "schedule");
        Check.notNull(clock, "clock");
        TimerQueue queue = queue();
        WallTimer t = new WallTimer(queue, work(queue, task), schedule, clock);
        return arm(t, t.firstLook());
    }

    @Override
    public TimerGroup group(String name) {
        return new TimerGroup(this, name);
    }
}
