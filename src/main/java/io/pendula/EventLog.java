package io.pendula;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Writes to a {@link System.Logger} what happens to timers and loops. Each scheduler has {@link #LINES} lines of each
 * kind in a window of time; then follows a line with the number of those that were left out, and the longest of them.
 */
final class EventLog {
    /*
     * A log may block, and so may a task's toString. So a thread of its own makes the texts and writes them. It starts
     * with the first event and ends when all is written and the window is over. If it ends by what is thrown, a new
     * thread takes over what is left, without the counts of that window: what has failed may fail again.
     */

    static final int LINES = 10;
    private static final long WINDOW_NANOS = 10_000_000_000L;

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

    private record Line(System.Logger.Level level, Supplier<String> text, Throwable thrown) {}

    /** What a budget is for. */
    private record Account(Object scheduler, Kind kind) {}

    /** The events of a budget in this window. Of those that were left out, the longest. */
    private static final class Tally {
        long count;
        long longest;
        Object whose;
    }

    /** That of all schedulers without a listener. This class is loaded for the first event. */
    static final EventLog SHARED = new EventLog();

    private final long windowNanos;
    private final LongSupplier clock;
    /** Null until the first line: the first logger of a JVM takes its time. Of the thread. */
    private System.Logger logger;

    // All below under this object's monitor.
    private final ArrayDeque<Line> lines = new ArrayDeque<>();
    private final Map<Account, Tally> tallies = new LinkedHashMap<>();
    private Thread writer;
    private long windowEnd;

    EventLog() {
        this(null, WINDOW_NANOS, System::nanoTime);
    }

    EventLog(System.Logger logger, long windowNanos, LongSupplier clock) {
        this.logger = logger;
        this.windowNanos = windowNanos;
        this.clock = clock;
    }

    void slow(TimerNode timer, long lateness, long ran) {
        Object name = Handles.name(timer);
        String thread = Thread.currentThread().getName();
        hear(Kind.SLOW, QueuedNode.hostOf(timer), name, ran, () -> "the callback of " + name + ", " + Texts.millis(lateness)
                + " late, took " + Texts.millis(ran) + " in " + thread, null);
    }

    void stalled(TimerNode timer, long lateness, long blocked) {
        Object name = Handles.name(timer);
        hear(Kind.STALLED, QueuedNode.hostOf(timer), name, blocked, () -> "the callback of " + name + ", "
                + Texts.millis(lateness) + " late, has blocked its thread for " + Texts.millis(blocked),
                stackOf(QueuedNode.hostOf(timer).runnerOf(timer)));
    }

    void loopStalled(QueueOwner loop, Thread thread, TimerNode timer, long lateness) {
        Object name = Handles.name(timer);
        hear(Kind.LOOP_STALLED, QueuedNode.hostOf(timer), name, lateness, () -> loop + " has not run " + name + ", which is "
                + Texts.millis(lateness) + " late", stackOf(thread));
    }

    void threw(TimerNode timer, long lateness, Throwable thrown) {
        Object name = Handles.name(timer);
        hear(Kind.THREW, QueuedNode.hostOf(timer), name, 0, () -> "the callback of " + name + ", " + Texts.millis(lateness)
                + " late, threw", thrown);
    }

    /** Null for no thread, as of a callback that has ended meanwhile. */
    private static Throwable stackOf(Thread thread) {
        if (thread == null) {
            return null;
        }
        Throwable stack = new Throwable("stack of " + thread.getName() + ":", null, false, true) {
            private static final long serialVersionUID = 1;

            @Override
            public String toString() {
                return getMessage();
            }
        };
        stack.setStackTrace(thread.getStackTrace());
        return stack;
    }

    /**
     * An event. Both {@code whose}, which may be null, and {@code text} become texts on the log's thread. {@code nanos}
     * is 0 if the event has no duration.
     */
    synchronized void hear(Kind kind, Object scheduler, Object whose, long nanos, Supplier<String> text,
            Throwable thrown) {
        if (tallies.isEmpty()) {
            windowEnd = clock.getAsLong() + windowNanos;
        }
        Tally tally = tallies.computeIfAbsent(new Account(scheduler, kind), a -> new Tally());
        tally.count++;
        if (tally.count <= LINES) {
            lines.add(new Line(kind.level, text, thrown));
        } else if (nanos > tally.longest) {
            tally.longest = nanos;
            tally.whose = whose;
        }
        ensureWriting();
    }

    /** Under the monitor. If a thread cannot be had, the next event tries again. */
    private void ensureWriting() {
        if (writer != null) {
            notifyAll();
            return;
        }
        Thread t = CleanThreads.make(this::write, "pendula-log", true, null);
        t.start();
        writer = t;
    }

    private void write() {
        try {
            for (Line line = next(); line != null; line = next()) {
                try {
                    logger = logger == null ? System.getLogger("io.pendula") : logger;
                    logger.log(line.level, line.text.get(), line.thrown);
                } catch (Throwable e) {
                    Reporter.uncaught(e);
                }
            }
        } finally {
            end();
        }
    }

    /** What is to be written next; null if this thread is to end. */
    private synchronized Line next() {
        while (lines.isEmpty() && !tallies.isEmpty()) {
            long left = windowEnd - clock.getAsLong();
            try {
                if (left > 0) {
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                } else {
                    count();
                }
            } catch (InterruptedException e) {
                count(); // this thread is to end
            }
        }
        if (lines.isEmpty()) {
            writer = null;
        }
        return lines.poll();
    }

    /** The window is over: the next event begins another one. */
    private void count() {
        tallies.forEach((account, tally) -> {
            if (tally.count > LINES) {
                lines.add(new Line(account.kind.level, () -> String.format(Locale.ROOT, "%,d more %s within %d s",
                        tally.count - LINES, account.kind.plural, TimeUnit.NANOSECONDS.toSeconds(windowNanos))
                        + (tally.longest == 0 ? "" : ", the longest " + Texts.millis(tally.longest))
                        + (tally.whose == null ? "" : ": " + tally.whose), null));
            }
        });
        tallies.clear();
    }

    private synchronized void end() {
        if (writer == Thread.currentThread()) { // by what was thrown
            writer = null;
            tallies.clear();
            if (!lines.isEmpty()) {
                ensureWriting();
            }
        }
    }
}
