package io.pendula.internal.standby;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;

/**
 * Owns the queues of all workers and assigns the roles. One worker sleeps for the queues, and another takes over if the
 * first is held up.
 */
public final class Standby implements QueueOwner {
    /*
     * Roles
     *
     * A timed park costs more than the rest of a firing, so one worker, the poller, sleeps for all queues. It wakes up at
     * the next deadline, runs due timers, and sleeps again. A second worker, the guard, sleeps until just after the poller's
     * deadline. If a callback holds up the poller then, the guard becomes the poller. All other workers, the reserve, sleep
     * without a deadline. Any worker that is awake may run due timers of any queue (Worker has the rules).
     * If the guard wakes up at the poller's next deadline anyway, the two exchange roles. So two workers with deadlines do
     * not cost two wake-ups, and the worker that wakes up first is the poller.
     *
     * No wake-up is lost
     *
     * All queues share one gate (WakeGate). It holds the time by which a worker checks all queues without being called. A
     * thread that arms for an earlier instant sets it to AWAKE (WG-W4), then calls the poller if that sleeps, else the
     * guard (SB-A1). Only the poller lowers the gate, under this object's lock, after it has checked its role there:
     *
     *     SB-P1  before it sleeps, to the next deadline (the spacing may end the sleep later)
     *     SB-P2  before its first callback since it woke up or took the role by SB-T2, to the guard's wake-up time minus
     *            grace
     *
     * Other threads may only raise it, which at worst costs superfluous calls. The poller first writes which worker sleeps
     * until then (poller, guard, asleep, until), then publishes (WG-W1), then checks all queues (WG-R1). If a queue needs a
     * check sooner, the poller does not park, or calls the guard. At SB-P2 it skips that check if the guard wakes up and
     * checks within two graces. By the argument in WakeGate either that check finds a timer, or the arming thread moves the
     * gate. It remains to show that the call, SB-A1, reaches a worker that checks the queues. The poller, as read at SB-A1,
     *
     * 1. sleeps. It keeps its role until it is awake, because a worker takes the role only from a poller that is awake. So
     *    it is called. If it has given the role to the guard (SB-T1), in the same hold of the lock, all this applies to that
     *    worker. If that worker was already awake, it may have skipped SB-P2, having seen another poller asleep. So the old
     *    poller, now the guard, sleeps for GRACE only.
     * 2. is awake, before its first callback. It will execute SB-P1 or SB-P2, and WG-R1 after that; or 5 holds.
     * 3. runs callbacks. The guard is called. It takes the role from a poller that is held up (SB-T2), as if it had just
     *    woken up: see 2. Otherwise it sleeps for GRACE (SB-G1) and checks again. It sleeps longer only after it has seen
     *    the poller asleep, under the lock. The next SB-P2 reads the end of that sleep, under the lock. A guard that begins
     *    a callback appoints a guard from the reserve if the poller is awake. Otherwise the poller does so when it begins a
     *    callback. If the reserve is empty, all workers are awake: the gate stays unchanged, and each checks before it
     *    sleeps.
     * 4. has lost the role, perhaps without having noticed. It does not change the gate: SB-P1 and SB-P2 check the role.
     *    Like any helper it may drain and claim, because each arming thread reads the gate after its push.
     * 5. leaves a queue to a loaded worker (see Worker). If a worker is loaded when the poller goes to sleep (SB-L1), that
     *    worker becomes the poller, and the old one the guard, for GRACE. So the gate may say AWAKE. The new poller is
     *    awake, and publishes before it sleeps, because it reads its role under the lock (see 2). If it blocks, the guard
     *    checks after GRACE. If no worker is loaded any more, WG-R1 finds the queue.
     *
     * Between WG-W4 and SB-A1 no other thread calls. If the system suspends the arming thread there, due timers of all
     * queues wait until it resumes or the poller's sleep ends. That sleep ends within a second or a spacing.
     *
     * Details
     *
     * The poller arms a ticker between two callbacks. This calls no guard (needsCall), because the poller checks again
     * before it sleeps. If its next callback blocks, the ticker waits for the guard, at most PAIR. A poller that loses its
     * role meanwhile has armed before SB-T2. Stale entries call the poller only if it sleeps: an awake poller sweeps before
     * it sleeps, and the threads that stop timers sweep, too.
     * While a timer is armed, the poller's sleep ends within a second (DueTimers.endOfLongestSleep) or a spacing. The
     * guard's sleep ends a second later. By then the guard is the poller, unless a timer was due in between.
     * If a thread cannot be started, the gate says NEVER, so the next arming tries again. A worker without a thread sleeps
     * forever, and counts as free. If it is the poller, SB-A1 also calls the guard, which runs due timers and calls the
     * poller each second.
     * The spacing limits sleeps, not spins: a poller that has run something sleeps until the spacing has passed since it
     * woke up. So dense timers run in groups, and sparse timers run with microsecond accuracy.
     * This object's lock is held while a worker goes to sleep, changes its role or publishes. It is never taken under a
     * queue's lock, and no other lock is taken under it.
     */

