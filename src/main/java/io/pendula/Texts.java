package io.pendula;

import io.pendula.internal.queue.Timeline;
import java.time.Duration;

/** Times and counts as people read them, in texts without a fixed form. */
final class Texts {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    /** More than a timer waits that is meant to fire, and less than is left, after years, to one that never fires. */
    private static final long NEVER = Timeline.NEVER - Timeline.NEVER / 4;

    private Texts() {}

    static String dueIn(long nanos) {
        return nanos > NEVER ? "never due" : "due in " + duration(nanos);
    }

    /** Needless digits are cut off, so that no text says that more is left than there is. */
    static String duration(long nanos) {
        long unit = nanos >= SECOND ? MILLI : nanos >= MILLI ? MICRO : 1;
        return Duration.ofNanos(nanos - nanos % unit).toString();
    }

    /** A time that has passed, in milliseconds, or in seconds from one second on. */
    static String millis(long nanos) {
        if (nanos >= SECOND) {
            return Math.round(nanos / 1e8) / 10.0 + " s";
        }
        double millis = nanos < 10 * MILLI ? Math.round(nanos / 1e3) / 1e3 : Math.round(nanos / 1e5) / 10.0;
        return millis + " ms";
    }

    /** With a noun whose plural ends in an s. */
    static String count(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
