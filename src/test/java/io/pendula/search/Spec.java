package io.pendula.search;

import java.util.List;

/**
 * A program of user threads on a scheduler with one queue.
 *
 * @param workers how many worker threads there are; 0: a loop has the queue
 * @param spacing between wakes, in nanoseconds
 * @param timers what each is at the beginning
 * @param users what each thread does
 */
public record Spec(int workers, long spacing, List<Start> timers, List<List<Call>> users) {
    /** What a timer is at the beginning; it is, or was, armed for FILED, FILED_FAR for DISTANT. */
    public enum Start { NEW, QUEUED, FILED, FILED_FAR, STOPPED_QUEUED, STOPPED_FILED, FIRED }

    /** What a thread does. {@code HELP} drains the inbox, {@code WAIT} until an instant. */
    public enum Op { ARM, RESET, STOP, HELP, WAIT }

    /** {@code when} is a deadline, or until when to wait. */
    public record Call(Op op, int timer, long when) {
        @Override
        public String toString() {
            return switch (op) {
                case ARM, RESET -> op + " " + timer + " for " + name(when);
                case STOP -> op + " " + timer;
                case HELP -> "HELP";
                case WAIT -> "WAIT until " + name(when);
            };
        }
    }

    /** The first instant: what is due then is due at once. */
    public static final long NOW = 1;
    public static final long SOON = 1_000_001;
    public static final long BETWEEN = 2_000_001;
    public static final long FILED = 3_000_001;
    public static final long LATE = 5_000_001;
    /** So far away that the owner sleeps for long. */
    public static final long FAR = 60_000_000_001L;

    /** The owner sleeps for long until then, too. */
    public static final long DISTANT = 50_000_000_001L;

    /** An instant in words. */
    public static String at(long when) {
        return name(when);
    }

    private static String name(long when) {
        return when == NOW ? "NOW" : when == SOON ? "SOON" : when == BETWEEN ? "BETWEEN" : when == FILED ? "FILED"
                : when == LATE ? "LATE"
                : when == FAR ? "FAR" : when == DISTANT ? "DISTANT" : when == Long.MAX_VALUE ? "for ever" : "" + when;
    }

    /** The same program with so many worker threads, or with a loop. */
    Spec workers(int n) {
        return new Spec(n, spacing, timers, users);
    }

    @Override
    public String toString() {
        return (workers == 0 ? "a loop" : workers + " workers") + ", timers " + timers + ", threads " + users;
    }

    public static Call arm(int timer, long when) {
        return new Call(Op.ARM, timer, when);
    }

    public static Call reset(int timer, long when) {
        return new Call(Op.RESET, timer, when);
    }

    public static Call stop(int timer) {
        return new Call(Op.STOP, timer, 0);
    }

    public static Call await(long when) {
        return new Call(Op.WAIT, 0, when);
    }

    public static Call help() {
        return new Call(Op.HELP, 0, 0);
    }
}
