package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the resets under way. Each thread counts in one of eight cells, which are two cache lines apart. The cells are of a
 * class that each JVM has initialized. A thread low on stack may make them, and a class whose initialization has failed can
 * never be used again.
 */
final class ResetCells {
    static final int CELLS = 8;
    private static final int STRIDE = 8;

    private final AtomicInteger[] cells = new AtomicInteger[(CELLS + 2) * STRIDE];

    ResetCells() {
        for (int i = 0; i < cells.length; i++) {
            cells[i] = new AtomicInteger(); // adjacent in memory, and usually stay so
        }
    }

    int get(int i) {
        return cells[(i + 1) * STRIDE].get();
    }

    void add(int i, int delta) {
        cells[(i + 1) * STRIDE].getAndAdd(delta);
    }
}
