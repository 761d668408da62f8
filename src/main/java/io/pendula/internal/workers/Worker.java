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

/** A worker thread: runs due timers inline, and sleeps in the role that {@link Standby} gives it. */
public final class Worker extends Sleeper implements Seat.Sitter {
    /*
     * Each round has three steps:
     *   1. run what is due,
     *   2. as poller: find out when to look next, and sweep stale entries if there are many,
     *   3. sleep.
     * A round fetches cache lines that others have written. So it reads two words of a queue where nothing is to be done.
     *
     * Claims. One due timer at a time is claimed under the queue's lock and run outside it: a batch would hide the rest
     * of it from others if one callback blocks. After BATCH callbacks of a queue the others have their turn. The poller
     * reads the clock when nothing is due at the last reading, and now and then before that. What other threads arm after a
     * reading is due then or later, so it can wait for the next reading, which is followed by a drain.
     *
     * Which worker runs a queue. Each worker that is up first runs what is due in its own queue, its home. If that is more
     * than a batch, and callbacks are short, it is loaded: it comes again at once, so the others leave that queue to it,
     * for as long as it claims one timer after the other. Two threads that run short callbacks of one queue wait for each
     * other, at its lock and for its memory, and run fewer than one would. All other queues are run by the poller. Beside
     * it another worker runs timers of a queue that is not its home only if callbacks take long, or the poller sleeps or
     * has not claimed anything for a while. A poller that is behind calls another worker, if callbacks take long; else the
     * one whose home the queue is. If a poller has nothing to run and another worker is loaded, that one becomes the poller.
     * The poller, and each worker at its home, measures how long callbacks take. What the poller has measured can only fall
     * while no guard sleeps, as two that wait for each other seem to have long callbacks.
     *
     * Code of the user's may block. So a worker calls it under the pulse, when others look at the queues: callbacks and
     * what they bring about (decorate, executor, listener, handler, wakeup of a loop), and between them what is told of a
     * pause, a failure or a shortage (enterUsersCode). A clock or a thread factory must not block.
     */

    public static final int BATCH = 64;
    public static final long BATCH_NANOS = 1_000_000;
    /** After so many callbacks a poller reads the clock, to end its batch in time. */
    public static final int CLOCK_EACH = 8;

    /** A poller that runs a timer so much later than its deadline has more to do than it can. */
    private static final long BEHIND_NANOS = 300_000;
    /** The same if callbacks take long: about what it takes to wake another worker. */
    private static final long LONG_BEHIND_NANOS = 20_000;
    /** Callbacks that take longer than this on average take long. */
    public static final long LONG_NANOS = 2_000;
    /**
     * Runs that a timer owes count as long ones. They come before all that was due later, so other timers would wait until
     * the last of them, however short each is.
     */
    private static final long OWING_NANOS = LONG_NANOS + 1;
    public static final long SPARE_IDLE_NANOS = 5_000_000_000L;
    /** A timer that is due so long before the end of a sleep was forgotten. */
    public static final long OVERDUE_NANOS = 100_000_000;
    private static final long AFTER_FAILURE_NANOS = 1_000_000;

    /** On threads of users' factories. Our own threads know their workers. */
    private static final ThreadLocal<Worker> CURRENT = new ThreadLocal<>();

    public final Engine engine;
    private final WorkerPool workerPool;
    private final Standby standby;
    private final Seat seat;
    private final Parker parker;

    // Of its thread alone.
    /** The clock, as last read. */
    private long now;
    private long wokeAt;
    /** In the first round after a sleep; and that sleep has ended by itself. */
    private boolean hasSlept;
    private boolean isUncalled;
    private boolean hasRun;
    private boolean isUsed;
    private long idleSince;
    /** When it looks next, as poller, at all queues. */
    private long nextLook;
    /** The kernel may wake the thread late. */
    private boolean isSlack;
    /** Its thread is the factory's, and CURRENT does not have it. */
    private boolean isUnknown;

    public Worker(WorkerPool workerPool, Standby standby, TimerQueue home, boolean temporary) {
        super(home, temporary);
        this.engine = workerPool.engine;
        this.workerPool = workerPool;
        this.standby = standby;
        int number = home == null ? engine.workers : home.index; // the guard of an only worker is at home nowhere
        this.seat = new Seat(workerPool, this, endsWhenIdle() ? "worker-" + number : null);
        this.parker = new Parker(engine.timeline, engine.options.spacingNanos == 0);
        this.idleSince = engine.timeline.now();
        this.nextLook = DueTimers.endOfLongestSleep(idleSince);
    }

    private boolean endsWhenIdle() { // a spare one ends for good
        return engine.endsWhenIdle() && !isTemporary;
    }

