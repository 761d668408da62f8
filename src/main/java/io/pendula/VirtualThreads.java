package io.pendula;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Tells virtual threads from others, on a Java without them, too. A worker must not be virtual: its sleep would depend
 * on a scheduler whose few carriers any other virtual thread may keep busy.
 */
final class VirtualThreads {
    private static final String FACTORY = "java.lang.ThreadBuilders$VirtualThreadFactory";

    private VirtualThreads() {}

    /** The factory, unless it is known to make virtual threads: the JDK's own; what wraps it is not known. */
    static ThreadFactory refusedFrom(ThreadFactory threadFactory) {
        if (Check.notNull(threadFactory, "threadFactory").getClass().getName().equals(FACTORY)) {
            throw refused();
        }
        return threadFactory;
    }

    /** An executor that starts one for each task. */
    static Executor onePerTask() {
        try {
            return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("virtual threads need Java 21 or later, but this is "
                    + Runtime.version(), e);
        }
    }

    static boolean isVirtual(Thread t) {
        // All that are virtual are of classes of the JDK's; the reflection is spared to nearly all that are not.
        return t.getClass() != Thread.class && t.getClass().getClassLoader() == null && saysSo(t);
    }

    private static boolean saysSo(Thread t) {
        try {
            return (boolean) Thread.class.getMethod("isVirtual").invoke(t);
        } catch (NoSuchMethodException e) {
            return false; // before Java 21 there are none
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new AssertionError(e);
        }
    }

    /** The exception for a factory that makes them. */
    static IllegalArgumentException refused() {
        return new IllegalArgumentException("threadFactory must make platform threads, but makes virtual ones; to run"
                + " callbacks on virtual threads, build a scheduler with an executor(...) of them");
    }
}
