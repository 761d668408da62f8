package io.pendula.internal.util;

import java.math.BigDecimal;
import java.util.function.UnaryOperator;

/** Makes texts for people from tasks, times and counts. Their form may change. */
public final class Texts {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;
    private static final long MINUTE = 60;
    private static final long HOUR = 3_600;

    /** The limit for a task's own text, so that a line stays readable. */
    private static final int MOST_CHARS = 200;

    private Texts() {}

    /** The class name, which for a lambda includes the class that made it. */
    public static String nameOf(Object named) {
        return named == null ? "no task" : named.getClass().getName();
    }

    /**
     * The {@code toString} of a task, or of its named object. If that is not overridden or fails, the name of the class.
     * Calls user code, so it must not be called under a lock.
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

    /** For example 100 ms, 1.5 s, 1 h 30 min. Truncates, so a text never overstates the remaining time. */
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

    /** For a noun whose plural only adds an s. */
    public static String count(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
