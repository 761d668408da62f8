package io.pendula;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;

/**
 * The settings of one scheduler, each checked when it is set. {@link TimerScheduler.Builder} writes into one of these;
 * a scheduler reads from a copy that {@link #complete} has made and that does not change any more.
 */
final class Options {
    enum Kind {
        ORDINARY,
        /** Cannot be closed. Its threads end when nothing is armed. */
        SHARED,
        /** Of an executor: tasks may block, so there is no spare worker, hence no monitor; threads start when needed. */
        POOL
    }

    /** How many spare threads there may be, unless {@code maxThreads} was set. */
    private static final int SPARES = 16;
    private static final int UNSET = -1;
    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Null until it is set. */
    private String name;
    private int workers = UNSET;
    private int maxThreads;
    private ThreadFactory threadFactory;
    private boolean daemon = true;
    private ClassLoader contextClassLoader;
    private boolean hasContextClassLoader;
    private Executor executor;
    /** Of another scheduler, or of none: each one takes its like. */
    private Reporter reporter = new Reporter();
    private long slowNanos = Long.MAX_VALUE;
    private long maxPending = Long.MAX_VALUE;
    /** Null for the system's. */
    private NanoClock clock;
    private boolean monitor = true;
    private long stallNanos = 5_000_000_000L;
    private long spacingNanos = 150_000;
    private UnaryOperator<Runnable> decorator;
    private Kind kind = Kind.ORDINARY;

    /** What configureShared has set, or null; and whether the shared scheduler is made. Under this class's monitor. */
    private static Options chosenForShared;
    private static boolean sharedIsMade;

    static int defaultWorkers() {
        return Integer.highestOneBit(Math.min(4, Runtime.getRuntime().availableProcessors()));
    }

    /** A copy with all defaults filled in. Checks what depends on several settings. */
    Options complete(Kind forKind) {
        int w = workers == UNSET ? defaultWorkers() : workers;
        if (w == 0 && maxThreads != 0) {
            throw new IllegalArgumentException("a scheduler without workers has no threads, but maxThreads is "
                    + maxThreads);
        }
        boolean sequential = workers == 1; // asked for; else one processor is the reason, which a callback may block
        int max = maxThreads != 0 ? maxThreads
                : w == 0 || sequential || w > Integer.MAX_VALUE - SPARES ? w : w + SPARES;
        if (max < w) {
            throw new IllegalArgumentException("maxThreads must be at least the number of workers, " + w
                    + ", but is " + max);
        }
        Options o = copy();
        o.name = name == null ? "timers" : name;
        o.workers = w;
        o.maxThreads = max;
        o.kind = forKind;
        return o;
    }

    Options copy() {
        Options o = new Options();
        o.name = name;
        o.workers = workers;
        o.maxThreads = maxThreads;
        o.threadFactory = threadFactory;
        o.daemon = daemon;
        o.contextClassLoader = contextClassLoader;
        o.hasContextClassLoader = hasContextClassLoader;
        o.executor = executor;
        o.reporter = reporter;
        o.slowNanos = slowNanos;
        o.maxPending = maxPending;
        o.clock = clock;
        o.monitor = monitor;
        o.stallNanos = stallNanos;
        o.spacingNanos = spacingNanos;
        o.decorator = decorator;
        return o;
    }

    // ---- the shared scheduler ----

    private static Options sharedDefaults() {
        Options o = new Options();
        o.name = "shared";
        o.workers = Math.max(2, defaultWorkers());
        return o;
    }

    /** What the program has chosen so far, to be changed and given to {@link #chooseForShared}. */
    static synchronized Options draftForShared() {
        checkSharedIsNotMade();
        return chosenForShared == null ? sharedDefaults() : chosenForShared.copy();
    }

    static synchronized void chooseForShared(Options draft) {
        checkSharedIsNotMade();
        draft.complete(Kind.SHARED).checkShared();
        chosenForShared = draft.copy();
    }

    private static void checkSharedIsNotMade() {
        if (sharedIsMade) {
            throw new IllegalStateException("the shared scheduler is in use already, so it cannot be configured");
        }
    }

    static synchronized void sharedIsMade() {
        sharedIsMade = true;
    }

