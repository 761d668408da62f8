package io.pendula.internal.util;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * A thread that inherits nothing from the thread that creates it. The creating thread may belong to an application that
 * must be collectable while the new thread runs.
 *
 * <p>The thread group is the root group, the priority normal, and the caller passes the context class loader. There are no
 * inheritable thread-locals. Before JDK 24 there is an access-control context, which refers to the class loaders of all
 * callers. Here it is that of this library alone.
 */
public final class CleanThread extends Thread {
    private static final int FIRST_WITHOUT_ACCESS_CONTROL = 24;

    /** The Runnable of this thread. If it is a {@code Worker}, a callback that arms a timer finds the queue at once. */
    public final Runnable body;

    /** In {@code group}, with the caller's access-control context. A null group is that of the calling thread. */
    public CleanThread(ThreadGroup group, Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader) {
        super(group, body, name, 0, false);
        this.body = body;
        setPriority(NORM_PRIORITY);
        setDaemon(isDaemon);
        if (getContextClassLoader() != contextClassLoader) { // a security manager may forbid setting it
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
            return group; // as close to the root as this library may go
        }
        return group;
    }
}
