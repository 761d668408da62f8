package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.Fixtures.Rig;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Much has arrived before a drain. */
@Timeout(300)
class LongInboxTest {
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

    /** The owner has drained and publishes, and very much was armed meanwhile. */
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
    }

    private static final class AskingOwner implements QueueOwner {
        @Override
        public void call() {}

    }

    /** A loop leaves timers in its inbox until they could be due; a thread that arms sorts them. */
    @Test
    void prepareToSleep_ofALoopWithALongInbox_waitsForNothingLater() throws InterruptedException {
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
    }

    @Test
    void beginVisit_longInbox_findsWhatIsDue() throws InterruptedException {
        AskingOwner loop = new AskingOwner();
        rig.keepWith(loop);
        armWithoutHelp(MANY, HOUR);
        rig.arm(5);
        assertTrue(queue.due.beginPoll(loop, 6));
    }

    /** Arming threads at full speed, and nobody else: they file what they arm. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void arm_millionsAtFullSpeed_inboxStaysBounded(int threads) throws InterruptedException {
        int each = 2_000_000 / threads;
        LifeFixtures.inParallel(threads, number -> {
            for (int i = 0; i < each; i++) {
                rig.arm(HOUR + (i * 31L + number & 0xfffff));
            }
        });
        int unfiled = each * threads - rig.entries();
        LifeFixtures.figure("%d threads armed %d timers: %d not filed in the end", threads, each * threads, unfiled);
        assertTrue(unfiled <= each * threads / 4, unfiled + " not filed");
        assertEquals(each * threads, queue.view().pending());
    }
}
