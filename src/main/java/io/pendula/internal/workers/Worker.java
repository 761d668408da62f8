package io.pendula.internal.workers;

import io.pendula.internal.engine.Engine;
import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.engine.Reporter;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.standby.Sleeper;
import io.pendula.internal.standby.Standby;
import java.util.concurrent.locks.LockSupport;

/** A worker thread: runs due timers, and sleeps in the role that {@link Standby} assigns. */
public final class Worker extends Sleeper implements Seat.Sitter {
    /*
     * Each round has three steps:
     *   1. run due timers,
     *   2. as poller: find the time of the next check, and sweep stale entries if there are many,
     *   3. sleep.
     * A round fetches cache lines that other threads have written. So it reads only two words of a queue without work.
     *
     * Claims. Due timers are claimed one at a time under the queue's lock and run outside it. If a batch were claimed, a
     * callback that blocks would hide the rest from other workers. After BATCH callbacks the next queue has its turn. The
     * poller reads the clock when nothing is due at the last reading, and occasionally before that. Timers that other
     * threads arm after a reading are due then or later. So they can wait for the next reading, which is followed by a
     * drain.
     *
     * Which worker runs a queue. Each worker that is awake first runs its own queue, its home. If more than a batch is due
     * there and callbacks are short, the worker is loaded. It returns to that queue at once, so the others leave the queue
     * to it while it claims one timer after the other. Two threads that run short callbacks of one queue wait for its lock
     * and memory. Together they run fewer callbacks than one thread would. The poller runs all other queues. Another worker
     * runs timers of a queue that is not its home only if callbacks take long, or if the poller sleeps or has claimed
     * nothing for a while. A poller that is behind calls another worker if callbacks take long, otherwise the queue's own
     * worker. If the poller has nothing to run and another worker is loaded, that worker becomes the poller.
     * The poller, and each worker at its home, measures how long callbacks take. While no guard sleeps, the poller's measure
     * can only fall, because the callbacks of two threads that wait for each other seem long.
     *
     * User code may block. So a worker calls it under the pulse, while other workers check the queues. This applies to
     * callbacks and their calls (decorate, executor, listener, handler, wakeup of a loop). It also applies to reports of a
     * pause, a failure or a shortage between callbacks (enterUsersCode). A clock or a thread factory must not block.
     */

    public static final int BATCH = 64;
    public static final long BATCH_NANOS = 1_000_000;
    /** A poller reads the clock after this many callbacks, so that its batch does not take too long. */
    public static final int CLOCK_EACH = 8;

    /** A poller that runs a timer this late is behind. */
    private static final long BEHIND_NANOS = 300_000;
    /** The same limit if callbacks take long: about the time to wake another worker. */
    private static final long LONG_BEHIND_NANOS = 20_000;
    /** Callbacks take long if their average exceeds this. */
    public static final long LONG_NANOS = 2_000;
    /**
     * A timer's owed runs count as long callbacks. They run before all timers that were due later. So those timers would
     * wait for the last owed run, even if each run is short.
     */
    private static final long OWING_NANOS = LONG_NANOS + 1;
    public static final long SPARE_IDLE_NANOS = 5_000_000_000L;
    /** If a timer was due this long before the end of a sleep, its wake-up was lost. */
    public static final long OVERDUE_NANOS = 100_000_000;
    private static final long AFTER_FAILURE_NANOS = 1_000_000;

    /** The worker of a thread that a user's factory made. The library's own threads have a reference to their worker. */
    private static final ThreadLocal<Worker> CURRENT = new ThreadLocal<>();

    public final Engine engine;
    private final WorkerPool workerPool;
    private final Standby standby;
    private final Seat seat;
    private final Parker parker;

    // Used by its own thread only.
    /** The last reading of the clock. */
    private long now;
    private long wokeAt;
    /** In the first round after a sleep. If isUncalled is set, too, no call ended that sleep. */
    private boolean hasSlept;
    private boolean isUncalled;
    private boolean hasRun;
    private boolean isUsed;
    private long idleSince;
    /** The time of its next check of all queues, as poller. */
    private long nextLook;
    /** The kernel may wake the thread late. */
    private boolean isSlack;
    /** Its thread was made by a user's factory, and is not registered in CURRENT yet. */
    private boolean isUnknown;

