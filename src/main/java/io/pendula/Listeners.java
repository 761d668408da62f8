package io.pendula;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.pendula.internal.engine.EventLog;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.util.Texts;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What stands between a scheduler and a listener, and the listeners that {@link TimerListener} makes. */
final class Listeners {
    private Listeners() {}

    /** Here, so that a builder that is given no listener loads no class of this file. */
    static Supplier<Reporter> reporters(TimerListener listener) {
        return () -> new Told(listener);
    }

    /** Tells a listener of the user's, which knows nodes as handles and loops as {@link TimerLoop}s. */
    private static final class Told extends Reporter {
        private final TimerListener listener;

        Told(TimerListener listener) {
            this.listener = listener;
        }

        @Override
        protected void tellThrew(TimerNode t, long lateness, Throwable thrown) {
            listener.threw((TimerHandle) t, lateness, thrown);
        }

        @Override
        protected void tellSlow(TimerNode t, long lateness, long ran) {
            listener.slow((TimerHandle) t, lateness, ran);
        }

        @Override
        protected void tellStalled(TimerNode t, long lateness, long blocked) {
            listener.stalled((TimerHandle) t, lateness, blocked);
        }

        @Override
        protected void tellAllBlocked(String scheduler, int threads, long blocked) {
            listener.allBlocked(scheduler, threads, blocked);
        }

        @Override
        protected void tellLoopStalled(QueueOwner loop, Thread thread, TimerNode first, long late) {
            listener.loopStalled(TimerLoop.of((LoopWorker) loop), (TimerHandle) first, late);
        }

        @Override
        public void loopClosed(QueueOwner loop, List<TimerNode> unfired) {
            List<TimerHandle> timers = unfired.stream().map(TimerHandle.class::cast).toList();
            try {
                listener.loopClosed(TimerLoop.of((LoopWorker) loop), timers);
            } catch (Throwable e) {
                uncaught(e); // not thrown: it was told
            }
        }

        @Override
        protected void tellPaused(long nanos) {
            listener.paused(nanos);
        }

        @Override
        protected void tellWakeupThrew(QueueOwner loop, Throwable thrown) {
            listener.wakeupThrew(TimerLoop.of((LoopWorker) loop), thrown);
        }
    }

    /** Two listeners, told one after the other; the second also if the first throws. What both throw is told. */
    record Pair(TimerListener first, TimerListener second) implements TimerListener {
        private void tell(Consumer<TimerListener> event) {
            try {
                event.accept(first);
            } catch (Throwable e) {
                try {
                    event.accept(second);
                } catch (Throwable too) {
                    Reporter.suppress(too, e);
                }
                throw e;
            }
            event.accept(second);
        }

        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
            tell(l -> l.threw(timer, latenessNanos, thrown));
        }

        @Override
        public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
            tell(l -> l.slow(timer, latenessNanos, ranNanos));
        }

        @Override
        public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            tell(l -> l.stalled(timer, latenessNanos, blockedNanos));
        }

        @Override
        public void allBlocked(String schedulerName, int threads, long blockedNanos) {
            tell(l -> l.allBlocked(schedulerName, threads, blockedNanos));
        }

        @Override
        public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
            tell(l -> l.loopStalled(loop, timer, latenessNanos));
        }

        @Override
        public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
            tell(l -> l.loopClosed(loop, unfired));
        }

        @Override
        public void paused(long pausedNanos) {
            tell(l -> l.paused(pausedNanos));
        }

        @Override
        public void wakeupThrew(TimerLoop loop, Throwable thrown) {
            tell(l -> l.wakeupThrew(loop, thrown));
        }

        @Override
        public String toString() {
            return first + " and then " + second;
        }
    }

    /** Writes what it is told to an {@link EventLog}, which knows nodes only. */
    record Logging(EventLog log) implements TimerListener {
        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
            log.threw((TimerNode) timer, latenessNanos, thrown);
        }

        @Override
        public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
            log.slow((TimerNode) timer, latenessNanos, ranNanos);
        }

        @Override
        public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            log.stalled((TimerNode) timer, latenessNanos, blockedNanos);
        }

        @Override
        public void allBlocked(String schedulerName, int threads, long blockedNanos) {
            log.allBlocked(schedulerName, threads, blockedNanos);
        }

        @Override
        public void loopStalled(TimerLoop loop, TimerHandle timer, long latenessNanos) {
            log.loopStalled(loop.worker, loop.worker.thread, (TimerNode) timer, latenessNanos);
        }

        @Override
        public void loopClosed(TimerLoop loop, List<TimerHandle> unfired) {
            log.add(new EventLog.Account(INFO, "loops were closed with timers armed", loop.worker.engine), null, 0,
                    () -> loop + " was closed with " + Texts.count(unfired.size(), "timer") + " armed", null);
        }

        @Override
        public void paused(long pausedNanos) {
            log.add(new EventLog.Account(WARNING, "pauses", null), null, pausedNanos,
                    () -> "no thread could run for " + Texts.duration(pausedNanos), null);
        }

        @Override
        public void wakeupThrew(TimerLoop loop, Throwable thrown) {
            log.add(new EventLog.Account(ERROR, "wakeups of loops threw", loop.worker.engine), null, 0,
                    () -> "the wakeup of " + loop + " threw", thrown);
        }

        @Override
        public String toString() {
            return "TimerListener.logging()";
        }
    }
}
