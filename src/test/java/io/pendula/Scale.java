package io.pendula;

/**
 * How much the tests try that try many times or for some time: storms, random histories, searches, counts of millions.
 * A build takes the short form, so that it lasts two minutes; {@code -Dpendula.full=true} takes the full one. Both assert
 * the same.
 */
public final class Scale {
    /** The name of the system property. */
    static final String PROPERTY = "pendula.full";
    static final boolean FULL = Boolean.getBoolean(PROPERTY);

    private Scale() {}

    public static int of(int brief, int full) {
        return FULL ? full : brief;
    }

    /** The setting as an option for a child JVM. */
    static String option() {
        return "-D" + PROPERTY + "=" + FULL;
    }
}
