package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol of the lookout, as Lookout and Driver have it, under every interleaving of its steps: drivers claim,
 * begin tasks, appoint, lend, adopt and go to sleep, and threads arm and stop. One step is one access of a shared
 * variable; what happens under a queue's lock and touches nothing else that is shared is part of the step before. Time
 * stands still, but a driver's sleep may end by itself as often as the scenario says.
 *
 * <p>A queue is lost if nobody can go on, a driver is idle, and yet a task of that queue, or one that might be armed
 * next, would run late by more than a GRACE; also if its keeper runs a task, unless the holder is deaf. Variants with
 * one step left out or put elsewhere must lose one: this shows that the search would find it.
 */
@Tag("oracle")
class LookoutModelTest {
    private enum Variant {
        AS_BUILT,
        /** Who begins a task looks for the holder first. */
        BUSY_SET_AFTER_THE_LOOK,
        /** Who goes to sleep looks around first. */
        ASLEEP_SET_AFTER_THE_LOOK,
        /** A lender does not look at how long the holder sleeps once it has made it keeper. */
        LOAN_NOT_CHECKED_AGAIN,
        /** A lender empties the inbox, then publishes. */
        LOAN_PUBLISHED_LAST,
        /** Who has appointed a sleeper does not look whether it has got up and begun a task. */
        APPOINTMENT_NOT_CHECKED_AGAIN,
        /** After an appointment that failed, those are not looked at again that went to sleep and saw a holder. */
        SCAN_GOES_ON,
        /** A new holder that oversleeps is not woken. */
        APPOINTED_NOT_WOKEN,
        /** As built; a thread that cannot be started is not even made, so that nobody has taken it for the holder. */
        AS_BUILT_AND_NOT_MADE,
        /** The new driver may begin a task, and need another, while others are still kept from starting one. */
        STARTED_BEFORE_OTHERS_MAY_TRY,
        /** Nobody looks for a sleeper when a thread could not be started. */
        FAILED_START_FORGOTTEN
    }

    /** {@code armed}: in the heap at the start. */
    private record Task(int queue, int when, boolean blocks, boolean armed) {}

    /** Arms a task, or stops one that is in the heap. */
    private record Call(boolean stop, int task) {}

    /** {@code started} of {@code drivers} are up at the start, each about to look at its queues. */
    private record Scenario(String name, int queues, int drivers, int started, boolean startFails, int timeouts,
            List<Task> tasks, List<List<Call>> users) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Task blocking(int queue) {
        return new Task(queue, NOW, true, true);
    }

    private static Task brief(int queue) {
        return new Task(queue, NOW, false, true);
    }

    private static Task later(int queue, int when) {
        return new Task(queue, when, false, true);
    }

    private static Task toArm(int queue, int when) {
        return new Task(queue, when, false, false);
    }

    private static List<Call> arms(int task) {
        return List.of(new Call(false, task));
    }

    private static List<Call> stops(int task) {
        return List.of(new Call(true, task));
    }

    // Instants. A GRACE is one step.
    private static final int AWAKE = 0;
    private static final int NOW = 1;
    private static final int GRACE = 1;
    private static final int SOON = 3;
    private static final int LATE = 5;
    private static final int NEVER = 7;

    // Variables: shared ones, five of each queue, twelve of each driver, three of each user.
    private static final int HOLDER = 0;
    private static final int STARTING = 1;
    private static final int STARTED = 2;
    private static final int TIMEOUTS = 3;
    private static final int QUEUE_VARS = 4;
    private static final int KEEPER = 0;
    private static final int POLL = 1;
    private static final int LOCKED = 2;
    private static final int INBOX = 3;
    private static final int HEAP = 4;
    private static final int PER_QUEUE = 5;

    private static final int BUSY = 0;
    private static final int ASLEEP = 1;
    private static final int DEAF = 2;
    private static final int UNTIL = 3;
    private static final int PERMIT = 4;
    // A driver's locals.
    private static final int PC = 5;
    private static final int I = 6;
    private static final int NEXT = 7;
    private static final int X = 8;
    private static final int SEEN = 9;
    private static final int HAND = 10;
    private static final int FLAGS = 11;
    private static final int PER_DRIVER = 12;
    private static final int RAN = 1;
    private static final int RETRY = 2;
    private static final int HELD = 4;
    private static final int VAIN = 8;
    private static final int CALL = 16;
    private static final int START_FAILED = 32;

    /** What a driver does next. In the order of the methods of Driver and Lookout. */
    private enum At {
        NOT_STARTED,
        CHECK, CLAIM_LOCK, CLAIM_KEEP, CLAIM_AWAKE, CLAIM, CLAIM_UNLOCK,
        SET_BUSY, BEGINS, BEGINS_RESIGN, RUN,
        APPOINT, APPOINT_CAS, APPOINT_BUSY, APPOINT_REVOKE,
        OVERSLEEPS, OVERSLEEPS_OWN, OVERSLEEPS_LEFT, OVERSLEEPS_BUSY, OVERSLEEPS_POLL, OVERSLEEPS_KEEPER, APPOINT_WAKE,
        START, START_LOCK, START_HELD, START_HOLD, START_LET, START_LAUNCH, START_FAIL,
        LOOK_ASLEEP, LOOK_DEAF, LEND, LEND_UNTIL, LEND_LOCK, LEND_KEEPER, LEND_POLL, LEND_DRAIN, LEND_AWAKE,
        LEND_UNLOCK, LEND_ASLEEP, LEND_SAME, LEND_WAKE,
        HELP, HELP_HOLDER, HELP_LEFT, HELP_BUSY, ADOPT, ADOPT_KEEP, ADOPT_AWAKE, ADOPT_UNLOCK,
        PREPARE, PREPARE_LOCK, PREPARE_DRAIN, PREPARE_POLL, PREPARE_DECIDE, PREPARE_AWAKE, PREPARE_UNLOCK,
        SLEEP_HELD, SLEEP_DEAF, PLAN, SLEEP_UNTIL, SLEEP_ASLEEP,
        CALLED, CALLED_POLL, NEEDED, NEEDED_CAS, NEEDED_HOLDER, NEEDED_LEFT, NEEDED_BUSY, PARK, UP;

