package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The line of timers: what is appended, taken over and taken out. */
class NodeFifoTest {
    private final NodeFifo line = new NodeFifo();

    private static TimerNode node() {
        return new TimerNode(() -> {}) {};
    }

    private static List<TimerNode> contents(NodeFifo line) {
        List<TimerNode> all = new ArrayList<>();
        line.forEach(all::add);
        assertEquals(line.size(), all.size());
        assertEquals(line.isEmpty(), all.isEmpty());
        return all;
    }

    private static List<TimerNode> fill(NodeFifo line, int n) {
        List<TimerNode> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            TimerNode t = node();
            line.append(t);
            all.add(t);
        }
        return all;
    }

    @Test
    void removeFirst_several_comeInOrderUnlinkedAndAreCounted() {
        List<TimerNode> all = fill(line, 3);
        assertEquals(all, contents(line));
        for (int i = 0; i < 3; i++) {
            assertEquals(i, line.removed());
            TimerNode t = line.removeFirst();
            assertSame(all.get(i), t);
            assertNull(t.next);
        }
        assertEquals(3, line.removed());
        assertNull(line.first());
        assertEquals(fill(line, 2), contents(line));
    }

    @Test
    void appendAll_another_followsAndLeavesThatEmpty() {
        List<TimerNode> all = fill(line, 2);
        NodeFifo other = new NodeFifo();
        line.appendAll(other);
        assertEquals(all, contents(line));
        all.addAll(fill(other, 3));
        line.appendAll(other);
        assertEquals(all, contents(line));
        assertEquals(List.of(), contents(other));
        assertEquals(3, other.removed());
        assertEquals(0, line.removed());
        all.addAll(fill(line, 1));
        assertEquals(all, contents(line));
    }

    @Test
    void prepend_several_areReversed() {
        List<TimerNode> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            TimerNode t = node();
            line.prepend(t);
            all.add(0, t);
        }
        assertEquals(all, contents(line));
        all.addAll(fill(line, 2));
        assertEquals(all, contents(line));
    }
}
