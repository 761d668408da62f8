package io.pendula.internal.scheduler;

import io.pendula.internal.engine.Options;

/**
 * Creates the shared scheduler's engine at first use. The class initializer creates it, so that the compiler treats it as a
 * constant. If that fails, the next use tries again.
 */
public final class SharedScheduler {
    /** Null if the first attempt failed. */
    static final SchedulerEngine INSTANCE = tryToMake();
    private static SchedulerEngine later;

    private SharedScheduler() {}

    private static SchedulerEngine tryToMake() {
        try {
            return make();
        } catch (Throwable e) {
            return null; // the same call tries again, and throws
        }
    }

    private static SchedulerEngine make() {
        synchronized (Options.class) {
            SchedulerEngine e = new SchedulerEngine(Options.ofShared());
            Options.sharedIsMade();
            return e;
        }
    }

    public static SchedulerEngine engine() {
        SchedulerEngine e = INSTANCE;
        return e != null ? e : again();
    }

    private static synchronized SchedulerEngine again() {
        if (later == null) {
            later = make();
        }
        return later;
    }
}