    /** The worker, of any scheduler, whose rounds the calling thread makes, if a factory has made that thread; or null. */
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
                        CURRENT.set(this); // may need memory, so that is tried again
                        isUnknown = false;
                    }
                    stays = round();
                } catch (Throwable e) { // no callback's: memory is short, or the stack, or the clock has thrown
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

    /** False if this thread must end: it was started for a while, or it has left its seat. */
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
        boolean looks = polls && now >= nextLook; // once a second, when the cap ends its sleep
        nextLook = looks ? DueTimers.endOfLongestSleep(now) : nextLook;
        boolean ran = (polls || !isTemporary || poller.runner() == null) && runDue(poller, looks); // null: could not be started
        isUncalled = false;
        if (ran) {
            hasRun = true;
            idleSince = now; // as of the end of its run, which may have taken long
            if (!polls) {
                return true;
            }
        }
        long next = polls ? standby.settle(this, now, looks) : Timeline.NEVER;
        return polls && sweep(next) || next <= now || sleep(polls, next); // RETRY is below every instant
    }

    /** {@code looks}: at each queue, whatever its gate says, as a wake-up may have been lost there. */
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

    /** As poller: runs due timers of a queue, up to a bound, also in time if others wait for it; true if any. */
    private boolean poll(TimerQueue q) {
        long began = now;
        boolean isFresh = true; // nothing has run since the clock was read
        boolean owes = false;
        for (int ran = 0; ran < BATCH && !engine.isClosed(); ) { // a closing thread waits for the lock
            int step = isFresh ? q.due.pollOne(this, now) : q.due.claimNext(this, now);
            if (step != DueTimers.CLAIMED && (isFresh || step == DueTimers.NOT_HERE)) {
                return ran > 0;
            }
            boolean isMore = q.due.nextWhen() <= now;
            if (step == DueTimers.CLAIMED) {
                if (!hasBegun && isForgotten(q)) {
                    workerPool.overdueWakes.incrementAndGet(); // before the callback, which finds itself counted
                }
                if (isMore) {
                    callHelperIfBehind(q);
                }
                if (isFresh && hasBegun) { // else runClaimed looks
                    standby.callIfTooLate(this, q, now);
                }
                owes |= isOwing;
                runClaimed();
                ran++;
                isFresh = false;
            }
            boolean isMeasured = took > LONG_NANOS || ran == 1 || ran % CLOCK_EACH == 0;
            if (step != DueTimers.CLAIMED || !isMore || isMeasured // else other queues can wait, unless no other worker looks
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
     * Whether what was claimed, before any other callback, was due long before the end of a sleep that no thread has
     * ended. A sleep that took too long, a clock that leaps or a callback that blocks does not change this. What was due
     * before the queue was last settled was armed later than that, for an instant in the past, or it would have run.
     */
    private boolean isForgotten(TimerQueue q) {
        return isUncalled && now - deadline >= OVERDUE_NANOS && until - deadline >= OVERDUE_NANOS
                && deadline >= q.due.settledAt();
    }

    /** If callbacks are short, only the worker whose home this is can help. */
    private void callHelperIfBehind(TimerQueue q) {
        if (took > LONG_NANOS && lateness() > LONG_BEHIND_NANOS) {
            standby.callHelper(this);
        } else if (q != home && lateness() > BEHIND_NANOS) {
            standby.callOwner(q);
        }
    }

    /** As helper: runs what is due in a queue, up to a bound; true if there was anything. */
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

    /** Runs what was claimed, to its end or into the executor. */
    private void runClaimed() {
        try {
            if (runInside()) {
                engine.endRun(this);
            }
        } finally {
            end();
            Thread.interrupted(); // a flag left by a callback would make every park return at once
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
            leaveCallback(); // before the run's end, which arms a ticker again: that must not call the guard
        }
    }

    /**
     * What follows may block. So another worker must sleep for the queues or be free, and the stall watch must look. Throws
     * nothing, as what was claimed must run: without memory or stack the guard comes when it has slept.
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

    /** A handler or a listener of the user's is about to be called, which may block as a callback may. */
    private void enterUsersCode() {
        asleep = false; // a call may have failed between the word of its sleep and the park
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
     * Sweeps queues that have too many stale entries, as if asleep: an arming thread whose timer is due before the
     * sweep would end lowers the arrivals of its queue, which may be another than the one that is swept.
     * At least one step for each such queue in a round, or a worker that always has something to do would never sweep.
     * False if there was nothing to sweep.
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
     * The last look before the park, after the last wait for a lock: such a wait parks, too, and may have used up the
     * permit of a waker. What a waker changes it changes before it unparks; so either its change is seen here, or its
     * permit comes after this look and ends the park. A clock of the user's may park as well, so Parker looks for a call
     * once more after it has read that.
     */
    public boolean isCalled(long next) {
        return isCalled() || engine.isClosed() || standby.poller() == this && standby.needsLookBefore(next);
    }

    // ---- sleeps ----

    private boolean sleep(boolean polls, long next) {
        isLoaded = false;
        if (!standby.goToSleep(this, polls, next, now, hasRun ? wokeAt : 0)) {
            if (!polls && standby.poller() == this) {
                engine.callWatch(); // it has taken over, as a callback lasts
            }
            return true;
        }
        boolean left = false;
        boolean parks = false;
        try {
            boolean ends = until == Timeline.NEVER && endsWhenIdle();
            long began = System.nanoTime(); // the clock of the user's may stand
            if (isSlack) { // not before the first firing, which it would delay
                isSlack = false; // before the attempt: what fails is not tried again
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
            // Nothing was armed for so long that the thread should end. The worker stays what it is, asleep for ever. A permit
            // that is left over ends the park at once, and begins another round.
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

    /** When a spare one asks whether it may leave; soon, if it might not, as it was the poller. */
    private long endOfIdle() {
        return Math.max(idleSince + SPARE_IDLE_NANOS, DueTimers.endOfLongestSleep(now));
    }

    private void wakeUp() {
        isUncalled = !wakesUp();
        Thread.interrupted(); // whatever has set the flag: with it every park would return at once
        hasSlept = true;
        hasRun = false;
    }
}
