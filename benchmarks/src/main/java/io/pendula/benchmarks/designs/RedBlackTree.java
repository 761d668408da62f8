package io.pendula.benchmarks.designs;

import java.util.TreeSet;

/**
 * The timers of nginx: a red-black tree ordered by deadline. Equal deadlines keep the order of arming; here a sequence
 * number sees to that, so this class promises it.
 *
 * <p>Costs: O(log n) with a node per timer on the heap of the JVM and some pointers to follow per level, where an
 * array heap has few cache lines. nginx removes a node that it has at hand; a {@code TreeSet} searches for it. nginx
 * also leaves a timer alone whose deadline moves by less than 300 ms, so that it may fire that much early; this class
 * does not. A worker process of nginx has one thread; here a lock stands around the tree.
 *
 * <p>Pendula has an array heap with sequence numbers in place of the tree: the same order with fewer memory accesses.
 */
final class RedBlackTree extends LockedQueue<OrderedNode> {
    private final TreeSet<OrderedNode> timers = new TreeSet<>();
    private long nextSeq;

    RedBlackTree() {
        super(Sleeper.PARKING);
    }

    @Override
    OrderedNode newNode(Runnable task, long when) {
        return new OrderedNode(task, when);
    }

    @Override
    public Object reset(Object handle, long delayNanos, Task task) {
        move(handle, delayNanos);
        return handle;
    }

    @Override
    long insert(OrderedNode node) {
        node.seq = nextSeq++;
        timers.add(node);
        return node.when;
    }

    @Override
    boolean remove(OrderedNode node) {
        return timers.remove(node);
    }

    @Override
    OrderedNode pollDue(long now) {
        return next() <= now ? timers.pollFirst() : null;
    }

    @Override
    long next() {
        return timers.isEmpty() ? Clock.NEVER : timers.first().when;
    }
}
