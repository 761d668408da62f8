package io.pendula.lines;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * Threads, parks and the clock of a scheduler whose lines are counted. One thread runs at a time, until it parks or has run
 * a callback; so each count is the same at each run. Time stands still while a thread runs.
 */
public final class LineTurns {
    static final int MOST_THREADS = 64;
    /** What each thread gets done between two turns: a callback and what goes with it. */
    private static final long TURN_NANOS = 1_000;
    private static final int FIRST_ID = 100;

    /** A thread of the program; one of the user's has no carrier, as the caller stands for it. */
    static final class Model {
        final Thread face;
        final int index;
        private Semaphore turn;
        private boolean hasPermit;
        private boolean hasPaused;
        private boolean hasEnded;
        private long wakeAt;

        private Model(Thread face) {
            this.face = face;
            this.index = models.size();
            models.add(this);
        }
    }

    private static final Semaphore CALLER = new Semaphore(0);
    private static List<Model> models = new ArrayList<>();
    private static Model current;
    private static long now;

    private LineTurns() {}

    /** The calling thread is the first of the user's. */
    static void begin() {
        models = new ArrayList<>();
        now = 1_000_000_000_000L;
        current = new Model(Thread.currentThread());
    }

    static Model me() {
        return current;
    }

    static Model user() {
        return new Model(new Thread("user"));
    }

    static void runAs(Model m, Runnable what) {
        Model before = current;
        current = m;
        what.run();
        current = before;
    }

    /** All go on until they sleep. */
    static void settle() {
        for (boolean goesOn = true; goesOn;) {
            goesOn = false;
            boolean hasPaused = false;
            for (Model m : List.copyOf(models)) {
                if (m.turn != null && !m.hasEnded && (m.hasPermit || m.hasPaused || m.wakeAt <= now)) {
                    runAs(m, () -> {
                        m.turn.release();
                        CALLER.acquireUninterruptibly();
                    });
                    goesOn = true;
                    hasPaused |= m.hasPaused;
                }
            }
            now += hasPaused ? TURN_NANOS : 0;
        }
    }

    /** Time passes, from the end of one sleep to that of the next. */
    static void pass(long nanos) {
        long until = now + nanos;
        for (long next = now; next <= until;) {
            now = Math.max(now, next);
            settle();
            next = models.stream().filter(m -> m.turn != null && !m.hasEnded).mapToLong(m -> m.wakeAt).min().orElse(until + 1);
        }
        now = Math.max(now, until);
    }

    private static void yieldTurn(Model me) {
        CALLER.release();
        me.turn.acquireUninterruptibly();
    }

    /** In a callback: the others go on, too. */
    static void pause() {
        Model me = current;
        me.hasPaused = true;
        yieldTurn(me);
        me.hasPaused = false;
    }

    // ---- in the place of the JDK's methods ----

    public static void park(Object blocker) {
        parkUntil(Long.MAX_VALUE);
    }

    public static void parkNanos(Object blocker, long nanos) {
        parkUntil(now + Math.max(0, nanos));
    }

    private static void parkUntil(long until) {
        Model me = current;
        if (me.turn == null) {
            throw new IllegalStateException("a thread of the user's parks");
        }
        if (!me.hasPermit) {
            me.wakeAt = until;
            yieldTurn(me);
            me.wakeAt = Long.MAX_VALUE;
        }
        me.hasPermit = false;
    }

    public static void unpark(Thread face) {
        Model m = of(face);
        if (m != null) {
            m.hasPermit = true;
            LineCounter.unparks();
        }
    }

    private static Model of(Thread face) {
        return models.stream().filter(m -> m.face == face).findFirst().orElse(null);
    }

    public static void start(Thread face) {
        Model m = new Model(face);
        if (m.index >= MOST_THREADS) {
            throw new IllegalStateException("more than " + MOST_THREADS + " threads");
        }
        m.turn = new Semaphore(0);
        Thread carrier = new Thread(() -> {
            m.turn.acquireUninterruptibly();
            face.run();
            m.hasEnded = true;
            CALLER.release();
        }, "carrier of " + face.getName());
        carrier.setDaemon(true);
        carrier.start();
    }

    public static Thread currentThread() {
        return current.face;
    }

    public static boolean interrupted() {
        return false;
    }

    public static long getId(Thread face) {
        return FIRST_ID + of(face).index;
    }

    public static Thread.State getState(Thread face) {
        Model m = of(face);
        return m == null ? Thread.State.NEW : m.hasEnded ? Thread.State.TERMINATED : Thread.State.RUNNABLE;
    }

    public static boolean isAlive(Thread face) {
        return getState(face) == Thread.State.RUNNABLE;
    }

    public static long nanoTime() {
        return now;
    }

    /** With more than one, threads spin, for a time that stands still. */
    public static int availableProcessors(Runtime of) {
        return 1;
    }
}
