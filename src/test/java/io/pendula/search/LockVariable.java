package io.pendula.search;

/** A lock, or an object's monitor. */
final class LockVariable extends Variable {
    ModelThread owner;
    int holds;
    /** What the last owner had seen when it released the lock: or all that the lock guards. */
    long left;

    /** Its waiters park, so they may lose their permit. A monitor's do not. */
    final boolean isParking;

    /** The object itself. */
    final Object lock;

    LockVariable(long key, Object lock, Users users) {
        super(key, "the lock of " + lock.getClass().getSimpleName(), users);
        this.lock = lock;
        this.isParking = lock instanceof ModelLock;
    }
}
