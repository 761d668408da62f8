package io.pendula;

import io.pendula.internal.queue.TimerNode;
import java.util.function.Predicate;

/** What the log and the handles of timers ask of a scheduler. */
interface Watched {
    /** The scheduler of a timer; null for a queue alone, as tests have it. */
    static Watched of(TimerNode t) {
        return (Watched) QueuedNode.queueOf(t).host;
    }

    String name();

    /** Asked under the lock of a queue, about its timers: then no such timer begins to run meanwhile. */
    boolean isAnyRunning(Predicate<TimerNode> timer);

    /** The thread that runs a timer, or null. */
    Thread runnerOf(TimerNode timer);
}