    /** The approximate lateness of a timer if the callback before it blocks. */
    public static final long GRACE_NANOS = 250_000;
    /** If two timers are due within GRACE and the first blocks, the second is at most this late. */
    public static final long PAIR_NANOS = 14_000_000;
    /** The shortest sleep of a poller, unless the spacing is shorter. A park takes about as long. */
    private static final long MIN_SLEEP_NANOS = 50_000;
    /** If callbacks take longer than this on average, the guard wakes up sooner. */
    private static final long LONG_NANOS = 50_000;
    /** The delay of the guard behind the poller in that case. */
    private static final long SHORT_GRACE_NANOS = 20_000;
    /** The two exchange roles if the guard wakes up within this of the poller. */
    private static final long SLACK_NANOS = 20_000;

    /** Changed only by tests. */
    public TimerQueue[] queues;
    private final WakeGate gate;
    private final long spacing;
    /** At least the spacing, because timers may be late by that anyway. */
    private final long grace;
    /** All workers. Copied at each change. */
    private volatile Sleeper[] sleepers = {};
    private volatile Sleeper poller;
    /** Null if there is none. It may be awake and run another queue. */
    private volatile Sleeper guard;

    // Under this object's monitor.
    /** The last wake-up of a thread that found something to run. */
    private long lastWake;

    /** All {@code queues} share the {@code gate}. */
    public Standby(TimerQueue[] queues, WakeGate gate, long spacing) {
        this.queues = queues;
        this.gate = gate;
        this.spacing = spacing;
        this.grace = Math.max(GRACE_NANOS, spacing);
        this.lastWake = -spacing; // nothing has run, so the first sleep needs no spacing
    }

    public Sleeper[] sleepers() {
        return sleepers;
    }

    /** Callers serialize the changes. */
    public void knows(Sleeper... all) {
        sleepers = all;
    }

    public Sleeper poller() {
        return poller;
    }

    public Sleeper guard() {
        return guard;
    }

    /** Called before any thread has started. */
    public synchronized void begin(Sleeper poller, Sleeper guard) {
        this.poller = poller;
        this.guard = guard;
        gate.setOwner(this);
        publish(poller.asleep ? Timeline.NEVER : WakeGate.AWAKE);
    }

    // ---- threads that arm ----

    /** False if the poller arms between two callbacks, or if only a sweep is needed and the poller is awake. */
    @Override
    public boolean needsCall(long when) {
        Sleeper p = poller;
        return p.asleep || when > WakeGate.SWEEP && !p.isBetweenCallbacks();
    }

    @Override
    public void call() {
        Sleeper p = poller; // SB-A1
        if (p.asleep && p.call()) {
            return;
        }
        Sleeper g = guard; // the poller is awake, or its thread could not be started
        if (g != null && g.asleep) {
            g.call();
        }
    }

