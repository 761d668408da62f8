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
     * A timed park costs more than all the rest of a firing, so one thread sleeps for all queues: the poller. It gets
     * up at the next deadline, runs what is due, publishes in each queue's gate until when it will sleep, and sleeps. A
     * second thread, the guard, sleeps until just behind the poller, up to the next deadline after that. If the poller
     * is in a callback then, and has been for a while, the guard becomes poller. All others, the reserve, sleep without
     * a deadline.
     * Two threads that sleep for deadlines need not cost two wake-ups. A poller that goes to sleep, and sees that the
     * guard wakes up at the next deadline anyway, makes the guard the poller and becomes the guard. So the worker that
     * wakes up first is the poller. The guard wakes up in vain only if a timer was stopped or postponed.
     * Any worker that is up may run what is due, in any queue (Worker says when); but only the poller publishes. The
     * others leave the gates as they are.
     *
     * No lost wake-up
     *
     * WakeGate has the proof for an owner that is a single thread. The owner publishes (WG-W1), drains (WG-R1), looks at
     * the gate again and parks. An arming thread pushes (WG-W2), reads the gate (WG-R2), moves it to AWAKE by a CAS and
     * unparks the owner. Here the poller stands for the owner, and workers change roles. So five things are to be shown.
     *
     * 1. A poller that sleeps is woken. It says that it is asleep (SB-S1), then looks at all gates (SB-S2), then parks.
     *    The arming thread moves the gate to AWAKE (SB-A1), then reads which worker is the poller (SB-A2), and whether
     *    that is asleep (SB-A3). All are volatile. Either SB-A1 < SB-S2, and the poller wakes up; or SB-S1 < SB-S2 <
     *    SB-A1 < SB-A3, and the arming thread unparks it.
     * 2. Roles change while the guard sleeps. Poller P makes the guard G the poller (SB-T1), then looks at all gates
     *    (SB-T2). P wakes G if one of them says AWAKE, or an earlier instant than P knew. If SB-A1 < SB-T2, P sees the
     *    arming. Else SB-T1 < SB-T2 < SB-A1 < SB-A2, and the arming thread wakes G. If G is up by then, it makes another
     *    round: before it sleeps it finds, under this object's lock, that it has become the poller.
     * 3. A poller that has lost its role publishes. It was held up by a callback, so the guard has taken the role
     *    (SB-T3). The guard publishes all gates that are not published, and looks at all gates (SB-S2) before it parks.
     *    Meanwhile the old poller may publish a gate with an earlier deadline, for a timer that it has drained; the
     *    thread that armed it wakes no worker then. So after it has published (WG-W1), it reads which worker is the
     *    poller (SB-P1). If that is another, it wakes that one. Else WG-W1 < SB-P1 < SB-T3 < SB-S2, and the new poller
     *    sees the gate.
     * 4. A poller that is up is guarded. It clears asleep (SB-B1), then looks whether the guard sleeps and until when
     *    (SB-B2). It calls the guard if that is too long, or a worker of the reserve if the guard does not sleep. A
     *    worker that goes to sleep behind it says so (SB-G1), then looks whether there is another guard that sleeps
     *    (SB-G2). If there is none it becomes the guard (SB-G3), then looks whether the poller sleeps (SB-G4). If SB-B2
     *    misses it, SB-B1 < SB-B2 < SB-G3 < SB-G4, and it sleeps for GRACE only.
     * 5. A poller leaves a queue to a worker L that is loaded (see Worker), and does not publish its gate, so that may say
     *    AWAKE, or an instant that has passed. Before the poller sleeps it looks, under this object's lock, for a worker
     *    that is loaded and gets on (SB-L1), and makes that the poller. L is loaded no longer (SB-L2) before it takes this
     *    lock to go to sleep. So if the poller finds it loaded, L sees its role there, and makes another round, which
     *    publishes. Else the poller finds the gate in SB-S2 or SB-T2.
     *
     * Timers that are armed while the poller is up. The gates that it has taken up say AWAKE, so arming threads wake no
     * worker: the poller drains before it publishes. But the callback that it runs may block before that, also if it is
     * this callback that arms. For timers that were armed before, the guard wakes up in time. For those that are armed
     * now, helpBefore says which the guard would come too late for: a thread that arms one of these calls it. A guard
     * that finds the poller up looks again after GRACE; as long as it does so, nothing that is armed needs a call.
     *
     * Capped sleep. While anything is armed the poller's sleep ends within a second (DueTimers.capped), and the guard's a
     * little later; then the poller drains. If nothing is armed both may sleep for ever. So the thread that arms the
     * first timer calls a guard that sleeps for ever, too: if its call of the poller is lost, the guard runs what is due,
     * and calls a poller that sleeps on. Then it naps for a second, so a scheduler that is idle after each timer calls it
     * once a second. The guard says that it sleeps for ever (SB-V1), then looks at all gates (SB-V2); a thread that arms
     * moves a gate to AWAKE (SB-A1), then reads until when the guard sleeps (SB-A4). All are volatile. If the guard misses
     * the gate, SB-V1 < SB-V2 < SB-A1 < SB-A4, and it is called.
     *
     * Long callbacks. The guard wakes up GRACE after the poller at the earliest, as most callbacks return within that.
     * Sleeps are rationed, not spins. A poller that has found something to run sleeps until the spacing has passed
     * since it woke up. So a dense series of timers is run in groups, and sparse ones are run to the microsecond. What is
     * armed meanwhile, and due before that time is over, waits for it, too.
     * The lock of this object is held while a worker goes to sleep or changes its role. It is never taken under a
     * queue's lock, and no other lock is taken under it.
     */

    /** How late a timer is, about, if the callback before it blocks. */
    public static final long GRACE_NANOS = 250_000;
    /** Behind a poller that runs one of two timers within GRACE the guard wakes up so much later at the latest. */
    public static final long PAIR_NANOS = 14_000_000;
    /** The shortest sleep of a poller, as a park takes as much. Shorter only if the spacing is. */
    private static final long MIN_SLEEP_NANOS = 50_000;
    /** How long the guard naps after the first timer was armed. */
    private static final long NAP_NANOS = 1_000_000_000;
    /** A guard that wakes up this much later than the poller would may become poller in its place. */
    private static final long SLACK_NANOS = 20_000;

    /** Never changes, but in tests. */
    public TimerQueue[] queues;
    private final long spacing;
    /** All workers. Copied at each change. */
    private volatile Sleeper[] sleepers = {};
    private volatile Sleeper poller;
    /** Null if there is none. It may be up, and somewhere else. */
    private volatile Sleeper guard;

    // Under this object's monitor.
    /** When the thread woke up that has last found something to run. */
    private long lastWake;

    public Standby(TimerQueue[] queues, long spacing) {
        this.queues = queues;
        this.spacing = spacing;
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
    public void begin(Sleeper poller, Sleeper guard) {
        this.poller = poller;
        this.guard = guard;
    }

    // ---- threads that arm ----

    @Override
    public void wakeFor(WakeGate gate, long when) {
        Sleeper up = callPoller();
        if (up != null) { // it looks at the gate before it sleeps, but may be held up until then
            gate.raiseHelp(helpBefore(up));
            help(gate, when);
        }
    }

    /** Calls the poller if it sleeps. Else returns it; null if there is none as yet. */
    private Sleeper callPoller() {
        Sleeper p = poller; // SB-A2
        if (p == null || !p.asleep) { // SB-A3
            return p;
        }
        p.call();
        return null;
    }

    @Override
    public void help(WakeGate gate, long when) {
        Sleeper p = poller;
        Sleeper g = guard;
        if (g != null && g.asleep && !p.asleep && !p.isBetweenCallbacks() && gate.takeHelpCall(when)) {
            g.call();
        }
    }

    /** A timer that is armed for an instant before this, while {@code p} is up, is due before the guard would look. */
    public long helpBefore(Sleeper p) {
        Sleeper g = guardAsleep(p);
        return g != null ? tooLateBefore(g) : WakeGate.NO_HELP;
    }

    /** If no other worker looks, what is due before this would be late by more than GRACE when that guard wakes up. */
    private static long tooLateBefore(Sleeper guard) {
        return guard.until - GRACE_NANOS;
    }

    @Override
    public long sleepsUntil() {
        return poller.runner() == null ? Timeline.NEVER : WakeGate.AWAKE;
    }

    @Override
    public void firstIsArmed() {
        Sleeper g = guard;
        if (g != null && g.asleep && g.until == Timeline.NEVER) { // SB-A4
            g.call();
        }
    }

    // ---- workers that run callbacks ----

    /** After a gate was published: see 3. */
    public void published(Sleeper by) {
        Sleeper p = poller; // SB-P1
        if (p != by) {
            p.call();
        }
    }

    /** The guard if it sleeps and is not {@code d}; else null. */
    public Sleeper guardAsleep(Sleeper d) {
        Sleeper g = guard;
        return g != null && g != d && g.asleep ? g : null;
    }

    /**
     * A worker is about to run its first callback since it woke up, from {@code q}. If no other worker sleeps for the
     * queues, one in reserve becomes the guard. False if there is none, or its thread could not be started.
     */
    public boolean ensureGuard(Sleeper me, TimerQueue q, long now) {
        Sleeper p = poller;
        if (p != me && p.asleep) {
            return true;
        }
        if (callIfTooLate(me, q, now)) {
            return true;
        }
        Sleeper g;
        synchronized (this) {
            g = guardAsleep(me) == null ? newGuard(me) : guard; // one may have gone to sleep since the look
        }
        return g != null && g.call();
    }

    /**
     * A worker that is up has just drained {@code q}, and is about to run a callback from there. The guard went to sleep
     * before that drain, so it may sleep beyond a timer that is armed now; then it is called. False if no guard sleeps.
     */
    public boolean callIfTooLate(Sleeper me, TimerQueue q, long now) {
        Sleeper g = guardAsleep(me); // SB-B2
        if (g == null) {
            return false;
        }
        long from = Timeline.plus(now, GRACE_NANOS);
        long next = q.due.nextWhen();
        long second = from;
        if (next > now) { // a timer that is due before {@code from} waits: else each close pair would cost a wake-up
            second = next < from ? Math.min(q.due.earliestFrom(from), now + PAIR_NANOS) : next;
            for (TimerQueue other : queues) {
                if (other != q) {
                    second = Math.min(second, Math.max(other.gate.pollUntil(), from));
                }
            }
        }
        if (second < tooLateBefore(g)) {
            g.call();
        }
        return true;
    }

    /** Whether the guard is up, or wakes up by then: it looks next at the poller that calls this. */
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
     * Publishes all gates that are not, but for those of queues that others run, and returns the earliest instant that one
     * says; RETRY if there is more to do.
     */
    public long publish(Sleeper by, long now) {
        long next = Timeline.NEVER;
        for (TimerQueue q : queues) {
            long p = q.gate.pollUntil();
            if (p <= now && q != by.home && isServed(q, now)) {
                continue; // see 5
            }
            if (p == WakeGate.AWAKE) {
                Throwable shortage = q.due.takeShortage();
                if (shortage != null) {
                    by.tell(shortage);
                }
                p = q.due.prepareToSleep(this, now);
                published(by);
            }
            if (p == DueTimers.RETRY) {
                return p;
            }
            if (p != DueTimers.NOT_OWNER) {
                next = Math.min(next, p);
            }
        }
        return next;
    }

    /**
     * A worker has found nothing to do. False if it must make another round, as its role has changed; else it is asleep
     * now, for all that others know, until {@code d.until}.
     *
     * @param polls whether it was the poller at the beginning of its round
     * @param next as poller: the earliest instant that a gate says
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
                poller = d; // SB-T3
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

    /** Returns whom to call. */
    private Sleeper sleepAsPoller(Sleeper d, long next, long now) {
        assert Thread.holdsLock(this);
        Sleeper loaded = loaded(d, now); // SB-L1
        if (loaded != null) {
            poller = loaded;
            guard = d;
            d.sleeps(now + GRACE_NANOS);
            return null;
        }
        long target = next;
        if (next != Timeline.NEVER && spacing > 0) {
            long min = Math.min(spacing, MIN_SLEEP_NANOS);
            target = Math.max(next, Math.max(Timeline.plus(lastWake, spacing), Timeline.plus(now, min)));
        }
        Sleeper g = guardAsleep(d);
        if (g == null) {
            d.sleeps(target);
            return newGuard(d);
        }
        long u = g.until;
        boolean isNear = next != Timeline.NEVER && now < u && u >= next - SLACK_NANOS // else it wakes up in vain
                && u <= target + (target > next ? spacing / 2 : SLACK_NANOS);
        if (!isNear && (!d.isTemporary || g.isTemporary)) { // a spare one hands back to any other
            d.sleeps(target);
            return null;
        }
        poller = g; // SB-T1
        guard = d;
        d.sleeps(behind(u));
        if (!isNear || !g.asleep) {
            d.until = Math.min(d.until, now + GRACE_NANOS); // see 4
        }
        return !isNear || isAnyGateBefore(next) ? g : null; // SB-T2
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
        long before = d.until;
        d.sleeps(Timeline.NEVER); // SB-G1, SB-V1
        Sleeper g = guardAsleep(d); // SB-G2
        if (g != null && (d.isTemporary || !g.isTemporary)) {
            return null; // in reserve
        }
        guard = d; // SB-G3
        if (!p.asleep) { // SB-G4
            d.until = now + GRACE_NANOS;
            return null;
        }
        if (p.until != Timeline.NEVER) {
            long u = behind(p.until);
            d.until = u > now ? u : now + GRACE_NANOS;
            return null;
        }
        boolean isForgotten = isAnythingArmed(); // SB-V2
        if (isForgotten || before == Timeline.NEVER) { // or it was called, and has not napped
            d.until = now + NAP_NANOS;
        }
        return isForgotten ? p : null;
    }

    /**
     * Until when a guard sleeps behind a poller that sleeps until {@code target}: GRACE longer than a capped sleep at most.
     * Other gates may say the end of that, and if the poller runs a callback then, the guard is not too late for them.
     */
    private long behind(long target) {
        long from = Timeline.plus(target, GRACE_NANOS);
        long earliest = Timeline.plus(DueTimers.endOfLongestSleep(target - 1), GRACE_NANOS);
        for (TimerQueue q : queues) {
            earliest = Math.min(earliest, q.due.earliestFrom(from));
        }
        return earliest;
    }

    /** The inboxes count, too: if the poller's thread could not be started, its gates say that it sleeps for ever. */
    private boolean isAnythingArmed() {
        for (TimerQueue q : queues) {
            if (q.gate.pollUntil() != Timeline.NEVER || q.due.hasArrivals()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a gate says AWAKE, or an instant before {@code next}. */
    public boolean isAnyGateBefore(long next) {
        for (TimerQueue q : queues) {
            if (q.gate.pollUntil() < next) {
                return true;
            }
        }
        return false;
    }

    /** A spare worker would end; false if it is needed still: it polls, or the poller is up. */
    public synchronized boolean leave(Sleeper d) {
        if (poller == d || !poller.asleep) {
            return false;
        }
        if (guard == d) {
            guard = null; // the poller finds another before its next callback, or WorkerPool.ended starts one
        }
        return true;
    }

    /** The thread of {@code d} could not be started, so the next thread that arms a timer must try again. */
    public void sleepOn(Sleeper d) {
        for (TimerQueue q : queues) {
            Sleeper p = poller;
            if (p == d) {
                q.due.sleepsOn();
            } else {
                q.gate.raiseHelp(helpBefore(p)); // a call that has failed has used that up
            }
        }
    }
}
