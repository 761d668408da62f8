package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol of publishing, parking and waking, as TimerQueue and Worker have it, under every interleaving of its
 * steps: an owner that goes to sleep, threads that arm, reset and stop, and a helper that drains. One step is one
 * access of a shared variable; what happens under the lock and touches nothing shared is part of the step before.
 *
 * <p>A wake-up is lost if all have finished, the owner is parked without a permit, and a timer is due before it
 * wakes, or more entries are stale than the bound allows, or the owner sleeps for long though a timer was stopped.
 * Variants with one step left out or put elsewhere must lose
 * one: this shows that the search would find it.
 */
@Tag("oracle")
class ParkProtocolModelTest {
    private enum Variant {
        AS_BUILT,
        /** Drain, then publish, then park. */
        NO_SECOND_DRAIN,
        /** Drain twice, but both times before publishing. */
        PUBLISH_LAST,
        /** An arming thread looks at pollUntil, then pushes. */
        LOOK_BEFORE_PUSH,
        /** A reset of a timer in the inbox leaves waking to whoever pushed it. */
        QUEUED_RESET_WAKES_NOBODY,
        /** A reset of a timer that was stopped in the inbox does, too. */
        REVIVAL_WAKES_NOBODY,
        /** The owner looks at the count only before it publishes. */
        LEDGER_READ_ONCE,
        /** Who pushes a timer wakes for the deadline of its own reset, not for the one that the word holds then. */
        PUSHER_WAKES_FOR_OWN_DEADLINE,
        /** Who pushes a timer wakes for it only if it is armed, though its entry may live again. */
        PUSHER_OF_DELETED_WAKES_NOBODY
    }

    private enum Op { ARM, RESET, STOP, HELP }

    private record Call(Op op, int timer, int when) {}

    /** {@code inboxWhen}: the deadline of timer 0, which lies in the inbox at the start; 0 if it is new. */
    private record Scenario(String name, int deadBound, int inboxWhen, List<List<Call>> threads) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Call arm(int timer, int when) {
        return new Call(Op.ARM, timer, when);
    }

    private static Call reset(int timer, int when) {
        return new Call(Op.RESET, timer, when);
    }

    private static Call stop(int timer) {
        return new Call(Op.STOP, timer, 0);
    }

    private static final List<Call> HELPER = List.of(new Call(Op.HELP, 0, 0));

    // Deadlines. Timer 2 is filed under FILED at the start.
    private static final int AWAKE = 0;
    private static final int AT_ONCE = 1;
    private static final int SOON = 2;
    private static final int SOONER_THAN_FILED = 3;
    private static final int FILED = 5;
    private static final int LATE = 6;
    private static final int NEVER = 7;

    // States of a timer: 0 is new, and from MOVING on it is armed.
    private static final int REMOVED = 1;
    private static final int DELETED = 2;
    private static final int DELETED_QUEUED = 3;
    private static final int MOVING = 4;
    private static final int MODIFIED_EARLIER = 5;
    private static final int WAITING = 6;
    private static final int MODIFIED_LATER = 7;

    // The variables, in one array: shared ones, three per timer, then four per thread.
    private static final int POLL_UNTIL = 0;
    private static final int LOCKED = 1;
    private static final int PERMIT = 2;
    private static final int STALE = 3;
    private static final int INBOX = 4;
    private static final int IN_HAND = 5;
    private static final int TIMER_VARS = 6;
    private static final int TIMERS = 3;
    private static final int THREAD_VARS = TIMER_VARS + 3 * TIMERS;
    private static final int LOCALS = 4;

    /** One state of the whole; steps change it. */
    private static final class World {
        final Scenario scenario;
        final Variant variant;
        final byte[] v;

        World(Scenario scenario, Variant variant) {
            this.scenario = scenario;
            this.variant = variant;
            v = new byte[THREAD_VARS + LOCALS * (1 + scenario.threads.size())];
            setWord(2, WAITING, FILED);
            addKey(2, FILED);
            if (scenario.inboxWhen != 0) {
                setWord(0, MOVING, scenario.inboxWhen);
                v[INBOX] = 1;
            }
        }

        World(World from) {
            scenario = from.scenario;
            variant = from.variant;
            v = from.v.clone();
        }

        // ---- timers and the heap ----

        int state(int t) {
            return v[TIMER_VARS + 3 * t];
        }

