package io.pendula;

/** Loaded only for a program that asks for it: each class that the first firing needs delays it. */
final class SystemClock implements NanoClock {
    static final NanoClock INSTANCE = new SystemClock();

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public String toString() {
        return "NanoClock.system()";
    }
}
