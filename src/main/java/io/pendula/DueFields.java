package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Written by the lock holder alone, with nearly each claim; nextWhen is read by thieves. */
@SuppressWarnings("unused") // through a VarHandle
abstract class HolderFields extends Padded {
    long nextWhen = Timeline.NEVER;

    /** Where its loop's visit began: the next number of the heap, the end of those in line. */
    int pollSeq;
    long pollLine;

    long fired;
    long stolen;
    final LatenessHistogram lateness = new LatenessHistogram();
}

/** Keeps the lock holder's fields away from those that are written seldom and read by all. */
@SuppressWarnings("unused") // padding
abstract class DueFields extends HolderFields {
    private static final VarHandle NEXT_WHEN;

    static {
        try {
            NEXT_WHEN = MethodHandles.lookup().findVarHandle(HolderFields.class, "nextWhen", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    /** Opaque: thieves and the monitor only take a hint from it. */
    final long nextWhenOpaque() {
        return (long) NEXT_WHEN.getOpaque(this);
    }

    final void setNextWhenOpaque(long when) {
        NEXT_WHEN.setOpaque(this, when);
    }
}
