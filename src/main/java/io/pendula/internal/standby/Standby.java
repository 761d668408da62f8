package io.pendula.internal.standby;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;

/**
 * Owns the queues of all workers, and assigns roles to the workers: one sleeps for the queues, one takes over if that
 * worker is held up.
 */
public final class Standby implements QueueOwner {
    /*
     * Roles
     *
     * A timed park costs more than all the rest of a firing, so one worker sleeps for all queues: the poller. It wakes up at
     * the next deadline, runs what is due, and sleeps again. A second worker, the guard, sleeps until just after the poller's
     * deadline. If a callback holds up the poller then, the guard becomes the poller. All other workers, the reserve, sleep
     * without a deadline. Any worker that is awake may run due timers of any queue (Worker says when).
     * If the guard wakes up at the poller's next deadline anyway, the poller gives it the role and becomes the guard. So two
     * workers with deadlines do not cost two wake-ups, and the worker that wakes up first is the poller.
     *
     * No wake-up is lost
     *
     * All queues have one gate (WakeGate). It says by when a worker looks at all queues without being called. A thread that
     * arms for an earlier instant moves it to AWAKE (WG-W4), then calls the poller if that sleeps, else the guard (SB-A1).
     * Only the poller lowers the gate, under this object's lock, where it has checked its role:
     *
     *     SB-P1  before it sleeps: the next deadline (the spacing may end the sleep later)
     *     SB-P2  before its first callback since it woke up or became the poller: when the guard wakes up, less the grace
     *
     * Any other thread may raise it: that costs calls at worst. The poller first says who sleeps until then (poller, guard,
     * asleep, until), then publishes (WG-W1), then looks at all queues (WG-R1). If one needs a look sooner, the poller does
     * not park, or calls the guard. At SB-P2 it does not look if the guard wakes up within two graces, and looks then. By the argument in WakeGate either
     * that look finds a timer, or the thread that arms it moves the gate. So it remains to show that the call, SB-A1, reaches
     * a worker that looks. The poller, as SB-A1 sees it,
     *
     * 1. sleeps. It keeps its role until it is awake, since a worker takes the role only from a poller that is awake. So it
     *    is called. If it has given the role to the guard (SB-T1), in the same hold of the lock, all this applies to that
     *    worker. If that was awake by then it may have passed over SB-P2, as it had found another poller asleep. So the old
     *    poller, now the guard, sleeps for GRACE only.
     * 2. is awake, before its first callback. It comes to SB-P1 or SB-P2, and to WG-R1 after that.
     * 3. runs callbacks. The guard is called. It takes the role from a poller that is held up (SB-T2), as if it had just
     *    woken up: see 2. Else it sleeps for GRACE (SB-G1) and looks again. It sleeps for longer only after it has seen the
     *    poller asleep, under the lock, and the next SB-P2 reads until when, under the lock. A guard that begins a
     *    callback names a guard from the reserve if the poller is awake; else the poller does so when it begins one. If
     *    there is none, all workers are awake: the gate stays as it is, and each looks before it sleeps.
     * 4. has lost the role, which it may learn late. It has no effect on the gate: SB-P1 and SB-P2 check the role. Like any
     *    helper it may drain and claim, as each thread that arms reads the gate after its push.
     * 5. leaves a queue to a worker that is loaded (see Worker). If a worker is loaded when the poller goes to sleep (SB-L1),
     *    that becomes the poller, and the old one the guard, for GRACE. So the gate may say AWAKE: the new poller is awake,
     *    and publishes before it sleeps, as it finds its role under the lock (see 2); or it blocks, and the guard looks after
     *    GRACE. If no worker is loaded any more, WG-R1 finds the queue.
     *
     * Between WG-W4 and SB-A1 no other thread calls. If the system stops the arming thread there, due timers of all queues
     * wait until it goes on, or until the poller's sleep ends, which is within a second.
     *
     * Details
     *
     * A ticker is armed by the poller between two callbacks. That calls no guard (needsCall), as the poller looks again
     * before it sleeps. If its next callback blocks, the ticker waits for the guard, PAIR at most. A poller that loses its
     * role meanwhile has armed before SB-T2. Stale entries call the poller only if it sleeps: if it is awake it sweeps
     * before it sleeps, and the threads that stop timers sweep, too.
     * While anything is armed the poller's sleep ends within a second (DueTimers.endOfLongestSleep). So does the guard's, a
     * second later: by then it is the poller, unless a timer was due in between.
     * If a thread cannot be started, the gate says NEVER, so the next thread that arms tries again. A worker without a thread
     * sleeps for ever, and counts as free. If it is the poller, SB-A1 calls the guard, too, which runs what is due and calls
     * the poller each second.
     * The spacing rations sleeps, not spins: a poller that has run something sleeps until the spacing has passed since it
     * woke up. Then a dense series of timers is run in groups, and a sparse one to the microsecond.
     * This object's lock is held while a worker goes to sleep, changes its role or publishes. It is never taken under a
     * queue's lock, and no other lock is taken under it.
     */

