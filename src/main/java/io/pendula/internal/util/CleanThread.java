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
public class CleanThread extends Thread {
    private static final int FIRST_WITHOUT_ACCESS_CONTROL = 24;

    /** What it runs: a {@code Worker}, so that arming from a callback finds its queue at once; or something else. */
    public final Runnable body;

    /** A null group is that of the calling thread. */
    public CleanThread(ThreadGroup group, Runnable body, String name) {
        super(group, body, name, 0, false);
        this.body = body;
    }

    private record Making(Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader)
            implements PrivilegedAction<Thread> {
        @Override
        public Thread run() {
            return makeIn(root(), body, name, isDaemon, contextClassLoader);
        }
    }

    public static Thread make(Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader) {
        return make(new Making(body, name, isDaemon, contextClassLoader));
    }

    /** Calls what makes a thread, without the caller's access-control context. */
    @SuppressWarnings("removal")
    public static <T extends Thread> T make(PrivilegedAction<T> making) {
        return Runtime.version().feature() < FIRST_WITHOUT_ACCESS_CONTROL ? AccessController.doPrivileged(making) : making.run();
    }

    /** In another group, and with the caller's access-control context. */
    public static Thread makeIn(ThreadGroup group, Runnable body, String name, boolean isDaemon, ClassLoader contextClassLoader) {
        Thread t = new CleanThread(group, body, name);
        set(t, isDaemon, contextClassLoader);
        return t;
    }

    protected static void set(Thread t, boolean isDaemon, ClassLoader contextClassLoader) {
        t.setPriority(Thread.NORM_PRIORITY);
        t.setDaemon(isDaemon);
        if (t.getContextClassLoader() != contextClassLoader) { // a security manager may forbid to set it
            t.setContextClassLoader(contextClassLoader);
        }
    }

    protected static ThreadGroup root() {
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
