package io.pendula.internal.util;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Detects virtual threads, also on a Java version without them. A worker must not be virtual: its sleep would depend on a
 * scheduler whose few carriers any other virtual thread may occupy.
 */
public final class VirtualThreads {
    private static final String FACTORY = "java.lang.ThreadBuilders$VirtualThreadFactory";

    private VirtualThreads() {}

    /** Refuses the JDK's own factory of virtual threads. A wrapper around it is not detected. */
    public static ThreadFactory refusedFrom(ThreadFactory threadFactory) {
        if (Check.notNull(threadFactory, "threadFactory").getClass().getName().equals(FACTORY)) {
            throw refused();
        }
        return threadFactory;
    }

    /** An executor that starts a virtual thread for each task. */
    public static Executor onePerTask() {
        try {
            return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("virtual threads need Java 21 or later, but this is "
                    + Runtime.version(), e);
        }
    }

    /**
     * Compares the name, because Java 17 has no class for virtual threads. Other code cannot add classes to this package.
     */
    public static boolean isVirtual(Thread t) {
        String name = t.getClass().getName();
        return name.startsWith("java.lang.") && name.endsWith("VirtualThread");
    }

    /** The exception for a factory of virtual threads. */
    public static IllegalArgumentException refused() {
        return new IllegalArgumentException("threadFactory must make platform threads, but makes virtual ones; to run"
                + " callbacks on virtual threads, build a scheduler with an executor(...) of them");
    }
}
