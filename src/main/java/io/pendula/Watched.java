package io.pendula;

import io.pendula.internal.queue.TimerNode;

/** What the log and the handles of timers ask of a scheduler. */
interface Watched {
    /** The scheduler of a timer; null for a queue alone, as tests have it. */
    static Watched of(TimerNode t) {
        return (Watched) QueuedNode.queueOf(t).host;
    }

    String name();

    /** The thread that runs a timer, or null. */
    Thread runnerOf(TimerNode timer);
}
