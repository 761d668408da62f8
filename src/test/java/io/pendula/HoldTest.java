package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.Fixtures.Claim;
import io.pendula.Fixtures.Rig;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No hold of a queue's lock visits more timers than {@link HoldLock} allows, whatever is pending. */
@Timeout(300)
class HoldTest {
    private static final long HOUR = 3_600_000_000_000L;
    private static final int MANY = 50_000;

    private final Rig rig = new Rig(false);
    private final TimerQueue queue = rig.queue;

    /** By another thread, which does not get the lock, so nothing is filed. */
    private List<OneShotTimer> armWithoutHelp(int count, long first) throws InterruptedException {
        List<OneShotTimer> timers = new ArrayList<>();
        withoutHelp(() -> {
            for (int i = 0; i < count; i++) {
                timers.add(rig.arm(first + i));
            }
        });
        return timers;
    }

    private void withoutHelp(Runnable action) throws InterruptedException {
        Inside.lock(queue).lock();
        try {
            runElsewhere(action);
        } finally {
            Inside.lock(queue).unlock();
        }
    }

    /** A thread that arms while the inbox is deep yields for each timer, which takes minutes on a busy machine. */
    private static void runElsewhere(Runnable action) throws InterruptedException {
        Thread other = new Thread(action);
        other.start();
        other.join(); // the class has a limit
    }

    /** One hold; returns whether nothing is left. */
    private boolean drainOnce() {
        Inside.lock(queue).lock();
        try {
            return Inside.drain(queue);
        } finally {
            Inside.lock(queue).unlock();
        }
    }

    private void assertHoldsBounded() {
        assertTrue(queue.view().longestHold() <= Inside.MAX_VISITS, queue.view().longestHold() + " timers in one hold");
    }

    @Test
    void drain_longInbox_isDoneInSlicesAndKeepsTheOrder() throws InterruptedException {
        List<OneShotTimer> timers = new ArrayList<>();
        withoutHelp(() -> {
            for (int i = 0; i < MANY; i++) {
                timers.add(rig.arm(HOUR)); // all at the same instant
            }
        });
        int slices = 1;
        while (!drainOnce()) {
            slices++;
            int filed = rig.entries();
            assertTrue(filed <= slices * Inside.MAX_VISITS, filed + " filed in " + slices + " slices");
        }
        assertTrue(slices >= MANY / Inside.MAX_VISITS, slices + " slices");
        assertEquals(MANY, rig.entries());
        assertHoldsBounded();
        for (OneShotTimer t : timers) {
            Claim run = rig.claim(HOUR);
            assertSame(t, run.node());
        }
    }

    @Test
    void drain_inSlices_leavesNoCallForHelp() throws InterruptedException {
        armWithoutHelp(MANY, HOUR);
        boolean all = false;
        while (!all) {
            all = drainOnce();
        }
        long helps = queue.view().stats().callerDrains();
        rig.arm(HOUR);
        assertEquals(helps, queue.view().stats().callerDrains());
    }

