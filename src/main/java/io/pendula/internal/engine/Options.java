package io.pendula.internal.engine;

import io.pendula.internal.util.Check;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The settings of one scheduler or executor. Its builder writes into one of these; the scheduler reads from a copy that
 * {@link #complete} has made and that does not change any more.
 */
public final class Options implements Cloneable {
    /** The deadline that follows {@code deadline}, which was fired at {@code now}. */
    public interface NextRun {
        long next(long deadline, long period, long now);
    }

    /** How many spare threads there may be, unless {@code maxThreads} was set. */
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
    /** Whether it was set, to null perhaps. */
    public boolean hasContextClassLoader;
    /** Null if callbacks run on the workers. */
    public Executor executor;
    /** Makes one for each scheduler. Null if there is no listener. */
    public Supplier<Reporter> reporters;
    /** Callbacks that take longer are reported; Long.MAX_VALUE if they are not measured. */
    public long slowNanos = Long.MAX_VALUE;
    /** Of an executor: runs that take longer are interrupted; Long.MAX_VALUE if none is. */
    public long runNanos = Long.MAX_VALUE;
    public long maxPending = Long.MAX_VALUE;
    /** Null for the system's, which spares each reading a call through an interface. */
    public LongSupplier clock;
    /** Is given what runs due timers when a manual clock is advanced; null with any other clock. */
    public Consumer<Stepper> steppers;
    /** Moves a manual clock to its next deadline, and runs what is due there; null with any other clock. */
    public Runnable step;
    public boolean monitor = true;
    public long stallNanos = 5_000_000_000L;
    /** After a wake-up for which there was something to run the next sleep ends so much later at the earliest. */
    public long spacingNanos = 100_000;
    /** Null if tasks run as they are. */
    public UnaryOperator<Runnable> decorator;
    /** Of an executor's fixed rates; null: they are caught up. */
    public NextRun missedRuns;
    public boolean keepsAfterFailure;
    /** Of the shared scheduler, which cannot be closed. Its threads end when nothing is armed. */
    public boolean isShared;
    /** Of an executor: tasks may block, so there is no spare worker, hence no monitor; threads start when needed. */
    public boolean isPool;

    /**
     * Held while the settings of a configureShared run, so that the next one finds what they have set. Not this class's
     * monitor: the first use of the shared scheduler must not wait for code of the program.
     */
    private static final Object CONFIGURING = new Object();

    /** What configureShared has set so far; null once the shared scheduler is made. Under this class's monitor. */
    private static Options forShared = sharedDefaults();

    public static int defaultWorkers() {
        return Integer.highestOneBit(Math.min(4, Runtime.getRuntime().availableProcessors()));
    }

    /** Of what a program has chosen. An operator may set more workers, of which a manual clock needs one. */
    public Options checkChoice() {
        if (workers > 1 && steppers != null) {
            throw new IllegalArgumentException("a scheduler with a ManualClock has one worker at most, but workers is "
                    + workers);
        }
        return this;
    }

    /** A copy with all defaults filled in. Checks what depends on several settings. */
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
        boolean sequential = workers == 1; // asked for; else one processor is the reason, which a callback may block
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

    /** {@code settings} change what the program has chosen so far. */
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

    /** System properties come last: they are for the operator. */
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
        } catch (IllegalArgumentException e) { // of a property: what the program has chosen was found to be right
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
            return otherwise; // the operator has not let this program read it
        } catch (IllegalArgumentException e) { // out of range, or no number
            throw new IllegalArgumentException("system property " + key + " must be a number from " + min + " to " + max
                    + ", but is '" + value + "'");
        }
    }
}
