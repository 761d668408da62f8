package io.pendula.search;

import java.util.List;

/**
 * A scheduler with some timers, and what users may do with them: so all programs of so many calls.
 *
 * @param owner the threads that own the queues; of several queues timer 0 is in the first, timer 1 in the second, and so on
 * @param timers what each is at the beginning
 * @param calls what users may do, in any order and as often as they like
 * @param most how many calls there are in all, at most
 * @param stalls how long the callback of each timer takes; of those beyond the end of the list no time
 * @param spurious how many parks may return without a cause
 * @param batch how many callbacks a worker runs before it leaves a queue for another
 * @param staleFloor up to so many stale entries are never swept
 */
public record Spec(Owner owner, List<Start> timers, List<Call> calls, int most, List<Stall> stalls, int spurious,
        int batch, int staleFloor) {
    /** What the library has there: no small program reaches it. */
    private static final int USUAL_FLOOR = 1024;

    Spec(Owner owner, List<Start> timers, List<Call> calls, int most, List<Stall> stalls, int spurious, int batch) {
        this(owner, timers, calls, most, stalls, spurious, batch, USUAL_FLOOR);
    }

    /**
     * The threads that own the queues: a loop with one queue, or one or more workers.
     */
    public enum Owner {
        WORKER(1, 1), TWO_WORKERS(1, 2), TWO_QUEUES(2, 2), THREE_QUEUES(3, 3), LOOP(0, 0),
        /** A loop that polls only when it has heard that something is due. */
        LAZY_LOOP(0, 0);

        public final int queues;
        public final int threads;

        Owner(int queues, int threads) {
            this.queues = queues;
            this.threads = threads;
        }
    }

    /**
     * How long a callback takes: no time; so short that its worker gets on, for all that others know; so long that the guard
     * takes over, and the batch goes on; or until STALLED.
     */
    public enum Stall {
        NONE(0), BRIEF(50_000), SHORT(600_000), LONG(0);

        private final long nanos;

        Stall(long nanos) {
            this.nanos = nanos;
        }

        /** When a callback ends that begins now. */
        public long end(long now) {
            return this == LONG ? STALLED : now + nanos;
        }
    }

    /** What a timer is at the beginning; it is, or was, armed for FILED, FILED_LATE for LATE, FILED_FAR for DISTANT. */
    public enum Start { NEW, QUEUED, FILED, FILED_LATE, FILED_FAR, STOPPED_QUEUED, STOPPED_FILED, FIRED }

    /**
     * What a user does. {@code HELP} drains the inbox, {@code LEAVE} makes the loop's thread close the loop, {@code CLOSE}
     * closes the scheduler, {@code THROW} makes the next call of the loop's hook throw.
     */
    public enum Op { ARM, RESET, STOP, HELP, LEAVE, CLOSE, THROW }

    /** Of a call that may be made at any time. */
    public static final int ANY_TIME = -1;

    /** {@code when} is a deadline. The call may be made only while the callback of timer {@code during} runs. */
    public record Call(Op op, int timer, long when, int during) {
        /** The same, but only while that timer's callback runs: what comes before or after it need not be searched. */
        Call during(int other) {
            return new Call(op, timer, when, other);
        }

        @Override
        public String toString() {
            return what() + (during == ANY_TIME ? "" : " while " + during + " runs");
        }

        private String what() {
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
    /** A callback that stalls for long ends then. */
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
        return new Spec(owner, timers, calls, n, stalls, spurious, batch, staleFloor);
    }

    /** The same, and the callback of timer 0 stalls for long. */
    Spec stalling() {
        return stalling(Stall.LONG);
    }

    Spec stalling(Stall... each) {
        return new Spec(owner, timers, calls, most, List.of(each), spurious, batch, staleFloor);
    }

    Spec spurious(int n) {
        return new Spec(owner, timers, calls, most, stalls, n, batch, staleFloor);
    }

    Spec batch(int n) {
        return new Spec(owner, timers, calls, most, stalls, spurious, n, staleFloor);
    }

    Spec staleFloor(int n) {
        return new Spec(owner, timers, calls, most, stalls, spurious, batch, n);
    }

    public Stall stall(int timer) {
        return timer < stalls.size() ? stalls.get(timer) : Stall.NONE;
    }

    /** Whether any callback takes time. */
    public boolean takesTime() {
        return stalls.stream().anyMatch(s -> s != Stall.NONE);
    }

    @Override
    public String toString() {
        return owner + ", timers " + timers + (takesTime() ? " that stall " + stalls : "")
                + (batch > 1 ? ", batches of " + batch : "")
                + (staleFloor != USUAL_FLOOR ? ", swept beyond " + staleFloor : "") + ", " + most + " of " + calls + (spurious > 0 ? ", " + spurious + " returns without a cause" : "");
    }

    static Call arm(int timer, long when) {
        return new Call(Op.ARM, timer, when, ANY_TIME);
    }

    static Call reset(int timer, long when) {
        return new Call(Op.RESET, timer, when, ANY_TIME);
    }

    static Call stop(int timer) {
        return new Call(Op.STOP, timer, 0, ANY_TIME);
    }

    static Call of(Op op) {
        return new Call(op, 0, 0, ANY_TIME);
    }
}
