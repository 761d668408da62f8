package io.pendula;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/** A worker thread: runs due timers inline, and sleeps in the role that {@link Standby} gives it. */
final class Worker extends Firing implements Runnable {
    /*
     * Each round has three steps:
     *   1. run what is due: in the workers' queues, and in those of loops that are behind,
     *   2. as poller: publish in each gate until when to sleep, and sweep stale entries if there are many,
     *   3. sleep.
     * A queue whose gate says a later instant is not touched otherwise, since cold cache lines are what a round costs.
     * A worker that has run something starts over, unless it is in the poller's way (Sharing).
     *
     * One due timer at a time is claimed under the queue's lock and run outside it: a batch would hide the rest of it
     * from helpers if one callback blocks. After BATCH callbacks of a queue the others have their turn. Callbacks may
     * block, so what a helper takes has its turn for BATCH_NANOS only: after each callback it reads the clock.
     */

    /** So many callbacks of one queue run before the other queues are looked at. */
    static final int BATCH = 64;
    /** A batch that others may have to wait for ends when it has taken so long. */
    static final long BATCH_NANOS = 1_000_000;

    static final long SPARE_IDLE_NANOS = 5_000_000_000L;
    /** A timer that is due so long before the end of a sleep was forgotten. */
    static final long OVERDUE_NANOS = 100_000_000;
    private static final long AFTER_FAILURE_NANOS = 1_000_000;
    /** A poller reads the clock after so many callbacks, to end its batch in time. */
    static final int CLOCK_EACH = 8;
    /** A poller that has been in one callback for so long is held up. */
    static final long HELD_UP_NANOS = 200_000;
    /** And for a spare worker: several in a row must not start one after the other behind callbacks that are long. */
    static final long STUCK_NANOS = 1_000_000;

