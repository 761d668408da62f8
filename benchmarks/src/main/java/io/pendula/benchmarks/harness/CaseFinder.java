package io.pendula.benchmarks.harness;

/** A service: the list of cases, which lies above this package, for the JVM that measures one of them. */
public interface CaseFinder {
    /** @throws IllegalArgumentException if there is no such case */
    Case find(String name);
}
