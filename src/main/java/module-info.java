/**
 * Timers for the JVM. Needs nothing but {@code java.base}.
 *
 * @since 0.1
 */
module io.pendula {
    // For compilers and checkers of null; its classes are never loaded.
    requires static org.jspecify;

    exports io.pendula;
    exports io.pendula.spi;
}