        private static final At[] ALL = values();
    }

    /** One state of the whole; steps change it. */
    private static final class World {
        final Scenario scenario;
        final Variant variant;
        final byte[] v;
        private final int driverVars;
        private final int userVars;

        World(Scenario scenario, Variant variant) {
            this.scenario = scenario;
            this.variant = variant;
            driverVars = QUEUE_VARS + PER_QUEUE * scenario.queues;
            userVars = driverVars + PER_DRIVER * scenario.drivers;
            v = new byte[userVars + 3 * scenario.users.size()];
            v[STARTED] = (byte) scenario.started;
            v[TIMEOUTS] = (byte) scenario.timeouts;
            for (int q = 0; q < scenario.queues; q++) {
                queue(q, KEEPER, 1 + Math.min(q, scenario.started - 1));
            }
            for (int t = 0; t < scenario.tasks.size(); t++) {
                Task task = scenario.tasks.get(t);
                if (task.armed) {
                    queue(task.queue, HEAP, queue(task.queue, HEAP) | 1 << t);
                }
            }
            for (int d = 0; d < scenario.started; d++) {
                go(d, At.CHECK, 0);
            }
        }

        World(World from) {
            scenario = from.scenario;
            variant = from.variant;
            driverVars = from.driverVars;
            userVars = from.userVars;
            v = from.v.clone();
        }

        // ---- variables; drivers are told by their number plus one, where none is 0 ----

        int queue(int q, int field) {
            return v[QUEUE_VARS + PER_QUEUE * q + field];
        }

        void queue(int q, int field, int value) {
            v[QUEUE_VARS + PER_QUEUE * q + field] = (byte) value;
        }

        int driver(int d, int field) {
            return v[driverVars + PER_DRIVER * d + field];
        }

        void driver(int d, int field, int value) {
            v[driverVars + PER_DRIVER * d + field] = (byte) value;
        }

        boolean is(int d, int field) {
            return driver(d, field) != 0;
        }

        boolean has(int d, int flag) {
            return (driver(d, FLAGS) & flag) != 0;
        }

        void flag(int d, int flag, boolean value) {
            driver(d, FLAGS, value ? driver(d, FLAGS) | flag : driver(d, FLAGS) & ~flag);
        }

        At at(int d) {
            return At.ALL[driver(d, PC)];
        }

        void go(int d, At pc) {
            driver(d, PC, pc.ordinal());
        }

        void go(int d, At pc, int i) {
            driver(d, I, i);
            go(d, pc);
        }

        int user(int u, int local) {
            return v[userVars + 3 * u + local];
        }

        void user(int u, int local, int value) {
            v[userVars + 3 * u + local] = (byte) value;
        }

        boolean keeps(int d, int q) {
            return queue(q, KEEPER) == d + 1;
        }

        boolean isHolder(int d) {
            return v[HOLDER] == d + 1;
        }

        boolean casHolder(int expected, int value) {
            if (v[HOLDER] != expected) {
                return false;
            }
            v[HOLDER] = (byte) value;
            return true;
        }

        void drain(int q) {
            queue(q, HEAP, queue(q, HEAP) | queue(q, INBOX));
            queue(q, INBOX, 0);
        }

        /** The earliest deadline among a set of tasks. */
        int earliest(int set) {
            int top = NEVER;
            for (int t = 0; t < scenario.tasks.size(); t++) {
                if ((set & 1 << t) != 0) {
                    top = Math.min(top, scenario.tasks.get(t).when);
                }
            }
            return top;
        }

        int top(int q) {
            return earliest(queue(q, HEAP));
        }

        static int plusGrace(int when) {
            return when == NEVER ? NEVER : when + GRACE;
        }

        // ---- drivers ----

        /** False if the driver has nothing to do or cannot go on. What touches nothing shared takes no step. */
        boolean stepOfDriver(int d) {
            if (!shared(d)) {
                return false;
            }
            while (isLocal(d)) {
                shared(d);
            }
            return true;
        }

        private boolean isLocal(int d) {
            int i = driver(d, I);
            return switch (at(d)) {
                case CHECK, HELP, PREPARE, LEND, OVERSLEEPS_OWN, PLAN, CALLED, NEEDED_LEFT -> i == scenario.queues;
                case APPOINT -> i == scenario.drivers;
                case START -> v[STARTED] == scenario.drivers || has(d, START_FAILED);
                case CLAIM_UNLOCK, LEND_UNLOCK, ADOPT_UNLOCK, PREPARE_UNLOCK -> true; // part of the last step under it
                default -> false;
            };
        }