    // ---- workers that run callbacks ----

    /** The guard if it sleeps and is not {@code d}; else null. A hint without the lock. */
    public Sleeper guardAsleep(Sleeper d) {
        Sleeper g = guard;
        return g != null && g != d && g.asleep ? g : null;
    }

    /**
     * Called before a worker's first callback since it woke up or took the role by SB-T2. False if no other worker sleeps
     * for the queues and none can: the reserve is empty, or its thread could not be started.
     */
    public boolean ensureGuard(Sleeper me, TimerQueue own, long now) {
        Sleeper p = poller;
        if (p != me && p.asleep) {
            return true;
        }
        Sleeper g;
        boolean isNew;
        boolean polls;
        long late;
        long from = Timeline.plus(now, shortGrace());
        synchronized (this) {
            g = guardAsleep(me);
            isNew = g == null;
            g = isNew ? newGuard(me) : g;
            if (g == null) {
                return false;
            }
            polls = poller == me;
            late = g.until - grace;
            if (polls && late > now) { // else timers armed from now on need no call
                publish(late); // SB-P2
            }
        }
        boolean isInTime = polls ? late <= from || earliestFrom(own, now, from) >= late : !isNew;
        return isInTime || g.call();
    }

    /** Called before each further callback: in close pairs the guard may sleep past timers that are due by now. */
    public void callIfTooLate(Sleeper me, TimerQueue own, long now) {
        Sleeper g = poller == me ? guardAsleep(me) : null; // else the new poller has published when the guard checks
        long from = Timeline.plus(now, shortGrace());
        if (g != null && g.until - grace > from && earliestFrom(own, now, from) < g.until - grace) {
            g.call();
        }
    }

    /** The delay after which the guard checks for timers that a callback beginning now would delay. */
    private long shortGrace() {
        Sleeper p = poller;
        return grace == GRACE_NANOS && p.took > LONG_NANOS ? SHORT_GRACE_NANOS : grace;
    }

    /**
     * The earliest deadline, but at least {@code from}. Does not wake up for a timer of {@code own} that is due between now
     * and {@code from}; otherwise every close pair would cost a wake-up.
     */
    private long earliestFrom(TimerQueue own, long now, long from) {
        long earliest = Timeline.NEVER;
        for (TimerQueue q : queues) {
            long next = q.due.lookAt();
            if (q == own && next > now && next < from) {
                next = Math.min(q.due.earliestFrom(from), now + PAIR_NANOS);
            }
            earliest = Math.min(earliest, Math.max(from, next));
        }
        return earliest;
    }

    /**
     * Whether the guard checks the calling poller: it was called, wakes up by {@code by}, or is awake and has begun no
     * callback.
     */
    public boolean isLookedAfter(Sleeper me, long by) {
        Sleeper g = guard;
        return poller == me && g != null && (g.asleep ? g.isComing() || g.until <= by : !g.hasBegun);
    }

    /** Called by a worker that is behind with its timers. */
    public void callHelper(Sleeper me) {
        Sleeper g = guardAsleep(me);
        Sleeper helper = g != null && !g.isTemporary ? g : reserve(me); // which finds permanent workers before spare ones
        if (helper != null && !helper.isTemporary && !helper.isComing()) {
            helper.call();
        }
    }

    /** Called by a worker that is behind with the timers of another worker's home. */
    public void callOwner(TimerQueue q) {
        Sleeper d = ownerOf(q);
        if (d != null && d.asleep && !d.isComing()) {
            d.call();
        }
    }

    /** The worker that has this queue as its home, or null. */
    private Sleeper ownerOf(TimerQueue q) {
        for (Sleeper d : sleepers) {
            if (d.home == q) {
                return d;
            }
        }
        return null;
    }

