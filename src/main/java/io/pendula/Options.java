package io.pendula;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * The settings of one scheduler, each checked when it is set. {@link TimerScheduler.Builder} writes into one of these;
 * a scheduler reads from a copy that {@link #complete} has made and that does not change any more.
 */
final class Options {
    enum Kind {
        ORDINARY,
        /** Cannot be closed. Its threads end when nothing is armed. */
        SHARED,
        /** Of an executor: tasks may block, so a lookout takes the monitor's place; threads start when needed. */
        POOL
    }

    /** How many spare threads there may be, unless {@code maxThreads} was set. */
    private static final int SPARES = 16;
    private static final int UNSET = -1;

    private String name = "timers";
    private int workers = UNSET;
    private int maxThreads;
    private ThreadFactory threadFactory;
    private boolean daemon = true;
    private ClassLoader contextClassLoader;
    private Executor executor;
    private TimerListener listener = new DefaultListener();
    private long slowNanos = Long.MAX_VALUE;
    private long maxPending = Long.MAX_VALUE;
    private NanoClock clock = NanoClock.system();
    private boolean monitor = true;
    private long stallNanos = 1_000_000;
    private boolean earlyPark = true;
    private boolean tightSlack = true;
    private Kind kind = Kind.ORDINARY;

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
        Options o = new Options();
        o.name = name;
        o.workers = w;
        o.maxThreads = max;
        o.threadFactory = threadFactory;
        o.daemon = daemon;
        o.contextClassLoader = contextClassLoader;
        o.executor = executor;
        o.listener = listener;
        o.slowNanos = slowNanos;
        o.maxPending = maxPending;
        o.clock = clock;
        o.monitor = monitor;
        o.stallNanos = stallNanos;
        o.earlyPark = earlyPark;
        o.tightSlack = tightSlack;
        o.kind = forKind;
        return o;
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
    }

    void executor(Executor value) {
        executor = Check.notNull(value, "executor");
    }

    void listener(TimerListener value) {
        listener = Check.notNull(value, "listener");
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

    void earlyPark(boolean value) {
        earlyPark = value;
    }

    void tightSlack(boolean value) {
        tightSlack = value;
    }

    // ---- what a scheduler reads ----

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

    ClassLoader contextClassLoader() {
        return contextClassLoader;
    }

    Executor executor() {
        return executor;
    }

    TimerListener listener() {
        return listener;
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

    NanoClock clock() {
        return clock;
    }

    boolean monitor() {
        return monitor;
    }

    long stallNanos() {
        return stallNanos;
    }

    boolean earlyPark() {
        return earlyPark;
    }

    boolean tightSlack() {
        return tightSlack;
    }

    Kind kind() {
        return kind;
    }
}