        private boolean shared(int d) {
            int i = driver(d, I);
            switch (at(d)) {
                case NOT_STARTED -> {
                    return false;
                }
                case RUN -> {
                    if (scenario.tasks.get(driver(d, HAND) - 1).blocks) {
                        return false;
                    }
                    driver(d, HAND, 0);
                    driver(d, BUSY, 0);
                    flag(d, RAN, true);
                    go(d, At.CLAIM_LOCK, driver(d, NEXT));
                    driver(d, NEXT, 0);
                }
                case CHECK, CLAIM_LOCK, CLAIM_KEEP, CLAIM_AWAKE, CLAIM, CLAIM_UNLOCK -> {
                    return claim(d, i);
                }
                case SET_BUSY, BEGINS, BEGINS_RESIGN -> begin(d);
                case APPOINT, APPOINT_CAS, APPOINT_BUSY, APPOINT_REVOKE, OVERSLEEPS, APPOINT_WAKE -> appoint(d, i);
                case OVERSLEEPS_OWN, OVERSLEEPS_LEFT, OVERSLEEPS_BUSY, OVERSLEEPS_POLL, OVERSLEEPS_KEEPER ->
                    oversleeps(d, i);
                case START, START_LOCK, START_HELD, START_HOLD, START_LET, START_LAUNCH, START_FAIL -> {
                    return start(d);
                }
                case LOOK_ASLEEP -> {
                    if (is(driver(d, X) - 1, ASLEEP)) {
                        go(d, At.LOOK_DEAF);
                    } else {
                        begun(d);
                    }
                }
                case LOOK_DEAF -> {
                    if (is(driver(d, X) - 1, DEAF)) {
                        begun(d);
                    } else {
                        go(d, At.LEND, 0);
                    }
                }
                case LEND, LEND_UNTIL, LEND_LOCK, LEND_KEEPER, LEND_POLL, LEND_DRAIN, LEND_AWAKE, LEND_UNLOCK,
                        LEND_ASLEEP, LEND_SAME, LEND_WAKE -> {
                    return lend(d, i);
                }
                case HELP, HELP_HOLDER, HELP_LEFT, HELP_BUSY, ADOPT, ADOPT_KEEP, ADOPT_AWAKE, ADOPT_UNLOCK ->
                    help(d, i);
                case PREPARE, PREPARE_LOCK, PREPARE_DRAIN, PREPARE_POLL, PREPARE_DECIDE, PREPARE_AWAKE,
                        PREPARE_UNLOCK -> {
                    return prepare(d, i);
                }
                case SLEEP_HELD, SLEEP_DEAF, PLAN, SLEEP_UNTIL, SLEEP_ASLEEP -> goToSleep(d, i);
                case CALLED, CALLED_POLL, NEEDED, NEEDED_CAS, NEEDED_HOLDER, NEEDED_LEFT, NEEDED_BUSY ->
                    lookAround(d, i);
                case PARK -> {
                    return park(d);
                }
                case UP -> {
                    driver(d, ASLEEP, 0);
                    driver(d, NEXT, 0);
                    flag(d, HELD, false);
                    go(d, At.CHECK, 0);
                }
                default -> throw new AssertionError(at(d));
            }
            return true;
        }

        private boolean lock(int d, int q, At then) {
            if (queue(q, LOCKED) != 0) {
                return false;
            }
            queue(q, LOCKED, 1);
            go(d, then);
            return true;
        }

        private void unlock(int d, int q, At then, int i) {
            queue(q, LOCKED, 0);
            go(d, then, i);
        }

        /** Driver.checkTimers. */
        private boolean claim(int d, int q) {
            switch (at(d)) {
                case CHECK -> {
                    if (q == scenario.queues) {
                        go(d, At.HELP, 0);
                    } else if (keeps(d, q) || q == d) {
                        go(d, At.CLAIM_LOCK);
                    } else {
                        go(d, At.CHECK, q + 1);
                    }
                }
                case CLAIM_LOCK -> {
                    return lock(d, q, keeps(d, q) ? At.CLAIM_AWAKE : q == d ? At.CLAIM_KEEP : At.CLAIM_UNLOCK);
                }
                case CLAIM_KEEP -> {
                    queue(q, KEEPER, d + 1);
                    go(d, At.CLAIM_AWAKE);
                }
                case CLAIM_AWAKE -> {
                    queue(q, POLL, AWAKE);
                    go(d, At.CLAIM);
                }
                case CLAIM -> {
                    drain(q);
                    for (int t = 0; t < scenario.tasks.size(); t++) {
                        if ((queue(q, HEAP) & 1 << t) != 0 && scenario.tasks.get(t).when == NOW) {
                            queue(q, HEAP, queue(q, HEAP) & ~(1 << t));
                            driver(d, HAND, t + 1);
                            break;
                        }
                    }
                    go(d, At.CLAIM_UNLOCK);
                }
                default -> {
                    if (driver(d, HAND) == 0) {
                        unlock(d, q, At.CHECK, q + 1);
                    } else {
                        driver(d, NEXT, q); // to come back to
                        unlock(d, q, variant == Variant.BUSY_SET_AFTER_THE_LOOK ? At.BEGINS : At.SET_BUSY, 0);
                    }
                }
            }
            return true;
        }

