package io.pendula.internal.util;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * A thread that takes nothing over from the thread that happens to ask for it, as that may belong to an application which
 * must be collectable while the new thread still runs.
 *
 * <p>A thread takes over: the thread group (now the root group), the priority (now the normal one), the context class
 * loader (given by the caller of this class), inheritable thread-locals (none), and before JDK 24 the access-control
 * context, which refers to the class loaders of all callers (now that of this library alone).
 */
public final class CleanThread extends Thread {
    private static final int FIRST_WITHOUT_ACCESS_CONTROL = 24;

    /** What it runs: a {@code Worker}, so that arming from a callback finds its queue at once; or something else. */
    public final Runnable body;

    /** In that group, and with the caller's access-control context. A null group is that of the calling thread. */
    public CleanThread(ThreadGroup group, Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader) {
        super(group, body, name, 0, false);
        this.body = body;
        setPriority(NORM_PRIORITY);
        setDaemon(isDaemon);
        if (getContextClassLoader() != contextClassLoader) { // a security manager may forbid to set it
            setContextClassLoader(contextClassLoader);
        }
    }

    private record Making(Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader)
            implements PrivilegedAction<Thread> {
        @Override
        public Thread run() {
            return new CleanThread(root(), body, name, isDaemon, contextClassLoader);
        }
    }

    @SuppressWarnings("removal")
    public static Thread make(Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader) {
        Making making = new Making(body, name, isDaemon, contextClassLoader);
        return Runtime.version().feature() < FIRST_WITHOUT_ACCESS_CONTROL ? AccessController.doPrivileged(making) : making.run();
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