    public Worker(WorkerPool workerPool, Standby standby, TimerQueue home, boolean temporary) {
        super(home, temporary);
        this.engine = workerPool.engine;
        this.workerPool = workerPool;
        this.standby = standby;
        int number = home == null ? engine.workers : home.index; // the guard of a single worker has no home
        this.seat = new Seat(workerPool, this, endsWhenIdle() ? "worker-" + number : null);
        this.parker = new Parker(engine.timeline, engine.options.spacingNanos == 0);
        this.idleSince = engine.timeline.now();
        this.nextLook = DueTimers.endOfLongestSleep(idleSince);
    }

    private boolean endsWhenIdle() { // a spare worker ends and is not started again
        return engine.endsWhenIdle() && !isTemporary;
    }

    /** If a user's factory made the calling thread, its worker, of any scheduler; else null. */
    public static Worker ofFactorysThread() {
        return CURRENT.get();
    }

    public void setThread(Thread thread) {
        seat.take(thread);
    }

    @Override
    public Thread runner() {
        return seat.thread();
    }

    @Override
    public boolean wakeThread() {
        return seat.wake();
    }

    @Override
    public void couldNotStart() {
        standby.startFailed();
    }

    // ---- rounds ----

    @Override
    public void run() {
        try {
            boolean stays = seat.isMine();
            if (stays) { // else the fields are another thread's
                isSlack = true;
                isUnknown = engine.options.threadFactory != null;
                if (endsWhenIdle()) {
                    wakeUp(); // as at the end of each sleep
                }
            }
            while (stays && !engine.isClosed()) {
                try {
                    if (isUnknown) {
                        CURRENT.set(this); // may need memory, so it is retried
                        isUnknown = false;
                    }
                    stays = round();
                } catch (Throwable e) { // not from a callback: memory or stack is short, or the clock has thrown
                    isLoaded = false;
                    enterUsersCode();
                    Reporter.tellAndPause(e, this, AFTER_FAILURE_NANOS);
                    leaveCallback();
                }
            }
        } finally {
            CURRENT.remove(); // the thread may live on
            if (seat.isMine()) { // else the worker may have another thread by now
                workerPool.ended(this);
            }
        }
    }

    /** False if this thread must end: it is a spare worker's, or has left its seat. */
    private boolean round() {
        now = engine.timeline.now();
        if (hasSlept) {
            hasSlept = false;
            wokeAt = now;
            if (now - until >= Engine.PAUSE_NANOS) {
                enterUsersCode();
                engine.wokeUp(until, now);
                leaveCallback();
            }
        }
        if (isTemporary && now - idleSince >= SPARE_IDLE_NANOS && standby.leave(this)) {
            return false;
        }
        Sleeper poller = standby.poller();
        boolean polls = poller == this;
        boolean looks = polls && now >= nextLook; // once a second, when the longest sleep ends
        nextLook = looks ? DueTimers.endOfLongestSleep(now) : nextLook;
        boolean ran = (polls || !isTemporary || poller.runner() == null) && runDue(poller, looks); // null: failed to start
        isUncalled = false;
        if (ran) {
            hasRun = true;
            idleSince = now; // read after the run, which may have taken long
            if (!polls) {
                return true;
            }
        }
        long next = polls ? standby.settle(this, now, looks) : Timeline.NEVER;
        return polls && sweep(next) || next <= now || sleep(polls, next); // RETRY is less than every instant
    }

    /** {@code looks}: checks every queue, whatever its gate says, because a wake-up may have been lost there. */
    private boolean runDue(Sleeper poller, boolean looks) {
        boolean polls = poller == this;
        boolean runsOthers = polls || poller.asleep || poller.took > LONG_NANOS || !poller.getsOn(now);
        boolean ran = false;
        TimerQueue[] queues = standby.queues;
        int first = home == null ? 0 : home.index;
        for (int i = 0; i < queues.length; i++) {
            TimerQueue q = queues[first + i < queues.length ? first + i : first + i - queues.length];
            boolean isDue = looks || q.due.lookAt() <= now;
            boolean runs = isDue && (q == home || runsOthers && !standby.isServed(q, now));
            boolean ranHere = runs && (polls ? poll(q) : help(q, now));
            ran |= ranHere;
            if (q == home) {
                isLoaded = ranHere && took <= LONG_NANOS && q.due.nextWhen() <= now;
            }
        }
        return ran;
    }

