package io.pendula;

import io.pendula.internal.queue.Timeline;
import java.math.BigDecimal;

/** Times and counts as people read them, in texts without a fixed form. */
final class Texts {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;
    private static final long MINUTE = 60;
    private static final long HOUR = 3_600;

    /** More than a timer waits that is meant to fire, and less than is left, after years, to one that never fires. */
    private static final long NEVER = Timeline.NEVER - Timeline.NEVER / 4;

    private Texts() {}

    static String dueIn(long nanos) {
        return nanos > NEVER ? "never due" : "due in " + duration(nanos);
    }

    /** As 100 ms, 1.5 s, 1 h 30 min. Needless digits are cut off: no text says that more is left than there is. */
    static String duration(long nanos) {
        if (nanos >= MINUTE * SECOND) {
            long seconds = nanos / SECOND;
            return (part(seconds / HOUR, " h ") + part(seconds / MINUTE % MINUTE, " min ")
                    + part(seconds % MINUTE, " s ")).stripTrailing();
        }
        return nanos >= SECOND ? decimal(nanos / MILLI) + " s"
                : nanos >= MICRO || nanos == 0 ? decimal(nanos / MICRO) + " ms" : nanos + " ns";
    }

    private static String part(long count, String unit) {
        return count == 0 ? "" : count + unit;
    }

    private static String decimal(long thousandths) {
        return BigDecimal.valueOf(thousandths, 3).stripTrailingZeros().toPlainString();
    }

    /** With a noun whose plural ends in an s. */
    static String count(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
