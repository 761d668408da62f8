package io.pendula.internal.engine;

import io.pendula.internal.util.Check;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The settings of a scheduler or executor. Builders fill them in; a scheduler uses a copy, which no longer changes. */
public final class Options implements Cloneable {
    /** The deadline that follows {@code deadline}, which was fired at {@code now}. */
    public interface NextRun {
        long next(long deadline, long period, long now);
    }

    /** The number of spare threads, unless {@code maxThreads} is set. */
    private static final int SPARES = 16;
    private static final int UNSET = -1;
    private static final String PREFIX = "io.pendula.shared.";
    public static final int MOST_WORKERS = 1_024;
    public static final int MOST_THREADS = 32_767;

    /** Null until it is set. */
    public String name;
    public int workers = UNSET;
    public int maxThreads;
    public ThreadFactory threadFactory;
    public boolean daemon = true;
    public ClassLoader contextClassLoader;
    /** Whether it was set, perhaps to null. */
    public boolean hasContextClassLoader;
    /** Null if callbacks run on the workers. */
    public Executor executor;
    /** Makes one for each scheduler. Null if there is no listener. */
    public Supplier<Reporter> reporters;
    /** Callbacks that take longer are reported; Long.MAX_VALUE if they are not measured. */
    public long slowNanos = Long.MAX_VALUE;
    /** In an executor: runs that take longer are interrupted; Long.MAX_VALUE for none. */
    public long runNanos = Long.MAX_VALUE;
    public long maxPending = Long.MAX_VALUE;
    /** Null for the system's clock, which saves a call through an interface at each reading. */
    public LongSupplier clock;
    /** Receives the stepper of a manual clock; null with any other clock. */
    public Consumer<Stepper> steppers;
    /** Moves a manual clock to its next deadline and runs due timers; null with any other clock. */
    public Runnable step;
    public boolean monitor = true;
    public long stallNanos = 5_000_000_000L;
    /** Minimum time from a wake-up that ran something to the end of the next sleep. */
    public long spacingNanos = 100_000;
    /** Null if tasks run undecorated. */
    public UnaryOperator<Runnable> decorator;
    /** For an executor's fixed rates; null if missed runs are caught up. */
    public NextRun missedRuns;
    public boolean keepsAfterFailure;
    /** For the shared scheduler, which cannot be closed. Its threads end when nothing is armed. */
    public boolean isShared;
    /** For an executor: tasks may block, so there are no spare workers and no monitor; threads start when needed. */
    public boolean isPool;

    /**
     * Held while user settings of configureShared run, so that the next call finds their result. Not this class's monitor:
     * the first use of the shared scheduler must not wait for user code.
     */
    private static final Object CONFIGURING = new Object();

    /** The settings of configureShared so far; null once the shared scheduler is made. Under this class's monitor. */
    private static Options forShared = sharedDefaults();

    public static int defaultWorkers() {
        return Integer.highestOneBit(Math.min(4, Runtime.getRuntime().availableProcessors()));
    }

    /** Checks a program's choice. An operator may set more workers; a manual clock uses one of them. */
    public Options checkChoice() {
        if (workers > 1 && steppers != null) {
            throw new IllegalArgumentException("a scheduler with a ManualClock has one worker at most, but workers is "
                    + workers);
        }
        return this;
    }

    /** A copy with all defaults filled in. Checks settings that depend on each other. */
    public Options complete() {
        int w = workers == UNSET ? defaultWorkers() : workers;
        if (w == 0 && maxThreads != 0) {
            throw new IllegalArgumentException("a scheduler without workers has no threads, but maxThreads is "
                    + maxThreads);
        }
        if (w == 0 && executor != null) {
            throw new IllegalArgumentException(
                    "workers must be at least 1, as a worker hands callbacks to the executor, but is 0");
        }
        boolean sequential = workers == 1; // a default of 1 gets spare threads, because callbacks may block
        int max = maxThreads != 0 ? maxThreads : w == 0 || sequential ? w : w + SPARES;
        if (max < w) {
            throw new IllegalArgumentException("maxThreads must be at least the number of workers, " + w
                    + ", but is " + max);
        }
        Options o = copy();
        o.name = name == null ? "timers" : name;
        o.workers = w;
        o.maxThreads = max;
        return o;
    }

    public Options copy() {
        try {
            return (Options) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- the shared scheduler ----

    public Options completeAsShared() {
        if (workers == 0) {
            throw new IllegalArgumentException("workers of the shared scheduler must be at least 1, but is 0");
        }
        Options o = copy();
        o.workers = workers == UNSET ? Math.max(2, defaultWorkers()) : workers;
        o = o.complete();
        o.isShared = true;
        return o;
    }

    private static Options sharedDefaults() {
        Options o = new Options();
        o.name = "shared";
        return o;
    }

    /** {@code settings} change the program's choices so far. */
    public static void configureShared(Consumer<Options> settings) {
        if (Thread.holdsLock(CONFIGURING)) {
            throw new IllegalStateException("settings of configureShared must not call configureShared");
        }
        synchronized (CONFIGURING) {
            Options draft = draftForShared();
            settings.accept(draft);
            chooseForShared(draft);
        }
    }

    private static synchronized Options draftForShared() {
        if (forShared == null) {
            throw new IllegalStateException("the shared scheduler is in use already, so it cannot be configured");
        }
        return forShared.copy();
    }

    private static synchronized void chooseForShared(Options draft) {
        draftForShared(); // throws if it has been made meanwhile
        draft.checkChoice().completeAsShared();
        forShared = draft.copy();
    }

    public static synchronized void sharedIsMade() {
        forShared = null;
    }

    /** System properties override the program's choices, because the operator sets them. */
    public static synchronized Options ofShared() {
        Options o = forShared.copy();
        o.workers = property("workers", 1, MOST_WORKERS, o.workers);
        o.maxThreads = property("maxThreads", 1, MOST_THREADS, o.maxThreads);
        int slowMillis = property("slowCallbackMillis", 0, Integer.MAX_VALUE, UNSET);
        if (slowMillis != UNSET) {
            o.slowNanos = TimeUnit.MILLISECONDS.toNanos(slowMillis);
        }
        try {
            return o.completeAsShared();
        } catch (IllegalArgumentException e) { // due to a property: the program's choice was checked
            throw new IllegalArgumentException("system properties " + PREFIX + "*: " + e.getMessage(), e);
        }
    }

    private static int property(String name, int min, int max, int otherwise) {
        String key = PREFIX + name;
        String value = null;
        try {
            value = System.getProperty(key);
            return value == null ? otherwise : Check.within(min, Integer.parseInt(value.strip()), max, key);
        } catch (SecurityException e) {
            return otherwise; // the security manager hides it from this program
        } catch (IllegalArgumentException e) { // out of range, or not a number
            throw new IllegalArgumentException("system property " + key + " must be a number from " + min + " to " + max
                    + ", but is '" + value + "'");
        }
    }
}
