package io.pendula.internal.queue;

/** A heap whose memory runs out when the test says so, and that tells when it grows or is trimmed. */
public final class LimitedHeap extends TimerHeap {
    public boolean exhausted;
    public Runnable onGrow = () -> {};
    public Runnable onTrim = () -> {};
    /** Before a look without the lock. */
    public Runnable onLook = () -> {};

    @Override
    long earliestFrom(long at) {
        onLook.run();
        return super.earliestFrom(at);
    }

    @Override
    void grow() {
        onGrow.run();
        super.grow();
    }

    @Override
    Block allocate() {
        if (exhausted) {
            throw new OutOfMemoryError("the test allows no more memory");
        }
        return super.allocate();
    }

    @Override
    void trim() {
        onTrim.run();
        super.trim();
    }
}