        /** Lookout.begins. */
        private void begin(int d) {
            switch (at(d)) {
                case SET_BUSY -> {
                    driver(d, BUSY, 1);
                    go(d, variant == Variant.BUSY_SET_AFTER_THE_LOOK ? At.RUN : At.BEGINS);
                }
                case BEGINS -> {
                    driver(d, X, v[HOLDER]);
                    go(d, isHolder(d) ? At.BEGINS_RESIGN : v[HOLDER] == 0 ? At.APPOINT : At.LOOK_ASLEEP, 0);
                }
                default -> {
                    casHolder(d + 1, 0);
                    go(d, At.APPOINT, 0);
                }
            }
        }

        private void begun(int d) {
            driver(d, X, 0);
            driver(d, SEEN, 0);
            driver(d, NEXT, driver(d, NEXT) & 3);
            flag(d, CALL, false);
            flag(d, START_FAILED, false);
            go(d, variant == Variant.BUSY_SET_AFTER_THE_LOOK ? At.SET_BUSY : At.RUN, 0);
        }

        private void appoint(int d, int i) {
            switch (at(d)) {
                case APPOINT -> {
                    if (i == scenario.drivers) {
                        go(d, At.START);
                    } else if (is(i, ASLEEP)) {
                        go(d, At.APPOINT_CAS);
                    } else {
                        go(d, At.APPOINT, i + 1);
                    }
                }
                case APPOINT_CAS -> {
                    if (!casHolder(0, i + 1)) {
                        go(d, At.APPOINT, i + 1);
                    } else {
                        go(d, variant == Variant.APPOINTMENT_NOT_CHECKED_AGAIN ? At.OVERSLEEPS : At.APPOINT_BUSY);
                    }
                }
                case APPOINT_BUSY -> go(d, is(i, BUSY) ? At.APPOINT_REVOKE : At.OVERSLEEPS);
                case APPOINT_REVOKE -> {
                    casHolder(i + 1, 0);
                    go(d, At.APPOINT, variant == Variant.SCAN_GOES_ON ? i + 1 : 0);
                }
                case OVERSLEEPS -> {
                    driver(d, X, i + 1);
                    driver(d, NEXT, driver(d, NEXT) | driver(i, UNTIL) << 2);
                    go(d, At.OVERSLEEPS_OWN, 0);
                }
                default -> {
                    driver(driver(d, X) - 1, PERMIT, 1);
                    go(d, At.LOOK_ASLEEP);
                }
            }
        }

        private void oversleeps(int d, int q) {
            int x = driver(d, X);
            switch (at(d)) {
                case OVERSLEEPS_OWN -> {
                    if (q == scenario.queues || variant == Variant.APPOINTED_NOT_WOKEN) {
                        go(d, At.LOOK_ASLEEP);
                    } else if (keeps(d, q)) {
                        go(d, At.OVERSLEEPS_OWN, q + 1);
                    } else {
                        go(d, At.OVERSLEEPS_LEFT);
                    }
                }
                case OVERSLEEPS_LEFT -> {
                    driver(d, SEEN, queue(q, KEEPER));
                    go(d, queue(q, KEEPER) == x ? At.OVERSLEEPS_POLL : At.OVERSLEEPS_BUSY);
                }
                case OVERSLEEPS_BUSY -> go(d, is(driver(d, SEEN) - 1, BUSY) ? At.APPOINT_WAKE : At.OVERSLEEPS_POLL);
                case OVERSLEEPS_POLL -> {
                    driver(d, SEEN, queue(q, POLL));
                    go(d, At.OVERSLEEPS_KEEPER);
                }
                default -> {
                    int p = driver(d, SEEN);
                    boolean planned = queue(q, KEEPER) != x && p != AWAKE;
                    if (planned && plusGrace(p) < driver(d, NEXT) >> 2) {
                        go(d, At.APPOINT_WAKE);
                    } else {
                        go(d, At.OVERSLEEPS_OWN, q + 1);
                    }
                }
            }
        }

        /** Crew.startAnother. */
        private boolean start(int d) {
            int fresh = v[STARTED];
            switch (at(d)) {
                case START -> {
                    if (fresh == scenario.drivers || has(d, START_FAILED)) {
                        begun(d);
                    } else {
                        go(d, At.START_LOCK);
                    }
                }
                case START_LOCK -> {
                    if (v[STARTING] != 0) {
                        begun(d); // another is at it
                    } else {
                        v[STARTING] = 1;
                        go(d, At.START_HELD);
                    }
                }
                case START_HELD -> {
                    if (fresh == scenario.drivers || v[HOLDER] != 0) {
                        v[STARTING] = 0;
                        begun(d);
                    } else {
                        boolean made = !scenario.startFails || variant != Variant.AS_BUILT_AND_NOT_MADE;
                        go(d, made ? At.START_HOLD : At.START_FAIL); // in between the factory is called
                    }
                }
                case START_HOLD -> {
                    driver(d, X, fresh + 1);
                    v[STARTED]++;
                    casHolder(0, fresh + 1);
                    go(d, variant == Variant.STARTED_BEFORE_OTHERS_MAY_TRY ? At.START_LAUNCH : At.START_LET);
                }
                case START_LET -> {
                    v[STARTING] = 0;
                    if (variant == Variant.STARTED_BEFORE_OTHERS_MAY_TRY) {
                        begun(d);
                    } else {
                        go(d, scenario.startFails ? At.START_FAIL : At.START_LAUNCH);
                    }
                }
                case START_LAUNCH -> {
                    go(driver(d, X) - 1, At.CHECK, 0);
                    if (variant == Variant.STARTED_BEFORE_OTHERS_MAY_TRY) {
                        go(d, At.START_LET);
                    } else {
                        begun(d);
                    }
                }
                default -> {
                    if (variant == Variant.AS_BUILT_AND_NOT_MADE) {
                        v[STARTING] = 0;
                    } else {
                        v[STARTED]--;
                        casHolder(driver(d, X), 0);
                    }
                    flag(d, START_FAILED, true);
                    if (variant == Variant.FAILED_START_FORGOTTEN) {
                        begun(d);
                    } else {
                        go(d, At.APPOINT, 0);
                    }
                }
            }
            return true;
        }

