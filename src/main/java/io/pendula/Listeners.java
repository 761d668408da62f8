package io.pendula;

import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.EventLog;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.loops.LoopWorker;
import java.util.List;
import java.util.function.Supplier;

/** Passes a scheduler's events to a listener. Also the listeners that {@link TimerListener} creates. */
final class Listeners {
    private Listeners() {}

    /** Defined here so that a builder without a listener loads no class of this file. */
    static Supplier<Reporter> reporters(TimerListener listener) {
        return () -> new Reporter() {
            @Override
            protected void dispatch(Event event, Object whose, long first, long second, Object more) {
                Listeners.tell(listener, event, whose, first, second, more);
            }
        };
    }

    /** Calls the method for an event. Converts internal nodes to handles, and internal loops to {@link TimerLoop}s. */
    @SuppressWarnings("unchecked") // the list of a loop's timers
    static void tell(TimerListener listener, Event event, Object whose, long first, long second, Object more) {
        switch (event) {
            case THREW -> listener.threw((TimerHandle) whose, first, (Throwable) more);
            case SLOW -> listener.slow((TimerHandle) whose, first, second);
            case STALLED -> listener.stalled((TimerHandle) whose, first, second);
            case TIMED_OUT -> listener.timedOut((TimerHandle) whose, first, second);
            case ALL_BLOCKED -> listener.allBlocked((String) whose, (int) first, second);
            case LOOP_STALLED -> listener.loopStalled(TimerLoop.of((LoopWorker) more), (TimerHandle) whose, first);
            case LOOP_CLOSED -> listener.loopClosed(TimerLoop.of((LoopWorker) whose), (List<TimerHandle>) more);
            case PAUSED -> listener.paused(first);
            case WAKEUP_THREW -> listener.wakeupThrew(TimerLoop.of((LoopWorker) whose), (Throwable) more);
        }
    }

    /** A listener that treats all events in the same way. */
    private abstract static class Same implements TimerListener {
        abstract void tell(Event event, Object whose, long first, long second, Object more);

        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
            tell(Event.THREW, timer, latenessNanos, 0, thrown);
        }

        @Override
        public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
            tell(Event.SLOW, timer, latenessNanos, ranNanos, null);
        }

        @Override
        public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            tell(Event.STALLED, timer, latenessNanos, blockedNanos, null);
        }

        @Override
        public void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {
            tell(Event.TIMED_OUT, timer, latenessNanos, ranNanos, null);
        }

        @Override
        public void allBlocked(String schedulerName, int threads, long blockedNanos) {
            tell(Event.ALL_BLOCKED, schedulerName, threads, blockedNanos, null);
        }

        @Override
        public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
            tell(Event.LOOP_STALLED, timer, latenessNanos, 0, loop.worker);
        }

        @Override
        public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
            tell(Event.LOOP_CLOSED, loop.worker, 0, 0, unfired);
        }

        @Override
        public void paused(long pausedNanos) {
            tell(Event.PAUSED, null, pausedNanos, 0, null);
        }

        @Override
        public void wakeupThrew(TimerLoop loop, Throwable thrown) {
            tell(Event.WAKEUP_THREW, loop.worker, 0, 0, thrown);
        }
    }

    /** Calls two listeners in turn, the second even if the first throws. No exception is lost. */
    static final class Pair extends Same {
        private final TimerListener first;
        private final TimerListener second;

        Pair(TimerListener first, TimerListener second) {
            this.first = first;
            this.second = second;
        }

        @Override
        void tell(Event event, Object whose, long one, long two, Object more) {
            try {
                Listeners.tell(first, event, whose, one, two, more);
            } catch (Throwable e) {
                try {
                    Listeners.tell(second, event, whose, one, two, more);
                } catch (Throwable too) {
                    Reporter.suppress(too, e);
                }
                throw e;
            }
            Listeners.tell(second, event, whose, one, two, more);
        }

        @Override
        public String toString() {
            return first + " and then " + second;
        }
    }

    /** Writes events to a log. */
    static final class Logging extends Same {
        private final EventLog log;

        Logging(EventLog log) {
            this.log = log;
        }

        @Override
        void tell(Event event, Object whose, long first, long second, Object more) {
            log.tell(event, whose, first, second, more);
        }

        @Override
        public String toString() {
            return "TimerListener.logging()";
        }
    }
}
