package io.pendula;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol by which a loop waits and is woken, as LoopWorker and WakeGate have it, under every interleaving of its
 * steps: a loop that waits and polls, threads that arm, stop and help to drain, a hook that throws.
 *
 * <p>Time stands still and nothing is due. The loop's wait ends if it was woken, or, as often as the scenario says,
 * because of something else. A wait for the lock uses up the permit, as it does if the hook is an unpark. When no thread
 * can go on, the loop must wait no longer than until the deadline of each armed timer, unless a hook has thrown after the
 * timer was armed; and a thread that arms an earlier one must find a pollUntil that makes it wake the loop. Variants with
 * one step left out or put elsewhere must break that: so the search would find it.
 */
@Tag("oracle")
class LoopModelTest {
    private enum Variant {
        AS_BUILT,
        /** A loop looks at what has arrived, then publishes. */
        PUBLISH_LAST,
        /** A thread that arms looks at pollUntil, then notes the arrival. */
        ARRIVAL_NOTED_LAST,
        /** A drain takes the inbox, then forgets the arrivals. */
        ARRIVALS_CLEARED_LAST,
        /** The hook ends a wait, but does not make the next one return. */
        HOOK_NOT_STICKY,
        /** A hook that threw leaves pollUntil as it is. */
        NOT_RESTORED,
        /** It writes what it read before, without the lock. */
        RESTORED_WITHOUT_LOCK,
        /** The loop publishes while its former wait is still to be seen. */
        FORMER_WAIT_LEFT,
        /** The loop does not look again once it has said until when it waits. */
        NO_SECOND_LOOK
    }

    private record Timed(int when, boolean filed) {}

    /** Of a timer; {@code HELP} drains the queue, {@code RESCUE} wakes the loop, as a timer that is due next does. */
    private enum Op { ARM, STOP, HELP, RESCUE }

    private record Call(Op op, int timer) {}

    /**
     * {@code throwing}: so many calls of the hook throw; {@code events}: how often something else than the hook ends the
     * loop's wait.
     */
    private record Scenario(String name, int throwing, int events, List<Timed> timers, List<List<Call>> users) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Timed toArm(int when) {
        return new Timed(when, false);
    }

    private static Call arm(int timer) {
        return new Call(Op.ARM, timer);
    }

    // Instants.
    private static final int AWAKE = 0;
    private static final int NEXT = 1;
    private static final int SOON = 2;
    private static final int LATE = 4;
    private static final int NEVER = 6;

    // Variables.
    private static final int LOCKED = 0;
    private static final int POLL_UNTIL = 1;
    private static final int INBOX = 2;
    private static final int HEAP = 3;
    private static final int PERMIT = 4;
    private static final int WAITS_UNTIL = 5;
    private static final int THROWING = 6;
    private static final int EVENTS = 7;
    /** Timers that were armed before a hook threw. */
    private static final int EXCUSED = 8;
    private static final int ARRIVALS = 9;
    private static final int VARS = 10;

    // Rounds of the loop.
    private static final int CAME_BY = 8;
    private static final int WAITING = 9;

    /** Threads: the loop, and the users. */
    private static final class World extends Interleavings.World {
        final Scenario scenario;
        final Variant variant;

        World(Scenario scenario, Variant variant) {
            super(VARS, 1 + scenario.users.size());
            this.scenario = scenario;
            this.variant = variant;
            for (int t = 0; t < scenario.timers.size(); t++) {
                if (scenario.timers.get(t).filed) {
                    v[HEAP] |= (byte) (1 << t);
                }
            }
            v[ARRIVALS] = NEVER;
            v[THROWING] = (byte) scenario.throwing;
            v[EVENTS] = (byte) scenario.events;
        }

        private World(World from) {
            super(from);
            scenario = from.scenario;
            variant = from.variant;
        }

        @Override
        World copy() {
            return new World(this);
        }

        @Override
        void program(int number) {
            if (number == 0) {
                loop();
            } else {
                use(scenario.users.get(number - 1));
            }
        }

        /** The loop loses its permit if it waits for the lock. */
        private void lock() {
            begin();
            moving(() -> {
                if (v[LOCKED] != 0) {
                    boolean had = thread == 0 && v[PERMIT] != 0;
                    if (thread == 0) {
                        v[PERMIT] = 0;
                    }
                    throw blocked(had);
                }
                return v[LOCKED] = 1;
            });
        }

