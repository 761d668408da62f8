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
 * The protocol by which a loop waits and is woken, as LoopWorker, Loops and Worker have it, under every
 * interleaving of its steps: a loop that waits and polls, threads that arm, a hook that throws, another loop that
 * leaves its queue to this one or to a worker, a worker that adopts the loop's queue.
 *
 * <p>Time stands still and nothing is due; who waits returns only if it was woken, or, as often as the scenario says,
 * because of something else. A wait for a lock uses up the permit, as it does if the hook is an unpark. If nobody can
 * go on, each armed timer must have an owner that waits no longer than until its deadline, unless a hook has thrown
 * after the timer was armed; and whoever arms one that is earlier than its owner's wait must find a pollUntil that
 * makes him wake the owner. Variants with one step left out or put elsewhere must break that: so the search would find
 * it.
 */
@Tag("oracle")
class LoopModelTest {
    private enum Variant {
        AS_BUILT,
        /** A loop looks at what has arrived, then publishes. */
        PUBLISH_LAST,
        /** Who arms looks at pollUntil, then notes the arrival. */
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
        NO_SECOND_LOOK,
        /** It looks again at its own queue alone. */
        SECOND_LOOK_AT_OWN,
        /** Who leaves a queue to another does not wake that one. */
        HEIR_NOT_WOKEN,
        /** Who leaves a queue to a loop says so after waking it. */
        HERITAGE_SET_LAST,
        /** A worker does not look at pollUntil before it parks. */
        NO_LAST_LOOK,
        /** An owner publishes though another has adopted the queue, or taken it back. */
        KEEPER_NOT_CHECKED
    }

    /** {@code STUCK}: the loop does not poll, and the worker has adopted its queue. */
    private enum Cast { LOOP_ALONE, BOTH, STUCK }

    private record Timed(int queue, int when, boolean filed) {}

    /** Of a timer; {@code HELP} drains its queue, {@code RESCUE} wakes its owner, as the monitor does. */
    private enum Op { ARM, STOP, HELP, RESCUE }

    private record Call(Op op, int timer) {}

    /**
     * {@code successor}: who gets the queue of the loop that goes, or NOBODY if none goes; {@code events}: how often
     * something else than the hook ends the loop's wait.
     */
    private record Scenario(String name, Cast cast, int successor, int throwing, int events, List<Timed> timers,
            List<List<Call>> users) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Timed toArm(int queue, int when) {
        return new Timed(queue, when, false);
    }

    private static Call arm(int timer) {
        return new Call(Op.ARM, timer);
    }

    private static Call stop(int timer) {
        return new Call(Op.STOP, timer);
    }

    private static Call help(int timer) {
        return new Call(Op.HELP, timer);
    }

    // Instants.
    private static final int AWAKE = 0;
    private static final int NEXT = 1;
    private static final int SOON = 2;
    private static final int LATE = 4;
    private static final int NEVER = 6;
    private static final int NOT_OWNER = -1;

    // Runners: the loop that stays, the one that goes, a worker.
    private static final int NOBODY = 0;
    private static final int LOOP = 1;
    private static final int GONE = 2;
    private static final int DRIVER = 3;

    // Queues: that of the loop that stays, and the other one's.
    private static final int OWN = 0;
    private static final int LEFT = 1;
    private static final int QUEUES = 2;

    // Variables: of each queue, of each runner, of all.
    private static final int LOCKED = 0;
    private static final int POLL_UNTIL = 2;
    private static final int KEEPER = 4;
    private static final int OWNER = 6;
    private static final int STALLED = 8;
    private static final int INBOX = 10;
    private static final int HEAP = 12;
    private static final int PERMIT = 14;
    private static final int WAITS_UNTIL = 18;
    private static final int HAS_HERITAGE = 22;
    private static final int THROWING = 23;
    private static final int EVENTS = 24;
    /** Timers that were armed before a hook threw. */
    private static final int EXCUSED = 25;
    private static final int ARRIVALS = 26;
    private static final int VARS = 28;

    // Rounds of the loop and the worker, whose others are queues.
    private static final int CAME_BY = 8;
    private static final int WAITING = 9;

    /** Threads: the loop, the worker, the loop that goes, the monitor, and the users. */
    private static final class World extends Interleavings.World {
        final Scenario scenario;
        final Variant variant;

