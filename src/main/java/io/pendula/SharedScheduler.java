package io.pendula;

/**
 * Makes the shared scheduler when it is first used. It is made by the class initializer, so that it is a constant for the
 * compiler; should that fail, the next use tries again.
 */
final class SharedScheduler {
    /** Null if the first attempt failed. */
    static final TimerScheduler INSTANCE = tryToMake();
    private static TimerScheduler later;

    private SharedScheduler() {}

    private static TimerScheduler tryToMake() {
        try {
            return make();
        } catch (Throwable e) {
            return null; // the same call tries again, and throws
        }
    }

    private static TimerScheduler make() {
        synchronized (Options.class) {
            TimerScheduler s = new TimerScheduler(Options.ofShared());
            Options.sharedIsMade();
            return s;
        }
    }

    static synchronized TimerScheduler again() {
        if (later == null) {
            later = make();
        }
        return later;
    }
}
