package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures.Rig;
import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A loop's timers stay out of its heap while they may still be stopped: how many, and for how long. */
@Timeout(60)
class DeferralTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long HOUR = 3_600 * SECOND;
    private static final int LEAST = Inside.HELP_DEPTH / 2;
    private static final int MOST = 8 * Inside.HELP_DEPTH;

    private final Rig rig = new Rig(false);
    private final TimerQueue queue = rig.queue;
    private final Queue<OneShotTimer> inFlight = new ArrayDeque<>();
    private int armed;
    private int mostDeferred;

    @BeforeEach
    void giveToALoop() {
        QueueOwner loop = new QueueOwner() {
            @Override
            public void wake() {}

            @Override
            public boolean asksForArrivals() {
                return true;
            }
        };
        rig.keepWith(loop);
        rig.drain();
    }

    private void fill(int count) {
        for (int i = 0; i < count; i++) {
            rig.arm(HOUR + i);
        }
        rig.drain();
        assertEquals(count, rig.entries());
    }

    /** Arms, and stops the oldest one once there are so many. */
    private void armAndStop(int times, int most) {
        for (int i = 0; i < times; i++) {
            inFlight.add(rig.arm(SECOND + armed++));
            if (inFlight.size() > most) {
                assertTrue(queue.stop(inFlight.remove()));
            }
            mostDeferred = Math.max(mostDeferred, Inside.deferred(queue));
        }
    }

    /** The timers of fill were not stopped while they were deferred, so this takes some time. */
    private void untilManyAreDeferred(int inFlight) {
        armAndStop(700_000, inFlight);
        assertTrue(mostDeferred > LEAST + Inside.HELP_DEPTH, "only " + mostDeferred + " deferred");
        mostDeferred = 0;
    }

    @Test
    void arm_stoppedAFewThousandArmingsLater_doesNotEnterTheHeap() {
        fill(100_000);
        untilManyAreDeferred(10_000);
        long stale = Inside.stale(queue);
        int filed = rig.entries();
        armAndStop(200_000, 10_000);
        assertEquals(stale, Inside.stale(queue));
        assertEquals(filed, rig.entries());
        assertTrue(mostDeferred <= 10_000 + Inside.HELP_DEPTH, mostDeferred + " deferred, though 10,000 are armed");
        assertEquals(110_000, queue.view().pending());
    }

    @Test
    void arm_stoppedAtOnce_isUnlinkedByTheNextHelp() {
        fill(100_000);
        armAndStop(700_000, 0);
        assertTrue(mostDeferred <= Inside.HELP_DEPTH, mostDeferred + " deferred, though all were stopped");
        assertEquals(100_000, queue.view().pending());
    }

    /** As of stale entries in a heap, there may be no more than a quarter as many, but for a few. */
    @Test
    void arm_stoppedBehindOneThatIsNot_noMoreThanAQuarterOfTheHeapStays() {
        fill(20_000);
        untilManyAreDeferred(4_000);
        rig.arm(SECOND);
        armAndStop(100_000, 0);
        int bound = rig.entries() / 4 + Inside.HELP_DEPTH;
        assertTrue(mostDeferred <= bound, mostDeferred + " deferred, but at most " + bound + " expected");
        assertEquals(24_001, queue.view().pending());
    }

    @Test
    void arm_smallHeap_theLeastStayDeferred() {
        armAndStop(700_000, 3_000);
        assertTrue(mostDeferred <= LEAST + Inside.HELP_DEPTH, mostDeferred + " deferred");
        assertTrue(Inside.deferred(queue) >= LEAST, "only " + Inside.deferred(queue) + " deferred");
        assertEquals(3_000, queue.view().pending());
    }

    /** One drain files all that are deferred. */
    @Test
    void arm_hugeHeap_noMoreThanTheMostStayDeferred() {
        fill(200_000);
        untilManyAreDeferred(10_000);
        armAndStop(100_000, Integer.MAX_VALUE);
        assertTrue(mostDeferred <= MOST + Inside.HELP_DEPTH, mostDeferred + " deferred");
        assertTrue(mostDeferred >= MOST, "only " + mostDeferred + " deferred");
        assertEquals(310_000, queue.view().pending());
    }

    /** A timer that is filed late is no longer in the cache, so it is deferred for long only if that pays now and then. */
    @Test
    void arm_noneIsStoppedWhileItIsDeferred_fewAreUntilTheNextTry() {
        fill(100_000);
        armAndStop(100_000, 100_000);
        mostDeferred = 0;
        armAndStop(300_000, 100_000);
        assertTrue(mostDeferred <= LEAST + Inside.HELP_DEPTH, mostDeferred + " deferred");
        armAndStop(400_000, 100_000);
        assertTrue(mostDeferred >= MOST, "not tried again");
        armAndStop(50_000, 100_000); // those of that try are filed
        mostDeferred = 0;
        armAndStop(500_000, 100_000);
        assertTrue(mostDeferred <= LEAST + Inside.HELP_DEPTH, "tried again as soon as before");
    }
}
