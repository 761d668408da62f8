package io.pendula.search;

/** Takes the place of ReentrantLock. */
@SuppressWarnings("serial") // its subclass has a number
public class ModelLock implements java.io.Serializable {
    private static final long serialVersionUID = 1;

    public ModelLock() {}

    public ModelLock(boolean fair) {
        if (fair) {
            throw new IllegalArgumentException("fair locks are not modelled");
        }
    }

    public void lock() {
        Hooks.enter(this);
    }

    public boolean tryLock() {
        return Hooks.tryEnter(this);
    }

    public void unlock() {
        Hooks.exit(this);
    }

    public final boolean isHeldByCurrentThread() {
        return Hooks.isMine(this);
    }

    /** Only a hint to those who ask. */
    public final boolean hasQueuedThreads() {
        return false;
    }

    /** The same. */
    public boolean isLocked() {
        return false;
    }
}
