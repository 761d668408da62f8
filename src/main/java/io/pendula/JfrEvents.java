package io.pendula;

import io.pendula.internal.queue.TimerNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * The events of the flight recorder. {@link FlightEvents} alone calls this, and not before the recorder was started.
 *
 * <p>The recorder refers to each event's class and to the hook that makes the periodic ones, and thus to this library's
 * class loader. So they are registered only while a recording runs and a scheduler has something to do. The hook takes
 * them back when all schedulers are closed or idle; a look at a scheduler does so when no recording runs.
 */
@SuppressWarnings("unused") // fields are read by the recorder
final class JfrEvents {
    private static final String NAME = "io.pendula.";

    @Category("Pendula")
    @StackTrace(false)
    @Registered(false)
    abstract static class Base extends Event {
        @Label("Scheduler")
        String scheduler;
    }

    /** An event that tells of one timer. */
    abstract static class OfTimer extends Base {
        @Label("Task")
        @Description("Class of the task; of a lambda, it names the class that made it")
        Class<?> task;
        @Label("Lateness")
        @Timespan(Timespan.NANOSECONDS)
        long lateness;

        final void tell(TimerNode t, long late) {
            Object work = Handles.task(t.work());
            scheduler = Watched.of(t).name();
            task = work == null ? null : work.getClass();
            lateness = late;
            commit();
        }
    }

    @Name(NAME + "SchedulerStatistics")
    @Label("Scheduler Statistics")
    @Period("1 s")
    static final class SchedulerStatistics extends Base {
        @Label("Armed") long armed;
        @Label("Fired") long fired;
        @Label("Stopped") long stopped;
        @Label("Reset") long reset;
        @Label("Pending") long pending;
        @Label("Stale Entries") long staleEntries;
        @Label("Stolen") long stolen;
        @Label("Overdue Wakes") long overdueWakes;
        @Label("Threads") int threads;
        @Label("Spare Threads Started") long spareThreads;
        @Label("Running") int running;
        @Label("Slow Callbacks") long callbacksSlow;
        @Label("Callbacks That Threw") long callbacksThrew;
        @Label("Stalls") long stalls;
        @Label("Lateness, Median") @Timespan(Timespan.NANOSECONDS) long latenessMedian;
        @Label("Lateness, 99 %") @Timespan(Timespan.NANOSECONDS) long lateness99;
        @Label("Lateness, Maximum") @Timespan(Timespan.NANOSECONDS) long latenessMax;

        /** Counts are since the start; lateness is of what has fired since the event before. */
        SchedulerStatistics(TimerStats s, TimerStats.Lateness lately) {
            scheduler = s.name();
            armed = s.armed();
            fired = s.fired();
            stopped = s.stopped();
            reset = s.reset();
            pending = s.pending();
            staleEntries = s.staleEntries();
            stolen = s.stolen();
            overdueWakes = s.overdueWakes();
            threads = s.threads();
            spareThreads = s.spareThreads();
            running = s.running();
            callbacksSlow = s.callbacksSlow();
            callbacksThrew = s.callbacksThrew();
            stalls = s.stalls();
            latenessMedian = lately.quantileNanos(0.5);
            lateness99 = lately.quantileNanos(0.99);
            latenessMax = lately.maxNanos();
        }
    }

    @Name(NAME + "QueueStatistics")
    @Label("Queue Statistics")
    @Period("1 s")
    static final class QueueStatistics extends Base {
        @Label("Queue") int queue;
        @Label("Armed") long armed;
        @Label("Fired") long fired;
        @Label("Pending") long pending;
        @Label("Stale Entries") long staleEntries;
        @Label("Heap Capacity") long heapCapacity;
        @Label("Stolen") long stolen;

        QueueStatistics(String scheduler, int queue, TimerStats.Queue q) {
            this.scheduler = scheduler;
            this.queue = queue;
            armed = q.armed();
            fired = q.fired();
            pending = q.pending();
            staleEntries = q.staleEntries();
            heapCapacity = q.heapCapacity();
            stolen = q.stolen();
        }
    }

    @Name(NAME + "LateFiring")
    @Label("Late Firing")
    @Description("A timer fired 10 ms after its deadline, or later")
    static final class LateFiring extends OfTimer {}

    @Name(NAME + "SlowCallback")
    @Label("Slow Callback")
    @Description("A callback took longer than the scheduler's slowCallback")
    static final class SlowCallback extends OfTimer {
        @Label("Time Taken")
        @Timespan(Timespan.NANOSECONDS)
        long ran;
    }

    @Name(NAME + "CallbackThrew")
    @Label("Callback Threw")
    static final class CallbackThrew extends OfTimer {
        @Label("Thrown")
        Class<?> thrown;
        @Label("Message")
        String message;
    }

    @Name(NAME + "WorkerStalled")
    @Label("Worker Stalled")
    @Description("A callback blocks its thread, and others take over what waits behind it")
    static final class WorkerStalled extends OfTimer {
        @Label("Thread")
        Thread thread;
        @Label("Blocked For")
        @Timespan(Timespan.NANOSECONDS)
        long blocked;
    }

