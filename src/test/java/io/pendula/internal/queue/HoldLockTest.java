package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock of a queue while memory is short. */
@Timeout(60)
class HoldLockTest {
    private boolean queueFails;
    /** Without memory for a place in its queue, if the test says so. */
    private final HoldLock failing = new HoldLock() {
        private static final long serialVersionUID = 1;

        @Override
        void queueUp() {
            if (queueFails) {
                throw new OutOfMemoryError("on purpose");
            }
            super.queueUp();
        }
    };

    @Test
    void lock_noMemoryForAPlaceInItsQueue_isTakenAllTheSame() {
        queueFails = true;
        failing.lock();
        assertTrue(failing.isHeldByCurrentThread());
    }

    /** The caller's hold goes on, and it releases the lock. */
    @Test
    void giveWay_noMemoryForAPlaceInItsQueue_comesBackWithTheLock() {
        failing.lock();
        queueFails = true;
        failing.giveWay();
        assertEquals(1, failing.getHoldCount());
        failing.unlock();
        assertFalse(failing.isLocked());
    }

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
