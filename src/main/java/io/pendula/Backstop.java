package io.pendula;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;

/**
 * Finds timers that are overdue though the thread that should run them sleeps: one bounded look a second at all queues
 * of a scheduler, while anything is armed.
 */
final class Backstop {
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
     * The monitor looks. A pool has no monitor. There one of the workers that sleep wakes up for each look, as a rule
     * the guard.
     *
     * Who looks in a pool. A worker that has gone to sleep reads when the guard will look (L1). If the guard is another
     * and will, the worker leaves it to that one. Else it says when it will look itself (L2), and sleeps no longer.
     * When it wakes up it takes that back (L3) before it runs anything. All are volatile. So while all workers sleep
     * and something is armed, one of them will look. Suppose that none will. Let X be the worker whose L1 was the last.
     * It has left the look to G, so L2 of G < L1 of X. G will not look any more, so G has woken up, and its L3 follows
     * L1 of X. G has gone to sleep again, and its L1 follows that, too; so L1 of X was not the last.
     *
     * A worker asks for its role first (Standby.goToSleep), then for the look. It may do so the other way round at no
     * risk, but then a worker that has become the guard leaves the look to the guard before it, and a third one looks.
     */

    static final long LOOK_NANOS = 1_000_000_000;
    /** Timers visited at one look, in all queues together. */
    static final int VISITS = 128;
    /** A timer is suspicious if it is overdue by so much, */
    static final long LATE_NANOS = 100_000_000;
    /** and rescued if it still is after so long. At once would be too soon: a woken thread may wait for a processor. */
    static final long AGAIN_NANOS = 100_000_000;
    /** A park may be so much too short. */
    private static final long EARLY_NANOS = 200_000;
    /** What a look says to a worker that must not sleep on. */
    private static final long WAKE_UP = 0;

    private final Engine engine;
    private final Standby standby;
    /** When the next look is due; NEVER while nothing is armed. */
    private volatile long next = Timeline.NEVER;
    private volatile long rescues;

    private volatile long looks;
    /** Of the thread that looks; there is one at a time. See load. */
    private BackstopLook look;

    Backstop(Engine engine, Standby standby) {
        this.engine = engine;
        this.standby = standby;
    }

    long rescues() {
        return rescues;
    }

    long looks() {
        return looks;
    }

    synchronized long visited() {
        return look == null ? 0 : look.visited();
    }

    /** A sleeper was found, by a look or by other means. */
    void countRescue() {
        rescues++;
    }

    /** Whether there may be something to look for. Racy: what is armed later wakes the thread that looks. */
    private boolean isAnythingArmed() {
        for (TimerQueue q : engine.queues) {
            if (q.ownership.mayBeArmed()) {
                return true;
            }
        }
        return false;
    }

    /** Looks if it is time to; returns when the next look is due, or NEVER. */
    long look(long now) {
        return look(now, null);
    }

    /** For a worker of a pool that has gone to sleep: sets when it looks. True if it must not sleep on. */
    boolean planLook(Worker me, long now) {
        Worker g = standby.guard();
        if (g == null || g == me || g.looksAt == Timeline.NEVER) { // L1
            me.looksAt = look(now, me); // L2
        }
        return me.looksAt == WAKE_UP;
    }

    /** For a worker whose sleep ends by itself, before it has another look at its queues. */
    void lookIfTime(Worker me) {
        long due = me.looksAt;
        if (engine.timeline.now() >= due - EARLY_NANOS) {
            look(due, me);
        }
    }

    /** As look(now). {@code me} is a worker that looks as it sleeps, or null; WAKE_UP if it must not sleep on. */
    private long look(long now, Worker me) {
        long due = next;
        if (due == Timeline.NEVER) {
            if (isAnythingArmed()) {
                load();
                next = now + LOOK_NANOS;
            }
        } else if (now >= due) {
            return lookAtAll(now, me);
        }
        return next;
    }

    /** Now, as the first look may come when the loader of these classes is closed, and no sooner, as a new JVM can wait. */
    private synchronized void load() {
        if (look == null) {
            look = new BackstopLook(engine, standby, this);
        }
    }

    private synchronized long lookAtAll(long now, Worker me) {
        long due = next;
        if (now < due) {
            return due; // another worker has been here
        }
        // What stops this thread for long stops the others, too: then what was noted before tells nothing.
        look.atAll(now, me, now - due >= LATE_NANOS);
        looks++;
        next = look.isSuspicious() ? now + AGAIN_NANOS : look.isAnythingArmed() ? now + LOOK_NANOS : Timeline.NEVER;
        return look.isNeeded() ? WAKE_UP : next;
    }
}