    /** A hint: whether the queue's own worker runs its due timers, so that others need not. */
    public boolean isServed(TimerQueue q, long now) {
        Sleeper d = ownerOf(q);
        return d != null && d.isLoaded && d.getsOn(now);
    }

    /** A sleeping worker that is neither poller nor guard, or null. */
    private Sleeper reserve(Sleeper me) {
        for (Sleeper d : sleepers) {
            if (d != me && d != poller && d != guard && d.asleep) {
                return d;
            }
        }
        return null;
    }

    /**
     * Called if no guard sleeps. Appoints one from the reserve, or returns null. The caller must call it, so that it plans
     * its sleep.
     */
    private Sleeper newGuard(Sleeper me) {
        assert Thread.holdsLock(this);
        guard = reserve(me);
        return guard;
    }

    // ---- workers that go to sleep ----

    /**
     * The time of the poller's next check; RETRY if there is more to do. Skips queues that others run. Files arrivals only
     * where they are due before the filed timers, and before the result so far.
     *
     * @param looks at every queue, which happens once a second: plans sweeps also for queues that others run
     */
    public long settle(Sleeper by, long now, boolean looks) {
        long next = DueTimers.endOfLongestSleep(now);
        boolean isArmed = false;
        for (TimerQueue q : queues) {
            long when = q.due.lookAt();
            if (!looks && when <= now && q != by.home && isServed(q, now)) {
                continue; // see 5
            }
            if (looks || when <= now || when < next && when < q.due.nextWhen()
                    || when == Timeline.NEVER && q.due.hasLeftovers()) {
                Throwable shortage = q.due.takeShortage();
                if (shortage != null) {
                    by.tell(shortage);
                }
                when = q.due.settle(now);
                if (when == DueTimers.RETRY) {
                    return when;
                }
            }
            isArmed |= when != Timeline.NEVER;
            next = Math.min(next, when);
        }
        return isArmed ? next : Timeline.NEVER;
    }

    /**
     * Called by a worker that has found nothing to do. False if it must make another round because its role has changed.
     * Otherwise other threads now see it as asleep until {@code d.until}.
     *
     * @param polls whether it was the poller at the beginning of its round
     * @param next as poller: the time of its next check
     * @param firedAt when it woke up, if it has run something since; else 0
     */
    public boolean goToSleep(Sleeper d, boolean polls, long next, long now, long firedAt) {
        Sleeper called;
        synchronized (this) {
            lastWake = firedAt == 0 ? lastWake : Math.max(lastWake, firedAt);
            Sleeper p = poller;
            if (p == d && !polls) {
                return false;
            }
            if (p == d) {
                called = sleepAsPoller(d, next, now);
            } else if (!p.asleep && p.isHeldUp(d, now)) {
                poller = d; // SB-T2
                d.hasBegun = false;
                called = guardAsleep(d) == null ? newGuard(d) : null;
            } else {
                called = sleepBehind(d, p, now);
            }
        }
        if (called != null) {
            called.call();
        }
        return d.asleep;
    }

    /** Returns the worker to call, or null. */
    private Sleeper sleepAsPoller(Sleeper d, long next, long now) {
        Sleeper loaded = loaded(d, now); // SB-L1
        if (loaded != null) {
            poller = loaded;
            guard = d;
            d.sleeps(now + GRACE_NANOS);
            publish(WakeGate.AWAKE);
            return null;
        }
        long target = next;
        if (next != Timeline.NEVER && spacing > 0) {
            long min = Math.min(spacing, MIN_SLEEP_NANOS);
            target = Math.max(next, Math.max(Timeline.plus(lastWake, spacing), Timeline.plus(now, min)));
        }
        Sleeper g = guardAsleep(d);
        boolean handsBack = g != null && d.isTemporary && !g.isTemporary;
        long u = g == null ? Timeline.NEVER : g.until;
        boolean isNear = g != null && (d.isTemporary || !g.isTemporary) // a spare worker takes over only from a callback
                && next != Timeline.NEVER && now < u && u >= next - SLACK_NANOS // else the guard wakes up for nothing
                && u <= target + (target > next ? spacing / 2 : SLACK_NANOS);
        boolean givesRole = isNear || handsBack;
        Sleeper called = null;
        if (givesRole) {
            poller = g; // SB-T1
            guard = d;
            d.sleeps(behind(u));
            if (!isNear || !g.asleep) {
                d.until = Math.min(d.until, now + GRACE_NANOS); // see 1
            }
        } else {
            d.sleeps(target);
            called = g == null ? newGuard(d) : null;
        }
        publish(next); // SB-P1
        return givesRole && (!isNear || needsLookBefore(next)) ? g : called;
    }

