package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A sorted set of entries, first in, first out among equal keys, beside what a test compares with it. */
final class SortedModel {
    private record Entry(long key, long order, TimerNode node) {}

    private final TreeSet<Entry> sorted =
            new TreeSet<>(Comparator.comparingLong(Entry::key).thenComparingLong(Entry::order));
    private final Map<TimerNode, Entry> byNode = new HashMap<>();
    private long order;

    boolean isEmpty() {
        return sorted.isEmpty();
    }

    void add(long key, TimerNode node) {
        Entry e = new Entry(key, order++, node);
        sorted.add(e);
        byNode.put(node, e);
    }

    void forget(TimerNode node) {
        sorted.remove(byNode.remove(node));
    }

    boolean has(TimerNode node) {
        return byNode.containsKey(node);
    }

    Set<TimerNode> nodes() {
        return byNode.keySet();
    }

    void forgetFirst() {
        forget(sorted.first().node);
    }

    /** There must be one. */
    long keyOf(TimerNode node) {
        return byNode.get(node).key;
    }

    void check(int size, long topKey, TimerNode top) {
        assertEquals(sorted.size(), size);
        assertEquals(isEmpty() ? Timeline.NEVER : sorted.first().key, topKey);
        assertSame(isEmpty() ? null : sorted.first().node, top, "equal keys must come out first in, first out");
    }
}