        World(Scenario scenario, Variant variant) {
            super(VARS, 4 + scenario.users.size());
            this.scenario = scenario;
            this.variant = variant;
            v[KEEPER + OWN] = v[OWNER + OWN] = LOOP;
            v[KEEPER + LEFT] = v[OWNER + LEFT] = GONE;
            v[POLL_UNTIL + LEFT] = v[WAITS_UNTIL + GONE] = NEVER;
            if (scenario.cast == Cast.STUCK) {
                v[KEEPER + OWN] = DRIVER;
                if (scenario.successor == NOBODY) {
                    v[KEEPER + LEFT] = v[OWNER + LEFT] = DRIVER;
                }
            }
            round[0] = (byte) (scenario.cast == Cast.STUCK ? ENDED : 0);
            round[1] = (byte) (scenario.cast == Cast.LOOP_ALONE ? ENDED : 0);
            round[2] = (byte) (scenario.successor == NOBODY ? ENDED : 0);
            round[3] = (byte) (scenario.cast == Cast.BOTH ? 0 : ENDED);
            for (int t = 0; t < scenario.timers.size(); t++) {
                if (scenario.timers.get(t).filed) {
                    v[HEAP + scenario.timers.get(t).queue] |= (byte) (1 << t);
                }
            }
            v[ARRIVALS + OWN] = v[ARRIVALS + LEFT] = NEVER;
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
            switch (number) {
                case 0 -> loop();
                case 1 -> worker();
                case 2 -> detach();
                case 3 -> monitor();
                default -> use(scenario.users.get(number - 4));
            }
        }

        /** Reads what changes only under the lock that this thread holds. */
        private int guarded(int variable) {
            return moving(() -> v[variable]);
        }

        /** A runner that waits for the lock loses its permit. */
        private void lock(int q) {
            begin();
            moving(() -> {
                if (v[LOCKED + q] != 0) {
                    int me = thread == 0 ? LOOP : thread == 1 ? DRIVER : NOBODY;
                    boolean had = v[PERMIT + me] != 0;
                    v[PERMIT + me] = 0;
                    throw blocked(had);
                }
                return v[LOCKED + q] = 1;
            });
        }

        private void unlock(int q) {
            set(LOCKED + q, 0);
        }

        private void await(int me) {
            access(() -> {
                if (v[PERMIT + me] != 0) {
                    return v[PERMIT + me] = 0;
                }
                if (me == LOOP && v[EVENTS] > 0 && choose()) {
                    return v[EVENTS]--;
                }
                throw blocked();
            });
        }

        // ---- TimerQueue, Worker ----

        private int top(int timers) {
            int top = NEVER;
            for (int t = 0; t < scenario.timers.size(); t++) {
                if ((timers & 1 << t) != 0) {
                    top = Math.min(top, scenario.timers.get(t).when);
                }
            }
            return top;
        }

        private int drain(int q) {
            boolean last = variant == Variant.ARRIVALS_CLEARED_LAST;
            if (!last && guarded(OWNER + q) != DRIVER) {
                set(ARRIVALS + q, NEVER);
            }
            int top = access(() -> {
                v[HEAP + q] |= v[INBOX + q];
                v[INBOX + q] = 0;
                return top(v[HEAP + q]);
            });
            if (last) {
                set(ARRIVALS + q, NEVER);
            }
            return top;
        }

        private void transfer(int me, int q) {
            access(() -> {
                v[STALLED + q] = 0;
                return v[KEEPER + q] = (byte) me;
            });
            set(POLL_UNTIL + q, AWAKE);
        }

        private boolean takeUp(int me, int q) {
            if (guarded(KEEPER + q) != me) {
                if (guarded(OWNER + q) != me) {
                    return false;
                }
                transfer(me, q);
            } else if (get(POLL_UNTIL + q) != AWAKE) {
                set(POLL_UNTIL + q, AWAKE);
            }
            return true;
        }

        /** Of a queue in which nothing is due; a loop leaves the inbox alone then. */
        private void runDue(int me, int q) {
            lock(q);
            if (takeUp(me, q) && me == DRIVER) {
                drain(q);
            }
            unlock(q);
        }