        private boolean lend(int d, int q) {
            int x = driver(d, X) - 1;
            switch (at(d)) {
                case LEND -> {
                    if (q == scenario.queues) {
                        begun(d);
                    } else if (keeps(d, q)) {
                        go(d, At.LEND_UNTIL);
                    } else {
                        go(d, At.LEND, q + 1);
                    }
                }
                case LEND_UNTIL -> {
                    driver(d, SEEN, driver(x, UNTIL));
                    flag(d, CALL, false);
                    go(d, At.LEND_LOCK);
                }
                case LEND_LOCK -> {
                    return lock(d, q, keeps(d, q) ? At.LEND_KEEPER : At.LEND_UNLOCK);
                }
                case LEND_KEEPER -> {
                    queue(q, KEEPER, x + 1);
                    go(d, variant == Variant.LOAN_PUBLISHED_LAST ? At.LEND_DRAIN : At.LEND_POLL);
                }
                case LEND_POLL -> {
                    queue(q, POLL, driver(d, SEEN));
                    go(d, variant == Variant.LOAN_PUBLISHED_LAST
                            ? has(d, CALL) ? At.LEND_AWAKE : At.LEND_UNLOCK : At.LEND_DRAIN);
                }
                case LEND_DRAIN -> {
                    drain(q);
                    int top = top(q);
                    flag(d, CALL, top != NEVER && Math.max(top, plusGrace(NOW)) < driver(d, SEEN));
                    go(d, variant == Variant.LOAN_PUBLISHED_LAST ? At.LEND_POLL
                            : has(d, CALL) ? At.LEND_AWAKE : At.LEND_UNLOCK);
                }
                case LEND_AWAKE -> {
                    queue(q, POLL, AWAKE);
                    go(d, At.LEND_UNLOCK);
                }
                case LEND_UNLOCK -> {
                    At then = queue(q, KEEPER) != x + 1 ? At.LEND : has(d, CALL) ? At.LEND_WAKE
                            : variant == Variant.LOAN_NOT_CHECKED_AGAIN ? At.LEND : At.LEND_ASLEEP;
                    unlock(d, q, then, then == At.LEND ? q + 1 : q);
                }
                case LEND_ASLEEP -> go(d, is(x, ASLEEP) ? At.LEND_SAME : At.LEND_WAKE);
                case LEND_SAME -> {
                    if (driver(x, UNTIL) != driver(d, SEEN)) {
                        go(d, At.LEND_WAKE);
                    } else {
                        go(d, At.LEND, q + 1);
                    }
                }
                default -> {
                    driver(x, PERMIT, 1);
                    go(d, At.LEND, q + 1);
                }
            }
            return true;
        }

        /** Driver.helpOthers and adopt. */
        private void help(int d, int q) {
            switch (at(d)) {
                case HELP -> {
                    if (q < scenario.queues) {
                        go(d, keeps(d, q) ? At.HELP : At.HELP_HOLDER, keeps(d, q) ? q + 1 : q);
                    } else if (has(d, RAN)) {
                        flag(d, RAN, false);
                        flag(d, VAIN, false);
                        driver(d, NEXT, 0);
                        go(d, At.CHECK, 0);
                    } else {
                        driver(d, NEXT, NEVER);
                        flag(d, RETRY, false);
                        go(d, At.PREPARE, 0);
                    }
                }
                case HELP_HOLDER -> go(d, isHolder(d) ? At.HELP_LEFT : At.HELP, isHolder(d) ? q : q + 1);
                case HELP_LEFT -> {
                    driver(d, SEEN, queue(q, KEEPER));
                    go(d, keeps(d, q) ? At.HELP : At.HELP_BUSY, keeps(d, q) ? q + 1 : q);
                }
                case HELP_BUSY -> {
                    boolean left = is(driver(d, SEEN) - 1, BUSY);
                    driver(d, SEEN, 0);
                    go(d, left ? At.ADOPT : At.HELP, left ? q : q + 1);
                }
                case ADOPT -> {
                    if (queue(q, LOCKED) != 0) { // it only tries
                        go(d, At.HELP, q + 1);
                    } else { // its keeper may just be done
                        lock(d, q, is(queue(q, KEEPER) - 1, BUSY) ? At.ADOPT_KEEP : At.ADOPT_UNLOCK);
                    }
                }
                case ADOPT_KEEP -> {
                    queue(q, KEEPER, d + 1);
                    flag(d, RAN, true);
                    go(d, At.ADOPT_AWAKE);
                }
                case ADOPT_AWAKE -> {
                    queue(q, POLL, AWAKE);
                    go(d, At.ADOPT_UNLOCK);
                }
                default -> unlock(d, q, At.HELP, q + 1);
            }
        }

