package io.pendula.internal.scheduler;

import io.pendula.internal.engine.Options;

/**
 * Makes the inside of the shared scheduler when that is first used. It is made by the class initializer, so that it is a
 * constant for the compiler; should that fail, the next use tries again.
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