        private int prepareToSleep(int me, int q) {
            lock(q);
            if (guarded(KEEPER + q) != me && variant != Variant.KEEPER_NOT_CHECKED) {
                unlock(q);
                return NOT_OWNER;
            }
            int until = look(me, q);
            if (variant == Variant.PUBLISH_LAST) {
                until = look(me, q);
            }
            set(POLL_UNTIL + q, until);
            if (variant != Variant.PUBLISH_LAST && look(me, q) < until) {
                set(POLL_UNTIL + q, AWAKE);
                until = AWAKE;
            }
            unlock(q);
            return until;
        }

        private int look(int me, int q) {
            return me == DRIVER ? drain(q) : Math.min(moving(() -> top(v[HEAP + q])), get(ARRIVALS + q));
        }

        private void callIfBefore(int q, int when) {
            int p = get(POLL_UNTIL + q);
            if (when < p && cas(POLL_UNTIL + q, p, AWAKE)) {
                wake(get(KEEPER + q));
            }
        }

        private void note(int q, int when) {
            for (int a = get(ARRIVALS + q); when < a && !cas(ARRIVALS + q, a, when); ) {
                a = get(ARRIVALS + q);
            }
        }

        private void use(List<Call> calls) {
            Call c = calls.get(round[thread]);
            int when = scenario.timers.get(c.timer).when;
            int q = scenario.timers.get(c.timer).queue;
            byte bit = (byte) (1 << c.timer);
            if (c.op == Op.STOP) {
                access(() -> (v[INBOX + q] &= (byte) ~bit) | (v[HEAP + q] &= (byte) ~bit));
            } else if (c.op == Op.HELP) {
                lock(q);
                drain(q);
                unlock(q);
            } else if (c.op == Op.RESCUE) {
                callIfBefore(q, NEXT);
            } else {
                access(() -> v[INBOX + q] |= bit);
                if (variant != Variant.ARRIVAL_NOTED_LAST) {
                    note(q, when);
                }
                callIfBefore(q, when);
                if (variant == Variant.ARRIVAL_NOTED_LAST) {
                    note(q, when);
                }
            }
            if (round[thread] + 1 < calls.size()) {
                throw nextRound(round[thread] + 1);
            }
        }

        private void wake(int k) {
            boolean threw = access(() -> {
                if (k == LOOP && v[THROWING] > 0) {
                    v[THROWING]--;
                    return 1;
                }
                v[PERMIT + k] = 1;
                return 0;
            }) != 0;
            if (threw && variant != Variant.NOT_RESTORED) {
                for (int q = 0; q < QUEUES; q++) {
                    sleepOn(q);
                }
            }
            if (threw) {
                access(() -> v[EXCUSED] |= (byte) (v[INBOX] | v[HEAP] | v[INBOX + LEFT] | v[HEAP + LEFT]));
            }
        }

        private void sleepOn(int q) {
            boolean locks = variant != Variant.RESTORED_WITHOUT_LOCK;
            if (locks) {
                lock(q);
            }
            int until = get(KEEPER + q) == LOOP ? get(WAITS_UNTIL + LOOP) : AWAKE;
            if (until != AWAKE) {
                cas(POLL_UNTIL + q, AWAKE, until);
            }
            if (locks) {
                unlock(q);
            }
        }

        // ---- LoopWorker, Loops ----

        private boolean inherits() {
            return get(HAS_HERITAGE) != 0 && get(OWNER + LEFT) == LOOP;
        }

        private void loop() {
            if (round[thread] == WAITING) {
                await(LOOP);
                throw nextRound(CAME_BY);
            } else if (round[thread] == 0 && nanosUntilNext() != AWAKE) {
                if (variant == Variant.HOOK_NOT_STICKY) {
                    set(PERMIT + LOOP, 0);
                }
                throw nextRound(WAITING);
            } else if (access(() -> choose() ? 1 : 0) == 0) { // else it goes to wait again at once
                markAwake();
                runDue(LOOP, OWN);
                if (inherits()) {
                    runDue(LOOP, LEFT);
                }
            }
            throw nextRound(0);
        }

