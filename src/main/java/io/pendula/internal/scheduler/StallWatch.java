package io.pendula.internal.scheduler;

import io.pendula.internal.engine.Event;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.loops.LoopWorker;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.HoldLock;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.workers.Seat;
import java.util.concurrent.locks.LockSupport;

/**
 * Reports three conditions, each once: a callback blocks its thread, a loop is late, or all threads are blocked. Its
 * thread, the monitor, runs from the first call until nothing has been in progress for some seconds.
 */
public final class StallWatch implements Seat.Sitter {
    /*
     * While a worker is awake, or a timer is armed or runs on a loop, the watch checks once a second, or twice in
     * stallNanos if that is shorter. Otherwise it is idle: it sleeps until it is called.
     *
     * Most callbacks are short. So a poller that begins a callback does not call the watch if there is a guard. The guard
     * finds the poller awake before it sleeps, checks again soon, takes over if the callback lasts, and then calls the
     * watch. All other workers call the watch themselves.
     *
     * No stall is missed. Before the watch sleeps it sets idle (SW-I1), then checks again whether a worker is awake or a
     * loop is busy (SW-I2). A worker that wakes up first clears asleep (SW-U1). After that it, or the guard that has taken
     * over, reads idle (SW-U2). All are volatile. If the watch misses the worker, SW-I1 < SW-I2 < SW-U1 < SW-U2, and it is
     * called. The same holds for loops: if a queue has no arrivals, a thread that arms there lowers the queue's arrivals,
     * then reads idle. Timers that a drain moves from the arrivals into the heap stay visible, because the watch checks
     * under the queue's lock.
     *
     * A thread that calls the watch clears idle before the call, and does not write it after a successful call. By then the
     * watch may have checked, set idle, and ended. If its write were overwritten, no thread would call the watch again. If
     * the watch's thread could not be started, the calling thread sets idle: until then no other thread calls the watch.
     */

    /** Pause after a failure. */
    private static final long AFTER_FAILURE_NANOS = 10_000_000;
    private static final long LOOK_NANOS = 1_000_000_000;
    private static final long MIN_LOOK_NANOS = 10_000_000;

    private final SchedulerEngine engine;
    private final long stallNanos;
    /** The time between two checks. Detecting a stall takes two checks. */
    private final long lookNanos;
    private final Seat seat;
    private volatile boolean idle = true;
    /** Used by its own thread: no worker has been free since allBlocked was reported. */
    private boolean isAllBlockedTold;
    /** Used by its own thread: the next attempt to close loops whose threads have ended. */
    private long closesAgainAt;

    public StallWatch(SchedulerEngine engine) {
        this.engine = engine;
        this.stallNanos = Math.max(1, engine.options.stallNanos);
        this.lookNanos = Math.min(LOOK_NANOS, Math.max(MIN_LOOK_NANOS, stallNanos / 2));
        this.seat = new Seat(engine.workerPool, this, "monitor");
    }

    @Override
    public void couldNotStart() {
        idle = true;
    }

    /** Called when there may be something to watch. If its thread cannot be started, the next call tries again. */
    public void callIfIdle() {
        if (idle) { // SW-U2
            HoldLock.checkStack(); // or no thread might call it again
            idle = false;
            seat.wake();
        }
    }

    /** Wakes its thread, if there is one, to check for the close. */
    void schedulerIsClosed() {
        LockSupport.unpark(seat.thread());
    }

    @Override
    public void run() {
        while (!engine.isClosed() && seat.isMine()) {
            try {
                watch();
            } catch (Throwable e) { // memory is short, or the clock has thrown
                idle = false;
                Reporter.tellAndPause(e, this, AFTER_FAILURE_NANOS);
            }
        }
    }