    /** How late a timer is, about, if the callback before it blocks. */
    public static final long GRACE_NANOS = 250_000;
    /** Behind a poller that runs one of two timers within GRACE the guard wakes up so much later at the latest. */
    public static final long PAIR_NANOS = 14_000_000;
    /** The shortest sleep of a poller, as a park takes as much. Shorter only if the spacing is. */
    private static final long MIN_SLEEP_NANOS = 50_000;
    /** Callbacks that take longer than this on average keep the poller from what is due behind them. */
    private static final long LONG_NANOS = 50_000;
    /** How far behind a poller whose callbacks take long the guard wakes up. */
    private static final long SHORT_GRACE_NANOS = 20_000;
    /** A guard that wakes up this much later than the poller would may become poller in its place. */
    private static final long SLACK_NANOS = 20_000;

    /** Never changes, but in tests. */
    public TimerQueue[] queues;
    private final WakeGate gate;
    private final long spacing;
    /** With a wider spacing nothing is in time that comes sooner than that, so the guard need not be either. */
    private final long grace;
    /** All workers. Copied at each change. */
    private volatile Sleeper[] sleepers = {};
    private volatile Sleeper poller;
    /** Null if there is none. It may be up, and somewhere else. */
    private volatile Sleeper guard;

    // Under this object's monitor.
    /** When the thread woke up that has last found something to run. */
    private long lastWake;

    /** {@code gate} of all these queues. */
    public Standby(TimerQueue[] queues, WakeGate gate, long spacing) {
        this.queues = queues;
        this.gate = gate;
        this.spacing = spacing;
        this.grace = Math.max(GRACE_NANOS, spacing);
        this.lastWake = -spacing; // nothing has run, so nothing is to be spaced
    }

    public Sleeper[] sleepers() {
        return sleepers;
    }

    /** The caller orders the changes. */
    public void knows(Sleeper... all) {
        sleepers = all;
    }

    public Sleeper poller() {
        return poller;
    }

    public Sleeper guard() {
        return guard;
    }

    /** Before any thread has started. */
    public synchronized void begin(Sleeper poller, Sleeper guard) {
        this.poller = poller;
        this.guard = guard;
        gate.setOwner(this);
        publish(poller.asleep ? Timeline.NEVER : WakeGate.AWAKE);
    }

    // ---- threads that arm ----

