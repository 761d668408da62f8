/** Timers for the JVM on per-worker heaps. It needs nothing but {@code java.base}; with {@code jdk.jfr} it tells the flight recorder. */
module io.pendula {
    /** Used only where it is present, once a recording was started. */
    requires static jdk.jfr;

    exports io.pendula;
}
