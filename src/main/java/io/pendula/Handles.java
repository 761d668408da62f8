package io.pendula;

import static io.pendula.internal.queue.TimerState.deadline;
import static io.pendula.internal.queue.TimerState.isArmed;
import static io.pendula.internal.queue.TimerState.isCancelled;
import static io.pendula.internal.queue.TimerState.state;

import io.pendula.internal.queue.TimerNode;

import java.time.Duration;

/** What the handles of timers tell of themselves. */
final class Handles {
    private Handles() {}

    /** The program's own task behind what a timer runs, or null. */
    static Object task(Runnable work) {
        return work instanceof Receiver ? null : work instanceof Call c ? c.task() : work;
    }

    static Duration remaining(TimerNode t) {
        return Duration.ofNanos(remainingNanos(t, t.wordVolatile()));
    }

    /** 0 if the timer is not armed. */
    static long remainingNanos(TimerNode t, long word) {
        return isArmed(state(word)) ? Math.max(0, deadline(word) - QueuedNode.queueOf(t).timeline.now()) : 0;
    }

    /** The class of a task tells a lambda's maker, too. */
    static String nameOf(Object task) {
        return task == null ? "no task" : task.getClass().getName();
    }

    /** What {@code t} runs and when; {@code tempo}, which may be empty, says how often. */
    static String describe(String kind, TimerNode t, String tempo) {
        long w = t.wordVolatile();
        if (isCancelled(state(w))) {
            return kind + "[cancelled" + tempo + schedulerOf(t) + "]";
        }
        return kind + "[" + nameOf(task(t.work())) + tempo
                + (isArmed(state(w)) ? ", " + Texts.dueIn(remainingNanos(t, w)) : ", not pending") + schedulerOf(t) + "]";
    }

    static String schedulerOf(TimerNode t) {
        return Watched.of(t) == null ? "" : ", scheduler " + schedulerName(t);
    }

    static String schedulerName(TimerNode t) {
        return Watched.of(t).name();
    }

    static Thread runner(TimerNode t) {
        return Watched.of(t).runnerOf(t);
    }
}
