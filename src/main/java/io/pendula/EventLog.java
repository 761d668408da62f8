package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Writes to a {@link System.Logger} what happens to timers and loops, but at most {@link #LINES} lines of each kind in a
 * while; then it writes how many there were besides. Stalls can be written only if they last.
 */
final class EventLog {
    /*
     * A log may block, and the monitor must not: it is what hands timers over to other threads. So a thread of its own
     * writes the lines. It starts with the first one, and ends when the time is over for which lines are counted; thus
     * the count is written, too, though nothing more is told. The same thread looks again at stalls, as the monitor
     * tells of each of them once and early.
     */

    static final int LINES = 10;
    static final long WINDOW_NANOS = 10_000_000_000L;
    /** A scheduler without a listener of its own reports a stall that lasts for longer than this. */
    private static final long LASTING_NANOS = 1_000_000_000;
    /** So many stalls are looked at again at a time; the others of that second are left out. */
    private static final int SUSPECTS = 64;

    static final Supplier<Throwable> NO_THROWABLE = () -> null;

    enum Kind {
        THREW(System.Logger.Level.ERROR, "callbacks threw"),
        SLOW(System.Logger.Level.WARNING, "callbacks were slow"),
        STALLED(System.Logger.Level.WARNING, "callbacks blocked their thread"),
        LOOP_STALLED(System.Logger.Level.WARNING, "loops were late"),
        LOOP_CLOSED(System.Logger.Level.INFO, "loops were closed with timers armed"),
        PAUSED(System.Logger.Level.WARNING, "pauses"),
        WAKEUP_THREW(System.Logger.Level.ERROR, "wakeups of loops threw");

        final System.Logger.Level level;
        final String plural;

        Kind(System.Logger.Level level, String plural) {
            this.level = level;
            this.plural = plural;
        }
    }

    private record Line(System.Logger.Level level, String text, Throwable thrown) {}

    /** A stall that may be over before it is worth a line. */
    private record Suspect(Kind kind, long lookAt, BooleanSupplier lasts, Text text, Supplier<Throwable> thrown) {}

    /** All schedulers without a listener of their own share one, and its limit. Made at the first stall. */
    static final class Shared {
        static final EventLog INSTANCE = new EventLog(null, WINDOW_NANOS, LASTING_NANOS);

        private Shared() {}
    }

    private final long windowNanos;
    /** Stalls that last for no longer are not written; 0: each is. */
    private final long lastingNanos;
    /** Null until the first line: the first logger of a JVM takes its time. */
    private System.Logger logger;

    // All below under this object's monitor.
    private final ArrayDeque<Line> lines = new ArrayDeque<>();
    private final ArrayDeque<Suspect> suspects = new ArrayDeque<>();
    private final Map<Kind, Long> heard = new EnumMap<>(Kind.class);
    private boolean writing;
    private long windowEnd;

    EventLog() {
        this(null, WINDOW_NANOS, 0);
    }

    EventLog(System.Logger logger, long windowNanos, long lastingNanos) {
        this.logger = logger;
        this.windowNanos = windowNanos;
        this.lastingNanos = lastingNanos;
    }

    void slow(TimerNode timer, long lateness, long ran) {
        hear(Kind.SLOW, () -> "the callback of " + timer + ", " + Texts.millis(lateness) + " late, took "
                + Texts.millis(ran) + " in " + Thread.currentThread().getName(), NO_THROWABLE);
    }

    void stalled(TimerNode timer, long lateness, long blocked) {
        hear(Kind.STALLED, () -> "the callback of " + timer + ", " + Texts.millis(lateness)
                + " late, has blocked its thread for " + Texts.millis(blocked + lastingNanos), () -> isRunning(timer),
                () -> stackOf(timer));
    }

    void loopStalled(QueueOwner loop, Thread thread, TimerNode timer, long lateness) {
        hear(Kind.LOOP_STALLED, () -> loop + " has not run " + timer + ", which is "
                + Texts.millis(lateness + lastingNanos) + " late", () -> isOverdue(timer), () -> stackOf(thread));
    }

    private static boolean isOverdue(TimerNode timer) {
        long w = timer.wordVolatile();
        return TimerState.isArmed(TimerState.state(w)) && Handles.remainingNanos(timer, w) == 0;
    }

    /** The firings tell, as a task that a shutdown has given back keeps the state of a run that never began. */
    private static boolean isRunning(TimerNode timer) {
        return Watched.of(timer).isAnyRunning(t -> t == timer);
    }

    /** A text that is made only if it is written. */
    interface Text {
        String make();
    }

    /** Where the thread is that runs a timer; null if it runs no more, or on a thread of the program's executor. */
    private static Throwable stackOf(TimerNode timer) {
        Thread runner = Watched.of(timer).runnerOf(timer);
        return runner == null ? null : stackOf(runner);
    }

    private static Throwable stackOf(Thread thread) {
        Throwable stack = new Throwable("where " + thread.getName() + " is", null, false, true) {
            private static final long serialVersionUID = 1;

            @Override
            public String toString() {
                return getMessage();
            }
        };
        stack.setStackTrace(thread.getStackTrace());
        return stack;
    }

    private synchronized void hear(Kind kind, Text text, BooleanSupplier lasts, Supplier<Throwable> thrown) {
        if (lastingNanos == 0) {
            hear(kind, text, thrown);
        } else if (suspects.size() < SUSPECTS) {
            suspects.add(new Suspect(kind, System.nanoTime() + lastingNanos, lasts, text, thrown));
            ensureWriting();
        }
    }

    synchronized void hear(Kind kind, Text text, Supplier<Throwable> thrown) {
        if (heard.isEmpty()) {
            windowEnd = System.nanoTime() + windowNanos;
        }
        long n = heard.merge(kind, 1L, Long::sum);
        if (n <= LINES) {
            lines.add(new Line(kind.level, text.make(), thrown.get()));
            ensureWriting();
        }
    }

    private void ensureWriting() {
        if (writing) {
            notifyAll();
            return;
        }
        Thread t = CleanThreads.make(this::write, "pendula-log");
        t.setDaemon(true);
        t.setContextClassLoader(null);
        t.start();
        writing = true; // last: if the thread cannot be had, the next event tries again
    }

    private void write() {
        for (List<Line> next = next(); !next.isEmpty(); next = next()) {
            for (Line line : next) {
                try {
                    logger().log(line.level, line.text, line.thrown);
                } catch (Throwable e) {
                    Events.uncaught(e);
                }
            }
        }
    }

    private System.Logger logger() {
        if (logger == null) {
            logger = System.getLogger("io.pendula");
        }
        return logger;
    }

    /** What is to be written next; nothing if this thread is to end. */
    private synchronized List<Line> next() {
        while (lines.isEmpty()) {
            if (heard.isEmpty() && suspects.isEmpty()) {
                writing = false;
                return List.of();
            }
            long now = System.nanoTime();
            long untilLook = suspects.isEmpty() ? Long.MAX_VALUE : suspects.peek().lookAt - now;
            long untilEnd = heard.isEmpty() ? Long.MAX_VALUE : windowEnd - now;
            if (untilLook <= 0) {
                look(suspects.poll());
            } else if (untilEnd <= 0) {
                count();
            } else {
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, Math.min(untilLook, untilEnd));
                } catch (InterruptedException e) {
                    suspects.clear(); // this thread is to end
                    windowEnd = now;
                }
            }
        }
        List<Line> next = new ArrayList<>(lines);
        lines.clear();
        return next;
    }

    private void look(Suspect s) {
        if (s.lasts.getAsBoolean()) {
            hear(s.kind, s.text, s.thrown);
        }
    }

    /** The window is over: the next event begins another one. */
    private void count() {
        heard.forEach((kind, n) -> {
            if (n > LINES) {
                lines.add(new Line(kind.level, n - LINES + " more " + kind.plural + " within "
                        + TimeUnit.NANOSECONDS.toSeconds(windowNanos) + " s", null));
            }
        });
        heard.clear();
    }
}
