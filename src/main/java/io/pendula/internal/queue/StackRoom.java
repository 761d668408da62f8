package io.pendula.internal.queue;

/**
 * Makes sure that the calling thread has some kilobytes of stack left. An application's thread that polls a loop,
 * advances a clock or helps to drain may be deep in its own calls. If its stack ended in the middle of a change of the
 * heap, timers of others would be lost. So it gets its StackOverflowError here, before anything has changed.
 */
public final class StackRoom {
    private static final int FRAMES = 20;

    private StackRoom() {}

    public static void check() {
        descend(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** What is used after the call lies on the stack meanwhile: a hundred bytes a frame when compiled. */
    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? a : descend(frames - 1, b, c, d, e, f, g, h, a) + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h);
    }
}
