package io.pendula;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.time.Duration;

/** The node of a timer that its user has a handle of: it knows its queue, and answers what all handles are asked. */
abstract class QueuedNode extends TimerNode implements TimerHandle {
    /** The queue that this timer belongs to for life. */
    final TimerQueue queue;

    QueuedNode(TimerQueue queue, Runnable task) {
        super(task);
        this.queue = queue;
    }

    /** The queue of a timer that a scheduler has made: all of those are of this class. */
    static TimerQueue queueOf(TimerNode t) {
        return ((QueuedNode) t).queue;
    }

    /** The scheduler of a timer; null for a queue alone, as tests have it. */
    static TimerQueue.Host hostOf(TimerNode t) {
        return queueOf(t).host;
    }

    // ---- what all handles answer ----

    @Override
    public final boolean isPending() {
        return isArmed(state(wordVolatile()));
    }

    @Override
    public final Duration remaining() {
        return Duration.ofNanos(remainingNanos(wordVolatile()));
    }

    /** 0 if the timer is not armed. */
    private long remainingNanos(long word) {
        return isArmed(state(word)) ? Timeline.between(queue.timeline.now(), deadline(word)) : 0;
    }

    @Override
    public final Object task() {
        return Call.taskOf(work());
    }

    @Override
    public final Thread runner() {
        return queue.host.runnerOf(this);
    }

    @Override
    public final String schedulerName() {
        return queue.host.name();
    }

    // ---- texts ----

    /** What its texts begin with. */
    String kind() {
        return "Timer";
    }

    /** How often it runs: empty if once. */
    String tempo() {
        return "";
    }

    /** What it does if it is not cancelled. */
    String status(long word) {
        return isArmed(state(word)) ? dueIn(word) : "not pending";
    }

    final String dueIn(long word) {
        return Texts.dueIn(remainingNanos(word));
    }

    @Override
    public String toString() {
        long w = wordVolatile();
        return text(isCancelled(state(w)) ? "cancelled" + tempo() : Texts.nameOf(task()) + tempo() + ", " + status(w));
    }

    final String text(String what) {
        return kind() + "[" + what + schedulerText() + "]";
    }

    private String schedulerText() {
        return queue.host == null ? "" : ", scheduler " + schedulerName();
    }

    /** A timer's name in a log. Refers to its task, which the timer may drop, and becomes a text when it is written. */
    record Name(String kind, Object task, String scheduler) {
        @Override
        public String toString() {
            return kind + "[" + Texts.of(task) + scheduler + "]";
        }
    }

    static Name nameOf(TimerNode t) {
        QueuedNode q = (QueuedNode) t;
        return new Name(q.kind(), q.task(), q.schedulerText());
    }
}