    /** System properties come last: they are for the operator. */
    static synchronized Options ofShared() {
        Options o = chosenForShared == null ? sharedDefaults() : chosenForShared.copy();
        long value = property("workers");
        if (value != UNSET) {
            o.workers = (int) value;
        }
        value = property("maxThreads");
        if (value != UNSET) {
            o.maxThreads = (int) value;
        }
        value = property("slowCallbackMillis");
        if (value != UNSET) {
            o.slowNanos = value * NANOS_PER_MILLI;
        }
        o = o.complete(Kind.SHARED);
        o.checkShared();
        return o;
    }

    private void checkShared() {
        if (workers == 0) {
            throw new IllegalArgumentException("workers of the shared scheduler must be at least 1, but is 0");
        }
    }

    private static long property(String name) {
        String key = "io.pendula.shared." + name;
        String value;
        try {
            value = System.getProperty(key);
        } catch (SecurityException e) {
            return UNSET; // the operator has not let this program read it
        }
        if (value == null) {
            return UNSET;
        }
        try {
            int number = Integer.parseInt(value.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // As if it were negative.
        }
        throw new IllegalArgumentException("system property " + key + " must be a number of at least 0, but is '"
                + value + "'");
    }

    // ---- what the builder sets ----

    void name(String value) {
        name = Check.notNull(value, "name");
    }

    void workers(int value) {
        workers = Check.atLeast(value, 0, "workers");
    }

    void maxThreads(int value) {
        maxThreads = Check.atLeast(value, 1, "maxThreads");
    }

    void threadFactory(ThreadFactory value) {
        if (VirtualThreads.areMadeBy(Check.notNull(value, "threadFactory"))) {
            throw VirtualThreads.refused();
        }
        threadFactory = value;
    }

    void daemon(boolean value) {
        daemon = value;
    }

    void contextClassLoader(ClassLoader value) {
        contextClassLoader = value;
        hasContextClassLoader = true;
    }

    void executor(Executor value) {
        executor = Check.notNull(value, "executor");
    }

    void reporter(Reporter value) {
        reporter = value;
    }

    void slowCallback(Duration threshold) {
        slowNanos = Check.notNegative(threshold, "threshold");
    }

    void maxPending(long value) {
        if (value < 1) {
            throw new IllegalArgumentException("maxPending must be at least 1, but is " + value);
        }
        maxPending = value;
    }

    void clock(NanoClock value) {
        clock = Check.notNull(value, "clock");
    }

    void monitor(boolean value) {
        monitor = value;
    }

    void stallAfter(Duration threshold) {
        stallNanos = Check.notNegative(threshold, "threshold");
    }

    void wakeSpacing(Duration spacing) {
        spacingNanos = Check.notNegative(spacing, "spacing");
    }

    void decorate(UnaryOperator<Runnable> value) {
        decorator = Check.notNull(value, "decorator");
    }

    // ---- what a scheduler reads ----

    /** Null if it was not set, until {@link #complete}. */
    String name() {
        return name;
    }

    int workers() {
        return workers;
    }

    int maxThreads() {
        return maxThreads;
    }

    ThreadFactory threadFactory() {
        return threadFactory;
    }

    boolean daemon() {
        return daemon;
    }

    /** Whether it was set, to null perhaps. */
    boolean hasContextClassLoader() {
        return hasContextClassLoader;
    }

    ClassLoader contextClassLoader() {
        return contextClassLoader;
    }

    Executor executor() {
        return executor;
    }

    Reporter reporter() {
        return reporter;
    }

    /** Callbacks that take longer are reported; Long.MAX_VALUE if they are not measured. */
    long slowNanos() {
        return slowNanos;
    }

    boolean isMeasured() {
        return slowNanos < Long.MAX_VALUE;
    }

    long maxPending() {
        return maxPending;
    }

    /** Null for the system's. */
    NanoClock clock() {
        return clock;
    }

    boolean monitor() {
        return monitor;
    }

    long stallNanos() {
        return stallNanos;
    }

    /** How long the workers sleep at least after they have found something to run. */
    long spacingNanos() {
        return spacingNanos;
    }

    /** Null if tasks run as they are. */
    UnaryOperator<Runnable> decorator() {
        return decorator;
    }

    Kind kind() {
        return kind;
    }
}