        private int nanosUntilNext() {
            if (variant != Variant.FORMER_WAIT_LEFT) {
                set(WAITS_UNTIL + LOOP, AWAKE);
            }
            int next = prepare(OWN);
            if (inherits()) {
                next = Math.min(next, prepare(LEFT));
            }
            set(WAITS_UNTIL + LOOP, next);
            if (next == AWAKE || variant != Variant.NO_SECOND_LOOK && (isCalled(OWN)
                    || variant != Variant.SECOND_LOOK_AT_OWN && inherits() && isCalled(LEFT))) {
                markAwake();
                return AWAKE;
            }
            return next;
        }

        private boolean isCalled(int q) {
            return get(KEEPER + q) == LOOP && get(POLL_UNTIL + q) == AWAKE;
        }

        private int prepare(int q) {
            int until = prepareToSleep(LOOP, q);
            if (until == NOT_OWNER) {
                runDue(LOOP, q);
                until = AWAKE;
            }
            return until;
        }

        private void markAwake() {
            if (get(WAITS_UNTIL + LOOP) == AWAKE) {
                return;
            }
            runDue(LOOP, OWN);
            if (inherits()) {
                runDue(LOOP, LEFT);
            }
            set(WAITS_UNTIL + LOOP, AWAKE);
        }

        private void detach() {
            int successor = scenario.successor;
            if (successor == LOOP && variant != Variant.HERITAGE_SET_LAST) {
                set(HAS_HERITAGE, 1);
            }
            lock(LEFT);
            set(OWNER + LEFT, successor);
            transfer(successor, LEFT);
            drain(LEFT);
            unlock(LEFT);
            if (variant != Variant.HEIR_NOT_WOKEN) {
                wake(successor);
            }
            if (successor == LOOP && variant == Variant.HERITAGE_SET_LAST) {
                set(HAS_HERITAGE, 1);
            }
        }

        // ---- Monitor, Worker ----

        private void monitor() {
            set(STALLED + OWN, 1);
            set(PERMIT + DRIVER, 1);
        }

        private void worker() {
            int q = round[thread];
            if (q == WAITING) {
                await(DRIVER);
                throw nextRound(0);
            } else if (q == QUEUES) {
                throw nextRound(sleeps() ? WAITING : 0);
            } else if (get(KEEPER + q) == DRIVER || get(OWNER + q) == DRIVER) {
                runDue(DRIVER, q);
            } else if (get(STALLED + q) != 0 && adopt(q)) {
                throw nextRound(0);
            }
            throw nextRound(q + 1);
        }

        private boolean adopt(int q) {
            if (!cas(LOCKED + q, 0, 1)) {
                return false;
            }
            boolean late = get(STALLED + q) != 0 && guarded(KEEPER + q) == LOOP;
            if (late) {
                transfer(DRIVER, q);
            }
            unlock(q);
            return late;
        }

        private boolean sleeps() {
            int next = NEVER;
            for (int q = 0; q < QUEUES; q++) {
                if (get(KEEPER + q) == DRIVER || get(OWNER + q) == DRIVER) {
                    int p = prepareToSleep(DRIVER, q);
                    next = Math.min(next, p != NOT_OWNER ? p : get(OWNER + q) == DRIVER ? AWAKE : NEVER);
                }
            }
            for (int q = 0; q < QUEUES && variant != Variant.NO_LAST_LOOK; q++) {
                if (get(KEEPER + q) == DRIVER && get(POLL_UNTIL + q) < next) {
                    return false;
                }
            }
            int until = next;
            moving(() -> v[WAITS_UNTIL + DRIVER] = (byte) until);
            return next != AWAKE;
        }

        // ---- what must hold when nobody can go on ----

        boolean isLost() {
            for (int t = 0; t < round.length; t++) {
                assertTrue(round[t] == ENDED || t < 2 && round[t] == WAITING, "a thread hangs");
            }
            for (int q = 0; q < QUEUES; q++) {
                int until = v[WAITS_UNTIL + v[KEEPER + q]];
                if (v[POLL_UNTIL + q] < until || top((v[HEAP + q] | v[INBOX + q]) & ~v[EXCUSED]) < until) {
                    return true;
                }
            }
            return false;
        }
    }

    private static boolean losesAWakeUp(Scenario scenario, Variant variant) {
        return Interleavings.endIn(new World(scenario, variant), w -> ((World) w).isLost());
    }

