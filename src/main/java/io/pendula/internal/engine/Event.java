package io.pendula.internal.engine;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

/**
 * What is counted, told and logged. Beside each stands what {@link Reporter#tell} is given of it: whose it is, two numbers,
 * one thing more.
 */
public enum Event {
    /** Timer; lateness; what was thrown. */
    THREW(ERROR, "callbacks threw"),
    /** Timer; lateness, for how long it ran. */
    SLOW(WARNING, "callbacks were slow"),
    /** Timer; lateness, for how long it has blocked its thread. */
    STALLED(WARNING, "callbacks blocked their thread"),
    /** Task of an executor; lateness, for how long it has run. */
    TIMED_OUT(WARNING, "runs timed out"),
    /** Name of the scheduler; how many threads, for how long. */
    ALL_BLOCKED(WARNING, "times all threads were blocked"),
    /** Timer that is due; lateness; loop that has not polled since. */
    LOOP_STALLED(WARNING, "loops were late"),
    /** Loop; the timers that were stopped, a list that does not change. */
    LOOP_CLOSED(INFO, "loops were closed with timers armed"),
    /** Null; for how long. */
    PAUSED(WARNING, "pauses"),
    /** Loop; what was thrown. */
    WAKEUP_THREW(ERROR, "wakeups of loops threw");

    final System.Logger.Level level;
    /** What a log calls several of them. */
    final String plural;

    Event(System.Logger.Level level, String plural) {
        this.level = level;
        this.plural = plural;
    }
}
