package io.pendula.internal.queue;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lock of a queue. Sweeps and walks through a queue are done in slices, with the lock released in between.
 *
 * <p>It is not fair: a fair one made start and stop with 1,000 timers in flight a fifth dearer. A thread that releases
 * it between two slices yields if others wait.
 */
public class HoldLock extends ReentrantLock {
    private static final long serialVersionUID = 1;
    private static final long SCARCE_WAIT_NANOS = 50_000;
    /** How often a lock that is held is tried, with so many spins in between. */
    private static final int TRIES = Runtime.getRuntime().availableProcessors() > 1 ? 32 : 1;
    private static final int SPINS = 8;
    private static final int YIELDS = 1000;
    /** Near three times what suffices if these frames are compiled, hence small, and those under the lock are not. */
    private static final int STACK_FRAMES = 30;

    /** Memory is short. Volatile: read by threads that arm or lock. */
    volatile boolean scarce;
    // What lies behind this object is read by threads that arm; the lock holder writes the fields before.
    @SuppressWarnings("unused")
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    HoldLock() {
        super(false);
    }

    /**
     * Makes sure that the calling thread has some kilobytes of stack left. An application's thread may be deep in its own
     * calls. If its stack ended in the middle of a change of the heap, timers of others would be lost; if it ended within
     * the lock's own code, HotSpot would throw the error when that code returns (JEP 270), so the caller would have the
     * lock and not know it. So the thread gets its StackOverflowError here, before anything has changed.
     *
     * <p>Two uses: a thread that may be an application's takes the lock of a queue, or notes that it wakes or starts a thread
     * and then does so. {@link #lock} and {@link #tryLock} ask by themselves. A wait for one task or alarm does not ask: if it
     * breaks off, it harms only what waits for the same.
     */
    public static void checkStack() {
        descend(STACK_FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /**
     * Twice as much. For a step that must not stay half done, and stops timers on the way: that may ask, some calls further
     * down, for the stack that {@link #tryLock} needs.
     */
    public static void checkDeepStack() {
        descend(2 * STACK_FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** What is used after the call lies on the stack meanwhile: a hundred bytes a frame when compiled. */
    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? a : descend(frames - 1, b, c, d, e, f, g, h, a) + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h);
    }

    /** For any thread, however deep in its own calls. If this fails, the thread has not got the lock. */
    @Override
    public void lock() {
        checkStack();
        enter();
    }

    /** The same. */
    @Override
    public boolean tryLock() {
        checkStack();
        return super.tryLock();
    }

    /** Without memory a thread must not queue: that takes a node, and so perhaps a full collection in vain. */
    void enter() {
        try {
            if (!scarce) {
                queueUp();
                return;
            }
        } catch (OutOfMemoryError e) {
            // So it goes without a node.
        }
        while (!super.tryLock()) {
            LockSupport.parkNanos(this, SCARCE_WAIT_NANOS);
        }
    }

    /** Not private, so that tests can let it fail. */
    void queueUp() {
        super.lock();
    }

    /**
     * For a thread that runs timers, and has made sure of stack or is a worker, whose stack is as good as empty. It spins
     * first, as most holds are far shorter than a park takes. Two workers that run callbacks of a microsecond from one
     * queue get on half as fast again.
     */
    void lockToRun() {
        if (!tryLockToRun()) {
            enter();
        }
    }

    /** The same for one that may go elsewhere. */
    boolean tryLockToRun() {
        for (int tries = TRIES; ; tries--) {
            if (super.tryLock()) {
                return true;
            }
            if (tries <= 1) {
                return false;
            }
            for (int i = 0; i < SPINS; i++) {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Releases the lock for a moment, and begins a new hold. A thread that waits needs longer to wake up than this one to
     * take the lock again, slice after slice, so this one waits until none does, or for about a millisecond.
     */
    void giveWay() {
        assert isHeldByCurrentThread();
        boolean wanted = scarce || hasQueuedThreads();
        unlock();
        for (int i = 0; wanted && i < YIELDS; i++) {
            Thread.yield();
            wanted = hasQueuedThreads();
        }
        enter();
    }
}
