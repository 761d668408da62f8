package io.pendula.fray;

import java.lang.invoke.VarHandle;

/** As {@link LongUpdater}, for a reference. */
public final class ReferenceUpdater<T, V> {
    private final VarHandle field;

    private ReferenceUpdater(VarHandle field) {
        this.field = field;
    }

    public static <U, W> ReferenceUpdater<U, W> newUpdater(Class<U> type, Class<W> kind, String name) {
        return new ReferenceUpdater<>(LongUpdater.fieldOf(type, name, kind));
    }

    @SuppressWarnings("unchecked")
    public V get(T of) {
        return (V) field.getVolatile(of);
    }

    public void set(T of, V value) {
        field.setVolatile(of, value);
    }

    public void lazySet(T of, V value) {
        set(of, value);
    }

    public boolean compareAndSet(T of, V expected, V value) {
        return field.compareAndSet(of, expected, value);
    }

    public boolean weakCompareAndSet(T of, V expected, V value) {
        return compareAndSet(of, expected, value);
    }

    public V getAndSet(T of, V value) {
        for (;;) {
            V old = get(of);
            if (compareAndSet(of, old, value)) {
                return old;
            }
        }
    }
}
