package io.pendula.internal.engine;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

/** An event that is counted, reported and logged. Each constant lists the arguments of {@link Reporter#tell}, in order. */
public enum Event {
    /** Timer; lateness; exception. */
    THREW(ERROR, "callbacks threw"),
    /** Timer; lateness, duration of the callback. */
    SLOW(WARNING, "callbacks were slow"),
    /** Timer; lateness, how long it has blocked its thread. */
    STALLED(WARNING, "callbacks blocked their thread"),
    /** Task of an executor; lateness, how long it has run. */
    TIMED_OUT(WARNING, "runs timed out"),
    /** Name of the scheduler; number of threads, how long. */
    ALL_BLOCKED(WARNING, "times all threads were blocked"),
    /** Due timer; lateness; loop that has not polled since. */
    LOOP_STALLED(WARNING, "loops were late"),
    /** Loop; immutable list of the stopped timers. */
    LOOP_CLOSED(INFO, "loops were closed with timers armed"),
    /** Null; how long. */
    PAUSED(WARNING, "pauses"),
    /** Loop; exception. */
    WAKEUP_THREW(ERROR, "wakeups of loops threw");

    final System.Logger.Level level;
    /** The plural name in a log. */
    final String plural;

    Event(System.Logger.Level level, String plural) {
        this.level = level;
        this.plural = plural;
    }
}