    @Test
    void drain_armedBetweenSlices_comeAfterThoseBefore() throws InterruptedException {
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            withoutHelp(() -> {
                for (int j = 0; j < MANY / 10; j++) {
                    timers.add(rig.arm(HOUR));
                }
            });
            assertFalse(drainOnce());
        }
        for (OneShotTimer t : timers) {
            assertSame(t, rig.claim(HOUR).node());
        }
        assertHoldsBounded();
    }

    @Test
    void stopAndReset_betweenSlices_takeEffect() throws InterruptedException {
        List<OneShotTimer> timers = armWithoutHelp(MANY, HOUR);
        assertFalse(drainOnce());
        for (int i = 0; i < MANY; i += 5) {
            assertTrue(queue.stop(timers.get(i)));
            assertTrue(queue.reset(timers.get(i + 1), 2));
        }
        assertEquals(MANY - MANY / 5, queue.view().pending());
        assertEquals(MANY / 5, rig.fire(2), "those that were brought forward");
        assertEquals(MANY - 2 * MANY / 5, queue.view().pending());
        assertHoldsBounded();
    }

    /** Something is left between the inbox and the heap: the owner must not sleep, and must come to it. */
    @Test
    void prepareToSleep_unfinishedDrain_goesRound() throws InterruptedException {
        armWithoutHelp(MANY, HOUR);
        OneShotTimer soon = rig.arm(5);
        int rounds = 0;
        while (Inside.prepareToSleep(queue, 1) == DueTimers.RETRY) {
            assertFalse(rig.isAsleep());
            assertTrue(queue.due.nextWhen() <= 1, "thieves may help");
            rounds++;
        }
        assertTrue(rounds > MANY / Inside.MAX_VISITS, rounds + " rounds");
        assertEquals(5, queue.gate.lookAt());
        assertSame(soon, rig.claim(5).node());
        assertHoldsBounded();
    }

    /** The owner has drained and publishes: what was armed meanwhile is more than the rest of the hold can file. */
    @Test
    void prepareToSleep_manyArmedAfterTheFirstDrain_goesRound() {
        rig.arm(HOUR);
        rig.drain();
        boolean[] armed = {false};
        rig.heap.onTrim = () -> { // between the first drain and WG-W1
            if (!armed[0]) {
                armed[0] = true;
                try {
                    runElsewhere(() -> {
                        for (int i = 0; i < MANY; i++) {
                            rig.arm(10 + i);
                        }
                    });
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        assertEquals(DueTimers.RETRY, Inside.prepareToSleep(queue, 1));
        assertTrue(armed[0]);
        assertFalse(rig.isAsleep());
        assertEquals(10, rig.sleep(1));
        assertHoldsBounded();
    }

    @Test
    void close_unfinishedDrain_collectsEverything() throws InterruptedException {
        List<OneShotTimer> timers = armWithoutHelp(MANY, HOUR);
        for (int i = 0; i < 15; i++) {
            assertFalse(drainOnce());
        }
        timers.add(rig.arm(HOUR));
        List<TimerNode> unfired = new ArrayList<>();
        queue.closer.close(unfired);
        assertEquals(MANY + 1, unfired.size());
        assertTrue(unfired.containsAll(timers.subList(0, 100)));
        assertEquals(0, queue.view().pending());
    }

    private static final class AskingOwner implements QueueOwner {
        @Override
        public void call() {}

    }

    /** A loop leaves timers in its inbox until they could be due; a helping thread sorts them in slices. */
    @Test
    void prepareToSleep_ofALoopWithAnUnfinishedDrain_waitsForNothingLater() throws InterruptedException {
        AskingOwner loop = new AskingOwner();
        rig.keepWith(loop);
        rig.drain();
        List<OneShotTimer> timers = armWithoutHelp(MANY, HOUR);
        OneShotTimer soon = rig.arm(50); // its thread helps
        for (int i = 0; i < MANY; i += 2) {
            queue.stop(timers.get(i));
        }
        rig.arm(2 * HOUR); // helps again
        long until = queue.due.prepareToSleep(loop, 1);
        while (until == DueTimers.RETRY) {
            until = queue.due.prepareToSleep(loop, 1);
        }
        assertTrue(until <= 50, "waits until " + until);
        assertSame(soon, rig.claim(50).node());
        assertEquals(MANY / 2 + 1, queue.view().pending());
        assertHoldsBounded();
    }

    @Test
    void beginVisit_longInbox_findsWhatIsDue() throws InterruptedException {
        AskingOwner loop = new AskingOwner();
        rig.keepWith(loop);
        armWithoutHelp(MANY, HOUR);
        rig.arm(5);
        assertTrue(queue.due.beginPoll(loop, 6));
        assertHoldsBounded();
    }

    /** Arming threads at full speed, and nobody else: they file what they arm, and no hold is long. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void arm_millionsAtFullSpeed_holdsAndInboxStayBounded(int threads) throws InterruptedException {
        int each = 2_000_000 / threads;
        LifeFixtures.inParallel(threads, number -> {
            for (int i = 0; i < each; i++) {
                rig.arm(HOUR + (i * 31L + number & 0xfffff));
            }
        });
        int unfiled = each * threads - rig.entries();
        LifeFixtures.figure("%d threads armed %d timers: %d timers visited in one hold, %d not filed in the end",
                threads, each * threads, queue.view().longestHold(), unfiled);
        assertTrue(unfiled <= each * threads / 4, unfiled + " not filed");
        assertEquals(each * threads, queue.view().pending());
        assertHoldsBounded();
    }

    /** Stopping never visits more either, though nearly everything is dead. */
    @Test
    void stop_millionFiled_holdsStayBounded() throws InterruptedException {
        List<OneShotTimer> timers = new ArrayList<>();
        for (int i = 0; i < 500_000; i++) {
            timers.add(rig.arm(HOUR + i));
        }
        withoutHelp(() -> timers.subList(0, 400_000).forEach(queue::stop));
        timers.subList(400_000, 500_000).forEach(queue::stop);
        assertEquals(0, queue.view().pending());
        rig.sleep(1);
        assertHoldsBounded();
    }
}
