package io.pendula.benchmarks.loads;

/** Where a reset moves the deadline. */
public enum Direction { LATER, RANDOM, EARLIER }
