package io.pendula;

/**
 * How much the tests try that try many times or for some time: storms, random histories, searches, counts of millions.
 * A build takes the short form, so that it lasts two minutes; {@code -Dpendula.full=true} takes the full one. Both assert
 * the same, but for what C2, which only the full one has, does when a stack overflows (OutOfStackTest).
 */
public final class Scale {
    /** The name of the system property. */
    static final String PROPERTY = "pendula.full";
    static final boolean FULL = Boolean.getBoolean(PROPERTY);

    /** In an emulator of another processor, where all takes ten times as long: see {@code .ci/arm}. */
    static final boolean EMULATED = Boolean.getBoolean("pendula.emulated");

    private Scale() {}

    /** How long to wait for what must come. */
    static long patience(long seconds) {
        return EMULATED ? 10 * seconds : seconds;
    }

    public static int of(int brief, int full) {
        return FULL ? full : brief;
    }

    /** The setting as an option for a child JVM. */
    static String option() {
        return "-D" + PROPERTY + "=" + FULL;
    }
}
