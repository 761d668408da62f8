/** Timers for the JVM on per-worker heaps. It needs nothing but {@code java.base}; with {@code jdk.jfr} it tells the flight recorder. */
module io.pendula {
    /** Only where it is there, and somebody records. */
    requires static jdk.jfr;

    exports io.pendula;
}
