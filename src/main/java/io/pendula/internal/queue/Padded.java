package io.pendula.internal.queue;

/**
 * Separates the fields of a subclass from the memory before the object. Two cache lines, because processors prefetch the
 * adjacent line. The JVM may reorder the fields of one class, but places those of a superclass first. A class whose fields
 * need their own lines extends this one, and adds the padding behind them itself.
 */
@SuppressWarnings("unused") // padding
public abstract class Padded {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}
