/** Timers for the JVM on per-worker heaps. It needs nothing but {@code java.base}. */
module io.pendula {
    exports io.pendula;
}
