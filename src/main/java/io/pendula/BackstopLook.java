package io.pendula;

import io.pendula.internal.queue.OverdueNote;
import io.pendula.internal.queue.OverdueSearch;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerQueue;

/** One look of a {@link Backstop} at all queues: decides which owner is woken, and whether that is a rescue. */
final class BackstopLook extends OverdueSearch {
    private final Engine engine;
    private final Standby standby;
    private final Backstop backstop;
    private int turn;

    private long now;
    /** The worker that looks as it goes to sleep, or null. */
    private Worker me;
    private boolean afresh;
    private boolean suspicious;
    private boolean needed;
    /** The owner of the queue that is being looked at, if it must be woken; else null. */
    private QueueOwner woken;
    private Worker poller;

    BackstopLook(Engine engine, Standby standby, Backstop backstop) {
        this.engine = engine;
        this.standby = standby;
        this.backstop = backstop;
    }

    /** Whether there is something that would be a rescue if the next look finds it, too. */
    boolean isSuspicious() {
        return suspicious;
    }

    /** Whether the worker that looks must not go to sleep. */
    boolean isNeeded() {
        return needed;
    }

    /** {@code worker} goes to sleep, or is null; {@code forgets}: what was noted before tells nothing. */
    void atAll(long instant, Worker worker, boolean forgets) {
        now = instant;
        me = worker;
        afresh = forgets;
        suspicious = false;
        needed = false;
        begin(Backstop.VISITS);
        TimerQueue[] queues = engine.queues;
        for (int i = 0; i < queues.length; i++) {
            lookAt(queues[Math.floorMod(turn + i, queues.length)]);
        }
        turn++;
    }

    private void lookAt(TimerQueue q) {
        woken = null;
        search(q, now, now - Backstop.LATE_NANOS);
        if (woken == standby) {
            if (poller != me) {
                poller.call(); // whatever it says of itself
            }
        } else if (woken != null) {
            woken.wake();
        }
    }

    /** Under the queue's lock: whether this is a rescue, or the worker that looks is needed. */
    @Override
    protected int judge(TimerQueue q, QueueOwner owner) {
        if (owner != null && owner.asksForArrivals()) { // a loop
            return FILE;
        }
        poller = standby.poller();
        boolean isMissed = me != null && (me == poller || q.gate.pollUntil() > now);
        needed |= me != null; // it is up, and runs what is due
        boolean rescue = isRescue(q, poller) || isMissed;
        if (rescue) {
            backstop.countRescue(); // before the wake: a callback that was rescued finds itself counted
        }
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
        if (now - note.since < Backstop.AGAIN_NANOS) {
            return false;
        }
        note.sleeper = null;
        return true;
    }
}
