package io.pendula.internal.queue;

import java.util.concurrent.atomic.LongAdder;

/** A counter that needs memory when the test says so, and there is none. */
public final class LimitedAdder extends LongAdder {
    private static final long serialVersionUID = 1;

    public boolean exhausted;

    @Override
    public void add(long n) {
        if (exhausted) {
            throw new OutOfMemoryError("the test allows no more memory");
        }
        super.add(n);
    }

    @Override
    public void increment() {
        add(1);
    }
}
