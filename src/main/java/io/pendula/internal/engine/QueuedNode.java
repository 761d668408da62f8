package io.pendula.internal.engine;

import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.RunAwaiter;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.Check;
import io.pendula.internal.util.Texts;
import io.pendula.spi.TaskWrapper;
import java.time.Duration;

/** A timer of a scheduler, with its queue. Subclasses are the handles that users hold. */
public abstract class QueuedNode extends TimerNode {
    private static final int MOST_WRAPPERS = 8;

    /** A timer never changes its queue. */
    public final TimerQueue queue;

    public QueuedNode(TimerQueue queue, Runnable task) {
        super(task);
        this.queue = queue;
    }

    /** The queue of a scheduler's timer: all of those are of this class. */
    public static TimerQueue queueOf(TimerNode t) {
        return ((QueuedNode) t).queue;
    }

    /**
     * The present instant for a claim at {@code now}. Several timers are claimed at one reading of the clock, and an earlier
     * callback may have taken long since. At least {@code now}, because a user's clock may step back.
     */
    protected final long presentAt(long now) {
        return Math.max(now, queue.timeline.now());
    }

    // ---- common to all handles ----

    public final boolean isPending() {
        return isArmed(state(wordVolatile()));
    }

    public final Duration remaining() {
        return Duration.ofNanos(remainingNanos(wordVolatile()));
    }

    public boolean cancel() {
        return queue.cancel(this);
    }

    public final boolean cancelAndAwait(Duration limit) throws InterruptedException {
        long nanos = Check.notNegative(limit, "limit");
        cancel();
        return !isRunByCaller() && RunAwaiter.await(queue, this, nanos);
    }

    /** Whether the calling thread is inside this timer's callback. */
    protected boolean isRunByCaller() {
        return runner() == Thread.currentThread();
    }

    /** 0 if the timer is not armed. */
    private long remainingNanos(long word) {
        return isArmed(state(word)) ? Timeline.between(queue.timeline.now(), deadline(word)) : 0;
    }

    public final Object task() {
        return Call.taskOf(work());
    }

    public final Thread runner() {
        Firing run = queue.host.runOf(this);
        return run == null ? null : run.runner();
    }

    public final long latenessNanos() {
        Firing run = queue.host.runOf(this);
        return run != null && run.runner() == Thread.currentThread() ? run.lateness() : -1;
    }

    public final String schedulerName() {
        return queue.host.name();
    }

    // ---- texts ----

    /** The first word of its text. */
    protected String kind() {
        return "Timer";
    }

    /** The object whose name a task has: the wrapped task, or the task itself. Calls user code. */
    public static Object named(Object task) {
        Object named = task;
        for (int i = 0; i < MOST_WRAPPERS && named instanceof TaskWrapper w; i++) { // in a circle, any wrapper will do
            Object inner = null;
            try {
                inner = w.task();
            } catch (Throwable e) {
                // The wrapper itself gives the name: a broken one must not hide all others.
            }
            if (inner == null) {
                break;
            }
            named = inner;
        }
        return named;
    }

    /** How often the timer runs; empty if once. */
    protected String tempo() {
        return "";
    }

    /** The state if it is not cancelled. */
    protected String status(long word) {
        return isArmed(state(word)) ? dueIn(word) : "not pending";
    }

    public final String dueIn(long word) {
        return Texts.dueIn(remainingNanos(word));
    }

    @Override
    public String toString() {
        long w = wordVolatile();
        return text(isCancelled(state(w)) ? "cancelled" + tempo() : Texts.nameOf(named(task())) + tempo() + ", " + status(w));
    }

    public final String text(String what) {
        return kind() + "[" + what + schedulerText() + "]";
    }

    private String schedulerText() {
        return queue.host == null ? "" : ", scheduler " + schedulerName();
    }

    /** A timer's name in a log, made into a text when it is written. Keeps the task, because the timer may drop it. */
    record Name(QueuedNode timer, Object task) {
        @Override
        public String toString() {
            return timer.text(Texts.of(task, QueuedNode::named));
        }
    }

    static Name nameOf(TimerNode t) {
        QueuedNode q = (QueuedNode) t;
        return new Name(q, q.task());
    }
}
