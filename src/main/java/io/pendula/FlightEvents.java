package io.pendula;

import io.pendula.internal.queue.TimerNode;

/**
 * Tells the JVM's flight recorder what happens, once a recording was started. Until then no class of {@code jdk.jfr} is
 * loaded, a module that may be missing: this class, which names none of them, looks at a system property that the
 * recorder sets. What goes wrong in the recorder harms no timer.
 */
final class FlightEvents {
    /** A firing that is claimed so late is an event of its own. */
    static final long LATE_NANOS = 10_000_000;
    /** Set by the recorder when it has a place on disk for what it records; so not by one that keeps all in memory. */
    private static final String REPOSITORY = "jdk.jfr.repository";

    /** Once the recorder is there it stays, though nothing may be recorded. */
    private static volatile boolean isThere;
    /** Its classes cannot be loaded, whatever the property says. */
    private static volatile boolean isMissing;

    private FlightEvents() {}

    /** Loads this class, while the program's class loader can still do so. */
    static void load() {}

    private static boolean isOn() {
        return isThere || !isMissing && System.getProperty(REPOSITORY) != null && find();
    }

    private static boolean find() {
        try {
            JfrEvents.load();
            isThere = true;
            return true;
        } catch (LinkageError e) {
            isMissing = true;
            return false;
        }
    }

    /** Each second, while a scheduler has anything armed: its statistics are wanted while a recording runs. */
    static void look(Watched s) {
        if (isOn()) {
            try {
                JfrEvents.watch(s);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void closed(Watched s) {
        if (isThere) {
            try {
                JfrEvents.forget(s);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void late(TimerNode t, long lateness) {
        if (isOn()) {
            try {
                JfrEvents.late(t, lateness);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void threw(TimerNode t, long lateness, Throwable thrown) {
        if (isOn()) {
            try {
                JfrEvents.threw(t, lateness, thrown);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void slow(TimerNode t, long lateness, long ran) {
        if (isOn()) {
            try {
                JfrEvents.slow(t, lateness, ran);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void stalled(TimerNode t, long lateness, long blocked) {
        if (isOn()) {
            try {
                JfrEvents.stalled(t, lateness, blocked);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void loopStalled(TimerNode first, Thread loop, long lateness) {
        if (isOn()) {
            try {
                JfrEvents.loopStalled(first, loop, lateness);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }

    static void spareStarted(Watched s, int threads) {
        if (isOn()) {
            try {
                JfrEvents.spareStarted(s, threads);
            } catch (Throwable e) {
                Events.uncaught(e);
            }
        }
    }
}
