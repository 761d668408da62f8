package io.pendula;

import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;

/** The node of a timer that its user has a handle of: it knows its queue. */
abstract class QueuedNode extends TimerNode {
    /** The queue that this timer belongs to for life. */
    final TimerQueue queue;

    QueuedNode(TimerQueue queue, Runnable task) {
        super(task);
        this.queue = queue;
    }

    /** What its texts begin with. */
    String kind() {
        return "Timer";
    }

    /** The scheduler of a timer; null for a queue alone, as tests have it. */
    static TimerQueue.Host hostOf(TimerNode t) {
        return queueOf(t).host;
    }

    /** The queue of a timer that a scheduler has made: all of those are of this class. */
    static TimerQueue queueOf(TimerNode t) {
        return ((QueuedNode) t).queue;
    }
}
