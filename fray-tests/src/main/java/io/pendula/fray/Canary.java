package io.pendula.fray;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Two threads that read a field and then change it by a compare-and-set of an updater: one of the two may fail. Fray finds
 * that only if this class was rewritten as the library is. So it is tried first, and a run that does not find it fails.
 */
final class Canary {
    private static final AtomicLongFieldUpdater<Canary> COUNT =
            AtomicLongFieldUpdater.newUpdater(Canary.class, "count");

    private volatile long count;

    static void failToSwap(Bed bed) throws InterruptedException {
        Canary c = new Canary();
        Thread other = bed.thread(() -> bed.check(c.increment(), "a thread came in between"));
        bed.check(c.increment(), "a thread came in between");
        other.join();
    }

    private boolean increment() {
        long before = COUNT.get(this);
        return COUNT.compareAndSet(this, before, before + 1);
    }
}
