package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.pendula.Fixtures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock of a queue while memory is short. */
@Timeout(60)
class HoldLockTest {
    /** To wait in the lock's own queue takes a node, and so memory. */
    @Test
    void lock_memoryIsShort_waitsOutsideTheQueueOfTheLock() throws InterruptedException {
        HoldLock lock = new HoldLock();
        lock.lock();
        lock.scarce = true;
        Thread other = new Thread(() -> {
            lock.lock();
            lock.unlock();
        });
        other.start();
        Fixtures.awaitWaiting(other);
        assertFalse(lock.hasQueuedThreads());
        lock.unlock();
        Fixtures.join(other);
    }
}
