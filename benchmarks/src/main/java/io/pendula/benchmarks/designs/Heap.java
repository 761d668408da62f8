package io.pendula.benchmarks.designs;

import java.util.Arrays;
import java.util.function.Predicate;

/**
 * A min-heap of nodes by deadline, with two or four children per node. Equal deadlines have no order.
 *
 * @param <N> its nodes
 */
class Heap<N extends Node> {
    private static final int MIN_CAPACITY = 64;

    private final int bits;
    private Node[] nodes = new Node[MIN_CAPACITY];
    private int size;

    /** @param arity 2 or 4 */
    Heap(int arity) {
        this.bits = Integer.numberOfTrailingZeros(arity);
    }

    /** Told of each place that a node gets, for designs that keep it in the timer. */
    void placed(N node, int index) {}

    final int size() {
        return size;
    }

    @SuppressWarnings("unchecked")
    final N get(int index) {
        return (N) nodes[index];
    }

    /** Null if the heap is empty. */
    final N top() {
        return get(0);
    }

    final void add(N node) {
        if (size == nodes.length) {
            nodes = Arrays.copyOf(nodes, 2 * size);
        }
        siftUp(size++, node);
    }

    /** Returns the smallest index at which there is another node than before. */
    final int removeAt(int index) {
        N last = get(--size);
        nodes[size] = null;
        if (index == size) {
            return index;
        }
        int at = siftUp(index, last);
        if (at == index) {
            siftDown(index, last);
        }
        return at;
    }

    /** Keeps only some nodes. The predicate may change the deadline of a node that it keeps. */
    final void retain(Predicate<N> kept) {
        int before = size;
        size = 0;
        for (int i = 0; i < before; i++) {
            N node = get(i);
            if (kept.test(node)) {
                siftUp(size++, node);
            }
        }
        Arrays.fill(nodes, size, before, null);
    }

    private int siftUp(int index, N node) {
        int i = index;
        while (i > 0) {
            int parent = i - 1 >> bits;
            if (node.when >= nodes[parent].when) {
                break;
            }
            place(i, get(parent));
            i = parent;
        }
        place(i, node);
        return i;
    }

    private void siftDown(int index, N node) {
        int i = index;
        for (;;) {
            int child = (i << bits) + 1;
            if (child >= size) {
                break;
            }
            int least = child;
            int end = Math.min(child + (1 << bits), size);
            for (int c = child + 1; c < end; c++) {
                if (nodes[c].when < nodes[least].when) {
                    least = c;
                }
            }
            if (node.when <= nodes[least].when) {
                break;
            }
            place(i, get(least));
            i = least;
        }
        place(i, node);
    }

    private void place(int index, N node) {
        nodes[index] = node;
        placed(node, index);
    }
}