        /** Driver.prepareToSleep and that of each queue. */
        private boolean prepare(int d, int q) {
            switch (at(d)) {
                case PREPARE -> {
                    if (q < scenario.queues) {
                        boolean mine = keeps(d, q) || q == d;
                        go(d, mine ? At.PREPARE_LOCK : At.PREPARE, mine ? q : q + 1);
                    } else if (has(d, RETRY)) {
                        flag(d, RETRY, false);
                        driver(d, NEXT, 0);
                        go(d, At.CHECK, 0);
                    } else {
                        go(d, At.SLEEP_HELD, 0);
                    }
                }
                case PREPARE_LOCK -> {
                    if (keeps(d, q)) {
                        return lock(d, q, At.PREPARE_DRAIN);
                    }
                    if (!lock(d, q, At.PREPARE_UNLOCK)) {
                        return false;
                    }
                    driver(d, SEEN, NEVER);
                    flag(d, RETRY, has(d, RETRY) || q == d);
                }
                case PREPARE_DRAIN -> {
                    drain(q);
                    driver(d, SEEN, top(q));
                    go(d, At.PREPARE_POLL);
                }
                case PREPARE_POLL -> {
                    queue(q, POLL, driver(d, SEEN));
                    go(d, At.PREPARE_DECIDE);
                }
                case PREPARE_DECIDE -> {
                    drain(q);
                    go(d, top(q) < driver(d, SEEN) ? At.PREPARE_AWAKE : At.PREPARE_UNLOCK);
                }
                case PREPARE_AWAKE -> {
                    queue(q, POLL, AWAKE);
                    flag(d, RETRY, true);
                    go(d, At.PREPARE_UNLOCK);
                }
                default -> {
                    driver(d, NEXT, Math.min(driver(d, NEXT), driver(d, SEEN)));
                    driver(d, SEEN, 0);
                    unlock(d, q, At.PREPARE, q + 1);
                }
            }
            return true;
        }

        private void goToSleep(int d, int q) {
            switch (at(d)) {
                case SLEEP_HELD -> {
                    flag(d, HELD, isHolder(d));
                    go(d, At.SLEEP_DEAF);
                }
                case SLEEP_DEAF -> {
                    boolean deaf = has(d, HELD) && has(d, VAIN);
                    driver(d, DEAF, deaf ? 1 : 0);
                    if (deaf) {
                        driver(d, NEXT, Math.min(driver(d, NEXT), plusGrace(NOW)));
                    }
                    go(d, has(d, HELD) && !deaf ? At.PLAN : At.SLEEP_UNTIL, 0);
                }
                case PLAN -> { // a hint, so one step for each queue
                    if (q == scenario.queues) {
                        go(d, At.SLEEP_UNTIL, 0);
                    } else {
                        int p = queue(q, POLL) == AWAKE ? NOW : queue(q, POLL);
                        driver(d, NEXT, Math.min(driver(d, NEXT), keeps(d, q) ? NEVER : plusGrace(p)));
                        go(d, At.PLAN, q + 1);
                    }
                }
                case SLEEP_UNTIL -> {
                    driver(d, UNTIL, driver(d, NEXT));
                    go(d, variant == Variant.ASLEEP_SET_AFTER_THE_LOOK ? At.CALLED : At.SLEEP_ASLEEP, 0);
                }
                default -> {
                    driver(d, ASLEEP, 1);
                    go(d, variant == Variant.ASLEEP_SET_AFTER_THE_LOOK ? At.PARK : At.CALLED, 0);
                }
            }
        }

        /** Driver.nobodyCalled and Lookout.isNeeded. */
        private void lookAround(int d, int q) {
            At sleep = variant == Variant.ASLEEP_SET_AFTER_THE_LOOK ? At.SLEEP_ASLEEP : At.PARK;
            switch (at(d)) {
                case CALLED -> {
                    if (q == scenario.queues) {
                        go(d, At.NEEDED, 0);
                    } else {
                        go(d, keeps(d, q) ? At.CALLED_POLL : At.CALLED, keeps(d, q) ? q : q + 1);
                    }
                }
                case CALLED_POLL -> {
                    boolean called = queue(q, POLL) < driver(d, NEXT);
                    go(d, called ? At.UP : At.CALLED, called ? 0 : q + 1);
                }
                case NEEDED -> go(d, v[HOLDER] == 0 ? At.NEEDED_CAS : At.NEEDED_HOLDER);
                case NEEDED_CAS -> go(d, casHolder(0, d + 1) ? At.UP : At.NEEDED_HOLDER);
                case NEEDED_HOLDER -> {
                    if (!isHolder(d) || is(d, DEAF)) {
                        go(d, sleep);
                    } else if (!has(d, HELD)) {
                        go(d, At.UP);
                    } else {
                        go(d, At.NEEDED_LEFT, 0);
                    }
                }
                case NEEDED_LEFT -> {
                    if (q == scenario.queues) {
                        go(d, sleep, 0);
                    } else {
                        driver(d, SEEN, queue(q, KEEPER));
                        go(d, keeps(d, q) ? At.NEEDED_LEFT : At.NEEDED_BUSY, keeps(d, q) ? q + 1 : q);
                    }
                }
                default -> {
                    boolean left = is(driver(d, SEEN) - 1, BUSY);
                    driver(d, SEEN, 0);
                    go(d, left ? At.UP : At.NEEDED_LEFT, left ? 0 : q + 1);
                }
            }
        }

