package io.pendula.search;

/** Takes the place of AtomicIntegerArray where only the sum of its numbers matters: that is the one at index 32. */
public final class ModelCounts {
    private static final int FIELD = Places.field("AtomicIntegerArray");
    private static final int GET = Places.add(FIELD, "reads", false, "AtomicIntegerArray.get");
    private static final int ADD = Places.add(FIELD, "adds to", true, "AtomicIntegerArray.getAndAdd");
    private static final int INDEX = 32;

    private int sum;

    public ModelCounts(int length) {}

    public int get(int i) {
        if (i != INDEX) {
            return 0;
        }
        Hooks.before(this, GET);
        Hooks.read(sum);
        return sum;
    }

    public int getAndAdd(int i, int delta) {
        Hooks.before(this, ADD);
        int old = sum;
        sum += delta;
        Hooks.added(old, delta);
        return old;
    }
}
