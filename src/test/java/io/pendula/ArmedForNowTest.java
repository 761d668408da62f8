package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.InsideHeap;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;

import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Timers that are armed for now run in the order of arming, whatever lies beside them in a run or in a heap. */
class ArmedForNowTest {
    private final Rig rig = new Rig(false);

    private TimerNode arm(long when) {
        TimerNode t = new TimerNode(() -> {}) {};
        rig.queue.arm(t, when);
        return t;
    }

    private TimerNode claim(long now) {
        Claim run = rig.claim(now);
        if (run == null) {
            return null;
        }
        rig.queue.endRun(run.node());
        return run.node();
    }

    private void drain() {
        Inside.lock(rig.queue).lock();
        try {
            InsideInbox.drain(rig.queue);
        } finally {
            Inside.lock(rig.queue).unlock();
        }
    }

    @Test
    void claim_armedForNow_inOrderWithoutASift() {
        TimerNode a = arm(10);
        TimerNode b = arm(10);
        TimerNode c = arm(11);
        drain();
        assertTrue(InsideHeap.areRuns(rig.queue));
        assertEquals(3, rig.queue.view().pending());
        assertNull(claim(9));
        assertEquals(List.of(a, b), List.of(claim(10), claim(10)));
        assertNull(claim(10));
        assertEquals(c, claim(11));
        assertEquals(0, rig.queue.view().pending());
    }

    @Test
    void claim_timerOfTheHeapWithAnEqualDeadline_wasArmedEarlierAndRunsFirst() {
        TimerNode later = arm(10);
        drain();
        TimerNode now = arm(10);
        assertEquals(List.of(later, now), List.of(claim(10), claim(10)));
    }

    @Test
    void claim_armedOutOfOrder_byDeadline() {
        TimerNode second = arm(20);
        TimerNode first = arm(10); // by a thread that was held up between the clock and its push
        assertEquals(List.of(first, second), List.of(claim(20), claim(20)));
    }

    @Test
    void stopOrCancel_inARun_isDroppedAndCountedOnce() {
        TimerNode stopped = arm(10);
        TimerNode cancelled = arm(10);
        TimerNode last = arm(10);
        drain();
        assertTrue(rig.queue.stop(stopped));
        assertFalse(rig.queue.stop(stopped));
        assertTrue(rig.queue.cancel(cancelled));
        assertEquals(1, rig.queue.view().pending());
        assertEquals(last, claim(10));
        assertNull(claim(10));
        QueueView.Snapshot stats = rig.queue.view().stats();
        assertEquals(2, stats.get(QueueView.Count.STOPPED));
        assertEquals(1, stats.get(QueueView.Count.FIRED));
        assertEquals(0, rig.dead());
        rig.sweepAll();
        assertEquals(TimerNode.REMOVED, TimerNode.state(stopped.wordVolatile()));
        assertEquals(TimerNode.CANCELLED, TimerNode.state(cancelled.wordVolatile()));
    }

    @Test
    void claimStopped_inARun_isTakenOutOfIt() {
        TimerNode a = arm(10);
        TimerNode b = arm(10);
        TimerNode c = arm(10);
        drain();
        rig.queue.stop(b);
        assertTrue(rig.queue.claimStopped(b));
        assertFalse(rig.queue.claimStopped(b));
        assertFalse(rig.queue.claimStopped(a));
        rig.queue.endRun(b);
        assertEquals(List.of(a, c), List.of(claim(10), claim(10)));
        assertNull(claim(10));
    }

    @Test
    void close_inARun_isCollected() {
        TimerNode a = arm(10);
        TimerNode stopped = arm(10);
        drain();
        rig.queue.stop(stopped);
        TimerNode c = arm(10);
        List<TimerNode> unfired = new ArrayList<>();
        rig.queue.closer.close(unfired);
        assertEquals(Set.of(a, c), Set.copyOf(unfired));
        assertEquals(2, unfired.size());
    }

    /** Beside timers that are due later and lie in a run or in a heap. */
    @Test
    void claim_armedForNowBesideOthers_inOrderOfArming() {
        Random random = new Random(5);
        for (int i = 0; i < 3_000; i++) {
            arm(1_000_000 + (i % 2 == 0 ? i : random.nextInt(1_000_000)));
        }
        List<TimerNode> armed = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            armed.add(arm(10 + i / 1_000));
            if (i % 7 == 0) {
                drain();
            }
        }
        for (TimerNode t : armed) {
            assertEquals(t, claim(20));
        }
        assertNull(claim(20));
    }

    @Test
    void prepareToSleep_oneIsDue_keepsTheOwnerUp() {
        arm(1_000);
        arm(10);
        assertEquals(10, Inside.prepareToSleep(rig.queue, 10));
    }

    /** Against a list that is sorted by (deadline, order of arming): what runs is always its first live one. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomOperations_orderIsThatOfDeadlinesAndArming(long seed) {
        record Armed(TimerNode node, long when, int order) {}
        Random random = new Random(seed);
        List<Armed> model = new ArrayList<>();
        Comparator<Armed> order = Comparator.comparingLong(Armed::when).thenComparingInt(Armed::order);
        long now = 1_000;
        for (int i = 0; i < Scale.of(5_000, 20_000); i++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> model.add(new Armed(arm(now), now, i));
                case 3 -> {
                    long when = now + 1 + random.nextInt(20);
                    model.add(new Armed(arm(when), when, i));
                }
                case 4 -> now += random.nextInt(4);
                case 5 -> {
                    if (!model.isEmpty()) {
                        TimerNode t = model.remove(random.nextInt(model.size())).node();
                        assertTrue(random.nextBoolean() ? rig.queue.stop(t) : rig.queue.cancel(t));
                    }
                }
                default -> {
                    long present = now;
                    Armed first = model.stream().filter(a -> a.when() <= present).min(order).orElse(null);
                    model.remove(first);
                    assertEquals(first == null ? null : first.node(), claim(now));
                }
            }
            assertEquals(model.size(), rig.queue.view().pending());
        }
    }
}
