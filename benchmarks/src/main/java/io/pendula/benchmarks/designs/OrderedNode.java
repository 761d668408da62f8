package io.pendula.benchmarks.designs;

/** A timer of a queue that keeps equal deadlines in the order of their arming. */
final class OrderedNode extends Node implements Comparable<OrderedNode> {
    long seq;

    OrderedNode(Runnable task, long when) {
        super(task, when);
    }

    @Override
    public int compareTo(OrderedNode other) {
        return when != other.when ? Long.compare(when, other.when) : Long.compare(seq, other.seq);
    }
}