    @Name(NAME + "LoopStalled")
    @Label("Loop Stalled")
    @Description("A loop's thread is busy elsewhere though a timer of the loop is due")
    static final class LoopStalled extends OfTimer {
        @Label("Thread")
        Thread thread;
    }

    @Name(NAME + "SpareStarted")
    @Label("Spare Thread Started")
    @Description("All threads were blocked by callbacks")
    static final class SpareStarted extends Base {
        @Label("Threads")
        int threads;
    }

    private static final class Types {
        @SuppressWarnings({"unchecked", "rawtypes"})
        static final Class<? extends Event>[] ALL = new Class[] {SchedulerStatistics.class, QueueStatistics.class,
            LateFiring.class, SlowCallback.class, CallbackThrew.class, WorkerStalled.class, LoopStalled.class,
            SpareStarted.class};
    }

    private static final Runnable HOOK = JfrEvents::tellStatistics;
    /**
     * What each told last; and whether the recorder knows of all that is here. Both change under this map's monitor, the
     * innermost lock: no statistics are made under it.
     */
    private static final Map<Watched, TimerStats.Lateness> WATCHED = new WeakHashMap<>();
    private static volatile boolean registered;

    private JfrEvents() {}

    /** Throws a LinkageError where the module is missing. */
    static void load() {
        FlightRecorder.isAvailable();
    }

    private static boolean isRecording() {
        for (Recording r : FlightRecorder.getFlightRecorder().getRecordings()) {
            if (r.getState() == RecordingState.RUNNING) {
                return true;
            }
        }
        return false;
    }

    static void watch(Watched s) {
        synchronized (WATCHED) {
            if (!isRecording()) {
                WATCHED.clear();
                unregister();
            } else if (!s.isClosed()) {
                WATCHED.putIfAbsent(s, TimerStats.Lateness.NONE);
                register();
            }
        }
    }

    static void forget(Watched s) {
        synchronized (WATCHED) {
            WATCHED.remove(s);
            if (WATCHED.isEmpty()) {
                unregister();
            }
        }
    }

    private static void register() {
        if (!registered) {
            registered = true;
            for (Class<? extends Event> type : Types.ALL) {
                FlightRecorder.register(type);
            }
            FlightRecorder.addPeriodicEvent(SchedulerStatistics.class, HOOK);
        }
    }

    private static void unregister() {
        if (registered) {
            registered = false;
            FlightRecorder.removePeriodicEvent(HOOK);
            for (Class<? extends Event> type : Types.ALL) {
                FlightRecorder.unregister(type);
            }
        }
    }

    /** Called by the recorder, each period. */
    private static void tellStatistics() {
        List<Watched> all;
        synchronized (WATCHED) {
            all = new ArrayList<>(WATCHED.keySet());
        }
        for (Watched s : all) {
            try {
                tellStatistics(s);
            } catch (Throwable e) {
                forget(s); // its loader may be closed, and must not be kept by a hook that fails for ever
                throw e;
            }
        }
    }

    /** One that is closed or has nothing to do is forgotten: when it has, its next look makes it known again. */
    private static void tellStatistics(Watched s) {
        TimerStats stats = s.stats();
        TimerStats.Lateness before;
        synchronized (WATCHED) {
            before = WATCHED.get(s);
            if (before == null) {
                return;
            }
            WATCHED.put(s, stats.lateness());
            if (s.isClosed() || stats.pending() + stats.running() == 0) {
                forget(s);
            }
        }
        new SchedulerStatistics(stats, stats.lateness().since(before)).commit();
        for (int i = 0; i < stats.queues().size(); i++) {
            new QueueStatistics(stats.name(), i, stats.queues().get(i)).commit();
        }
    }

    /** An event may come before the first look at its scheduler. */
    private static boolean isWanted(Watched s) {
        if (!registered) {
            watch(s);
        }
        return registered;
    }

    static void late(TimerNode t, long lateness) {
        if (isWanted(Watched.of(t))) {
            new LateFiring().tell(t, lateness);
        }
    }

    static void slow(TimerNode t, long lateness, long ran) {
        if (isWanted(Watched.of(t))) {
            SlowCallback e = new SlowCallback();
            e.ran = ran;
            e.tell(t, lateness);
        }
    }

    static void threw(TimerNode t, long lateness, Throwable thrown) {
        if (isWanted(Watched.of(t))) {
            CallbackThrew e = new CallbackThrew();
            e.thrown = thrown.getClass();
            e.message = thrown.getMessage();
            e.tell(t, lateness);
        }
    }

    static void stalled(TimerNode t, long lateness, long blocked) {
        if (isWanted(Watched.of(t))) {
            WorkerStalled e = new WorkerStalled();
            e.thread = Watched.of(t).runnerOf(t);
            e.blocked = blocked;
            e.tell(t, lateness);
        }
    }

    static void loopStalled(TimerNode first, Thread loop, long lateness) {
        if (isWanted(Watched.of(first))) {
            LoopStalled e = new LoopStalled();
            e.thread = loop;
            e.tell(first, lateness);
        }
    }

    static void spareStarted(Watched s, int threads) {
        if (isWanted(s)) {
            SpareStarted e = new SpareStarted();
            e.scheduler = s.name();
            e.threads = threads;
            e.commit();
        }
    }
}
