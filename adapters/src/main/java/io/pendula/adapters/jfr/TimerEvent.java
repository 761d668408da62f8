package io.pendula.adapters.jfr;

import io.pendula.spi.TaskWrapper;
import io.pendula.TimerHandle;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * An event about a scheduler. The recorder refers to the class of each event that it knows, hence to the class loader, so
 * none registers itself: {@link PendulaJfr} does, while something is recorded.
 */
@Category("Pendula")
@StackTrace(false)
@Registered(false)
abstract class TimerEvent extends Event {
    static final String PREFIX = "io.pendula.";
    private static final int MOST_WRAPPERS = 8;

    @Label("Scheduler")
    final String scheduler;

    TimerEvent(String scheduler) {
        this.scheduler = scheduler;
    }

    private static final class Types {
        @SuppressWarnings({"unchecked", "rawtypes"}) // there is no array of Class<? extends Event>
        static final Class<? extends Event>[] ALL = new Class[] {SlowCallback.class, CallbackThrew.class,
            WorkerStalled.class, RunTimedOut.class, AllBlocked.class, LoopStalled.class, SpareStarted.class};
    }

    /** How many want the events: they share the classes, so the last one takes them back. */
    private static int users;

    static synchronized void register() {
        if (users == 0) {
            for (Class<? extends Event> type : Types.ALL) {
                FlightRecorder.register(type);
            }
            StatisticsEvent.SCHEDULER.register();
            StatisticsEvent.QUEUE.register();
        }
        users++;
    }

    /** Once for each call of register. */
    static synchronized void unregister() {
        users--;
        if (users == 0) {
            for (Class<? extends Event> type : Types.ALL) {
                FlightRecorder.unregister(type);
            }
            StatisticsEvent.SCHEDULER.unregister();
            StatisticsEvent.QUEUE.unregister();
        }
    }

    /** An event about one timer. */
    abstract static class OfTimer extends TimerEvent {
        @Label("Task")
        @Description("Class of the task; of a lambda, it names the class that made it")
        final Class<?> task;
        @Label("Lateness")
        @Timespan(Timespan.NANOSECONDS)
        final long lateness;

        OfTimer(TimerHandle timer, long lateness) {
            super(timer.schedulerName());
            Object named = named(timer.task());
            this.task = named == null ? null : named.getClass();
            this.lateness = lateness;
        }

        /** As the library's texts and counts name a task. Of wrappers in a circle, any will do. */
        private static Object named(Object task) {
            Object named = task;
            for (int i = 0; i < MOST_WRAPPERS && named instanceof TaskWrapper w; i++) {
                Object inner = null;
                try {
                    inner = w.task();
                } catch (Throwable e) {
                    // It is named itself: one that is broken must not lose the event.
                }
                if (inner == null) {
                    break;
                }
                named = inner;
            }
            return named;
        }
    }

    @Name(PREFIX + "SlowCallback")
    @Label("Slow Callback")
    @Description("A callback took longer than the scheduler's slowCallback")
    static final class SlowCallback extends OfTimer {
        @Label("Thread")
        final Thread thread;
        @Label("Time Taken")
        @Timespan(Timespan.NANOSECONDS)
        final long ran;

        SlowCallback(TimerHandle timer, long lateness, long ran) {
            super(timer, lateness);
            this.thread = Thread.currentThread();
            this.ran = ran;
        }
    }

    @Name(PREFIX + "CallbackThrew")
    @Label("Callback Threw")
    static final class CallbackThrew extends OfTimer {
        @Label("Thread")
        final Thread thread;
        @Label("Thrown")
        final Class<?> thrown;
        @Label("Message")
        final String message;

        CallbackThrew(TimerHandle timer, long lateness, Throwable thrown) {
            super(timer, lateness);
            this.thread = Thread.currentThread();
            this.thrown = thrown.getClass();
            this.message = thrown.getMessage();
        }
    }

    @Name(PREFIX + "WorkerStalled")
    @Label("Worker Stalled")
    @Description("A callback blocks its thread, and others take over what waits behind it")
    static final class WorkerStalled extends OfTimer {
        @Label("Thread")
        final Thread thread;
        @Label("Blocked For")
        @Timespan(Timespan.NANOSECONDS)
        final long blocked;

        WorkerStalled(TimerHandle timer, long lateness, long blocked) {
            super(timer, lateness);
            this.thread = timer.runner();
            this.blocked = blocked;
        }
    }

    @Name(PREFIX + "RunTimedOut")
    @Label("Run Timed Out")
    @Description("A run of a pool's task lasted for the runTimeout, and is interrupted")
    static final class RunTimedOut extends OfTimer {
        @Label("Thread")
        final Thread thread;
        @Label("Time Taken")
        @Timespan(Timespan.NANOSECONDS)
        final long ran;

        RunTimedOut(TimerHandle timer, long lateness, long ran) {
            super(timer, lateness);
            this.thread = timer.runner();
            this.ran = ran;
        }
    }

    @Name(PREFIX + "AllBlocked")
    @Label("All Threads Blocked")
    @Description("All threads of a scheduler are blocked by callbacks, so its timers wait")
    static final class AllBlocked extends TimerEvent {
        @Label("Threads")
        final int threads;
        @Label("Blocked For")
        @Timespan(Timespan.NANOSECONDS)
        final long blocked;

        AllBlocked(String scheduler, int threads, long blocked) {
            super(scheduler);
            this.threads = threads;
            this.blocked = blocked;
        }
    }

    @Name(PREFIX + "LoopStalled")
    @Label("Loop Stalled")
    @Description("A loop's thread is busy elsewhere though a timer of the loop is due")
    static final class LoopStalled extends OfTimer {
        @Label("Loop")
        final String loop;

        LoopStalled(String loop, TimerHandle timer, long lateness) {
            super(timer, lateness);
            this.loop = loop;
        }
    }

    @Name(PREFIX + "SpareStarted")
    @Label("Spare Threads Started")
    @Description("All threads were blocked by callbacks")
    static final class SpareStarted extends TimerEvent {
        @Label("Started")
        @Description("Since the statistics before")
        final long started;
        @Label("Threads")
        final int threads;

        SpareStarted(String scheduler, long started, int threads) {
            super(scheduler);
            this.started = started;
            this.threads = threads;
        }
    }
}
