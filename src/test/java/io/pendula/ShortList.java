package io.pendula;

import java.util.ArrayList;

/** A list without memory for more than so many entries. */
final class ShortList<E> extends ArrayList<E> {
    private static final long serialVersionUID = 1;

    private final int room;

    ShortList(int room) {
        this.room = room;
    }

    @Override
    public boolean add(E e) {
        ensureCapacity(size() + 1);
        return super.add(e);
    }

    @Override
    public void ensureCapacity(int capacity) {
        if (capacity > room) {
            throw new OutOfMemoryError("the test allows no more memory");
        }
        super.ensureCapacity(capacity);
    }
}
