package io.pendula.fray;

import java.lang.invoke.VarHandle;

/** As {@link LongUpdater}, for an int. */
public final class IntUpdater<T> {
    private final VarHandle field;

    private IntUpdater(VarHandle field) {
        this.field = field;
    }

    public static <U> IntUpdater<U> newUpdater(Class<U> type, String name) {
        return new IntUpdater<>(LongUpdater.fieldOf(type, name, int.class));
    }

    public int get(T of) {
        return (int) field.getVolatile(of);
    }

    public void set(T of, int value) {
        field.setVolatile(of, value);
    }

    public void lazySet(T of, int value) {
        set(of, value);
    }

    public boolean compareAndSet(T of, int expected, int value) {
        return field.compareAndSet(of, expected, value);
    }

    public boolean weakCompareAndSet(T of, int expected, int value) {
        return compareAndSet(of, expected, value);
    }

    public int getAndSet(T of, int value) {
        for (;;) {
            int old = get(of);
            if (compareAndSet(of, old, value)) {
                return old;
            }
        }
    }

    public int getAndAdd(T of, int delta) {
        for (;;) {
            int old = get(of);
            if (compareAndSet(of, old, old + delta)) {
                return old;
            }
        }
    }

    public int addAndGet(T of, int delta) {
        return getAndAdd(of, delta) + delta;
    }

    public int incrementAndGet(T of) {
        return addAndGet(of, 1);
    }

    public int getAndIncrement(T of) {
        return getAndAdd(of, 1);
    }
}