        private boolean park(int d) {
            boolean timedOut = driver(d, NEXT) == NOW;
            if (!is(d, PERMIT) && !timedOut) {
                return false;
            }
            driver(d, PERMIT, 0);
            flag(d, VAIN, !timedOut);
            go(d, At.UP);
            return true;
        }

        /** A sleep that ends by itself. */
        boolean timeOut(int d) {
            if (at(d) != At.PARK || v[TIMEOUTS] == 0 || driver(d, NEXT) == NEVER) {
                return false;
            }
            v[TIMEOUTS]--;
            flag(d, VAIN, false);
            go(d, At.UP);
            return true;
        }

        // ---- those who arm ----

        boolean stepOfUser(int u) {
            int called = user(u, 0);
            if (called == scenario.users.get(u).size()) {
                return false;
            }
            Call c = scenario.users.get(u).get(called);
            Task t = scenario.tasks.get(c.task);
            switch (user(u, 1)) {
                case 0 -> {
                    if (c.stop) {
                        queue(t.queue, HEAP, queue(t.queue, HEAP) & ~(1 << c.task));
                        user(u, 0, called + 1);
                    } else {
                        queue(t.queue, INBOX, queue(t.queue, INBOX) | 1 << c.task);
                        user(u, 1, 1);
                    }
                }
                case 1 -> {
                    user(u, 2, queue(t.queue, POLL));
                    user(u, 1, 2);
                    if (t.when >= user(u, 2)) {
                        called(u);
                    }
                }
                case 2 -> {
                    if (queue(t.queue, POLL) == user(u, 2)) {
                        queue(t.queue, POLL, AWAKE);
                        user(u, 1, 3);
                    } else {
                        called(u);
                    }
                }
                case 3 -> {
                    user(u, 2, queue(t.queue, KEEPER));
                    user(u, 1, 4);
                }
                default -> {
                    driver(user(u, 2) - 1, PERMIT, 1);
                    called(u);
                }
            }
            return true;
        }

        private void called(int u) {
            user(u, 0, user(u, 0) + 1);
            user(u, 1, 0);
            user(u, 2, 0);
        }

        // ---- what must hold when nobody can go on ----

        boolean isIdle(int d) {
            return at(d) == At.PARK;
        }

        /** Whether some queue is not looked after though a driver is idle, or another could be started. */
        boolean isLost() {
            boolean idle = !scenario.startFails && v[STARTED] < scenario.drivers;
            for (int d = 0; d < scenario.drivers; d++) {
                idle |= isIdle(d);
            }
            for (int q = 0; idle && q < scenario.queues; q++) {
                if (!isLookedAfter(q)) {
                    return true;
                }
            }
            return false;
        }

        private boolean isLookedAfter(int q) {
            int k = queue(q, KEEPER) - 1;
            int needed = Math.max(NOW, earliest(queue(q, HEAP) | queue(q, INBOX)));
            if (isIdle(k)) { // it gets up in time for what is there, and for what will be armed without waking it
                int until = driver(k, UNTIL);
                return until <= plusGrace(needed) && until <= queue(q, POLL);
            }
            int h = v[HOLDER] - 1; // left by its keeper: unless the holder is deaf it must be up
            return h >= 0 && isIdle(h) && is(h, DEAF) && driver(h, UNTIL) <= plusGrace(NOW);
        }
    }

    /** States by a hash of 64 bits: two of a million are confused with a probability of 1 : 30,000,000. */
    private static final class Visited {
        private long[] table = new long[1 << 16];
        int size;

        boolean add(byte[] state) {
            long h = 0;
            for (byte b : state) {
                h = (h ^ b) * 0x9E3779B97F4A7C15L;
                h ^= h >>> 29;
            }
            if (!insert(h | 1)) {
                return false;
            }
            if (++size > table.length / 2) {
                long[] old = table;
                table = new long[old.length * 2];
                for (long l : old) {
                    if (l != 0) {
                        insert(l);
                    }
                }
            }
            return true;
        }

        private boolean insert(long h) {
            int i = (int) (h >>> 32) & table.length - 1;
            for (; table[i] != 0; i = i + 1 & table.length - 1) {
                if (table[i] == h) {
                    return false;
                }
            }
            table[i] = h;
            return true;
        }
    }

    /** The number of states in which a queue is lost for good. */
    private static int lostQueues(Scenario scenario, Variant variant) {
        Visited visited = new Visited();
        Deque<World> todo = new ArrayDeque<>();
        World start = new World(scenario, variant);
        visited.add(start.v);
        todo.push(start);
        int lost = 0;
        int finals = 0;
        while (!todo.isEmpty()) {
            World w = todo.pop();
            boolean stuck = true;
            for (int thread = 0; thread < scenario.drivers + scenario.users.size(); thread++) {
                World next = new World(w);
                if (thread < scenario.drivers ? next.stepOfDriver(thread)
                        : next.stepOfUser(thread - scenario.drivers)) {
                    stuck = false;
                    if (visited.add(next.v)) {
                        todo.push(next);
                    }
                }
            }
            for (int d = 0; d < scenario.drivers; d++) {
                World next = new World(w);
                if (next.timeOut(d) && visited.add(next.v)) {
                    todo.push(next);
                }
            }
            if (stuck) {
                finals++;
                for (int d = 0; d < scenario.drivers; d++) {
                    At at = w.at(d);
                    assertTrue(at == At.NOT_STARTED || at == At.RUN || at == At.PARK, () -> "hangs: " + at);
                }
                if (w.isLost()) {
                    lost++;
                }
            }
        }
        assertTrue(finals > 0);
        return lost;
    }