        int when(int t) {
            return v[TIMER_VARS + 3 * t + 1];
        }

        boolean isArmed(int t) {
            return state(t) >= MOVING;
        }

        void setWord(int t, int state, int when) {
            v[TIMER_VARS + 3 * t] = (byte) state;
            v[TIMER_VARS + 3 * t + 1] = (byte) when;
        }

        int word(int t) {
            return state(t) << 3 | when(t);
        }

        boolean hasKey(int t, int key) {
            return (v[TIMER_VARS + 3 * t + 2] & 1 << key) != 0;
        }

        void addKey(int t, int key) {
            v[TIMER_VARS + 3 * t + 2] |= (byte) (1 << key);
        }

        void dropKey(int t, int key) {
            v[TIMER_VARS + 3 * t + 2] &= (byte) ~(1 << key);
        }

        int topKey() {
            for (int key = 0; key < NEVER; key++) {
                for (int t = 0; t < TIMERS; t++) {
                    if (hasKey(t, key)) {
                        return key;
                    }
                }
            }
            return NEVER;
        }

        /** Until the top is live. */
        void cleanTops() {
            for (int key = 0; key < NEVER; key++) {
                for (int t = 0; t < TIMERS; t++) {
                    if (hasKey(t, key)) {
                        if (state(t) == WAITING && when(t) == key) {
                            return;
                        }
                        dropKey(t, key);
                        if (state(t) == MODIFIED_LATER && when(t) >= key) {
                            addKey(t, when(t));
                            setWord(t, WAITING, when(t));
                        } else {
                            if (state(t) == DELETED) {
                                setWord(t, REMOVED, when(t));
                            }
                            v[STALE]--;
                        }
                    }
                }
            }
        }

        void sweep() {
            for (int t = 0; t < TIMERS; t++) {
                for (int key = 0; key < NEVER; key++) {
                    boolean live = state(t) == WAITING && when(t) == key
                            || state(t) == MODIFIED_LATER && when(t) >= key;
                    if (hasKey(t, key) && !live) {
                        dropKey(t, key);
                        v[STALE]--;
                        if (state(t) == DELETED) {
                            setWord(t, REMOVED, when(t));
                        }
                    }
                }
            }
        }

        /** Files one timer that was taken from the inbox. */
        void file() {
            int t = Integer.numberOfTrailingZeros(v[IN_HAND]);
            v[IN_HAND] &= (byte) ~(1 << t);
            if (state(t) == DELETED_QUEUED) {
                setWord(t, REMOVED, when(t));
            } else {
                setWord(t, WAITING, when(t));
                addKey(t, when(t));
            }
        }

        boolean isOverBound() {
            return v[STALE] > scenario.deadBound;
        }

        // ---- threads: 0 is the owner ----

        private int at(int thread, int local) {
            return THREAD_VARS + LOCALS * thread + local;
        }

        int pc(int thread) {
            return v[at(thread, 0)];
        }

        void go(int thread, int pc) {
            v[at(thread, 0)] = (byte) pc;
        }

        int seen(int thread) {
            return v[at(thread, 1)];
        }

        void see(int thread, int value) {
            v[at(thread, 1)] = (byte) value;
        }

        int call(int thread) {
            return v[at(thread, 2)];
        }

        void nextCall(int thread) {
            v[at(thread, 2)]++;
            go(thread, 0);
        }

        /** Of a thread that arms: for which deadline it is to wake the owner. */
        int wakesFor(int thread) {
            return v[at(thread, 3)];
        }

        void wakeFor(int thread, int when) {
            v[at(thread, 3)] = (byte) when;
        }

        /** Two steps to empty the inbox, and one more for each timer; {@code pc} is the first of three. */
        void drain(int thread, int pc, int then) {
            switch (pc(thread) - pc) {
                case 0 -> go(thread, v[INBOX] == 0 ? then : pc + 1);
                case 1 -> {
                    v[IN_HAND] = v[INBOX];
                    v[INBOX] = 0;
                    go(thread, pc + 2);
                }
                default -> {
                    file();
                    if (v[IN_HAND] == 0) {
                        go(thread, then);
                    }
                }
            }
        }

        /** False if the thread has nothing to do or cannot go on. */
        boolean step(int thread) {
            return thread == 0 ? stepOfOwner() : stepOfUser(thread, scenario.threads.get(thread - 1));
        }

