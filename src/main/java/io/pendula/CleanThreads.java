package io.pendula;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Makes threads that take nothing over from the thread that happens to ask for them, as that may belong to an
 * application which must be collectable while the new thread still runs.
 *
 * <p>A thread takes over: the thread group (now the root group), the priority (now the normal one), the context class
 * loader (set by the caller of this class), inheritable thread-locals (none), and before JDK 24 the access-control
 * context, which refers to the class loaders of all callers (now that of this library alone).
 */
final class CleanThreads implements PrivilegedAction<Thread> {
    private static final int FIRST_WITHOUT_ACCESS_CONTROL = 24;

    private final Runnable body;
    private final String name;
    private final boolean isWorkers;

    private CleanThreads(Runnable body, String name, boolean isWorkers) {
        this.body = body;
        this.name = name;
        this.isWorkers = isWorkers;
    }

    static Thread make(Runnable body, String name) {
        return make(new CleanThreads(body, name, false));
    }

    /** A {@link WorkerThread}. */
    static Thread makeForWorker(Runnable worker, String name) {
        return make(new CleanThreads(worker, name, true));
    }

    @SuppressWarnings("removal")
    private static Thread make(CleanThreads action) {
        return Runtime.version().feature() < FIRST_WITHOUT_ACCESS_CONTROL ? AccessController.doPrivileged(action)
                : action.run();
    }

    @Override
    public Thread run() {
        ThreadGroup group = root();
        Thread t = isWorkers ? new WorkerThread(group, body, name)
                : new Thread(group, body, name, 0, false);
        t.setPriority(Thread.NORM_PRIORITY);
        return t;
    }

    private static ThreadGroup root() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        try {
            while (group != null && group.getParent() != null) {
                group = group.getParent();
            }
        } catch (SecurityException e) {
            return group; // as near to the root as this library may come
        }
        return group;
    }
}