    /** Checks at once when called, then sleeps before it may be idle, so a series of short callbacks rarely calls it. */
    private void watch() {
        look(engine.timeline.now());
        while (!engine.isClosed()) {
            long until = engine.timeline.now() + lookNanos;
            park(lookNanos);
            long now = engine.timeline.now(); // one reading: a pause between two would count as a callback's
            engine.wokeUp(until, now);
            look(now);
            idle = true; // SW-I1
            if (isAnythingUp(now)) { // SW-I2
                idle = false;
                continue;
            }
            if (idle) {
                park(engine.idleNanos);
            }
            if (idle && seat.leave(() -> !idle)) { // nothing has called it for idleNanos
                return;
            }
            look(engine.timeline.now());
        }
    }

    /**
     * Checks for a close at the last moment, as watch() checks idle. A listener, a clock or a lock may park before that,
     * and use up the permit of the close or the call.
     */
    private void park(long nanos) {
        if (!engine.isClosed()) {
            LockSupport.parkNanos(this, nanos);
        }
        Thread.interrupted();
    }

    /** Whether a worker is awake (in a callback, or about to begin one), or a timer is armed or runs on a loop. */
    private boolean isAnythingUp(long now) {
        for (Sleeper w : engine.workerPool.workers()) {
            if (!w.asleep) {
                return true;
            }
        }
        for (LoopWorker l : engine.loops()) {
            // In this order: a claim, or the end of the loop, may come in between.
            if (peek(l, now) != Timeline.NEVER || l.node() != null || l.isEndOpen()) {
                return true;
            }
        }
        return false;
    }

    private void look(long now) {
        Sleeper[] workers = engine.workerPool.workers();
        long shortest = workers.length == 0 ? 0 : Long.MAX_VALUE; // the time for which all of them have been in callbacks
        for (Sleeper w : workers) {
            int pulse = w.pulse();
            w.see(pulse, now);
            long age = (pulse & 1) == 0 ? 0 : w.age(engine.resumedAt, now); // since the last pause of all threads
            if (age >= stallNanos && w.isStallNew()) {
                tellStalled(w.node(), w.lateness(), age);
            }
            shortest = Math.min(shortest, age);
        }
        boolean areAllBlocked = shortest >= stallNanos && !engine.isClosed(); // read last: a close ends the free workers
        if (areAllBlocked && !isAllBlockedTold) {
            engine.reporter.tell(Event.ALL_BLOCKED, engine.name(), workers.length, shortest, null);
        }
        isAllBlockedTold = areAllBlocked;
        if (engine.loops != null) {
            lookAtLoops(now);
        }
        engine.workerPool.growAgain(null); // a worker may have failed to start when all others were in callbacks
    }

    /** Racy: {@code t} may be null. If the run has ended, {@code t} and its lateness may belong to the next run. */
    private void tellStalled(TimerNode t, long lateness, long blocked) {
        if (t != null) {
            engine.reporter.tell(Event.STALLED, t, lateness, blocked, null);
        }
    }

    private void lookAtLoops(long now) {
        if (now >= closesAgainAt && !engine.loops.closeEnded()) {
            closesAgainAt = now + LOOK_NANOS; // each failure is reported, and a check may come every few milliseconds
        }
        for (LoopWorker l : engine.loops()) {
            if (!l.hasEnded()) {
                l.see(l.visitsOpaque(), now);
                lookAtLoop(l, now);
            }
        }
    }

    private void lookAtLoop(LoopWorker l, long now) {
        long due = peek(l, now);
        long age = l.age(engine.resumedAt, now);
        if (l.node() != null) {
            if (age >= stallNanos && l.isStallNew()) {
                tellStalled(l.node(), l.lateness(), age);
            }
        } else if (due != DueTimers.NOT_OWNER && now - Math.max(due, engine.resumedAt) >= stallNanos
                && l.age(Long.MIN_VALUE, now) > 0) { // its thread has not polled since an earlier check
            TimerNode first = l.queue.due.first();
            if (first != null && l.isStallNew()) {
                engine.reporter.tell(Event.LOOP_STALLED, first, now - due, 0, l);
            }
        }
    }

    /** When a timer is due on a loop; NOT_OWNER if another thread has the lock. Files late timers first. */
    private long peek(LoopWorker l, long now) {
        return l.queue.due.tryPeekLate(now - Math.min(lookNanos, stallNanos));
    }
}
