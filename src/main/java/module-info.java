/**
 * Timers for the JVM. Needs nothing but {@code java.base}; with {@code jdk.jfr} it tells the flight recorder.
 *
 * @since 0.1
 */
module io.pendula {
    // Only where it is there, and a recording runs.
    requires static jdk.jfr;
    // For compilers and checkers of null; its classes are never loaded.
    requires static org.jspecify;

    exports io.pendula;
}
