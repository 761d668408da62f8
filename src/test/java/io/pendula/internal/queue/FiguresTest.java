package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Figures that are asked for while other threads are between two steps. */
class FiguresTest {
    private final TimerQueue queue = new TimerQueue(0, new Timeline(() -> 0), null, new TimerHeap(), null, false, new WakeGate());

    private QueueView.Snapshot stats() {
        return queue.view().stats();
    }

    private TimerNode filed(long when) {
        TimerNode t = new TimerNode(() -> {});
        queue.arm(t, when);
        assertEquals(1, stats().get(QueueView.Count.PENDING));
        return t;
    }

    /** The steps of TimerQueue.reset to an earlier instant: the word, the push, the count of what is stale, that of resets. */
    @Test
    void armed_betweenTheStepsOfAReset_doesNotFall() {
        TimerNode t = filed(2_000);
        t.tryReset(t.wordVolatile(), 1_000, false);
        queue.inbox.push(t);
        assertEquals(2, stats().get(QueueView.Count.ARMED), "both entries");
        queue.compactor.count(Compactor.STALE);
        assertEquals(2, stats().get(QueueView.Count.ARMED), "one entry is stale, and the reset is not counted yet");
        queue.resets.increment();
        assertEquals(2, stats().get(QueueView.Count.ARMED));
        assertEquals(1, stats().get(QueueView.Count.PENDING));
        assertEquals(1, stats().get(QueueView.Count.RESETS));
    }

    /** The steps of Compactor.count if the word of counts is about to be full. */
    @Test
    void stopped_whileManyAreFolded_doesNotFall() {
        TimerNode t = filed(2_000);
        queue.stop(t);
        queue.compactor.count(999 * Compactor.STOP);
        assertEquals(1_000, stats().get(QueueView.Count.STOPPED));
        queue.compactor.count(-1_000 * Compactor.STOP);
        assertEquals(1_000, stats().get(QueueView.Count.STOPPED), "a thread has taken them away, and does not count them elsewhere yet");
        assertEquals(1_000, stats().get(QueueView.Count.ARMED));
    }
}
