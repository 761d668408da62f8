package io.pendula;

/**
 * Finds timers that are overdue though the thread that should run them sleeps: one bounded look a second at all queues
 * of a scheduler, while anything is armed.
 */
final class Backstop implements OverdueSearch.Judge {
    /*
     * Overview
     *
     * Sleeping and waking rely on words that threads publish: pollUntil, nextWhen, arrivals, asleep. If a wake-up is
     * lost, or an Error strikes between two writes, one of these words is wrong for good. So a look asks the timers
     * themselves: the first of the heap, the first in line, and a slice of the inbox. If one of them is overdue by
     * LATE_NANOS, its owner's thread is parked outside every callback, and AGAIN_NANOS later all that is still so, and
     * the owner has not made a round in between, then the queue is drained and its owner woken. That is a rescue, and
     * is counted. It is the thread's own state that tells whether it is parked.
     *
     * A loop's thread may be anywhere. So the look only files what is overdue, for the monitor to see. The monitor
     * transfers the queue, or reports a loop that is confined.
     *
     * A look visits VISITS timers at most and drains nothing. In a longer inbox the next look goes on where this one
     * has stopped: what is pushed meanwhile lies before that place, and a drain, which alone takes anything out, makes
     * the look begin anew.
     *
     * When nothing is armed there is no look. Stopped timers may lie in an inbox for long; once a look has met no armed
     * one down to the bottom, it remembers the head of that time, and an inbox with that head is taken to be empty.
     *
     * The monitor looks. A pool has none, so a worker looks that goes to sleep for a deadline, and sleeps no longer than
     * until the next look: the guard, or the poller if there is no guard that sleeps.
     */

    static final long LOOK_NANOS = 1_000_000_000;
    /** Timers visited at one look, in all queues together. */
    static final int VISITS = 128;
    /** What a look says to a worker that must not sleep on. */
    static final long WAKE_UP = 0;
    /** A timer is suspicious if it is overdue by so much, */
    private static final long LATE_NANOS = 100_000_000;
    /** and rescued if it still is after so long. At once would be too soon: a woken thread may wait for a processor. */
    private static final long AGAIN_NANOS = 100_000_000;

    private final Engine engine;
    /** When the next look is due; NEVER while nothing is armed. */
    private volatile long next = Timeline.NEVER;
    private volatile long rescues;

    // Of the thread that looks; there is one at a time.
    private int turn;
    private final OverdueSearch search = new OverdueSearch();
    private boolean suspicious;
    private boolean needed;
    private volatile long looks;

    // Of one look.
    private long now;
    /** The worker that looks as it goes to sleep, or null. */
    private Worker me;
    /** What stops this thread for long stops the others, too: then what was noted before tells nothing. */
    private boolean afresh;
    /** The owner of the queue that is being looked at, if it must be woken; else null. */
    private QueueOwner woken;
    private Worker poller;

    Backstop(Engine engine) {
        this.engine = engine;
    }

    long rescues() {
        return rescues;
    }

    long looks() {
        return looks;
    }

    long visited() {
        return search.visited();
    }

    /** A sleeper was found by other means. */
    void countRescue() {
        rescues++;
    }

    /** Whether there may be something to look for. Racy: what is armed later wakes the thread that looks. */
    private boolean isAnythingArmed() {
        for (TimerQueue q : engine.queues) {
            if (OverdueSearch.mayBeArmed(q)) {
                return true;
            }
        }
        return false;
    }

    /** Looks if it is time to; returns when the next look is due, or NEVER. */
    long look(long now) {
        return look(now, null);
    }

    /** The same for a worker that goes to sleep; WAKE_UP if it is needed. */
    long look(long now, Worker me) {
        long due = next;
        if (due == Timeline.NEVER) {
            if (isAnythingArmed()) {
                next = now + LOOK_NANOS;
                FlightEvents.load();
            }
        } else if (now >= due) {
            return lookAtAll(now, me);
        }
        return next;
    }

    private synchronized long lookAtAll(long instant, Worker looker) {
        long due = next;
        if (instant < due) {
            return due; // another worker has been here
        }
        now = instant;
        me = looker;
        afresh = now - due >= LATE_NANOS;
        search.begin(VISITS);
        suspicious = false;
        needed = false;
        TimerQueue[] queues = engine.queues;
        for (int i = 0; i < queues.length; i++) {
            lookAt(queues[Math.floorMod(turn + i, queues.length)]);
        }
        turn++;
        looks++;
        FlightEvents.look(engine);
        next = suspicious ? now + AGAIN_NANOS : search.isAnythingArmed() ? now + LOOK_NANOS : Timeline.NEVER;
        return needed ? WAKE_UP : next;
    }

    private void lookAt(TimerQueue q) {
        woken = null;
        search.search(q, now, now - LATE_NANOS, this);
        if (woken == engine.standby) {
            if (poller != me) {
                poller.call(); // whatever it says of itself
            }
        } else if (woken != null) {
            woken.wake();
        }
    }

    /** Under the queue's lock: whether this is a rescue, or the worker that looks is needed. */
    @Override
    public int judge(TimerQueue q, QueueOwner owner) {
        if (owner instanceof LoopWorker) {
            return FILE;
        }
        poller = engine.standby.poller();
        boolean isMissed = me != null && (me == poller || q.gate.pollUntil() > now);
        needed |= me != null; // it is up, and runs what is due
        boolean rescue = isRescue(q, poller) || isMissed;
        rescues += rescue ? 1 : 0;
        if (!rescue && me == null) {
            return LEAVE;
        }
        woken = owner;
        return TAKE_UP;
    }

    /**
     * Whether the look before has found the same: a gate that says a later instant, or a poller that is parked and has
     * made no round.
     */
    private boolean isRescue(TimerQueue q, Worker d) {
        OverdueNote note = q.overdue;
        long until = q.gate.pollUntil();
        if (d == null || until <= now && !d.isParked()) {
            note.sleeper = null;
            return false;
        }
        int progress = d.roundsOpaque();
        suspicious = true;
        boolean isSame = note.sleeper != null && note.until == until
                && (until > now || note.sleeper == d && note.progress == progress);
        if (!isSame || afresh) {
            note.sleeper = d;
            note.progress = progress;
            note.until = until;
            note.since = now;
            return false;
        }
        if (now - note.since < AGAIN_NANOS) {
            return false;
        }
        note.sleeper = null;
        return true;
    }
}
