package io.pendula;

import static io.pendula.internal.queue.TimerNode.deadline;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isCancelled;
import static io.pendula.internal.queue.TimerNode.state;

import io.pendula.internal.queue.TimerNode;

import java.time.Duration;

/** What the handles of timers tell of themselves. */
final class Handles {
    /** Of a task's own text, so that a line can be read. */
    private static final int MOST_CHARS = 200;

    private static final int MOST_WRAPPERS = 8;

    private Handles() {}

    /** The program's own task behind what a timer runs, or null. */
    static Object task(Runnable work) {
        return work instanceof Receiver ? null : work instanceof Call c ? c.task() : work;
    }

    /** What a task is named after: what it stands for, or itself. Calls the program. */
    static Object named(Object task) {
        Object named = task;
        for (int i = 0; i < MOST_WRAPPERS && named instanceof TaskWrapper w; i++) { // of wrappers in a circle, any will do
            Object inner = w.task();
            if (inner == null) {
                break;
            }
            named = inner;
        }
        return named;
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
        return task == null ? "no task" : named(task).getClass().getName();
    }

    /** A timer's name in a log. Refers to its task, which the timer may drop, and becomes a text when it is written. */
    record Name(String kind, Object task, String scheduler) {
        @Override
        public String toString() {
            return kind + "[" + textOf(task) + scheduler + "]";
        }
    }

    static Name name(TimerNode t) {
        return new Name(((QueuedNode) t).kind(), task(t.work()), schedulerOf(t));
    }

    /**
     * What a task says of itself, or the name of its class if it does not override {@code toString}, or if that fails.
     * Calls the program, so never under a lock.
     */
    static String textOf(Object task) {
        try {
            Object named = named(task);
            if (named != null && named.getClass().getMethod("toString").getDeclaringClass() != Object.class) {
                String text = String.valueOf(named);
                return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS) + "...";
            }
            return nameOf(task);
        } catch (Throwable e) {
            return task.getClass().getName();
        }
    }

    /** What {@code t} runs and when; {@code tempo}, which may be empty, says how often. */
    static String describe(QueuedNode t, String tempo) {
        String kind = t.kind();
        long w = t.wordVolatile();
        if (isCancelled(state(w))) {
            return kind + "[cancelled" + tempo + schedulerOf(t) + "]";
        }
        return kind + "[" + nameOf(task(t.work())) + tempo
                + (isArmed(state(w)) ? ", " + Texts.dueIn(remainingNanos(t, w)) : ", not pending") + schedulerOf(t) + "]";
    }

    static String schedulerOf(TimerNode t) {
        return QueuedNode.hostOf(t) == null ? "" : ", scheduler " + schedulerName(t);
    }

    static String schedulerName(TimerNode t) {
        return QueuedNode.hostOf(t).name();
    }

    static Thread runner(TimerNode t) {
        return QueuedNode.hostOf(t).runnerOf(t);
    }
}
