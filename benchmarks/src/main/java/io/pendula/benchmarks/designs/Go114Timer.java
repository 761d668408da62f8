package io.pendula.benchmarks.designs;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A timer of {@link Go114}. Its other fields are written only by the thread that has put it into a window. */
final class Go114Timer extends Node {
    private static final VarHandle STATUS = ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "status", VarHandle.class, Go114Timer.class, int.class);

    private volatile int status;
    /** The deadline of a modified timer; {@code when} is still its key in the heap. */
    long nextWhen;
    /** In whose heap it is. */
    Go114Worker worker;

    Go114Timer(Runnable task, long when, int status) {
        super(task, when);
        this.status = status;
    }

    int status() {
        return status;
    }

    boolean casStatus(int from, int to) {
        return STATUS.compareAndSet(this, from, to);
    }

    /** Ends a window. */
    void setStatus(int to) {
        status = to;
    }
}