        private void unlock() {
            set(LOCKED, 0);
        }

        private void await() {
            access(() -> {
                if (v[PERMIT] != 0) {
                    return v[PERMIT] = 0;
                }
                if (v[EVENTS] > 0 && choose()) {
                    return v[EVENTS]--;
                }
                throw blocked();
            });
        }

        // ---- the queue ----

        private int top(int timers) {
            int top = NEVER;
            for (int t = 0; t < scenario.timers.size(); t++) {
                if ((timers & 1 << t) != 0) {
                    top = Math.min(top, scenario.timers.get(t).when);
                }
            }
            return top;
        }

        private void drain() {
            boolean last = variant == Variant.ARRIVALS_CLEARED_LAST;
            if (!last) {
                set(ARRIVALS, NEVER);
            }
            access(() -> {
                v[HEAP] |= v[INBOX];
                return v[INBOX] = 0;
            });
            if (last) {
                set(ARRIVALS, NEVER);
            }
        }

        private void ownerIsUp() {
            if (get(POLL_UNTIL) != AWAKE) {
                set(POLL_UNTIL, AWAKE);
            }
        }

        private int prepareToSleep() {
            lock();
            int until = look();
            if (variant == Variant.PUBLISH_LAST) {
                until = look();
            }
            set(POLL_UNTIL, until);
            if (variant != Variant.PUBLISH_LAST && look() < until) {
                set(POLL_UNTIL, AWAKE);
                until = AWAKE;
            }
            unlock();
            return until;
        }

        private int look() {
            return Math.min(moving(() -> top(v[HEAP])), get(ARRIVALS));
        }

        private void wakeIfBefore(int when) {
            for (int p = get(POLL_UNTIL); when < p; p = get(POLL_UNTIL)) {
                if (cas(POLL_UNTIL, p, AWAKE)) {
                    wake();
                    return;
                }
            }
        }

        private void note(int when) {
            for (int a = get(ARRIVALS); when < a && !cas(ARRIVALS, a, when); ) {
                a = get(ARRIVALS);
            }
        }

        private void use(List<Call> calls) {
            Call c = calls.get(round[thread]);
            int when = scenario.timers.get(c.timer).when;
            byte bit = (byte) (1 << c.timer);
            switch (c.op) {
                case STOP -> access(() -> (v[INBOX] &= (byte) ~bit) | (v[HEAP] &= (byte) ~bit));
                case HELP -> {
                    lock();
                    drain();
                    unlock();
                }
                case RESCUE -> wakeIfBefore(NEXT);
                default -> {
                    access(() -> v[INBOX] |= bit);
                    if (variant != Variant.ARRIVAL_NOTED_LAST) {
                        note(when);
                    }
                    wakeIfBefore(when);
                    if (variant == Variant.ARRIVAL_NOTED_LAST) {
                        note(when);
                    }
                }
            }
            if (round[thread] + 1 < calls.size()) {
                throw nextRound(round[thread] + 1);
            }
        }

        private void wake() {
            boolean threw = access(() -> {
                if (v[THROWING] > 0) {
                    v[THROWING]--;
                    return 1;
                }
                v[PERMIT] = 1;
                return 0;
            }) != 0;
            if (threw && variant != Variant.NOT_RESTORED) {
                sleepsOn();
            }
            if (threw) {
                access(() -> v[EXCUSED] |= (byte) (v[INBOX] | v[HEAP]));
            }
        }

        private void sleepsOn() {
            boolean locks = variant != Variant.RESTORED_WITHOUT_LOCK;
            if (locks) {
                lock();
            }
            int until = get(WAITS_UNTIL);
            if (until != AWAKE) {
                cas(POLL_UNTIL, AWAKE, until);
            }
            if (locks) {
                unlock();
            }
        }

        // ---- the loop ----

        private void loop() {
            if (round[thread] == WAITING) {
                await();
                throw nextRound(CAME_BY);
            } else if (round[thread] == 0 && nanosUntilNext() != AWAKE) {
                if (variant == Variant.HOOK_NOT_STICKY) {
                    set(PERMIT, 0);
                }
                throw nextRound(WAITING);
            } else if (access(() -> choose() ? 1 : 0) == 0) { // else it goes to wait again at once
                runDue();
            }
            throw nextRound(0);
        }

