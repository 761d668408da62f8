package io.pendula.internal.queue;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lock of a queue. A sweep or a walk through the queue is done in slices, and releases the lock between two of them.
 *
 * <p>The lock is not fair: with a fair lock, start and stop with 1,000 timers in flight cost 20% more. A thread that
 * releases it between two slices yields if others wait.
 */
public class HoldLock extends ReentrantLock {
    private static final long serialVersionUID = 1;
    private static final long SCARCE_WAIT_NANOS = 50_000;
    /** How often a thread tries a lock that is held, with {@link #SPINS} spins in between. */
    private static final int TRIES = Runtime.getRuntime().availableProcessors() > 1 ? 32 : 1;
    private static final int SPINS = 8;
    private static final int YIELDS = 1000;
    /** Nearly three times the need in the worst case: these frames are compiled (small), those under the lock are not. */
    private static final int STACK_FRAMES = 30;

    /** Memory is short. Volatile: threads that arm or lock read it. */
    volatile boolean scarce;
    // Threads that arm read the objects behind this one in memory; the lock holder writes the fields above.
    @SuppressWarnings("unused")
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    HoldLock() {
        super(false);
    }

    /**
     * Ensures that the calling thread has some kilobytes of stack left. An application's thread may be deep in its own
     * calls. If its stack overflowed during a change of the heap, timers of others would be lost. If it overflowed within
     * the lock's own code, HotSpot would throw the error when that code returns (JEP 270). The caller would then hold the
     * lock without knowing it. So the thread gets its StackOverflowError here, before anything has changed.
     *
     * <p>A thread that may be an application's calls this in two cases. It takes the lock of a queue: {@link #lock} and
     * {@link #tryLock} call this themselves. Or it notes that it wakes or starts a thread, and then does so. A wait for a
     * task or an alarm does not call this: if it fails, it harms only other waits for the same task or alarm.
     */
    public static void checkStack() {
        descend(STACK_FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /**
     * Ensures twice as much, for a step that must not be left half done and stops timers. Such a stop may call
     * {@link #tryLock} some frames further down, which ensures the normal amount.
     */
    public static void checkDeepStack() {
        descend(2 * STACK_FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** The arguments used after the call stay on the stack meanwhile: a hundred bytes a frame if compiled. */
    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? a : descend(frames - 1, b, c, d, e, f, g, h, a) + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h);
    }

    /** For any thread, with any depth of calls. If this throws, the thread does not have the lock. */
    @Override
    public void lock() {
        checkStack();
        enter();
    }

    /** For the same threads. */
    @Override
    public boolean tryLock() {
        checkStack();
        return super.tryLock();
    }

    /** If memory is short, a thread must not queue: that allocates a node, which may cost a useless full collection. */
    void enter() {
        try {
            if (!scarce) {
                queueUp();
                return;
            }
        } catch (OutOfMemoryError e) {
            // The loop below needs no node.
        }
        while (!super.tryLock()) {
            LockSupport.parkNanos(this, SCARCE_WAIT_NANOS);
        }
    }

    /** Not private, so that tests can make it fail. */
    void queueUp() {
        super.lock();
    }

    /**
     * For a thread that runs timers. It has called checkStack, or is a worker, whose stack is nearly empty. It spins first,
     * because most holds are far shorter than a park. With spins, two workers that run callbacks of a microsecond from one
     * queue are 50% faster.
     */
    void lockToRun() {
        if (!tryLockToRun()) {
            enter();
        }
    }

    /** The same for a thread that can go to another queue. */
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
     * Releases the lock for a moment, and begins a new hold. A waiting thread takes longer to wake up than this one takes to
     * lock again, so it could starve. So this thread yields until no thread waits, or for about a millisecond.
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
