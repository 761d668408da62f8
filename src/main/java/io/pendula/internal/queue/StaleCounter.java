package io.pendula.internal.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

@SuppressWarnings("unused") // through the VarHandle
abstract class StaleCounterField extends Padded {
    long entries;
}

/**
 * What is counted without a queue's lock: stale heap entries and stopped timers, in one word, since most stops count
 * both. On a cache line of its own.
 *
 * <p>Counts may be negative for a moment: a thread that drops a stale entry can be quicker than the thread that made it
 * stale and is about to count it.
 */
@SuppressWarnings("unused") // padding
final class StaleCounter extends StaleCounterField {
    /** Stale entries in the low half, stops in the high half. */
    static final long STALE = 1;
    static final long STOP = 1L << 32;

    /** So many stops leave the word before its high half could overflow. */
    private static final long FOLDED_STOPS = 1L << 30;

    private static final VarHandle ENTRIES;

    static {
        try {
            ENTRIES = MethodHandles.lookup().findVarHandle(StaleCounterField.class, "entries", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    private final LongAdder folded = new LongAdder();

    /**
     * Adds a combination of STALE and STOP; returns how many entries are stale then. Volatile: see WakeGate on the
     * call for a sweep.
     */
    int add(long delta) {
        long l = (long) ENTRIES.getAndAdd(this, delta) + delta;
        if (l >= FOLDED_STOPS * STOP) {
            ENTRIES.getAndAdd(this, -FOLDED_STOPS * STOP); // two threads may both do so; the rest is signed
            folded.add(FOLDED_STOPS);
        }
        return (int) l;
    }

    int stale() {
        return (int) (long) ENTRIES.getVolatile(this);
    }

    long stops() {
        long l = (long) ENTRIES.getVolatile(this);
        return folded.sum() + (l - (int) l >> 32);
    }
}
