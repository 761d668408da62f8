package io.pendula.benchmarks.loads;

/** Which timeout of a window is stopped. */
public enum Stopped {
    /** The one that was armed first. */
    OLDEST,
    /** Any. */
    ANY,
    /** Of 95 in a hundred one that is younger than a tenth of the oldest, of the others the oldest. */
    SOON
}
