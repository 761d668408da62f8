package io.pendula.search;

/**
 * Takes the place of AtomicReference.
 *
 * @param <T> of what it holds
 */
public final class ModelReference<T> {
    private static final int FIELD = Places.field("AtomicReference");
    private static final int GET = Places.add(FIELD, "reads", false, "AtomicReference.get");
    private static final int SET = Places.add(FIELD, "writes", true, "AtomicReference.set");
    private static final int COMPARE = Places.add(FIELD, "compares and sets", true, "AtomicReference.compareAndSet");

    private T value;

    public T get() {
        Hooks.before(this, GET);
        Hooks.read(value);
        return value;
    }

    public void set(T to) {
        Hooks.before(this, SET);
        T old = value;
        value = to;
        Hooks.wrote(old, to);
    }

    public boolean compareAndSet(T expected, T to) {
        Hooks.before(this, COMPARE);
        T old = value;
        boolean same = old == expected;
        if (same) {
            value = to;
        }
        Hooks.compared(same, old, to);
        return same;
    }
}