    private static final Scenario ONE_BLOCKS = new Scenario("two drivers, one blocks, one arms", 1, 2, 2, false, 0,
            List.of(blocking(0), toArm(0, NOW)), List.of(arms(1)));
    private static final Scenario BRIEF_THEN_BLOCKING = new Scenario("two drivers, a brief task and one that blocks", 1,
            2, 2, false, 0, List.of(brief(0), blocking(0)), List.of());
    private static final Scenario TWO_BLOCK =
            new Scenario("three drivers, two block", 1, 3, 3, false, 0, List.of(blocking(0), blocking(0)), List.of());
    private static final Scenario START_FAILS =
            new Scenario("two drivers, a third cannot be started", 1, 3, 2, true, 0, List.of(blocking(0)), List.of());

    private static final Scenario ONE_STARTS_TWO = new Scenario("one driver, two block, two are started", 1, 3, 1, false,
            0, List.of(blocking(0), blocking(0), brief(0)), List.of());

    static Stream<Scenario> scenarios() {
        return Stream.of(ONE_STARTS_TWO, ONE_BLOCKS, BRIEF_THEN_BLOCKING, TWO_BLOCK, START_FAILS,
                new Scenario("two drivers of two queues, one blocks, one arms", 2, 2, 2, false, 0,
                        List.of(blocking(0), toArm(0, NOW)), List.of(arms(1))),
                new Scenario("two drivers of two queues, one blocks, one sleeps anew", 2, 2, 2, false, 1,
                        List.of(blocking(0), later(1, SOON)), List.of(stops(1))),
                new Scenario("one driver blocks, another is started, one arms", 1, 2, 1, false, 0,
                        List.of(blocking(0), toArm(0, NOW)), List.of(arms(1))),
                new Scenario("two drivers block, another is started", 1, 3, 2, false, 0,
                        List.of(blocking(0), blocking(0)), List.of()),
                new Scenario("three drivers of two queues, two block", 2, 3, 3, false, 0,
                        List.of(blocking(0), blocking(1)), List.of()),
                new Scenario("two drivers of two queues, one blocks, one gets up, one arms", 2, 2, 2, false, 1,
                        List.of(blocking(0), later(1, SOON), toArm(0, LATE)), List.of(arms(2))),
                new Scenario("two drivers block, a third cannot be started", 1, 3, 2, true, 0,
                        List.of(blocking(0), blocking(0)), List.of()),
                new Scenario("two drivers of two queues, one blocks, one is brief, a third cannot be started", 2, 3, 2,
                        true, 0, List.of(blocking(0), brief(1)), List.of()),
                new Scenario("two drivers of two queues, one blocks, one is brief, another is started", 2, 3, 2,
                        false, 0, List.of(blocking(0), brief(1)), List.of()));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void lookout_asBuilt_losesNoQueue(Scenario scenario) {
        assertEquals(0, lostQueues(scenario, Variant.AS_BUILT));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void lookout_threadsThatCannotBeStartedAreNotMade_losesNoQueue(Scenario scenario) {
        if (scenario.startFails) {
            assertEquals(0, lostQueues(scenario, Variant.AS_BUILT_AND_NOT_MADE));
        }
    }

    @Test
    void begins_busySetAfterTheLook_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(ONE_BLOCKS, Variant.BUSY_SET_AFTER_THE_LOOK));
    }

    @Test
    void sleep_asleepSetAfterTheLook_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(ONE_BLOCKS, Variant.ASLEEP_SET_AFTER_THE_LOOK));
    }

    @Test
    void lend_notCheckedAgain_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(BRIEF_THEN_BLOCKING, Variant.LOAN_NOT_CHECKED_AGAIN));
    }

    @Test
    void lend_publishedLast_isFoundToLoseATask() {
        assertNotEquals(0, lostQueues(ONE_BLOCKS, Variant.LOAN_PUBLISHED_LAST));
    }

    @Test
    void appoint_notCheckedAgain_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(TWO_BLOCK, Variant.APPOINTMENT_NOT_CHECKED_AGAIN));
    }

    @Test
    void appoint_scanGoesOn_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(TWO_BLOCK, Variant.SCAN_GOES_ON));
    }

    @Test
    void appoint_notWoken_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(TWO_BLOCK, Variant.APPOINTED_NOT_WOKEN));
    }

    @Test
    void start_beforeOthersMayTry_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(ONE_STARTS_TWO, Variant.STARTED_BEFORE_OTHERS_MAY_TRY));
    }

    @Test
    void start_failureForgotten_isFoundToLoseAQueue() {
        assertNotEquals(0, lostQueues(START_FAILS, Variant.FAILED_START_FORGOTTEN));
    }
}
