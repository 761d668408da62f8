package io.pendula.internal.loops;

import java.util.Arrays;

/** Lets tests of other packages break the list of loops, as a failure for want of memory is hard to have otherwise. */
public final class InsideLoops {
    private InsideLoops() {}

    /** From now on no loop can be taken off the list. */
    public static void breakList(Loops loops) {
        loops.loops = Arrays.copyOf(loops.loops, loops.loops.length + 1); // the last one is null
    }

    /** As if nothing had happened since: the list is as it was when it was broken. */
    public static void mendList(Loops loops) {
        loops.loops = Arrays.copyOf(loops.loops, loops.loops.length - 1);
    }
}
