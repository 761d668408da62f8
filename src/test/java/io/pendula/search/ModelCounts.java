package io.pendula.search;

/** Takes the place of ResetCells, of which only the sum matters: that is the one at index 0. */
public final class ModelCounts {
    private static final int FIELD = Places.field("ResetCells");
    private static final int GET = Places.add(FIELD, "reads", false, "ResetCells.get");
    private static final int ADD = Places.add(FIELD, "adds to", true, "ResetCells.add");
    private static final int INDEX = 0;

    private int sum;

    public int get(int i) {
        if (i != INDEX) {
            return 0;
        }
        Hooks.before(this, GET);
        Hooks.read(sum);
        return sum;
    }

    public void add(int i, int delta) {
        Hooks.before(this, ADD);
        int old = sum;
        sum += delta;
        Hooks.added(old, delta);
    }
}
