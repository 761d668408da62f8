package io.pendula.fray;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Takes the place of AtomicLongFieldUpdater in the classes that are tested, see {@link Rewriter}: Fray changes threads at
 * the accesses of a VarHandle, and at none of an updater. Each access is volatile, as Fray tries no weaker order anyway.
 */
public final class LongUpdater<T> {
    private final VarHandle field;

    private LongUpdater(VarHandle field) {
        this.field = field;
    }

    public static <U> LongUpdater<U> newUpdater(Class<U> type, String name) {
        return new LongUpdater<>(fieldOf(type, name, long.class));
    }

    static VarHandle fieldOf(Class<?> type, String name, Class<?> kind) {
        try {
            return MethodHandles.privateLookupIn(type, MethodHandles.lookup()).findVarHandle(type, name, kind);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(type + "." + name, e);
        }
    }

    public long get(T of) {
        return (long) field.getVolatile(of);
    }

    public void set(T of, long value) {
        field.setVolatile(of, value);
    }

    public void lazySet(T of, long value) {
        set(of, value);
    }

    public boolean compareAndSet(T of, long expected, long value) {
        return field.compareAndSet(of, expected, value);
    }

    public boolean weakCompareAndSet(T of, long expected, long value) {
        return compareAndSet(of, expected, value);
    }

    public long getAndSet(T of, long value) {
        for (;;) {
            long old = get(of);
            if (compareAndSet(of, old, value)) {
                return old;
            }
        }
    }

    public long getAndAdd(T of, long delta) {
        for (;;) {
            long old = get(of);
            if (compareAndSet(of, old, old + delta)) {
                return old;
            }
        }
    }

    public long addAndGet(T of, long delta) {
        return getAndAdd(of, delta) + delta;
    }

    public long incrementAndGet(T of) {
        return addAndGet(of, 1);
    }

    public long getAndIncrement(T of) {
        return getAndAdd(of, 1);
    }
}
