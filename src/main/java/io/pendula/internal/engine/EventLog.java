package io.pendula.internal.engine;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.util.Texts;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Writes to a {@link System.Logger} what it is told. Each scheduler has {@link #LINES} lines for each kind of event in a
 * window of time. When the window is over, one more line says how many events were left out, and names the longest.
 *
 * <p>A log may block, and so may a task's {@code toString}. So one thread of the log's own makes the texts and writes them.
 * It starts with the first event and ends when the window is over; should an error end it, the next event starts another.
 */
public final class EventLog {
    static final int LINES = 10;
    private static final long WINDOW_NANOS = 10_000_000_000L;
    /** Logs that have a thread. */
    private static final Set<EventLog> WRITING = new CopyOnWriteArraySet<>();

    /** That of all schedulers without a listener. */
    static final EventLog SHARED = new EventLog();

    /** Whose events of one kind share a number of lines. */
    public record Account(System.Logger.Level level, String plural, Object scheduler) {}

    /** The events of an account in this window. Of those that were left out, the longest. */
    private static final class Tally {
        long count;
        long longest;
        Object whose;
    }

    private record Line(Account account, Supplier<String> text, Throwable thrown) {}

    /** A log's thread. It is a logger itself, as java.util.logging looks for the class that has logged, and skips loggers. */
    private final class Writer extends CleanThread implements System.Logger {
        /** Null until the first line: the first logger of a JVM takes its time. */
        private System.Logger out = logger;

        Writer() {
            super(root(), null, "pendula-log");
            set(this, true, null);
        }

        /** A line that fails harms no other. */
        @Override
        public void run() {
            for (Line line = first(); line != null; line = next()) {
                try {
                    out = out == null ? System.getLogger("io.pendula") : out;
                    log(line.account.level, line.text.get(), line.thrown);
                } catch (Throwable e) {
                    Reporter.uncaught(e);
                }
            }
        }

        @Override
        public boolean isLoggable(Level level) {
            return out.isLoggable(level);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
            out.log(level, bundle, text, thrown);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... values) {
            out.log(level, bundle, format, values);
        }
    }

    private final System.Logger logger;
    private final long windowNanos;
    // Guarded by this object's monitor.
    /** Empty if no window is open. */
    private final Map<Account, Tally> tallies = new LinkedHashMap<>();
    private long windowEnd;
    /** Each is the first until it is written. */
    private final Queue<Line> lines = new ArrayDeque<>();
    /** Null once it has nothing to do; not alive if it could not be started, or an error has ended it. */
    private Writer writer;

    public EventLog() {
        this(null, WINDOW_NANOS);
    }

    public EventLog(System.Logger logger, long windowNanos) {
        this.logger = logger;
        this.windowNanos = windowNanos;
    }

    public void threw(TimerNode timer, long lateness, Throwable thrown) {
        Object name = QueuedNode.nameOf(timer);
        add(of(ERROR, "callbacks threw", timer), name, 0, () -> callback(name, lateness) + ", threw", thrown);
    }

    public void slow(TimerNode timer, long lateness, long ran) {
        Object name = QueuedNode.nameOf(timer);
        String thread = Thread.currentThread().getName();
        add(of(WARNING, "callbacks were slow", timer), name, ran,
                () -> callback(name, lateness) + ", took " + Texts.duration(ran) + " in " + thread, null);
    }

    public void stalled(TimerNode timer, long lateness, long blocked) {
        Object name = QueuedNode.nameOf(timer);
        add(of(WARNING, "callbacks blocked their thread", timer), name, blocked,
                () -> callback(name, lateness) + ", has blocked its thread for " + Texts.duration(blocked),
                stackOf(QueuedNode.hostOf(timer).runnerOf(timer)));
    }

    public void allBlocked(String scheduler, int threads, long blocked) {
        add(new Account(WARNING, "times all threads were blocked", scheduler), null, blocked,
                () -> (threads == 1 ? "the only thread of scheduler " + scheduler + " is in a callback"
                        : "all " + threads + " threads of scheduler " + scheduler + " are in callbacks")
                        + " for " + Texts.duration(blocked) + "; its timers wait", null);
    }

    public void loopStalled(QueueOwner loop, Thread thread, TimerNode timer, long lateness) {
        Object name = QueuedNode.nameOf(timer);
        add(of(WARNING, "loops were late", timer), name, lateness,
                () -> loop + " has not run " + name + ", which is " + Texts.duration(lateness) + " late", stackOf(thread));
    }

    private static Account of(System.Logger.Level level, String plural, TimerNode timer) {
        return new Account(level, plural, QueuedNode.hostOf(timer));
    }

    private static String callback(Object name, long lateness) {
        return "the callback of " + name + ", " + Texts.duration(lateness) + " late";
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
    public synchronized void add(Account account, Object whose, long nanos, Supplier<String> text, Throwable thrown) {
        if (tallies.isEmpty()) {
            windowEnd = System.nanoTime() + windowNanos;
        }
        Tally tally = tallies.computeIfAbsent(account, a -> new Tally());
        tally.count++;
        if (tally.count <= LINES) {
            lines.add(new Line(account, text, thrown));
            notifyAll();
        } else if (nanos > tally.longest) {
            tally.longest = nanos;
            tally.whose = whose;
        }
        if (writer == null || !writer.isAlive()) {
            writer = CleanThread.make(Writer::new);
            writer.start();
            WRITING.add(this);
        }
    }

    private synchronized Line next() {
        lines.remove();
        notifyAll();
        return first();
    }

    /** By the writer, which ends if this is null. */
    private synchronized Line first() {
        while (lines.isEmpty() && !tallies.isEmpty()) {
            long left = windowEnd - System.nanoTime();
            if (left <= 0) {
                endWindow();
            } else {
                sleep(left);
            }
        }
        if (lines.isEmpty()) {
            writer = null;
            WRITING.remove(this);
        }
        return lines.peek();
    }

    private void sleep(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, nanos);
        } catch (InterruptedException e) {
            return; // the window goes on, though a task's text or the logger has interrupted this thread
        }
    }

    /** The next event opens another window, also if this fails. */
    private void endWindow() {
        assert Thread.holdsLock(this);
        try {
            tallies.forEach((account, tally) -> {
                if (tally.count > LINES) {
                    lines.add(new Line(account, () -> leftOut(account, tally), null));
                }
            });
        } finally {
            tallies.clear();
        }
    }

    /**
     * Waits until the lines that were added to any log are written: for so many nanoseconds, but no longer than half a
     * window. A log's own thread does not wait.
     */
    static void awaitWritten(long nanos) throws InterruptedException {
        long begun = System.nanoTime();
        if (!(Thread.currentThread() instanceof Writer)) {
            for (EventLog log : WRITING) {
                log.awaitWritten(begun, nanos);
            }
        }
    }

    private synchronized void awaitWritten(long begun, long nanos) throws InterruptedException {
        while (!lines.isEmpty()) {
            long left = Math.min(nanos, windowNanos / 2) - (System.nanoTime() - begun);
            if (left <= 0) {
                return;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    private String leftOut(Account account, Tally tally) {
        return String.format(Locale.ROOT, "%,d more %s within %s", tally.count - LINES, account.plural,
                Texts.duration(windowNanos))
                + (tally.longest == 0 ? "" : ", the longest " + Texts.duration(tally.longest))
                + (tally.whose == null ? "" : ": " + tally.whose);
    }
}
