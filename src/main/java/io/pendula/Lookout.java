package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * In a pool, whose tasks may block: one idle driver that looks after what running tasks leave behind.
 */
final class Lookout {
    /*
     * Overview
     *
     * A driver that begins a task cannot know whether it will block. So it lends its queues to the holder of the
     * lookout, which is asleep: that one becomes their keeper, and whoever arms an earlier timer from then on wakes it.
     * It is woken at once if it would sleep too long for what is waiting there already. The driver takes its home queue
     * back after the task, and if that took a microsecond nobody else has noticed.
     *
     * Lending is two stores; a wake costs 8 microseconds and a thread switch. So the holder, before it sleeps, plans
     * to look again GRACE after the next deadline of each sleeping driver: then that driver, when it wakes and begins
     * a task, need not wake it. What falls due behind a task that blocks is late by no more than GRACE, once; after
     * that the holder sleeps for it exactly. And if the holder was woken in vain, since the task was over when it came,
     * it is deaf for one GRACE: it takes no loans, and looks by itself when that time is over.
     *
     * A holder that begins a task itself appoints another sleeping driver, which it wakes only if that would sleep too
     * long, or starts a new one if the pool may have more. If all drivers run tasks there is no holder, and the first
     * that is done becomes it before it sleeps.
     *
     * No task is overlooked while a driver is idle. Who begins a task says so (busy), then looks for the holder and
     * whether it is asleep; a driver says that it is asleep, then takes over the lookout if there is no holder, and as
     * holder looks whose keeper is busy. All are volatile, so one of the two sees the other. The same way, who appoints
     * a holder looks whether it has become busy, and who is busy looks whether it has been appointed. A loan: the
     * lender makes the holder keeper, then looks whether it still sleeps until the same instant; the holder publishes
     * that instant, then looks at the queues that it keeps (Driver.nobodyCalled).
     */

    /** How long a task may keep its driver before others look after what it leaves behind. */
    static final long GRACE_NANOS = 1_000_000;

    private static final VarHandle HOLDER;

    static {
        try {
            HOLDER = MethodHandles.lookup().findVarHandle(Lookout.class, "holder", Driver.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final TimerScheduler scheduler;
    private volatile Driver holder;

    Lookout(TimerScheduler scheduler) {
        this.scheduler = scheduler;
    }

    boolean isHeld() {
        return holder != null;
    }

    /** Whether another driver holds the lookout, sleeps, and gets up for a look. */
    boolean holderNaps(Driver me) {
        Driver h = holder;
        return h != null && h != me && h.asleep && h.lookAt != Timeline.NEVER;
    }

    /** The same, for a driver that naps in the holder's place: wakes one that does not, which then plans its naps. */
    boolean holderTakesNaps(Driver me) {
        if (holderNaps(me)) {
            return true;
        }
        Driver h = holder;
        if (h != null && h != me && h.asleep) {
            h.wake();
        }
        return false;
    }

    boolean isHeldBy(Driver d) {
        return holder == d;
    }

    /** The driver, which is busy from now on, is about to call a task. */
    void begins(Driver d, long now) {
        Driver h = holder;
        if (h == d) {
            HOLDER.compareAndSet(this, d, null); // unless somebody has seen that it is busy, and done so
            h = null;
        }
        if (h == null) {
            h = appoint(d);
        }
        if (h != null && h.asleep && !h.deaf) {
            for (TimerQueue q : scheduler.queues) {
                if (q.gate.keeper() == d) {
                    lend(q, d, h, now);
                }
            }
        }
    }

    /**
     * Makes a sleeping driver the holder, or starts one; null if that was not to be had, or looks around by itself
     * before it sleeps, as a new driver does.
     */
    private Driver appoint(Driver by) {
        Driver d = appointSleeper(by);
        return d != null || scheduler.crew.startAnother() ? d : appointSleeper(by);
    }

    /** Wakes it only if it would not get up in time for all others. */
    private Driver appointSleeper(Driver by) {
        Driver[] drivers = scheduler.crew.drivers();
        for (int i = 0; i < drivers.length; i++) {
            Driver d = drivers[i];
            if (d.asleep && HOLDER.compareAndSet(this, null, d)) {
                if (!d.busy) {
                    if (oversleeps(d, by)) {
                        d.wake();
                    }
                    return d;
                }
                HOLDER.compareAndSet(this, d, null); // it has got up meanwhile
                i = -1; // from the start: whoever went to sleep in between has seen that there was a holder
            }
        }
        return null;
    }

    /** Whether a new holder is needed before it gets up, by others than {@code by}, whose queues it is lent next. */
    private boolean oversleeps(Driver d, Driver by) {
        if (d.until != Timeline.NEVER && d.lookAt == Timeline.NEVER) {
            return true; // the holder naps, see Backstop
        }
        long until = d.until; // of a sleep that began before it became holder, else it has made its own plan
        for (TimerQueue q : scheduler.queues) {
            if (q.gate.keeper() != by && (isLeft(q, d) || planned(q, d) < until)) {
                return true;
            }
        }
        return false;
    }

    /** A new driver takes over, unless there is a holder; it looks around before it first sleeps. */
    void starts(Driver d) {
        HOLDER.compareAndSet(this, null, d);
    }

    void startFailed(Driver d) {
        HOLDER.compareAndSet(this, d, null);
    }

    private static void lend(TimerQueue q, Driver from, Driver to, long now) {
        long until = to.until;
        boolean call = true; // also if an Error breaks off the loan, which may have begun
        try {
            q.lock();
            try {
                if (q.gate.keeper() != from) {
                    call = false;
                    return;
                }
                call = q.lend(to, until, now, GRACE_NANOS) || !to.asleep || to.until != until;
            } finally {
                q.unlock();
            }
        } finally {
            if (call) {
                to.wake();
            }
        }
    }

    /** When the holder should look again, though none of its own queues needs it. */
    long plan(Driver d, long now) {
        long until = Timeline.NEVER;
        for (TimerQueue q : scheduler.queues) {
            until = Math.min(until, q.gate.keeper() != d && q.gate.pollUntil() == WakeGate.AWAKE
                    ? Timeline.plus(now, GRACE_NANOS) : planned(q, d));
        }
        return until;
    }

    /** GRACE after another driver gets up for its queue; one that is up will lend it when it begins a task. */
    private static long planned(TimerQueue q, Driver holder) {
        long p = q.gate.pollUntil();
        return q.gate.keeper() == holder || p == WakeGate.AWAKE ? Timeline.NEVER : Timeline.plus(p, GRACE_NANOS);
    }

    /**
     * Whether the driver, which has just said that it is asleep, has to get up again: since it holds the lookout only
     * now, or since a queue was left for a task.
     */
    boolean isNeeded(Driver d, boolean heldBefore) {
        if (holder == null && HOLDER.compareAndSet(this, null, d)) {
            return true;
        }
        if (holder != d) {
            return false;
        }
        if (!heldBefore) {
            return true;
        }
        if (!d.deaf) {
            for (TimerQueue q : scheduler.queues) {
                if (isLeft(q, d)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a queue's keeper is another driver, which runs a task. */
    boolean isLeft(TimerQueue q, Driver holder) {
        return q.gate.keeper() instanceof Driver k && k != holder && k.busy;
    }
}