        private static final int LOOK_FOR_DUE = 0;
        private static final int PREPARE = 10;
        private static final int PUBLISH = 16;
        private static final int DECIDE = 23;
        private static final int PARK = 30;

        private boolean lock(int thread, int then) {
            if (v[LOCKED] != 0) {
                return false;
            }
            v[LOCKED] = 1;
            go(thread, then);
            return true;
        }

        private void unlock(int thread, int then) {
            v[LOCKED] = 0;
            go(thread, then);
        }

        /** Worker.claim, of which nothing is due, and DueTimers.prepareToSleep. */
        private boolean stepOfOwner() {
            switch (pc(0)) {
                case LOOK_FOR_DUE:
                    return lock(0, 1);
                case 1:
                    v[POLL_UNTIL] = AWAKE;
                    go(0, 2);
                    return true;
                case 2, 3, 4:
                    drain(0, 2, 5);
                    return true;
                case 5:
                    unlock(0, PREPARE);
                    return true;
                case PREPARE:
                    return lock(0, 11);
                case 11, 12, 13:
                    drain(0, 11, 14);
                    return true;
                case 14:
                    if (isOverBound()) {
                        sweep();
                    }
                    go(0, 15);
                    return true;
                case 15:
                    cleanTops();
                    see(0, topKey());
                    go(0, variant == Variant.PUBLISH_LAST ? PUBLISH + 1 : PUBLISH);
                    return true;
                case PUBLISH:
                    v[POLL_UNTIL] = (byte) seen(0);
                    if (variant == Variant.NO_SECOND_DRAIN || variant == Variant.PUBLISH_LAST) {
                        go(0, DECIDE + 2);
                    } else {
                        go(0, PUBLISH + 1);
                    }
                    return true;
                case PUBLISH + 1, PUBLISH + 2, PUBLISH + 3:
                    drain(0, PUBLISH + 1, DECIDE);
                    return true;
                case DECIDE:
                    if (topKey() < seen(0) || variant != Variant.LEDGER_READ_ONCE && isOverBound()) {
                        go(0, DECIDE + 1);
                    } else {
                        go(0, variant == Variant.PUBLISH_LAST ? PUBLISH : DECIDE + 2);
                    }
                    return true;
                case DECIDE + 1:
                    v[POLL_UNTIL] = AWAKE;
                    unlock(0, LOOK_FOR_DUE);
                    return true;
                case DECIDE + 2:
                    unlock(0, PARK);
                    return true;
                default:
                    if (v[PERMIT] == 0) {
                        return false;
                    }
                    v[PERMIT] = 0;
                    go(0, LOOK_FOR_DUE);
                    return true;
            }
        }

        private static final int CAS = 1;
        private static final int BURY = 2;
        private static final int PUSH = 3;
        /** After a push: reads the word once more. */
        private static final int READ_AGAIN = 4;
        private static final int WAKE = 5;

        private boolean stepOfUser(int thread, List<Call> calls) {
            if (call(thread) == calls.size()) {
                return false;
            }
            Call c = calls.get(call(thread));
            switch (pc(thread)) {
                case READ_AGAIN -> {
                    wakeFor(thread, when(c.timer));
                    wakeOrEnd(thread, WAKE, isArmed(c.timer) || variant != Variant.PUSHER_OF_DELETED_WAKES_NOBODY);
                    return true;
                }
                case WAKE, WAKE + 1, WAKE + 2 -> {
                    stepOfWaker(thread, pc(thread), wakesFor(thread));
                    return true;
                }
                default -> { }
            }
            switch (c.op) {
                case ARM -> stepOfArmer(thread, c);
                case RESET -> stepOfResetter(thread, c);
                case STOP -> stepOfStopper(thread, c);
                default -> stepOfHelper(thread);
            }
            return true;
        }

        /** TimerQueue.wakeIfBefore. */
        private void stepOfWaker(int thread, int pc, int when) {
            if (pc == WAKE) {
                see(thread, v[POLL_UNTIL]);
                go(thread, WAKE + 1);
                if (when >= seen(thread)) {
                    nextCall(thread);
                }
            } else if (pc == WAKE + 1) {
                if (v[POLL_UNTIL] == seen(thread)) {
                    v[POLL_UNTIL] = AWAKE;
                    go(thread, WAKE + 2);
                } else {
                    nextCall(thread);
                }
            } else {
                v[PERMIT] = 1;
                nextCall(thread);
            }
        }

