package io.pendula.internal.engine;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.util.Texts;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Writes to a {@link System.Logger} what it is told. Each scheduler has {@link #LINES} lines for each kind of event in a
 * window of time. When the window is over, one more line says how many events were left out, and names the longest.
 *
 * <p>A log may block, and so may a task's {@code toString}. So one thread of the log's own makes the texts and writes them.
 * It starts with the first event and ends soon after the window is over; should an error end it, the pool starts another.
 */
public final class EventLog {
    static final int LINES = 10;
    private static final long WINDOW_NANOS = 10_000_000_000L;

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

    private final long windowNanos;
    private final ScheduledThreadPoolExecutor writer =
            new ScheduledThreadPoolExecutor(1, r -> CleanThread.make(r, "pendula-log", true, null));
    /** Null until the first line: the first logger of a JVM takes its time. Of the writer. */
    private System.Logger logger;
    /** Guarded by this object's monitor. Empty if no window is open. */
    private final Map<Account, Tally> tallies = new LinkedHashMap<>();

    public EventLog() {
        this(null, WINDOW_NANOS);
    }

    public EventLog(System.Logger logger, long windowNanos) {
        this.logger = logger;
        this.windowNanos = windowNanos;
        writer.setKeepAliveTime(1, TimeUnit.SECONDS);
        writer.allowCoreThreadTimeOut(true);
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
        HoldLock.checkStack(); // the writer has a lock
        if (tallies.isEmpty()) {
            writer.schedule(this::endWindow, windowNanos, TimeUnit.NANOSECONDS);
        }
        Tally tally = tallies.computeIfAbsent(account, a -> new Tally());
        tally.count++;
        if (tally.count <= LINES) {
            writer.execute(() -> write(account, text, thrown));
        } else if (nanos > tally.longest) {
            tally.longest = nanos;
            tally.whose = whose;
        }
    }

    /** By the writer. The next event opens another window, also if this fails. */
    private synchronized void endWindow() {
        try {
            tallies.forEach((account, tally) -> {
                if (tally.count > LINES) {
                    writer.execute(() -> write(account, () -> leftOut(account, tally), null));
                }
            });
        } finally {
            tallies.clear();
        }
    }

    private String leftOut(Account account, Tally tally) {
        return String.format(Locale.ROOT, "%,d more %s within %s", tally.count - LINES, account.plural,
                Texts.duration(windowNanos))
                + (tally.longest == 0 ? "" : ", the longest " + Texts.duration(tally.longest))
                + (tally.whose == null ? "" : ": " + tally.whose);
    }

    /** By the writer. A line that fails harms no other. */
    private void write(Account account, Supplier<String> text, Throwable thrown) {
        try {
            logger = logger == null ? System.getLogger("io.pendula") : logger;
            logger.log(account.level, text.get(), thrown);
        } catch (Throwable e) {
            Reporter.uncaught(e);
        }
    }
}
