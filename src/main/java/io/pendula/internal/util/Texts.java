package io.pendula.internal.util;

import java.math.BigDecimal;
import java.util.function.UnaryOperator;

/** Tasks, times and counts as people read them, in texts without a fixed form. */
public final class Texts {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;
    private static final long MINUTE = 60;
    private static final long HOUR = 3_600;

    /** Of a task's own text, so that a line can be read. */
    private static final int MOST_CHARS = 200;

    private Texts() {}

    /** The class of a task tells a lambda's maker, too. */
    public static String nameOf(Object named) {
        return named == null ? "no task" : named.getClass().getName();
    }

    /**
     * What a task, or what it is named after, says of itself, or the name of its class if it does not override
     * {@code toString}, or if that fails. Calls the program, so never under a lock.
     */
    public static String of(Object task, UnaryOperator<Object> naming) {
        try {
            Object named = naming.apply(task);
            if (named != null && named.getClass().getMethod("toString").getDeclaringClass() != Object.class) {
                String text = String.valueOf(named);
                return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS) + "...";
            }
            return nameOf(named);
        } catch (Throwable e) {
            return task.getClass().getName();
        }
    }

    public static String dueIn(long nanos) {
        return nanos == Long.MAX_VALUE ? "never due" : "due in " + duration(nanos);
    }

    /** As 100 ms, 1.5 s, 1 h 30 min. Needless digits are cut off: no text says that more is left than there is. */
    public static String duration(long nanos) {
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
    public static String count(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