        private void push(int thread, Call c) {
            v[INBOX] |= (byte) (1 << c.timer);
            wakeFor(thread, c.when);
            go(thread, c.op == Op.ARM || variant == Variant.PUSHER_WAKES_FOR_OWN_DEADLINE ? WAKE : READ_AGAIN);
        }

        private void stepOfArmer(int thread, Call c) {
            if (variant == Variant.LOOK_BEFORE_PUSH) {
                if (pc(thread) == 0) {
                    see(thread, v[POLL_UNTIL]);
                    go(thread, 1);
                } else {
                    setWord(c.timer, MOVING, c.when);
                    push(thread, c);
                    if (c.when < seen(thread)) {
                        go(thread, WAKE + 1);
                    } else {
                        nextCall(thread);
                    }
                }
            } else {
                setWord(c.timer, MOVING, c.when); // private until the push
                push(thread, c);
            }
        }

        private void stepOfResetter(int thread, Call c) {
            int t = c.timer;
            switch (pc(thread)) {
                case CAS -> {
                    if (seen(thread) != word(t)) {
                        go(thread, 0);
                        return;
                    }
                    boolean later = c.when >= when(t);
                    switch (state(t)) {
                        case MOVING, MODIFIED_EARLIER -> {
                            setWord(t, state(t), c.when);
                            wakeFor(thread, c.when);
                            wakeOrEnd(thread, WAKE, !later && variant != Variant.QUEUED_RESET_WAKES_NOBODY);
                        }
                        case DELETED_QUEUED -> {
                            setWord(t, MOVING, c.when);
                            wakeFor(thread, c.when);
                            wakeOrEnd(thread, WAKE, variant != Variant.REVIVAL_WAKES_NOBODY);
                        }
                        case WAITING, MODIFIED_LATER -> {
                            setWord(t, later ? MODIFIED_LATER : MODIFIED_EARLIER, c.when);
                            if (later) {
                                nextCall(thread);
                            } else {
                                go(thread, BURY);
                            }
                        }
                        case DELETED -> {
                            setWord(t, later ? MODIFIED_LATER : MODIFIED_EARLIER, c.when);
                            if (later) {
                                v[STALE]--;
                                nextCall(thread);
                            } else {
                                go(thread, PUSH);
                            }
                        }
                        default -> {
                            setWord(t, MOVING, c.when);
                            go(thread, PUSH);
                        }
                    }
                }
                case BURY -> {
                    v[STALE]++;
                    go(thread, PUSH);
                }
                case PUSH -> push(thread, c);
                default -> {
                    see(thread, word(t));
                    go(thread, CAS);
                }
            }
        }

        private void wakeOrEnd(int thread, int pc, boolean wake) {
            if (wake) {
                go(thread, pc);
            } else {
                nextCall(thread);
            }
        }

        private void stepOfStopper(int thread, Call c) {
            int t = c.timer;
            switch (pc(thread)) {
                case CAS -> {
                    if (seen(thread) != word(t)) {
                        go(thread, 0);
                    } else if (state(t) == MOVING || state(t) == MODIFIED_EARLIER) {
                        setWord(t, DELETED_QUEUED, when(t));
                        nextCall(thread);
                    } else if (isArmed(t)) {
                        setWord(t, DELETED, when(t));
                        go(thread, BURY);
                    } else {
                        nextCall(thread);
                    }
                }
                case BURY -> {
                    v[STALE]++;
                    wakeFor(thread, AT_ONCE);
                    if (isOverBound()) {
                        go(thread, WAKE);
                    } else {
                        nextCall(thread);
                    }
                }
                default -> {
                    see(thread, word(t));
                    go(thread, CAS);
                }
            }
        }

        /** TimerQueue.helpDrain. The steps of the drain are 1 to 3, so its end is told by a local. */
        private void stepOfHelper(int thread) {
            if (pc(thread) == 0) {
                if (!lock(thread, 1)) {
                    nextCall(thread);
                }
                return;
            }
            drain(thread, 1, 0);
            if (pc(thread) == 0) {
                v[LOCKED] = 0;
                nextCall(thread);
            }
        }
    }

