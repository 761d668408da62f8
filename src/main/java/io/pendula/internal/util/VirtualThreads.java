package io.pendula.internal.util;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Tells virtual threads from others, on a Java without them, too. A worker must not be virtual: its sleep would depend
 * on a scheduler whose few carriers any other virtual thread may keep busy.
 */
public final class VirtualThreads {
    private static final String FACTORY = "java.lang.ThreadBuilders$VirtualThreadFactory";

    private VirtualThreads() {}

    /** The factory, unless it is known to make virtual threads: the JDK's own; what wraps it is not known. */
    public static ThreadFactory refusedFrom(ThreadFactory threadFactory) {
        if (Check.notNull(threadFactory, "threadFactory").getClass().getName().equals(FACTORY)) {
            throw refused();
        }
        return threadFactory;
    }

    /** An executor that starts one for each task. */
    public static Executor onePerTask() {
        try {
            return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("virtual threads need Java 21 or later, but this is "
                    + Runtime.version(), e);
        }
    }

    /** By name, as no class of Java 17 tells. Other classes cannot be in this package. */
    public static boolean isVirtual(Thread t) {
        String name = t.getClass().getName();
        return name.startsWith("java.lang.") && name.endsWith("VirtualThread");
    }

    /** The exception for a factory that makes them. */
    public static IllegalArgumentException refused() {
        return new IllegalArgumentException("threadFactory must make platform threads, but makes virtual ones; to run"
                + " callbacks on virtual threads, build a scheduler with an executor(...) of them");
    }
}