    private static Scenario alone(String name, int throwing, List<Timed> timers, List<List<Call>> users) {
        return new Scenario(name, Cast.LOOP_ALONE, NOBODY, throwing, 1, timers, users);
    }

    /** Timer 0 is armed by one, timer 1 by another. */
    private static final List<List<Call>> ONE = List.of(List.of(arm(0)));
    private static final List<List<Call>> TWO = List.of(List.of(arm(0)), List.of(arm(1)));

    private static final Scenario ARM = alone("one arms", 0, List.of(toArm(OWN, SOON)), ONE);
    private static final Scenario ARM_HELP = alone("one arms, one helps", 0, List.of(toArm(OWN, SOON)),
            List.of(List.of(arm(0)), List.of(help(0))));
    private static final Scenario THROW = alone("one arms twice, the hook throws once", 1,
            List.of(toArm(OWN, SOON), toArm(OWN, LATE)), List.of(List.of(arm(0), arm(1))));
    private static final Scenario STOP_AND_THROW = alone("one stops and arms, the hook throws", 1,
            List.of(new Timed(OWN, SOON, true), toArm(OWN, LATE)), List.of(List.of(stop(0), arm(1))));
    private static final Scenario THROW_TWICE = alone("one stops and arms, one rescues, the hook throws twice", 2,
            List.of(new Timed(OWN, SOON, true), toArm(OWN, LATE)),
            List.of(List.of(stop(0), arm(1)), List.of(new Call(Op.RESCUE, 0))));
    private static final Scenario TO_LOOP = new Scenario("a loop leaves its queue to this one, one arms there",
            Cast.LOOP_ALONE, LOOP, 0, 0, List.of(toArm(LEFT, SOON)), ONE);
    private static final Scenario TO_LOOP_THROWS = new Scenario("the same, and the hook throws",
            Cast.LOOP_ALONE, LOOP, 1, 0, List.of(toArm(LEFT, SOON)), ONE);
    private static final Scenario TO_DRIVER = new Scenario("a loop leaves its queue to a worker, who has another",
            Cast.STUCK, DRIVER, 0, 0, List.of(toArm(LEFT, SOON), toArm(OWN, LATE)), TWO);
    private static final Scenario HELP = new Scenario("a worker keeps two queues, one arms, one helps", Cast.STUCK,
            NOBODY, 0, 0, List.of(toArm(OWN, SOON), toArm(LEFT, LATE)),
            List.of(List.of(arm(0)), List.of(help(1))));
    private static final Scenario ADOPT = new Scenario("a worker adopts the queue, one arms",
            Cast.BOTH, NOBODY, 0, 0, List.of(toArm(OWN, SOON)), ONE);

    /** As long as all others together. */
    private static final Scenario ADOPT_AND_THROW = new Scenario("a worker adopts the queue, one arms, the hook throws",
            Cast.BOTH, NOBODY, 1, 0, List.of(toArm(OWN, SOON)), ONE);

    static Stream<Scenario> scenarios() {
        return Stream.of(ARM, ARM_HELP, THROW, STOP_AND_THROW, THROW_TWICE, TO_LOOP, TO_LOOP_THROWS, TO_DRIVER, HELP,
                ADOPT,
                ADOPT_AND_THROW,
                new Scenario("one arms here, one there, another loop leaves its queue", Cast.LOOP_ALONE, LOOP, 0, 0,
                        List.of(toArm(OWN, SOON), toArm(LEFT, LATE)), TWO))
                .filter(s -> Scale.FULL || s != ADOPT_AND_THROW);
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
                Arguments.of(Variant.NO_SECOND_LOOK, THROW),
                Arguments.of(Variant.SECOND_LOOK_AT_OWN, TO_LOOP_THROWS),
                Arguments.of(Variant.HEIR_NOT_WOKEN, TO_LOOP),
                Arguments.of(Variant.HERITAGE_SET_LAST, TO_LOOP),
                Arguments.of(Variant.NO_LAST_LOOK, HELP),
                Arguments.of(Variant.KEEPER_NOT_CHECKED, ADOPT));
    }

    @ParameterizedTest
    @MethodSource("variants")
    void loop_withAStepAmiss_isFoundToLoseAWakeUp(Variant variant, Scenario scenario) {
        assertTrue(losesAWakeUp(scenario, variant));
    }
}