    /** As poller: runs due timers of a queue, up to a number and a time. True if any ran. */
    private boolean poll(TimerQueue q) {
        long began = now;
        boolean isFresh = true; // nothing has run since the last reading of the clock
        boolean owes = false;
        for (int ran = 0; ran < BATCH && !engine.isClosed(); ) { // a closing thread waits for the lock
            int step = isFresh ? q.due.pollOne(this, now) : q.due.claimNext(this, now);
            if (step != DueTimers.CLAIMED && (isFresh || step == DueTimers.NOT_HERE)) {
                return ran > 0;
            }
            boolean isMore = q.due.nextWhen() <= now;
            if (step == DueTimers.CLAIMED) {
                if (!hasBegun && isForgotten(q)) {
                    workerPool.overdueWakes.incrementAndGet(); // before the callback, which may read this count
                }
                if (isMore) {
                    callHelperIfBehind(q);
                }
                if (isFresh && hasBegun) { // else runClaimed checks
                    standby.callIfTooLate(this, q, now);
                }
                owes |= isOwing;
                runClaimed();
                ran++;
                isFresh = false;
            }
            boolean isMeasured = took > LONG_NANOS || ran == 1 || ran % CLOCK_EACH == 0;
            if (step != DueTimers.CLAIMED || !isMore || isMeasured // else other queues wait, unless no other worker checks
                    || standby.queues.length > 1 && standby.guardAsleep(this) == null) {
                now = engine.timeline.now();
                isFresh = true;
                if (isMeasured) {
                    long t = (now - began) / ran;
                    took = owes ? Math.max(t, OWING_NANOS) : standby.guardAsleep(this) != null ? t : Math.min(t, took);
                }
                if (now - began >= BATCH_NANOS) {
                    return true;
                }
            }
        }
        return true;
    }

    /**
     * Whether the claimed timer, the first after a sleep, was due long before the end of that sleep, which no thread ended
     * early. A sleep that is too long, a clock that jumps or a callback that blocks does not count. If the timer was due
     * before the queue was last settled, it was armed afterwards, for an instant in the past; otherwise it would have run.
     */
    private boolean isForgotten(TimerQueue q) {
        long late = OVERDUE_NANOS + 2 * engine.options.spacingNanos; // a sleep lasts until the spacing has passed
        return isUncalled && now - deadline >= late && until - deadline >= late && deadline >= q.due.settledAt();
    }

    /** If callbacks are short, only the queue's own worker can help. */
    private void callHelperIfBehind(TimerQueue q) {
        if (took > LONG_NANOS && lateness() > LONG_BEHIND_NANOS) {
            standby.callHelper(this);
        } else if (q != home && lateness() > BEHIND_NANOS) {
            standby.callOwner(q);
        }
    }

    /** As helper: runs due timers of a queue, up to a number and a time. True if any ran. */
    public boolean help(TimerQueue q, long began) {
        now = began;
        int ran = 0;
        boolean owes = false;
        while (ran < BATCH && now - began < BATCH_NANOS && !engine.isClosed()) {
            int step = q == home ? q.due.claimNext(this, now) : q.due.helpOne(this, now);
            if (step != DueTimers.CLAIMED) {
                break;
            }
            owes |= isOwing;
            runClaimed();
            ran++;
            now = engine.timeline.now();
        }
        if (q == home && ran > 0) {
            took = Math.max((now - began) / ran, owes ? OWING_NANOS : 0);
        }
        return ran > 0;
    }

    /** Runs the claimed timer, or passes it to the executor. */
    private void runClaimed() {
        try {
            if (runInside()) {
                engine.endRun(this);
            }
        } finally {
            end();
            Thread.interrupted(); // with the flag of a callback set, every park would return at once
        }
    }

    private boolean runInside() {
        enterCallback();
        try {
            if (hasBegun) {
                workerPool.growAgain(this);
            } else {
                if (isTemporary && !isUsed) {
                    isUsed = true;
                    workerPool.sparesUsed.incrementAndGet();
                }
                ensureOthersLook(QueuedNode.queueOf(node()));
            }
            return engine.run(this);
        } finally {
            leaveCallback(); // before the end of the run: that arms a ticker again, which must not call the guard
        }
    }

