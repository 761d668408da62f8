package io.pendula.benchmarks.designs;

/** A heap under one lock. Each timer knows its place in the heap, so that a stop takes it out at once. */
class HeapQueue extends LockedQueue<HeapQueue.Entry> {
    private static final int OUT = -1;

    /** A timer that knows where it is. */
    static final class Entry extends Node {
        final HeapQueue queue;
        private int index = OUT;

        Entry(HeapQueue queue, Runnable task, long when) {
            super(task, when);
            this.queue = queue;
        }
    }

    private final Heap<Entry> heap;
    /** What this is one queue of, or null. */
    Sharded shards;

    HeapQueue(int arity, Sleeper sleeper) {
        super(sleeper);
        this.heap = new Heap<>(arity) {
            @Override
            void placed(Entry node, int index) {
                node.index = index;
            }
        };
    }

    @Override
    final Entry newNode(Runnable task, long when) {
        return new Entry(this, task, when);
    }

    @Override
    final long insert(Entry node) {
        heap.add(node);
        return node.when;
    }

    @Override
    final boolean remove(Entry node) {
        if (node.index == OUT) {
            return false;
        }
        heap.removeAt(node.index);
        node.index = OUT;
        return true;
    }

    @Override
    final Entry pollDue(long now) {
        Entry top = heap.top();
        if (top == null || top.when > now) {
            return null;
        }
        remove(top);
        return top;
    }

    @Override
    final long next() {
        Entry top = heap.top();
        return top == null ? Clock.NEVER : top.when;
    }
}
