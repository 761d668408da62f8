package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.Interleavings.World;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The protocol of a thread that ends while others arm, as Seat, Worker.sleep and WakeGate.wakeIfBefore have it, under
 * every interleaving of its steps. A wake is lost if all threads have done what they do, a timer is armed, the queue
 * says that its owner is awake, and no thread sits there; or if two threads do. Variants must lose one: this shows
 * that the search would find it.
 */
@Tag("oracle")
class SeatModelTest {
    private enum Variant {
        AS_BUILT,
        /** The thread that ends looks at pollUntil, then vacates its seat. */
        LOOKS_FIRST,
        /** It ends whatever it sees. */
        DOES_NOT_LOOK,
        /** It sits down again without a look at the seat. */
        SITS_DOWN_ON_ANOTHER,
        /** A waker reads the seat before it changes pollUntil. */
        READS_THE_SEAT_FIRST,
        /** A waker whose thread cannot be started leaves pollUntil as it is. */
        FAILED_START_LEAVES_AWAKE
    }

    // Variables.
    private static final int POLL_UNTIL = 0;
    private static final int SEAT = 1;
    /** Threads that go on: those that were started, and the old one if it does not end. */
    private static final int UP = 2;
    private static final int ARMED = 3;
    private static final int FAILURES = 4;
    private static final int VARIABLES = 5;

    // Values of POLL_UNTIL.
    private static final int NEVER = 0;
    private static final int AWAKE = 1;
    // Values of SEAT: 0, the old thread, that of an arming thread.
    private static final int OLD = 1;

    private static final class Model extends World {
        private final Variant variant;

        Model(Variant variant, int arming, int failures) {
            super(VARIABLES, 1 + arming);
            this.variant = variant;
            v[SEAT] = OLD;
            v[FAILURES] = (byte) failures;
        }

        private Model(Model from) {
            super(from);
            variant = from.variant;
        }

        @Override
        World copy() {
            return new Model(this);
        }

        @Override
        void program(int number) {
            if (number == 0) {
                end();
            } else {
                arm(number);
            }
        }

        private void end() {
            boolean called;
            if (variant == Variant.LOOKS_FIRST) {
                called = get(POLL_UNTIL) != NEVER;
                set(SEAT, 0);
            } else {
                set(SEAT, 0);
                called = variant != Variant.DOES_NOT_LOOK && get(POLL_UNTIL) != NEVER;
            }
            if (!called) {
                return;
            }
            if (variant == Variant.SITS_DOWN_ON_ANOTHER) {
                set(SEAT, OLD);
                goOn();
            } else if (cas(SEAT, 0, OLD)) {
                goOn();
            }
        }

        private void goOn() {
            access(() -> v[UP]++);
        }

        private void arm(int number) {
            access(() -> v[ARMED]++);
            int seat = variant == Variant.READS_THE_SEAT_FIRST ? get(SEAT) : -1;
            if (!cas(POLL_UNTIL, NEVER, AWAKE)) {
                return;
            }
            if ((seat < 0 ? get(SEAT) : seat) != 0) {
                return; // an unpark
            }
            boolean failed = access(() -> { // under the monitor
                boolean starts = v[SEAT] == 0; // else another thread is quicker
                boolean fails = starts && v[FAILURES] > 0;
                if (fails) {
                    v[FAILURES]--;
                } else if (starts) {
                    v[SEAT] = (byte) (OLD + number);
                    v[UP]++;
                }
                return fails ? 1 : 0;
            }) == 1;
            if (!failed) {
                return;
            }
            if (variant != Variant.FAILED_START_LEAVES_AWAKE) {
                access(() -> v[SEAT] == 0 && v[POLL_UNTIL] == AWAKE ? v[POLL_UNTIL] = NEVER : 0); // under the lock
            }
        }
    }

    private static final Predicate<World> NOBODY_WOKEN = w -> w.v[ARMED] > 0 && w.v[POLL_UNTIL] == AWAKE
            && (w.v[SEAT] == 0 || w.v[UP] == 0);
    private static final Predicate<World> TWO_SIT = w -> w.v[UP] > 1;

    private static boolean loses(Variant variant, int failures) {
        for (int arming = 1; arming <= 3; arming++) {
            if (Interleavings.endIn(new Model(variant, arming, failures), NOBODY_WOKEN.or(TWO_SIT))) {
                return true;
            }
        }
        return false;
    }

    @ParameterizedTest
    @EnumSource
    void end_whileOthersArm_losesAWakeOnlyIfTheProtocolIsBroken(Variant variant) {
        boolean broken = variant != Variant.AS_BUILT;
        assertEquals(broken, loses(variant, 0) || loses(variant, 1));
    }

    @Test
    void end_startsFail_losesNoWake() {
        for (int failures = 0; failures <= 3; failures++) {
            assertEquals(false, loses(Variant.AS_BUILT, failures), "failed starts: " + failures);
        }
    }
}
