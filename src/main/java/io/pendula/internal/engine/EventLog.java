package io.pendula.internal.engine;

import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.util.CleanThread;
import io.pendula.internal.util.Texts;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Writes events to a {@link System.Logger}. Each scheduler has {@link #LINES} lines for each kind of event in a window of
 * time. At the end of the window, one more line has the number of omitted events, and names the longest.
 *
 * <p>A log may block, and so may a task's {@code toString}. So one thread for all logs builds the texts and writes them. The
 * monitor could not, because it sees no stall while it waits for a log. Also, a pool, a scheduler without workers and one
 * with a manual clock have no monitor. The thread starts with the first event and ends some seconds after the last window.
 */
public final class EventLog {
    static final int LINES = 10;
    private static final long WINDOW_NANOS = 10_000_000_000L;
    private static final long IDLE_SECONDS = 1;
    /** How long a close waits for a log that blocks. Tests shorten it. */
    public static long longestWaitNanos = 5_000_000_000L;
    private static final ScheduledThreadPoolExecutor WRITER = makeWriter();
    /** Lines that were submitted and are not written. */
    private static final AtomicInteger UNWRITTEN = new AtomicInteger();

    /** The log of all schedulers without a listener. */
    static final EventLog SHARED = new EventLog();

    /** The view of a loop that a log needs. */
    public interface Loop {
        TimerQueue.Host scheduler();

        Thread thread();
    }

    /** The events of one kind and scheduler share a number of lines. */
    private record Account(Event event, Object scheduler) {}

    /** The events of an account in this window. longest and whose describe the omitted events. */
    private static final class Tally {
        long count;
        long longest;
        Object whose;
    }

    /** Null for the library's own. The log's thread gets it, because it takes long to make the first logger of a JVM. */
    private final System.Logger logger;
    private final long windowNanos;
    /** Guarded by this object's monitor. Empty if no window is open. */
    private final Map<Account, Tally> tallies = new LinkedHashMap<>();

    public EventLog() {
        this(null, WINDOW_NANOS);
    }

    public EventLog(System.Logger logger, long windowNanos) {
        this.logger = logger;
        this.windowNanos = windowNanos;
    }

    private static ScheduledThreadPoolExecutor makeWriter() {
        ScheduledThreadPoolExecutor writer = new ScheduledThreadPoolExecutor(1,
                lines -> CleanThread.make(lines, "pendula-log", true, null));
        writer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        writer.allowCoreThreadTimeOut(true);
        return writer;
    }

    /** As {@link Reporter#tell}. The log's thread asks {@code whose} and {@code more} for their names. */
    public void tell(Event event, Object whose, long first, long second, Object more) {
        switch (event) {
            case THREW -> add(event, whose, 0, (Throwable) more, name -> callback(name, first) + ", threw");
            case SLOW -> {
                String thread = Thread.currentThread().getName();
                add(event, whose, second, null,
                        name -> callback(name, first) + ", took " + Texts.duration(second) + " in " + thread);
            }
            case STALLED -> add(event, whose, second, stackOf(((QueuedNode) whose).runner()),
                    name -> callback(name, first) + ", has blocked its thread for " + Texts.duration(second));
            case TIMED_OUT -> add(event, whose, second, stackOf(((QueuedNode) whose).runner()),
                    name -> callback(name, first) + ", has run for " + Texts.duration(second) + " and is interrupted");
            case ALL_BLOCKED -> add(event, whose, second, null, name -> (first == 1
                    ? "the only thread of scheduler " + name + " is in a callback"
                    : "all " + first + " threads of scheduler " + name + " are in callbacks")
                    + " for " + Texts.duration(second) + "; its timers wait");
            case LOOP_STALLED -> add(event, whose, first, stackOf(((Loop) more).thread()),
                    name -> more + " has not run " + name + ", which is " + Texts.duration(first) + " late");
            case LOOP_CLOSED -> add(event, whose, 0, null,
                    name -> name + " was closed with " + Texts.count(((List<?>) more).size(), "timer") + " armed");
            case PAUSED -> add(event, whose, first, null, name -> "no thread could run for " + Texts.duration(first));
            case WAKEUP_THREW -> add(event, whose, 0, (Throwable) more, name -> "the wakeup of " + name + " threw");
        }
    }

    private static String callback(Object name, long lateness) {
        return "the callback of " + name + ", " + Texts.duration(lateness) + " late";
    }

    /** Null if there is no thread, for instance because the callback has ended. */
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

    /** {@code nanos} is 0 if the event has no duration. {@code text} makes a text of a name, on the log's thread. */
    private void add(Event event, Object whose, long nanos, Throwable thrown, Function<Object, String> text) {
        QueuedNode timer = whose instanceof QueuedNode t ? t : null;
        Object name = timer == null ? whose : QueuedNode.nameOf(timer);
        Object scheduler = timer != null ? timer.queue.host : whose instanceof Loop l ? l.scheduler() : whose;
        HoldLock.checkDeepStack(); // otherwise the executor might count a thread that it has not started
        if (count(new Account(event, scheduler), name, nanos)) {
            submit(event, () -> text.apply(name), thrown);
        }
    }

    private void submit(Event event, Supplier<String> text, Throwable thrown) {
        UNWRITTEN.incrementAndGet();
        try {
            WRITER.execute(() -> write(event, text, thrown));
        } catch (Throwable e) { // no memory, or no thread
            UNWRITTEN.decrementAndGet();
            throw e;
        }
    }

    /** True if there is a line for this event. */
    private synchronized boolean count(Account account, Object name, long nanos) {
        if (tallies.isEmpty()) {
            WRITER.schedule(this::endWindow, windowNanos, TimeUnit.NANOSECONDS);
        }
        Tally tally = tallies.computeIfAbsent(account, a -> new Tally());
        tally.count++;
        if (tally.count > LINES && nanos > tally.longest) {
            tally.longest = nanos;
            tally.whose = name;
        }
        return tally.count <= LINES;
    }

    /** Called by the log's thread. A line that fails does not affect others. */
    private void write(Event event, Supplier<String> text, Throwable thrown) {
        try {
            System.Logger out = logger == null ? System.getLogger("io.pendula") : logger;
            out.log(event.level, text.get(), thrown);
        } catch (Throwable e) {
            Reporter.uncaught(e);
        } finally {
            UNWRITTEN.decrementAndGet();
        }
    }

    /** The next event opens another window, even if this fails. */
    private synchronized void endWindow() {
        try {
            tallies.forEach((account, tally) -> {
                if (tally.count > LINES) {
                    submit(account.event, () -> leftOut(account.event, tally), null);
                }
            });
        } finally {
            tallies.clear();
        }
    }

    /** Waits until the lines added to any log are written, for at most {@code nanos} or longestWaitNanos. */
    static void awaitWritten(long nanos) throws InterruptedException {
        if (UNWRITTEN.get() > 0) { // otherwise an interrupted caller would throw although it need not wait
            try {
                WRITER.submit(() -> {}).get(Math.min(nanos, longestWaitNanos), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException e) {
                return; // a log blocks
            }
        }
    }

    private String leftOut(Event event, Tally tally) {
        return String.format(Locale.ROOT, "%,d more %s within %s", tally.count - LINES, event.plural,
                Texts.duration(windowNanos))
                + (tally.longest == 0 ? "" : ", the longest " + Texts.duration(tally.longest))
                + (tally.whose == null ? "" : ": " + tally.whose);
    }
}
