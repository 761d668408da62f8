package io.pendula.fray;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Two threads that read a field and then write it, by an updater: one of the two writes may be lost. Fray finds that only
 * if this class was rewritten as the library is. So it is tried first, and a run that does not find it fails.
 */
final class Canary {
    private static final AtomicLongFieldUpdater<Canary> COUNT =
            AtomicLongFieldUpdater.newUpdater(Canary.class, "count");

    private volatile long count;

    static void loseAnUpdate(Bed bed) throws InterruptedException {
        Canary c = new Canary();
        Thread other = bed.thread(c::increment);
        c.increment();
        other.join();
        bed.check(COUNT.get(c) == 2, "an update was lost");
    }

    private void increment() {
        COUNT.set(this, COUNT.get(this) + 1);
    }
}
