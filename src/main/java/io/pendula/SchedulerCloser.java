package io.pendula;

import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The end of a scheduler. Each step can be repeated, so that what one call could not do, the next one does. Its monitor
 * is taken before all other locks; no callback runs and no thread waits under it.
 */
final class SchedulerCloser {
    /*
     * Each queue is closed under its lock; then the timers that are running are looked at. A timer is claimed under
     * its queue's lock, and from that moment its Firing tells it (first a worker's, then perhaps a DispatchedFiring
     * that is registered before the worker lets go of it). So a timer that was claimed before its queue was closed is
     * found here with its next arming in its word, unless its run ended before: then its push found the inbox closed,
     * and it was left with its queue, which is asked last.
     */

    private final Engine engine;
    private volatile boolean done;
    /** Not returned yet. */
    private final List<TimerNode> unfired = new ArrayList<>();

    SchedulerCloser(Engine engine) {
        this.engine = engine;
    }

    boolean isDone() {
        return done;
    }

    /** Runs {@code views}, which shut the views down, and passes the timers that were armed to {@code stopped}. */
    synchronized void go(List<Runnable> views, Consumer<TimerNode> stopped) {
        if (done) {
            return;
        }
        TimerQueue[] all = engine.queues;
        closeEach(all, unfired);
        engine.takeBack(unfired);
        collectRest(engine, all, t -> true, unfired);
        engine.abandon(unfired);
        views.forEach(Runnable::run);
        unfired.forEach(stopped);
        unfired.clear();
        done = true;
    }

    /** Some queues of a scheduler; {@code theirs}: of what runs, the timers to look at. */
    static void closeAll(Engine engine, TimerQueue[] closing, Predicate<TimerNode> theirs,
            List<TimerNode> unfired) {
        closeEach(closing, unfired);
        collectRest(engine, closing, theirs, unfired);
    }

    private static void closeEach(TimerQueue[] closing, List<TimerNode> unfired) {
        Throwable failure = null;
        for (TimerQueue q : closing) {
            try {
                q.close(unfired);
            } catch (RuntimeException | Error e) {
                failure = e; // this queue takes no more timers, and neither must the others
            }
        }
        if (failure instanceof Error e) {
            throw e;
        } else if (failure != null) {
            throw (RuntimeException) failure;
        }
    }

    private static void collectRest(Engine engine, TimerQueue[] closing, Predicate<TimerNode> theirs,
            List<TimerNode> unfired) {
        engine.forEachRunning(t -> {
            if (theirs.test(t)) {
                QueuedNode.queueOf(t).collectRunning(t, unfired);
            }
        });
        for (TimerQueue q : closing) {
            q.collectLate(unfired);
        }
    }
}