    /**
     * Called before code that may block. Ensures that another worker sleeps for the queues or is free, and that the stall
     * watch checks. Throws nothing, because the claimed timer must run. If memory or stack is short, the guard checks only
     * after its sleep.
     */
    private void ensureOthersLook(TimerQueue q) {
        hasBegun = true;
        try {
            if (!standby.ensureGuard(this, q, claimedAt)) {
                workerPool.growIfAlone(this);
            }
            if (!standby.isLookedAfter(this, Timeline.plus(claimedAt, engine.options.stallNanos))) {
                engine.callWatch();
            }
        } catch (Throwable e) {
            return; // see above
        }
    }

    /** Called before a user's handler or listener, which may block like a callback. */
    private void enterUsersCode() {
        asleep = false; // a call may have failed between sleeps() and the park
        claimedAt = now;
        enterCallback();
        ensureOthersLook(null);
    }

    @Override
    public void tell(Throwable e) {
        boolean isBetween = !isInCallback();
        if (isBetween) {
            enterUsersCode();
        }
        Reporter.uncaught(e);
        if (isBetween) {
            leaveCallback();
        }
    }

    // ---- before a sleep ----

    /**
     * Sweeps queues that have too many stale entries. Stops, as a sleep would, at a call, at {@code until}, or if a timer
     * arrives that is due before. The arming thread has lowered the arrivals of its queue, which may be another queue.
     * Makes at least one step for each such queue in a round; otherwise a busy worker would never sweep. False if there was
     * nothing to sweep.
     */
    public boolean sweep(long until) {
        boolean swept = false;
        for (TimerQueue q : standby.queues) {
            boolean more = q.compactor.wantsSweep();
            while (more) {
                more = q.compactor.sweepStep() && !isCalled() && !engine.isClosed() && !standby.isAnythingBefore(until)
                        && engine.timeline.now() < until;
                swept = true;
            }
        }
        return swept;
    }

    /**
     * The last check before the park, after the last wait for a lock: that wait parks, too, and may have used up a waker's
     * permit. A waker makes its change before it unparks. So either this check sees the change, or the permit comes after it
     * and ends the park. A user's clock may park, too, so Parker checks for a call again after it has read the clock.
     */
    public boolean isCalled(long next) {
        return isCalled() || engine.isClosed() || standby.poller() == this && standby.needsLookBefore(next);
    }

    // ---- sleeps ----

    private boolean sleep(boolean polls, long next) {
        isLoaded = false;
        if (!standby.goToSleep(this, polls, next, now, hasRun ? wokeAt : 0)) {
            if (!polls && standby.poller() == this) {
                engine.callWatch(); // it has become the poller, because a callback takes long
            }
            return true;
        }
        boolean left = false;
        boolean parks = false;
        try {
            boolean ends = until == Timeline.NEVER && endsWhenIdle();
            long began = System.nanoTime(); // a user's clock may stand still
            if (isSlack) { // not before the first firing, which it would delay
                isSlack = false; // before the attempt: a failure is not retried
                Parker.tightenSlack();
            }
            long target = isTemporary ? Math.min(until, endOfIdle()) : until;
            if (!isCalled(next)) {
                parks = true;
                if (ends) {
                    LockSupport.parkNanos(this, engine.idleNanos);
                } else {
                    parker.parkUntil(target, polls ? next : target, this);
                }
            }
            // Nothing was armed for idleNanos, so the thread may end. The worker stays, asleep forever. A leftover permit
            // ends the park at once and begins another round.
            left = ends && !isCalled(next) && System.nanoTime() - began >= engine.idleNanos
                    && seat.leave(() -> isCalled(Timeline.NEVER));
        } finally {
            if (!left) {
                wakeUp();
                isUncalled &= parks;
            }
        }
        return !left;
    }

    /**
     * The time when a spare worker next asks whether it may leave. Soon if it could not leave before, because it was the
     * poller.
     */
    private long endOfIdle() {
        return Math.max(idleSince + SPARE_IDLE_NANOS, DueTimers.endOfLongestSleep(now));
    }

    private void wakeUp() {
        isUncalled = !wakesUp();
        Thread.interrupted(); // with the flag set, every park would return at once
        hasSlept = true;
        hasRun = false;
    }
}
