package io.pendula;

/**
 * Prints what tests have measured, but only where {@code -Dfigures=true} asks for it: a build that passes says nothing.
 * A child JVM of a test gets the same setting, see {@link LifeFixtures#runInChild}.
 */
public final class Figures {
    private static final String PROPERTY = "figures";

    private Figures() {}

    public static void figure(String format, Object... values) {
        if (Boolean.getBoolean(PROPERTY)) {
            System.out.println("figure: " + String.format(format, values));
        }
    }

    /** The setting as an option for a child JVM. */
    static String option() {
        return "-D" + PROPERTY + "=" + Boolean.getBoolean(PROPERTY);
    }
}
