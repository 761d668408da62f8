package io.pendula.docs;

import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** What {@link GuardsLoader} has the library's classes ask before they access a plain field. */
public final class Guards {
    /** "Class.field in Class.method" of accesses without the guard. */
    static final Set<String> BROKEN = new ConcurrentSkipListSet<>();
    static final LongAdder ASKED = new LongAdder();
    private static final ThreadLocal<int[]> HELD = ThreadLocal.withInitial(() -> new int[1]);

    private Guards() {}

    /** Whether the calling thread holds the lock of a queue. No thread holds two, and a queue's parts do not know theirs. */
    public static void lock(String access) {
        ASKED.increment();
        if (HELD.get()[0] == 0) {
            BROKEN.add(access);
        }
    }

    public static void monitor(Object monitor, String access) {
        ASKED.increment();
        if (!Thread.holdsLock(monitor)) {
            BROKEN.add(access);
        }
    }

    /** In the place of the lock from which that of a queue is derived. */
    public static class CountedLock extends ReentrantLock {
        private static final long serialVersionUID = 1;

        public CountedLock(boolean fair) {
            super(fair);
        }

        @Override
        public void lock() {
            super.lock();
            HELD.get()[0]++;
        }

        @Override
        public boolean tryLock() {
            boolean locked = super.tryLock();
            HELD.get()[0] += locked ? 1 : 0;
            return locked;
        }

        @Override
        public void unlock() {
            HELD.get()[0]--;
            super.unlock();
        }
    }
}