    /**
     * See "No wake-up is lost": the caller is the poller and has written which worker sleeps until then, or it raises the
     * gate.
     */
    private void publish(long lookAt) {
        assert Thread.holdsLock(this);
        gate.set(lookAt);
    }

    /** A loaded worker other than {@code but} that is not held up, or null. */
    private Sleeper loaded(Sleeper but, long now) {
        assert Thread.holdsLock(this);
        for (Sleeper d : sleepers) {
            if (d != but && d.isLoaded && d.getsOn(now)) {
                return d;
            }
        }
        return null;
    }

    /** Returns the worker to call, or null. */
    private Sleeper sleepBehind(Sleeper d, Sleeper p, long now) {
        assert Thread.holdsLock(this);
        d.sleeps(Timeline.NEVER);
        Sleeper g = guardAsleep(d);
        if (g != null && (d.isTemporary || !g.isTemporary)) {
            return null; // in reserve
        }
        guard = d;
        if (!p.asleep) {
            d.until = now + GRACE_NANOS; // SB-G1
            return null;
        }
        if (p.until != Timeline.NEVER) {
            long u = behind(p.until);
            d.until = u > now ? u : now + GRACE_NANOS;
            return null;
        }
        if (!isAnythingBefore(Timeline.NEVER)) {
            return null;
        }
        d.until = DueTimers.endOfLongestSleep(now); // the poller's thread could not be started, so call it again
        return p;
    }

    /**
     * The end of the sleep of a guard behind a poller that sleeps until {@code target}. It is the next timer due after
     * that, or the end of the longest sleep that can follow. So a scheduler with nothing to run for seconds wakes up one
     * thread a second, in turn.
     */
    private long behind(long target) {
        long from = Timeline.plus(target, shortGrace());
        long earliest = Math.max(from, DueTimers.endOfLongestSleep(target));
        for (TimerQueue q : queues) {
            earliest = Math.min(earliest, q.due.earliestFrom(from));
            long arrived = q.due.arrivals();
            earliest = arrived < from ? earliest : Math.min(earliest, arrived);
        }
        return earliest;
    }

    /** Whether a timer needs a check of its queue before {@code next}. */
    public boolean isAnythingBefore(long next) {
        for (TimerQueue q : queues) {
            if (q.due.lookAt() < next) {
                return true;
            }
        }
        return false;
    }

    /** As {@code isAnythingBefore}, but also true if a sweep is needed. */
    public boolean needsLookBefore(long next) {
        for (TimerQueue q : queues) {
            if (q.due.needsLookBefore(next)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Called before a spare worker ends. False if the worker is needed: it polls, or the poller is awake or has no thread.
     */
    public synchronized boolean leave(Sleeper d) {
        if (poller == d || !poller.asleep || poller.runner() == null && isAnythingBefore(Timeline.NEVER)) {
            return false;
        }
        if (guard == d) {
            guard = null; // the poller finds another guard before its next callback, or WorkerPool.ended starts one
        }
        return true;
    }

    /** A thread could not be started, so the next arming must try again. At worst some calls are superfluous. */
    public synchronized void startFailed() {
        publish(Timeline.NEVER);
    }
}
