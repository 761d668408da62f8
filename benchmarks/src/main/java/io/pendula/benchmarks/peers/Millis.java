package io.pendula.benchmarks.peers;

/** Delays for schedulers that count in milliseconds. */
final class Millis {
    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Rounded up, and one more, as the scheduler adds them to the beginning of the present millisecond. */
    static long notBefore(long delayNanos) {
        return delayNanos <= 0 ? 0 : (delayNanos - 1) / NANOS_PER_MILLI + 2;
    }

    private Millis() {}
}
