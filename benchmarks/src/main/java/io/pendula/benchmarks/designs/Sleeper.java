package io.pendula.benchmarks.designs;

import java.util.concurrent.locks.LockSupport;

/** How the thread of a design sleeps. A wake-up that comes before the sleep makes the next sleep return at once. */
interface Sleeper {
    /** May return too early. */
    void sleep(long nanos);

    void wake(Thread sleeping);

    /** Called by the thread at its end. */
    default void close() {}

    /** Parks. */
    Sleeper PARKING = new Sleeper() {
        @Override
        public void sleep(long nanos) {
            LockSupport.parkNanos(nanos);
        }

        @Override
        public void wake(Thread sleeping) {
            LockSupport.unpark(sleeping);
        }
    };
}
