package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.Fixtures.Rig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits of {@code maxPending} when an Error strikes between a permit and the change that it was taken for. */
@Timeout(60)
class PermitTest {
    /** A timer whose next change of the word throws. */
    private static final class Fragile extends TimerNode {
        Error error;

        Fragile(TimerQueue queue) {
            super(() -> {});
        }

        @Override
        protected boolean casWord(long expected, long value) {
            if (error != null) {
                throw error;
            }
            return super.casWord(expected, value);
        }
    }

    enum Start {
        FIRED, REMOVED, DELETED, DELETED_IN_INBOX, RUNNING;

        /** Brings a timer that was armed for 500 here; it holds no permit then. */
        void prepare(Rig rig, TimerNode t) {
            if (this != DELETED_IN_INBOX) {
                rig.drain();
            }
            switch (this) {
                case FIRED -> rig.fire(500);
                case RUNNING -> assertNotNull(rig.claim(500));
                case REMOVED -> {
                    rig.queue.stop(t);
                    rig.queue.compactor.sweepStep();
                }
                default -> rig.queue.stop(t);
            }
        }
    }

    private final PendingLimit limit = new PendingLimit(100);
    private final Rig rig = new Rig(false, limit);

    @ParameterizedTest
    @EnumSource
    void reset_changeThrows_permitComesBack(Start start) {
        for (long when : new long[] {400, 600}) {
            Fragile t = new Fragile(rig.queue);
            rig.queue.arm(t, 500);
            start.prepare(rig, t);
            assertEquals(0, limit.held());
            t.error = new Error("meant");
            assertThrows(Error.class, () -> rig.queue.reset(t, when));
            assertEquals(0, limit.held(), "after an Error");
            t.error = null;
            assertEquals(false, rig.queue.reset(t, when));
            assertEquals(1, limit.held(), "armed");
            assertEquals(true, rig.queue.stop(t));
            assertEquals(0, limit.held(), "stopped");
            rig.drain();
        }
    }

    /** A queue whose timers a thread arms, resets and stops with what is left of its stack. */
    private int heldAfter(Runnable work, int depth) throws InterruptedException {
        CallerOutOfStackTest.fits(depth, work);
        rig.drain(); // pushes what such a thread has left
        return (int) (limit.held() - rig.queue.view().pending());
    }

    private void assertNothingHeld(Runnable work, Runnable clear) throws InterruptedException {
        for (int i = 0; i < 20_000; i++) { // once compiled, what is called last is what needs most of the stack
            CallerOutOfStackTest.atDepth(10, work);
            clear.run();
        }
        int deepest = CallerOutOfStackTest.deepest(work);
        clear.run();
        for (int depth = deepest - 60; depth < deepest + 60; depth++) {
            assertEquals(0, heldAfter(work, depth), "permits too many at depth " + (depth - deepest));
            clear.run();
            rig.drain();
            assertEquals(0, limit.held(), "permits in the end at depth " + (depth - deepest));
        }
    }

    /** All that is armed runs. */
    private void fireAll() {
        rig.fire(Timeline.NEVER - 1);
    }

    @Test
    void arm_byThreadsWithoutStack_permitsComeBack() throws InterruptedException {
        assertNothingHeld(() -> rig.arm(500), this::fireAll);
    }

    @Test
    void resetOfFired_byThreadsWithoutStack_permitsComeBack() throws InterruptedException {
        OneShotTimer t = rig.arm(500);
        fireAll();
        assertNothingHeld(() -> rig.queue.reset(t, 500), this::fireAll);
    }

    @Test
    void resetOfDeleted_byThreadsWithoutStack_permitsComeBack() throws InterruptedException {
        OneShotTimer t = rig.arm(500);
        Runnable delete = () -> {
            rig.drain();
            rig.queue.stop(t);
        };
        delete.run();
        assertNothingHeld(() -> rig.queue.reset(t, 600), delete);
    }

    @Test
    void resetOfDeletedInInbox_byThreadsWithoutStack_permitsComeBack() throws InterruptedException {
        OneShotTimer t = rig.arm(500);
        Runnable deleteInInbox = () -> {
            rig.queue.stop(t);
            rig.drain();
            rig.queue.compactor.sweepStep();
            rig.queue.reset(t, 500);
            rig.queue.stop(t);
        };
        deleteInInbox.run();
        assertNothingHeld(() -> rig.queue.reset(t, 600), deleteInInbox);
    }

    @Test
    void resetInRun_byThreadsWithoutStack_permitsComeBack() throws InterruptedException {
        OneShotTimer t = rig.arm(500);
        assertNotNull(rig.claim(500));
        for (int i = 0; i < 20_000; i++) {
            CallerOutOfStackTest.atDepth(10, () -> rig.queue.reset(t, 600));
            rig.queue.stop(t);
        }
        int deepest = CallerOutOfStackTest.deepest(() -> rig.queue.reset(t, 600));
        rig.queue.stop(t);
        for (int depth = deepest - 60; depth < deepest + 60; depth++) {
            boolean[] armed = new boolean[1];
            CallerOutOfStackTest.fits(depth, () -> {
                rig.queue.reset(t, 600);
                armed[0] = true;
            });
            rig.queue.stop(t);
            assertEquals(0, limit.held(), "permits at depth " + (depth - deepest) + ", armed " + armed[0]);
        }
    }

    @Test
    void stop_byThreadsWithoutStack_permitsComeBack() throws InterruptedException {
        OneShotTimer[] t = {rig.arm(500)};
        Runnable armAnother = () -> {
            rig.queue.stop(t[0]);
            t[0] = rig.arm(500);
        };
        for (int i = 0; i < 20_000; i++) {
            CallerOutOfStackTest.atDepth(10, () -> rig.queue.stop(t[0]));
            armAnother.run();
            rig.drain();
        }
        int deepest = CallerOutOfStackTest.deepest(() -> rig.queue.stop(t[0]));
        for (int depth = deepest - 60; depth < deepest + 60; depth++) {
            armAnother.run();
            rig.drain();
            CallerOutOfStackTest.fits(depth, () -> rig.queue.stop(t[0]));
            rig.queue.stop(t[0]);
            assertEquals(0, limit.held(), "permits at depth " + (depth - deepest));
        }
    }
}