    private static final VarHandle PULSE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "pulse",
            VarHandle.class, Worker.class, int.class);

    final Engine engine;
    private final WorkerPool workerPool;
    private final TimerQueue home;
    /** A spare one: it runs timers only as poller, when that is held up, and ends when it has had nothing to do for long. */
    final boolean isTemporary;
    private boolean isUsed;
    private final Standby standby;
    private final Parker parker;
    private final Seat seat;
    /** What it knows for itself; of the poller's, the others read what a timer takes. */
    final Sharing sharing;

    /** Odd while a callback runs inline. */
    private int pulse;
    private long idleSince;

    /** It has run a callback since it woke up: it sets this, then looks at the others, so the last one sees all. */
    volatile boolean hasBegun;
    /** True from before the park to after it. */
    volatile boolean asleep;
    /** While asleep: until when, at most. */
    volatile long until;
    /** Another thread wants it to make a round. */
    private volatile boolean called;

    // Of Standby, under its monitor.
    /** When it woke up, if it has run something since; else 0. */
    long firedAt;
    /** How many callbacks it has run since. */
    int runs;

    // Of its thread alone.
    private long wokeAt;
    private boolean hasRun;
    /** The kernel may wake the thread late. */
    private boolean isSlack;
    /** In the first round after a sleep that has ended by itself. */
    private boolean isUncalled;
    /** When it looks next, as poller, at all queues. */
    private long nextLook;

    // The monitor's own notes about this worker.
    int seenPulse;
    long seenAt;
    boolean stallReported;

    /** {@code temporary}: it ends when it has had nothing to do for some seconds. */
    Worker(WorkerPool workerPool, Standby standby, TimerQueue home, boolean temporary) {
        this.engine = workerPool.engine;
        this.workerPool = workerPool;
        this.home = home;
        this.isTemporary = temporary;
        this.standby = standby;
        this.nextLook = DueTimers.endOfLongestSleep(engine.timeline.now());
        this.parker = new Parker(engine.timeline, engine.options.spacingNanos == 0);
        this.sharing = new Sharing(engine.workers());
        this.seat = new Seat(workerPool, this, endsWhenIdle() ? "worker-" + home.index : null);
    }

    /** A spare one ends by itself, and for good. */
    private boolean endsWhenIdle() {
        return engine.endsWhenIdle() && !isTemporary;
    }

    void setThread(Thread thread) {
        seat.take(thread);
    }

    @Override
    public Thread runner() {
        return seat.thread();
    }

    TimerQueue home() {
        return home;
    }

    /** Makes it do another round before it sleeps again. The caller holds no lock. */
    void call() {
        called = true; // before the look at the seat, and before the permit
        if (!seat.wake()) {
            standby.sleepOn(this);
        }
    }

    /** Under the monitor of Standby: all threads that look from now on take it to sleep. */
    void sleeps(long until) {
        this.until = until;
        this.asleep = true;
    }

    int pulseOpaque() {
        return (int) PULSE.getOpaque(this);
    }

    boolean isInCallback() {
        return (pulseOpaque() & 1) != 0;
    }

    /** Whether the calling thread is this one, and in no callback: it drains what it arms before it begins the next. */
    boolean isBetweenCallbacks() {
        return !isInCallback() && seat.thread() == Thread.currentThread();
    }

    /** A hint: claimedAt is not of the instant when the callback began, and may be another's by now. */
    boolean isHeldUp(Worker forWhom, long now) {
        return isInCallback() && now - claimedAt > (forWhom.isTemporary ? STUCK_NANOS : HELD_UP_NANOS);
    }

    @Override
    public void run() {
        try {
            boolean prepared = false;
            boolean stays = seat.isMine();
            while (stays && !engine.isClosed()) {
                try {
                    if (!prepared) {
                        prepared = true;
                        isSlack = true;
                        if (endsWhenIdle()) {
                            wakeUp(); // as at the end of each sleep
                        }
                    }
                    stays = round();
                } catch (Throwable e) {
                    recover(e);
                }
            }
        } finally {
            if (seat.isMine()) {
                workerPool.ended(this);
            } else {
                workerPool.left(Thread.currentThread()); // the worker may have another thread by now
            }
        }
    }

    /** Callbacks are caught elsewhere, so memory is short, or the stack, or the clock has thrown. */
    private void recover(Throwable e) {
        try {
            asleep = false;
            Reporter.uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
        } catch (Throwable again) {
            return; // the next round is the next attempt
        }
    }

    /** False if this thread must end: it was started for a while, or it has left its seat. */
    private boolean round() {
        boolean polls = standby.isPoller(this);
        long now = engine.timeline.now();
        if (isTemporary && isSuperfluous(now) && standby.leave(this)) {
            return false;
        }
        boolean ran = (polls || !isTemporary) && runDue(polls, polls && isTimeToLook(now), now);
        isUncalled = false;
        hasRun |= ran;
        if (ran && !polls && helpsOn()) {
            return true;
        }
        long next = polls ? publish(now) : Timeline.NEVER;
        if (ran) {
            now = engine.timeline.now();
            idleSince = now; // it may have run for long
        }
        if (next <= now || polls && sweep(next)) { // RETRY is below every instant
            return true;
        }
        return sleep(polls, next, now);
    }

    /** Once a second, when the cap ends its sleep. */
    private boolean isTimeToLook(long now) {
        if (now < nextLook) {
            return false;
        }
        nextLook = DueTimers.endOfLongestSleep(now);
        return true;
    }

    /** {@code looks}: at each queue, whatever its gate says, as a wake-up may have been lost there. */
    private boolean runDue(boolean polls, boolean looks, long now) {
        boolean ran = false;
        TimerQueue[] queues = engine.queues;
        int first = home == null ? 0 : home.index;
        for (int i = 0; i < queues.length; i++) {
            TimerQueue q = queues[first + i < queues.length ? first + i : first + i - queues.length];
            if (q.gate.owner() == standby && (looks || q.gate.pollUntil() <= now) && !(ran && isServed(q))) {
                ran |= polls ? poll(q, now) : help(q, now);
            }
        }
        return ran;
    }

    /** Whether another worker's own queue needs nothing of this one, which has other work: that worker gets on. */
    private boolean isServed(TimerQueue q) {
        Worker d = workerPool.workerAt(q);
        return d != null && d != this && !d.asleep && sharing.hasGotOn(q.index, d.pulseOpaque());
    }

    /** As helper, when it has run what was due: whether to make another round. */
    private boolean helpsOn() {
        Worker p = standby.poller();
        return p == this || p.asleep || sharing.pays(p.sharing, runs, p.pulseOpaque(), engine.timeline.now());
    }

    /** As poller: runs due timers of a queue, up to a bound, also in time if others wait for it; true if any. */
    private boolean poll(TimerQueue q, long began) {
        long now = began;
        long slept = plannedSleep(q);
        boolean fresh = true;
        boolean again = false;
        for (int ran = 0; ran < BATCH && !engine.isClosed(); ) { // a closing thread waits for the lock
            // What others push after a reading of the clock is due then or later, so it can wait for the next reading.
            long helpBefore = fresh ? standby.helpBefore(this) : WakeGate.NO_HELP; // read by a fresh step only
            int step = q.due.pollOne(standby, this, now, fresh || again, fresh, helpBefore);
            if (step == DueTimers.CLAIMED) {
                if (ran == 0 && now - deadline >= OVERDUE_NANOS && slept - deadline >= OVERDUE_NANOS) {
                    workerPool.countOverdueWake(); // before the callback, which finds itself counted
                }
                callOthers(q, now);
                if (fresh && hasBegun) { // else runClaimed looks
                    standby.callIfTooLate(this, q, now);
                }
                again = runClaimed();
                ran++;
                fresh = false;
                if (ran % CLOCK_EACH == 0 || sharing.areLong() || !isOtherLooking()) {
                    long read = engine.timeline.now();
                    sharing.ran(ran, read - began);
                    if (ran % Sharing.WINDOW == 0 && workerPool.isOnlyOneUp(this)) {
                        sharing.ranAlone(ran, read - began, read);
                    }
                    if (read - began >= BATCH_NANOS) {
                        return true;
                    }
                    if (sharing.areLong()) { // the reading before is old, and would hide how late the next one is
                        now = read;
                        again = true;
                    }
                }
            } else if (step == DueTimers.PUBLISHED) {
                standby.published(this);
                return ran > 0;
            } else if (fresh || step == DueTimers.NOT_HERE) {
                return ran > 0;
            } else {
                now = engine.timeline.now(); // read again only when what was due at the last reading is done
                fresh = true;
            }
        }
        return true;
    }

    /** Runs what is due in a queue, without the owner's role, up to a bound; true if there was anything. */
    boolean help(TimerQueue q, long now) {
        int ran = 0;
        for (long t = now; ran < BATCH && t - now < BATCH_NANOS && !engine.isClosed();
                t = engine.timeline.now()) {
            int step = q.due.helpOne(this, t, true);
            if (step == DueTimers.CLAIMED) {
                runClaimed();
            } else if (step != DueTimers.MORE) {
                break;
            }
            ran++;
        }
        return ran > 0;
    }

    /**
     * Until when it was to sleep for a queue if no thread has called it; else 0. A timer that was due much sooner was
     * forgotten: a sleep that took too long, a clock that leaps or a callback that blocks does not change this.
     */
    private long plannedSleep(TimerQueue q) {
        long p = isUncalled ? q.gate.pollUntil() : 0;
        return p == WakeGate.AWAKE ? Timeline.NEVER : p; // a thread has set AWAKE, and not called
    }

    /** While this thread runs callbacks of one queue: whether the others can wait for a few more of them. */
    private boolean isOtherLooking() {
        return engine.queues.length == 1 || standby.isGuarded(this);
    }

    /** Before a callback, if there is more to do than this thread can. */
    private void callOthers(TimerQueue q, long now) {
        if (sharing.needsHelp(lateness(), now) && q.due.nextWhen() <= now) {
            sharing.called();
            standby.callHelper(this);
        }
    }

    /**
     * Publishes all gates that are not, and returns the earliest instant that one says; RETRY if there is more to do.
     */
    private long publish(long now) {
        long next = Timeline.NEVER;
        for (TimerQueue q : engine.queues) {
            if (q.gate.owner() != standby) {
                continue;
            }
            long p = q.gate.pollUntil();
            if (p == WakeGate.AWAKE) {
                Throwable shortage = q.due.takeShortage();
                if (shortage != null) {
                    Reporter.uncaught(shortage);
                }
                p = q.due.prepareToSleep(standby, now);
                if (p == DueTimers.RETRY) {
                    return p;
                }
                standby.published(this);
            }
            if (p != DueTimers.NOT_OWNER) {
                next = Math.min(next, p);
            }
        }
        return next;
    }

    private boolean sleep(boolean polls, long next, long now) {
        firedAt = hasRun ? wokeAt : 0;
        if (!standby.goToSleep(this, polls, next, now)) {
            return true;
        }
        boolean left = false;
        try {
            boolean ends = until == Timeline.NEVER && endsWhenIdle();
            long target = ends ? now + engine.idleNanos : until;
            if (isTemporary) {
                target = Math.min(target, now + SPARE_IDLE_NANOS);
            }
            if (isSlack) { // not before the first firing, which it would delay
                isSlack = false; // before the attempt: what fails is not tried again
                Parker.tightenSlack();
            }
            if (!isCalled(next)) {
                parker.parkUntil(target, polls ? next : target, this);
            }
            left = ends && engine.timeline.now() >= target && leave();
        } finally {
            if (!left) {
                wakeUp();
            }
        }
        return !left;
    }

    private void wakeUp() {
        hasBegun = false; // before asleep, so that it seems free throughout
        asleep = false;
        isUncalled = !called;
        called = false;
        Thread.interrupted(); // whatever has set the flag: with it every park would return at once
        wokeAt = engine.timeline.now();
        hasRun = false;
        runs = 0;
        sharing.wokeUp();
        engine.wokeUp(until, wokeAt);
    }

    /**
     * The last look before the park, after the last wait for a lock: such a wait parks, too, and may have used up the
     * permit of a waker. What a waker changes it changes before it unparks; so either its change is seen here, or its
     * permit comes after this look and ends the park. A clock of the user's may park as well, so Parker looks for a call
     * once more after it has read that.
     */
    boolean isCalled(long next) {
        return called || engine.isClosed() || standby.isPoller(this) && standby.isAnyGateBefore(next);
    }

    /** Before its thread parks, and while it spins at the end of a sleep: whether there is something else to do. */
    boolean isCalled() {
        return called;
    }

    /**
     * Nothing was armed for so long that the thread should end: true if it must. The worker stays what it is, asleep
     * for ever; Seat has the argument why no wake is lost.
     */
    private boolean leave() {
        seat.vacate();
        return !isCalled(Timeline.NEVER) || !seat.sitDownAgain(Thread.currentThread());
    }

    private boolean isSuperfluous(long now) {
        if (idleSince == 0) {
            idleSince = now;
        }
        return now - idleSince >= SPARE_IDLE_NANOS;
    }

    /**
     * Sweeps queues that have too many stale entries, as if asleep: an arming thread whose timer is due before the
     * sweep would end says so through the pollUntil of its queue, which may be another than the one that is swept.
     * False if there was nothing to sweep.
     */
    boolean sweep(long until) {
        boolean swept = false;
        for (TimerQueue q : engine.queues) {
            boolean more = q.gate.owner() == standby && q.compactor.wantsSweep();
            while (more && q.gate.owner() == standby && !isCalled(until) && engine.timeline.now() < until) {
                more = q.compactor.sweepStep();
                swept = true;
            }
        }
        return swept;
    }

    void enterCallback() {
        PULSE.setOpaque(this, pulse + 1);
    }

    void leaveCallback() {
        PULSE.setOpaque(this, pulse + 1);
    }

    /** Runs what was claimed, to its end or into the executor; true if the timer was armed again. */
    private boolean runClaimed() {
        runs++;
        try {
            return runInside() && engine.endRun(this);
        } finally {
            end();
            Thread.interrupted(); // a flag left by a callback would make every park return at once
        }
    }

    private boolean runInside() {
        enterCallback();
        try {
            if (!hasBegun) {
                hasBegun = true;
                engine.callMonitorIfIdle();
                if (isTemporary && !isUsed) {
                    isUsed = true;
                    workerPool.spareIsUsed();
                }
                if (!standby.ensureGuard(this, QueuedNode.queueOf(node()), claimedAt)) {
                    workerPool.growIfAlone(this);
                }
            } else {
                workerPool.growAgain(this);
            }
            return engine.run(this);
        } finally {
            leaveCallback(); // before the run's end, which arms a ticker again: that must not call the guard
        }
    }
}