    /** The number of states in which a wake-up has been lost for good; of a variant, at most one. */
    private static int lostWakeUps(Scenario scenario, Variant variant) {
        Set<ByteBuffer> visited = new HashSet<>();
        Deque<World> todo = new ArrayDeque<>();
        World start = new World(scenario, variant);
        visited.add(ByteBuffer.wrap(start.v));
        todo.push(start);
        int lost = 0;
        int finals = 0;
        while (!todo.isEmpty()) {
            World w = todo.pop();
            boolean stuck = true;
            for (int thread = 0; thread <= scenario.threads.size(); thread++) {
                World next = new World(w);
                if (next.step(thread)) {
                    stuck = false;
                    if (visited.add(ByteBuffer.wrap(next.v))) {
                        todo.push(next);
                    }
                }
            }
            if (stuck) {
                finals++;
                assertEquals(World.PARK, w.pc(0), "only a parked owner may stop");
                assertEquals(0, w.v[LOCKED]);
                for (int thread = 1; thread <= scenario.threads.size(); thread++) {
                    assertEquals(scenario.threads.get(thread - 1).size(), w.call(thread), "a thread hangs");
                }
                if (isLost(w)) {
                    lost++;
                    if (variant != Variant.AS_BUILT) {
                        return lost; // one is enough to show that the search finds it
                    }
                }
            }
        }
        assertTrue(finals > 0);
        return lost;
    }

    private static boolean isLost(World w) {
        boolean lost = w.v[POLL_UNTIL] != w.seen(0) || w.isOverBound();
        for (int t = 0; t < TIMERS; t++) {
            lost |= w.isArmed(t) && w.when(t) < w.seen(0);
        }
        return lost;
    }

    private static final int NO_BOUND = 100;

    private static final Scenario ARM = new Scenario("one arms", NO_BOUND, 0, List.of(List.of(arm(0, SOON))));
    private static final Scenario RESET_QUEUED =
            new Scenario("one resets a timer in the inbox", NO_BOUND, LATE, List.of(List.of(reset(0, SOON))));
    private static final Scenario REVIVE = new Scenario("one arms, stops and resets", NO_BOUND, 0,
            List.of(List.of(arm(0, LATE), stop(0), reset(0, SOON))));
    private static final Scenario PUSH_AND_RESET = new Scenario(
            "one arms, one brings a filed timer forward, and another does so before it is pushed", NO_BOUND, 0,
            List.of(List.of(arm(1, SOON)), List.of(reset(2, SOONER_THAN_FILED)), List.of(reset(2, AT_ONCE))));
    private static final Scenario STOP_BEFORE_PUSH = new Scenario("one stops a timer that another brings forward",
            NO_BOUND, 0, List.of(List.of(reset(2, SOON)), List.of(stop(2))));
    private static final Scenario STOP_AND_POSTPONE = new Scenario("one stops, one resets a filed timer", NO_BOUND, 0,
            List.of(List.of(stop(2), reset(2, LATE)), List.of(reset(2, SOON)), HELPER));
    private static final Scenario STOP_FILED =
            new Scenario("one stops a filed timer", NO_BOUND, 0, List.of(List.of(stop(2))));
    private static final Scenario STOP_QUEUED =
            new Scenario("one stops a timer in the inbox", NO_BOUND, 0, List.of(List.of(arm(0, LATE), stop(0))));
    private static final Scenario STOP =
            new Scenario("one stops beyond the bound", 0, 0, List.of(List.of(stop(2))));

