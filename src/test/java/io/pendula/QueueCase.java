package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.Rig;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import org.junit.jupiter.api.BeforeEach;

/** A queue alone, and timers in each state. */
abstract class QueueCase {
    /** The owner sleeps until an anchor of this deadline, so a timer wakes it if it is due before. */
    static final long ANCHOR = 500;

    Rig rig;
    TimerQueue queue;

    @BeforeEach
    void sleepUntilTheAnchor() {
        use(new Rig(false));
        rig.arm(ANCHOR);
        sleep();
    }

    final void use(Rig other) {
        rig = other;
        queue = rig.queue;
    }

    final void sleep() {
        assertEquals(ANCHOR, rig.sleep(1));
    }

    // ---- timers in each state, brought there by what users and workers do; the owner sleeps ----

    final OneShotTimer moving() {
        return rig.arm(600);
    }

    final OneShotTimer waiting() {
        OneShotTimer t = rig.arm(600);
        sleep();
        return t;
    }

    final OneShotTimer modifiedLater() {
        OneShotTimer t = waiting();
        assertTrue(queue.reset(t, 700));
        return t;
    }

    /** Its entry with the key 600 is dead. */
    final OneShotTimer modifiedEarlier() {
        OneShotTimer t = waiting();
        assertTrue(queue.reset(t, 550));
        return t;
    }

    final OneShotTimer deleted() {
        OneShotTimer t = waiting();
        assertTrue(queue.stop(t));
        return t;
    }

    final OneShotTimer deletedQueued() {
        OneShotTimer t = moving();
        assertTrue(queue.stop(t));
        return t;
    }

    final OneShotTimer cancelledQueued() {
        OneShotTimer t = moving();
        assertTrue(queue.cancel(t));
        return t;
    }

    /** Armed and claimed while the owner is up, so no wake is counted. */
    private <T extends TimerNode> T claimed(T t) {
        rig.keepWith(rig.owner);
        queue.arm(t, 100);
        assertSame(t, rig.claim(100).node());
        sleep();
        return t;
    }

    final OneShotTimer running() {
        return claimed(new OneShotTimer(queue, () -> {}));
    }

    final OneShotTimer runningArmed() {
        OneShotTimer t = running();
        assertFalse(queue.reset(t, 600));
        return t;
    }

    final OneShotTimer runningCancelled() {
        OneShotTimer t = running();
        assertFalse(queue.cancel(t));
        return t;
    }

    final OneShotTimer fired() {
        OneShotTimer t = running();
        queue.endRun(t);
        return t;
    }

    final OneShotTimer removed() {
        OneShotTimer t = deletedQueued();
        rig.drain();
        return t;
    }

    final OneShotTimer cancelled() {
        OneShotTimer t = fired();
        assertFalse(queue.cancel(t));
        return t;
    }

    /** An alarm whose firing nobody has received. */
    final OneShotAlarm kept() {
        return claimed(new OneShotAlarm(queue));
    }

    // ---- what must be true after the operation ----

    final void assertWord(TimerNode t, int state, long deadline) {
        assertEquals(state, rig.state(t), "state");
        assertEquals(deadline, rig.deadline(t), "deadline");
    }

    /** Besides the anchor; drains the inbox. */
    final void assertCounts(int dead, int pending, int wakes) {
        assertEquals(dead, rig.dead(), "stale entries");
        assertEquals(wakes, rig.owner.wakes, "wakes");
        QueueView.Snapshot stats = queue.view().stats();
        assertEquals(dead, stats.get(QueueView.Count.STALE_ENTRIES), "stale entries in the statistics");
        assertEquals(pending + 1, stats.get(QueueView.Count.PENDING), "pending");
    }
}
