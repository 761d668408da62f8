package io.pendula.benchmarks.designs;

/** A timer as a queue sees it. */
class Node {
    final Runnable task;
    /** The deadline in the time of {@link Clock}; in a wheel, the tick at which the timer fires. */
    long when;

    Node(Runnable task, long when) {
        this.task = task;
        this.when = when;
    }
}