    /** Not if the poller arms between two callbacks; and one that is up sweeps before it sleeps. */
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
     * A worker is about to run its first callback since it woke up, or became poller. False if no other worker sleeps for
     * the queues, and none in reserve can: there is none, or its thread could not be started.
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
            if (polls && late > now) { // else nothing that is armed from now on needs a call
                publish(late); // SB-P2
            }
        }
        boolean isInTime = polls ? late <= from || earliestFrom(own, now, from) >= late : !isNew;
        return isInTime || g.call();
    }

    /** A worker is about to run a further callback: the guard may sleep beyond what is due by now in close pairs. */
    public void callIfTooLate(Sleeper me, TimerQueue own, long now) {
        Sleeper g = poller == me ? guardAsleep(me) : null; // else the new poller has said when the guard looks
        long from = Timeline.plus(now, shortGrace());
        if (g != null && g.until - grace > from && earliestFrom(own, now, from) < g.until - grace) {
            g.call();
        }
    }

    /** From when on the guard looks for timers that a callback which begins now would delay. */
    private long shortGrace() {
        Sleeper p = poller;
        return grace == GRACE_NANOS && p.took > LONG_NANOS ? SHORT_GRACE_NANOS : grace;
    }

    /**
     * What is due soonest, but not before {@code from}. What is due in the own queue before that, and not yet, waits: else
     * each close pair would cost a wake-up.
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

    /** The guard was called, or wakes up by then, or is up and has begun no callback: it looks at the poller that calls this. */
    public boolean isLookedAfter(Sleeper me, long by) {
        Sleeper g = guard;
        return poller == me && g != null && (g.asleep ? g.isComing() || g.until <= by : !g.hasBegun);
    }

    /** The calling worker is behind with its timers. */
    public void callHelper(Sleeper me) {
        Sleeper g = guardAsleep(me);
        Sleeper helper = g != null && !g.isTemporary ? g : reserve(me); // which finds those that stay before the others
        if (helper != null && !helper.isTemporary && !helper.isComing()) {
            helper.call();
        }
    }

    /** The calling worker is behind with the timers of a queue at which another is at home. */
    public void callOwner(TimerQueue q) {
        Sleeper d = ownerOf(q);
        if (d != null && d.asleep && !d.isComing()) {
            d.call();
        }
    }

    /** The worker that is at home there, or null. */
    private Sleeper ownerOf(TimerQueue q) {
        for (Sleeper d : sleepers) {
            if (d.home == q) {
                return d;
            }
        }
        return null;
    }

    /** A hint: whether a queue's own worker runs what is due there, so that no other need do that. */
    public boolean isServed(TimerQueue q, long now) {
        Sleeper d = ownerOf(q);
        return d != null && d.isLoaded && d.getsOn(now);
    }

    /** One that sleeps and is neither poller nor guard; or null. */
    private Sleeper reserve(Sleeper me) {
        for (Sleeper d : sleepers) {
            if (d != me && d != poller && d != guard && d.asleep) {
                return d;
            }
        }
        return null;
    }

    /** No guard sleeps: one in reserve becomes it, and is to be called, so that it plans anew. Null if there is none. */
    private Sleeper newGuard(Sleeper me) {
        assert Thread.holdsLock(this);
        guard = reserve(me);
        return guard;
    }

    // ---- workers that go to sleep ----

    /**
     * When the poller must look next; RETRY if there is more to do. Leaves out queues that others run. What has arrived is
     * filed only where it is due before what is filed, and before all that the queues seen so far need.
     *
     * @param looks at each queue, which is once a second: sweeps are planned for those that others run, too
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
     * A worker has found nothing to do. False if it must make another round, as its role has changed; else it is asleep
     * now, for all that others know, until {@code d.until}.
     *
     * @param polls whether it was the poller at the beginning of its round
     * @param next as poller: when it must look next
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

    /** Returns which worker to call. */
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
        boolean isNear = g != null && (d.isTemporary || !g.isTemporary) // a spare one takes over from a callback alone
                && next != Timeline.NEVER && now < u && u >= next - SLACK_NANOS // else it wakes up in vain
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

    /** See "No wake-up is lost": the caller is the poller, and has said who sleeps until then; or it raises the gate. */
    private void publish(long lookAt) {
        assert Thread.holdsLock(this);
        gate.set(lookAt);
    }

    /** One that is loaded and gets on, and not that one; or null. */
    private Sleeper loaded(Sleeper but, long now) {
        assert Thread.holdsLock(this);
        for (Sleeper d : sleepers) {
            if (d != but && d.isLoaded && d.getsOn(now)) {
                return d;
            }
        }
        return null;
    }

    /** Returns whom to call. */
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
        d.until = DueTimers.endOfLongestSleep(now); // the poller's thread could not be started: it is called again
        return p;
    }

    /**
     * Until when a guard sleeps behind a poller that sleeps until {@code target}: up to the next timer that is due then, or
     * the end of the longest sleep that can follow. So a scheduler that has nothing to run for seconds wakes up one
     * thread a second, each in turn.
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

    /** Whether a worker must look at a queue before {@code next}, as far as timers go. */
    public boolean isAnythingBefore(long next) {
        for (TimerQueue q : queues) {
            if (q.due.lookAt() < next) {
                return true;
            }
        }
        return false;
    }

    /** The same, and whether it must sweep there. */
    public boolean needsLookBefore(long next) {
        for (TimerQueue q : queues) {
            if (q.due.needsLookBefore(next)) {
                return true;
            }
        }
        return false;
    }

    /** A spare worker would end; false if it is needed still: it polls, or the poller is up or has no thread. */
    public synchronized boolean leave(Sleeper d) {
        if (poller == d || !poller.asleep || poller.runner() == null && isAnythingBefore(Timeline.NEVER)) {
            return false;
        }
        if (guard == d) {
            guard = null; // the poller finds another before its next callback, or WorkerPool.ended starts one
        }
        return true;
    }

    /** A thread could not be started, so the next thread that arms a timer must try again. At worst some call in vain. */
    public synchronized void startFailed() {
        publish(Timeline.NEVER);
    }
}
