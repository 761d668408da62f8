package io.pendula;

import io.pendula.internal.queue.QueueView;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.queue.TimerNode;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.junit.jupiter.api.Test;

/** A stopped timer that is armed again while its queue drops it from a line stays armed. */
class ArmedWhileDroppedTest {
    private static final long DUE = 500;

    /** Runs a scenario for each look at a timer's word after which a reset may come; there must be so many. */
    private static void afterEachLook(int atLeast, ObjIntConsumer<List<Integer>> scenario) {
        List<Integer> passed = new ArrayList<>();
        for (int look = 1; look <= 12; look++) {
            scenario.accept(passed, look);
        }
        assertTrue(passed.size() >= atLeast, () -> "steps at which a reset came: " + passed);
    }

    private static Rig rigWithoutMemory() {
        Rig rig = new Rig(false);
        for (int i = 0; i < rig.heap.capacity(); i++) {
            rig.arm(1_000 + i);
        }
        rig.heap.exhausted = true;
        rig.drain();
        return rig;
    }

    /** Due later than all that the heap has room for. */
    private static SteppedTimer armedLate(Rig rig) {
        SteppedTimer t = new SteppedTimer(rig.queue);
        rig.queue.arm(t, 5_000);
        return t;
    }

    private static void drainAndPark(Rig rig) {
        int entries = rig.entries();
        rig.drain();
        assertTrue(InsideInbox.isMemoryShort(rig.queue));
        assertEquals(entries, rig.entries());
        assertNull(InsideInbox.inboxHead(rig.queue));
    }

    /** It fires once under the deadline of its reset. */
    private static void assertArmed(Rig rig, TimerNode t, long when) {
        assertTrue(TimerNode.isArmed(rig.state(t)), () -> "state " + rig.state(t));
        rig.giveMemory();
        int firings = 0;
        for (Fixtures.Claim run; (run = rig.claim(10_000)) != null; rig.queue.endRun(run.node())) {
            if (run.node() == t) {
                assertEquals(when, run.deadline);
                firings++;
            }
        }
        assertEquals(1, firings);
        assertEquals(0, rig.queue.view().pending());
    }

    @Test
    void claimStopped_anotherThatIsParkedIsResetMeanwhile_staysArmed() {
        afterEachLook(1, (passed, look) -> {
            Rig rig = rigWithoutMemory();
            SteppedTimer t = armedLate(rig);
            SteppedTimer returned = armedLate(rig);
            drainAndPark(rig);
            assertTrue(rig.queue.stop(t));
            assertTrue(rig.queue.stop(returned));
            t.stepInAfter(look, () -> assertFalse(rig.queue.reset(t, 700)));
            assertTrue(rig.queue.claimStopped(returned));
            rig.queue.endRun(returned);
            if (t.isPassed()) {
                passed.add(look);
                assertArmed(rig, t, 700);
                assertEquals(2, rig.queue.view().stats().get(QueueView.Count.STOPPED));
            }
        });
    }

    @Test
    void claimStopped_itselfIsResetMeanwhile_doesNotRunTwice() {
        afterEachLook(1, (passed, look) -> {
            Rig rig = rigWithoutMemory();
            SteppedTimer t = armedLate(rig);
            drainAndPark(rig);
            assertTrue(rig.queue.stop(t));
            t.stepInAfter(look, () -> assertFalse(rig.queue.reset(t, 700)));
            boolean claimed = rig.queue.claimStopped(t);
            if (t.isPassed()) {
                passed.add(look);
                assertFalse(claimed);
                assertArmed(rig, t, 700);
            }
        });
    }

    @Test
    void drain_resetMeanwhile_staysArmed() {
        afterEachLook(1, (passed, look) -> {
            Rig rig = new Rig(false);
            SteppedTimer t = new SteppedTimer(rig.queue);
            rig.queue.arm(t, DUE);
            assertTrue(rig.queue.stop(t));
            t.stepInAfter(look, () -> assertFalse(rig.queue.reset(t, 700)));
            rig.drain();
            if (t.isPassed()) {
                passed.add(look);
                assertArmed(rig, t, 700);
            }
        });
    }
}