    static Stream<Scenario> scenarios() {
        return Stream.of(ARM, RESET_QUEUED, REVIVE, STOP, STOP_FILED, STOP_QUEUED,
                new Scenario("two arm", NO_BOUND, 0,
                        List.of(List.of(arm(0, SOON)), List.of(arm(1, SOONER_THAN_FILED)))),
                new Scenario("two arm, one helps", NO_BOUND, 0,
                        List.of(List.of(arm(0, SOON)), List.of(arm(1, SOONER_THAN_FILED)), HELPER)),
                new Scenario("one arms and resets, one helps", NO_BOUND, 0,
                        List.of(List.of(arm(0, LATE), reset(0, SOON)), HELPER)),
                new Scenario("two reset one timer in the inbox, one helps", NO_BOUND, LATE,
                        List.of(List.of(reset(0, SOON)), List.of(reset(0, SOONER_THAN_FILED)), HELPER)),
                new Scenario("one stops, one resets a timer in the inbox, one helps", NO_BOUND, LATE,
                        List.of(List.of(stop(0)), List.of(reset(0, SOON)), HELPER)),
                new Scenario("one revives, one helps", NO_BOUND, 0,
                        List.of(List.of(arm(0, LATE), stop(0), reset(0, SOON)), HELPER)),
                new Scenario("one brings a filed timer forward, one helps", NO_BOUND, 0,
                        List.of(List.of(reset(2, SOON)), HELPER)),
                new Scenario("one puts a filed timer off and brings it back", NO_BOUND, 0,
                        List.of(List.of(reset(2, LATE), reset(2, SOONER_THAN_FILED)), HELPER)),
                STOP_AND_POSTPONE,
                PUSH_AND_RESET,
                new Scenario("two bring a filed timer forward, one helps", NO_BOUND, 0,
                        List.of(List.of(reset(2, SOONER_THAN_FILED)), List.of(reset(2, AT_ONCE)), HELPER)),
                new Scenario("one arms a stopped timer, one brings it forward", NO_BOUND, 0,
                        List.of(List.of(stop(2), reset(2, SOONER_THAN_FILED)), List.of(reset(2, AT_ONCE)))),
                new Scenario("one stops a filed timer, one stops another in the inbox", NO_BOUND, LATE,
                        List.of(List.of(stop(2)), List.of(stop(0)))),
                STOP_BEFORE_PUSH,
                new Scenario("one stops beyond the bound, one arms", 0, 0,
                        List.of(List.of(stop(2)), List.of(arm(0, SOON)))),
                new Scenario("two stop beyond the bound, one helps", 0, SOONER_THAN_FILED,
                        List.of(List.of(stop(2)), List.of(stop(0)), HELPER)))
                .filter(s -> Scale.FULL || s != PUSH_AND_RESET); // as long as all others together
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void park_asBuilt_losesNoWakeUp(Scenario scenario) {
        assertEquals(0, lostWakeUps(scenario, Variant.AS_BUILT));
    }

    @Test
    void park_withoutSecondDrain_isFoundToLoseAWakeUp() {
        assertNotEquals(0, lostWakeUps(ARM, Variant.NO_SECOND_DRAIN));
    }

    @Test
    void park_publishedLast_isFoundToLoseAWakeUp() {
        assertNotEquals(0, lostWakeUps(ARM, Variant.PUBLISH_LAST));
    }

    @Test
    void arm_lookBeforePush_isFoundToLoseAWakeUp() {
        assertNotEquals(0, lostWakeUps(ARM, Variant.LOOK_BEFORE_PUSH));
    }

    @Test
    void reset_queuedWithoutWake_isFoundToLoseAWakeUp() {
        Scenario s = new Scenario("", NO_BOUND, 0, List.of(List.of(arm(0, LATE), reset(0, SOON))));
        assertNotEquals(0, lostWakeUps(s, Variant.QUEUED_RESET_WAKES_NOBODY));
    }

    @Test
    void reset_revivedWithoutWake_isFoundToLoseAWakeUp() {
        assertNotEquals(0, lostWakeUps(REVIVE, Variant.REVIVAL_WAKES_NOBODY));
    }

    /** The stopper's own wake comes too early if the owner has not published yet. */
    @Test
    void stop_staleCounterReadOnce_isFoundToLoseASweep() {
        assertNotEquals(0, lostWakeUps(STOP, Variant.LEDGER_READ_ONCE));
    }

    /** The second reset's wake comes too early if the first one has not pushed the timer yet. */
    @Test
    void reset_pusherWakesForItsOwnDeadline_isFoundToLoseAWakeUp() {
        assertNotEquals(0, lostWakeUps(PUSH_AND_RESET, Variant.PUSHER_WAKES_FOR_OWN_DEADLINE));
    }

    /** The timer was filed and stopped between the push and the wake, and comes back to life without a wake. */
    @Test
    void reset_pusherOfADeletedTimerWakesNobody_isFoundToLoseAWakeUp() {
        assertNotEquals(0, lostWakeUps(STOP_AND_POSTPONE, Variant.PUSHER_OF_DELETED_WAKES_NOBODY));
    }
}
