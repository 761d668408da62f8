package io.pendula.search;

import java.util.List;

/**
 * A scheduler with some timers on one queue, and what users may do with them: so all programs of so many calls.
 *
 * @param owner who has the queue
 * @param timers what each is at the beginning
 * @param calls what users may do, in any order and as often as they like
 * @param most how many calls there are in all, at most
 * @param stalls whether the callback of timer 0 takes until STALLED
 * @param spurious how many parks may return without a cause
 */
public record Spec(Owner owner, List<Start> timers, List<Call> calls, int most, boolean stalls, int spurious) {
    /**
     * Who has the queue.
     */
    public enum Owner {
        WORKER(1), TWO_WORKERS(2), LOOP(0);

        public final int workers;

        Owner(int workers) {
            this.workers = workers;
        }
    }

    /** What a timer is at the beginning; it is, or was, armed for FILED, FILED_LATE for LATE, FILED_FAR for DISTANT. */
    public enum Start { NEW, QUEUED, FILED, FILED_LATE, FILED_FAR, STOPPED_QUEUED, STOPPED_FILED, FIRED }

    /**
     * What a user does. {@code HELP} drains the inbox, {@code LEAVE} makes the loop's thread close the loop, {@code CLOSE}
     * closes the scheduler.
     */
    public enum Op { ARM, RESET, STOP, HELP, LEAVE, CLOSE }

    /** {@code when} is a deadline. */
    public record Call(Op op, int timer, long when) {
        @Override
        public String toString() {
            return switch (op) {
                case ARM, RESET -> op + " " + timer + " for " + at(when);
                case STOP -> op + " " + timer;
                default -> op.toString();
            };
        }
    }

    /** The first instant: what is due then is due at once. */
    public static final long NOW = 1;
    public static final long SOON = 1_000_001;
    public static final long BETWEEN = 2_000_001;
    public static final long FILED = 3_000_001;
    public static final long BEFORE_LATE = 4_000_001;
    public static final long LATE = 5_000_001;
    /** A callback that stalls ends then. */
    public static final long STALLED = 2_500_000_001L;
    /** So far away that the owner sleeps for long. */
    public static final long DISTANT = 1_500_000_001L;
    /** The owner sleeps for long until then, too. */
    public static final long FAR = 2_200_000_001L;

    /** An instant in words. */
    public static String at(long when) {
        return when == NOW ? "NOW" : when == SOON ? "SOON" : when == BETWEEN ? "BETWEEN" : when == FILED ? "FILED"
                : when == BEFORE_LATE ? "BEFORE_LATE" : when == LATE ? "LATE" : when == STALLED ? "STALLED" : when == FAR ? "FAR"
                : when == DISTANT ? "DISTANT" : when == Long.MAX_VALUE ? "for ever" : "" + when;
    }

    /** The same with so many calls at most. */
    Spec calls(int n) {
        return new Spec(owner, timers, calls, n, stalls, spurious);
    }

    Spec stalling() {
        return new Spec(owner, timers, calls, most, true, spurious);
    }

    Spec spurious(int n) {
        return new Spec(owner, timers, calls, most, stalls, n);
    }

    @Override
    public String toString() {
        return owner + ", timers " + timers + (stalls ? ", timer 0 stalls" : "") + ", " + most + " of " + calls
                + (spurious > 0 ? ", " + spurious + " returns without a cause" : "");
    }

    static Call arm(int timer, long when) {
        return new Call(Op.ARM, timer, when);
    }

    static Call reset(int timer, long when) {
        return new Call(Op.RESET, timer, when);
    }

    static Call stop(int timer) {
        return new Call(Op.STOP, timer, 0);
    }

    static Call of(Op op) {
        return new Call(op, 0, 0);
    }
}
