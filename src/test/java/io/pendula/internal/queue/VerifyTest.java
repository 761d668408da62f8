package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@link Inside#verify} finds in a queue that is broken in one place. */
class VerifyTest {
    private static final class Timed extends TimerNode {
        Timed() {
            super(() -> {});
        }
    }

    private final TimerQueue queue = new TimerQueue(0, new Timeline(() -> 0), null, new TimerHeap(), null, false, new WakeGate());
    private final List<TimerNode> timers = new ArrayList<>();

    /** Three blocks, the first of which is a heap, a timer that was stopped, and one in the inbox. */
    @BeforeEach
    void fill() {
        for (int i = 0; i < 3 * TimerHeap.BLOCK - 10; i++) {
            arm(i < 100 ? 1000 - 7 * i % 100 : 2000 + i);
        }
        queue.lock.lock();
        try {
            queue.drainer.drain();
        } finally {
            queue.lock.unlock();
        }
        queue.stop(timers.get(50));
        arm(5000);
    }

    private void arm(long when) {
        TimerNode t = new Timed();
        timers.add(t);
        queue.arm(t, when);
    }

    @Test
    void verify_nothingBroken_findsNothing() {
        assertTrue(InsideHeap.blocks(queue.entries).size() > 2);
        Inside.verify(queue);
    }

    private static Arguments breaks(String what, Consumer<VerifyTest> how) {
        return Arguments.of(what, how);
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                breaks("a key in a block", t -> t.first().keys[t.first().from + 20]--),
                breaks("a key at the top of a block", t -> t.first().keys[t.first().from] -= 500),
                breaks("a number in a block", t -> t.first().seqs[t.first().to - 1] += 1_000_000),
                breaks("a place in the heap of blocks", t -> t.first().place++),
                breaks("a link between blocks", t -> t.first().next.prev = null),
                breaks("a freed slot", t -> t.last().nodes[t.last().nodes.length - 1] = t.timers.get(0)),
                breaks("the number that a timer has noted", t -> t.timers.get(3).entry++),
                breaks("the number of another entry", t -> t.timers.get(3).entry = t.timers.get(4).entry),
                breaks("the count of stale entries", t -> t.queue.compactor.count(Compactor.STALE)),
                breaks("a timer in the inbox that is filed, as its word says", t -> t.last(t.timers).tryFile(
                        t.last(t.timers).wordVolatile())));
    }

    private Block first() {
        return queue.entries.head;
    }

    private Block last() {
        return last(InsideHeap.blocks(queue.entries));
    }

    private <T> T last(List<T> all) {
        return all.get(all.size() - 1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void verify_oneThingBroken_findsIt(String what, Consumer<VerifyTest> fault) {
        fault.accept(this);
        assertThrows(AssertionError.class, () -> Inside.verify(queue), what);
    }
}