        /** Nothing is due, so what has arrived stays in the inbox. */
        private void runDue() {
            markAwake();
            lock();
            ownerIsUp();
            unlock();
        }

        private int nanosUntilNext() {
            if (variant != Variant.FORMER_WAIT_LEFT) {
                set(WAITS_UNTIL, AWAKE);
            }
            int next = prepareToSleep();
            set(WAITS_UNTIL, next);
            if (next == AWAKE || variant != Variant.NO_SECOND_LOOK && get(POLL_UNTIL) == AWAKE) {
                markAwake();
                return AWAKE;
            }
            return next;
        }

        private void markAwake() {
            if (get(WAITS_UNTIL) != AWAKE) {
                ownerIsUp();
                set(WAITS_UNTIL, AWAKE);
            }
        }

        // ---- what must hold when no thread can go on ----

        boolean isLost() {
            for (int t = 0; t < round.length; t++) {
                assertTrue(round[t] == ENDED || t == 0 && round[t] == WAITING, "a thread hangs");
            }
            int until = v[WAITS_UNTIL];
            return v[POLL_UNTIL] < until || top((v[HEAP] | v[INBOX]) & ~v[EXCUSED]) < until;
        }
    }

    private static boolean losesAWakeUp(Scenario scenario, Variant variant) {
        return Interleavings.endIn(new World(scenario, variant), w -> ((World) w).isLost());
    }

    private static final Scenario ARM = new Scenario("one arms", 0, 1, List.of(toArm(SOON)), List.of(List.of(arm(0))));
    private static final Scenario ARM_BOTH = new Scenario("two arm", 0, 1, List.of(toArm(SOON), toArm(LATE)),
            List.of(List.of(arm(0)), List.of(arm(1))));
    private static final Scenario ARM_HELP = new Scenario("one arms, one helps", 0, 1, List.of(toArm(SOON)),
            List.of(List.of(arm(0)), List.of(new Call(Op.HELP, 0))));
    private static final Scenario THROW = new Scenario("one arms twice, the hook throws once", 1, 1,
            List.of(toArm(SOON), toArm(LATE)), List.of(List.of(arm(0), arm(1))));
    private static final List<Call> STOPS_AND_ARMS = List.of(new Call(Op.STOP, 0), arm(1));
    private static final Scenario STOP_AND_THROW = new Scenario("one stops and arms, the hook throws", 1, 1,
            List.of(new Timed(SOON, true), toArm(LATE)), List.of(STOPS_AND_ARMS));
    private static final Scenario THROW_TWICE = new Scenario("one stops and arms, one rescues, the hook throws twice", 2,
            1, List.of(new Timed(SOON, true), toArm(LATE)), List.of(STOPS_AND_ARMS, List.of(new Call(Op.RESCUE, 0))));

    static Stream<Scenario> scenarios() {
        return Stream.of(ARM, ARM_BOTH, ARM_HELP, THROW, STOP_AND_THROW, THROW_TWICE);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void loop_asBuilt_losesNoWakeUp(Scenario scenario) {
        assertFalse(losesAWakeUp(scenario, Variant.AS_BUILT));
    }

    static Stream<Arguments> variants() {
        return Stream.of(
                Arguments.of(Variant.PUBLISH_LAST, ARM),
                Arguments.of(Variant.ARRIVAL_NOTED_LAST, ARM),
                Arguments.of(Variant.ARRIVALS_CLEARED_LAST, ARM_HELP),
                Arguments.of(Variant.HOOK_NOT_STICKY, ARM),
                Arguments.of(Variant.NOT_RESTORED, THROW),
                Arguments.of(Variant.RESTORED_WITHOUT_LOCK, THROW_TWICE),
                Arguments.of(Variant.FORMER_WAIT_LEFT, STOP_AND_THROW),
                Arguments.of(Variant.NO_SECOND_LOOK, THROW));
    }

    @ParameterizedTest
    @MethodSource("variants")
    void loop_withAStepAmiss_isFoundToLoseAWakeUp(Variant variant, Scenario scenario) {
        assertTrue(losesAWakeUp(scenario, variant));
    }
}
