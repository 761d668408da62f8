package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.pendula.internal.queue.PendingLimit;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.Fixtures.Rig;
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
        public boolean casWord(long expected, long value) {
            if (error != null) {
                throw error;
            }
            return super.casWord(expected, value);
        }
    }

    enum Start {
        FIRED(TimerNode.NO_STATUS), REMOVED(TimerNode.REMOVED), DELETED(TimerNode.DELETED),
        DELETED_IN_INBOX(TimerNode.DELETED_QUEUED), RUNNING(TimerNode.RUNNING);

        private final int state;

        Start(int state) {
            this.state = state;
        }

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
                    rig.sweepAll();
                }
                default -> rig.queue.stop(t);
            }
            assertEquals(state, rig.state(t), "the state at the beginning");
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
}
