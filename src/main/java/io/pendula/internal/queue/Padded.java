package io.pendula.internal.queue;

/**
 * Keeps the fields of a subclass away from what lies before the object: two cache lines, as processors fetch neighbours.
 * The JVM may reorder the fields of one class but lays a superclass out before its subclass, so a class whose fields
 * need lines of their own extends one that has them, and has the padding behind them itself.
 */
@SuppressWarnings("unused") // padding
public abstract class Padded {
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
}
