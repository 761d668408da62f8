package io.pendula.internal.queue;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the resets under way, each thread in one of eight cells two cache lines apart. Made of a class that each JVM has
 * initialized: a thread without stack may make them, and a class whose initialization fails can be used no more.
 */
final class ResetCells {
    static final int CELLS = 8;
    private static final int STRIDE = 8;

    private final AtomicInteger[] cells = new AtomicInteger[(CELLS + 2) * STRIDE];

    ResetCells() {
        for (int i = 0; i < cells.length; i++) {
            cells[i] = new AtomicInteger(); // side by side in memory, and so they stay as a rule
        }
    }

    int get(int i) {
        return cells[(i + 1) * STRIDE].get();
    }

    void add(int i, int delta) {
        cells[(i + 1) * STRIDE].getAndAdd(delta);
    }
}
