package io.pendula;

/** What the programs here set, and no user can. */
public final class Door {
    private Door() {}

    /** A scheduler without a monitor starts no spare workers. */
    public static TimerScheduler.Builder monitor(TimerScheduler.Builder builder, boolean monitor) {
        return builder.monitor(monitor);
    }
}
