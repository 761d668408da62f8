package io.pendula;

import java.time.Duration;

/**
 * One armed timer as {@link TimerScheduler#pendingTimers} has found it. Does not change; the timer may have fired or been
 * stopped since.
 */
public final class PendingTimer {
    private final TimerNode timer;
    private final Object task;
    private final long remaining;
    private final long period;

    PendingTimer(TimerNode timer, long now) {
        this.timer = timer;
        this.task = Handles.task(timer.work());
        this.remaining = Math.max(0, TimerState.deadline(timer.wordVolatile()) - now);
        this.period = timer.periodNanos();
    }

    /** {@return the timer itself, which may be stopped or reset through its own type} */
    public TimerHandle timer() {
        return (TimerHandle) timer;
    }

    /** {@return the task as the program gave it; null if there is none, or if the timer was cancelled meanwhile} */
    public Object task() {
        return task;
    }

    /** {@return the time until it was due, then; zero if it was due; about 18 years if it will never fire} */
    public Duration remaining() {
        return Duration.ofNanos(remaining);
    }

    /** {@return the time between two firings, or after the end of a run; zero if it fires once} */
    public Duration period() {
        return Duration.ofNanos(period);
    }

    /** {@return the number of its queue: workers count from 0, and loops from there on} */
    public int queue() {
        return timer.queue.index;
    }

    /** {@return the class of the task, remaining time, period and queue, for people} */
    @Override
    public String toString() {
        return "PendingTimer[" + Handles.nameOf(task) + ", due in " + remaining()
                + (period == 0 ? "" : ", period " + period()) + ", queue " + queue() + "]";
    }
}
