package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that drives queues: it runs their due timers inline, helps others, and sleeps until the next deadline.
 */
final class Driver extends Run implements Keeper, Runnable {
    /*
     * Overview
     *
     * A round: run what is due in the kept queues, adopt queues whose driver is stuck, steal what is overdue
     * elsewhere, publish until when to sleep (TimerQueue.prepareToSleep has the argument why no wake-up is lost),
     * sleep. One due timer at a time is claimed and run outside the lock: a batch would hide the rest of it from
     * thieves if one callback blocks. After BATCH callbacks of a queue the others have their turn.
     *
     * A driver keeps its home queue, and those that it has adopted. Adopting changes the queue's keeper, under its
     * lock, and from then on the adopter sleeps for that queue's deadlines too, so that after the first late timer
     * none waits for the monitor. The home driver takes its queue back when it next locks it. Everyone else finds out
     * by looking at the keeper under the lock: who has lost a queue neither runs its timers nor touches pollUntil.
     * A waker reads the keeper after its CAS of pollUntil; if that changes at that very moment, the new keeper is up
     * (it has just set AWAKE) and has a drain before it, so the wake may go to either.
     *
     * A spare driver has no home; it goes away when it has kept nothing for some seconds.
     *
     * pulse is odd while a callback runs inline: the monitor calls a driver stuck that shows the same odd pulse for
     * long enough.
     */

    /** Callbacks of one queue before other queues, and the inbox of others, are looked at. */
    static final int BATCH = 64;
    /** A timer this late may be run by whoever is idle, though its driver is up. */
    static final long STEAL_AFTER_NANOS = 500_000;
    static final long SPARE_IDLE_NANOS = 5_000_000_000L;
    private static final long AFTER_FAILURE_NANOS = 1_000_000;

    private static final VarHandle PULSE;

    static {
        try {
            PULSE = MethodHandles.lookup().findVarHandle(Driver.class, "pulse", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final TimerScheduler scheduler;
    private final TimerQueue home;
    private final List<TimerQueue> kept = new ArrayList<>();
    private final Sleeper sleeper;
    private Thread thread;

    private int pulse;
    private long idleSince;

    /** True from before the park to after it: such a driver can be kicked to adopt or steal. */
    volatile boolean asleep;
    /** Set by the monitor, cleared by the driver when its callback has returned. */
    volatile boolean stuck;

    // The monitor's own notes about this driver.
    int seenPulse;
    long seenAt;

    Driver(TimerScheduler scheduler, TimerQueue home) {
        this.scheduler = scheduler;
        this.home = home;
        this.sleeper = new Sleeper(scheduler.timeline, scheduler.options.earlyPark());
    }

    void setThread(Thread thread) {
        this.thread = thread;
    }

    @Override
    Thread runner() {
        return thread;
    }

    TimerScheduler scheduler() {
        return scheduler;
    }

    TimerQueue home() {
        return home;
    }

    boolean isSpare() {
        return home == null;
    }

    @Override
    public void wake() {
        LockSupport.unpark(thread);
    }

    int pulseOpaque() {
        return (int) PULSE.getOpaque(this);
    }

    @Override
    public void run() {
        if (scheduler.options.tightSlack()) {
            Sleeper.tightenSlack();
        }
        if (home != null) {
            kept.add(home);
        }
        idleSince = scheduler.timeline.now();
        try {
            while (!scheduler.isClosed() && !isSuperfluous()) {
                try {
                    round();
                } catch (Throwable e) {
                    // Callbacks are caught elsewhere, so memory is short, or the stack: timers must not die of it.
                    asleep = false;
                    TimerScheduler.reportUncaught(e);
                    LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
                }
            }
        } finally {
            scheduler.ended(this);
        }
    }

    private void round() {
        boolean ran = false;
        for (int i = 0; i < kept.size(); i++) {
            ran |= checkTimers(kept.get(i));
        }
        long now = scheduler.timeline.now();
        ran |= helpOthers(now);
        if (ran) {
            idleSince = now;
            return;
        }
        long until = prepareToSleep(now);
        if (until == TimerQueue.GO_ROUND || sweep(until)) {
            return;
        }
        if (isSpare()) {
            // From idleSince, else a sleep that ends a little early would be followed by another of full length.
            until = Math.min(until, (kept.isEmpty() ? idleSince : now) + SPARE_IDLE_NANOS);
        }
        asleep = true;
        if (nobodyCalled()) {
            sleeper.sleepUntil(until, kept.isEmpty() ? null : kept.get(0));
        }
        asleep = false;
        Thread.interrupted(); // whoever has set the flag: with it every park would return at once
        scheduler.driverIsUp();
    }

    /**
     * The last look before the park, after the last wait for a lock: such a wait parks, too, and may have used up the
     * permit of a waker. A waker changes pollUntil (a closing thread: closed), then unparks; so either its change is
     * seen here, or its permit comes after this look and ends the park.
     */
    private boolean nobodyCalled() {
        for (int i = 0; i < kept.size(); i++) {
            if (kept.get(i).pollUntilVolatile() == TimerQueue.AWAKE) {
                return false;
            }
        }
        return !scheduler.isClosed();
    }

    private boolean isSuperfluous() {
        return isSpare() && kept.isEmpty() && scheduler.timeline.now() - idleSince >= SPARE_IDLE_NANOS;
    }

    /** Runs due timers of a kept queue, up to a bound; true if there were any. */
    private boolean checkTimers(TimerQueue q) {
        long now = scheduler.timeline.now();
        boolean fresh = true;
        for (int ran = 0; ran < BATCH && !scheduler.isClosed(); ) { // a closing thread waits for the lock
            if (claim(q, now)) {
                runClaimed();
                ran++;
                fresh = false;
            } else if (fresh) {
                return ran > 0;
            } else {
                now = scheduler.timeline.now(); // read again only when what was due at the last reading is done
                fresh = true;
            }
        }
        return true;
    }

    private boolean claim(TimerQueue q, long now) {
        q.lock();
        try {
            if (q.keeper() != this) {
                if (q != home) {
                    return false; // prepareToSleep forgets it
                }
                q.keep(this);
            } else if (q.pollUntilVolatile() != TimerQueue.AWAKE) {
                q.setPollUntilVolatile(TimerQueue.AWAKE);
            }
            if (q.hasMail()) {
                q.drain();
            }
            return q.claimDue(now, this, false);
        } finally {
            q.unlock();
        }
    }

    private boolean helpOthers(long now) {
        boolean helped = false;
        for (TimerQueue q : scheduler.queues) {
            if (q.keeper() == this) {
                continue;
            }
            if (q.stalled) {
                helped |= adopt(q);
            } else if (q.nextWhenOpaque() < now - STEAL_AFTER_NANOS) {
                helped |= steal(q, now);
            }
        }
        return helped;
    }

    private boolean adopt(TimerQueue q) {
        if (!q.tryLock()) {
            return false;
        }
        try {
            if (q.stalled && q.keeper() instanceof Driver d && d.stuck) {
                if (!kept.contains(q)) {
                    kept.add(q); // first: it may run out of memory, and a kept queue must be known
                }
                q.keep(this);
                return true;
            }
            return false;
        } finally {
            q.unlock();
        }
    }

    private boolean steal(TimerQueue q, long now) {
        int ran = 0;
        while (ran < BATCH && !scheduler.isClosed() && q.tryLock()) {
            boolean claimed;
            try {
                if (q.hasMail()) {
                    q.drain();
                }
                claimed = q.claimDue(now, this, true);
            } finally {
                q.unlock();
            }
            if (!claimed) {
                break;
            }
            runClaimed();
            ran++;
        }
        return ran > 0;
    }

    private long prepareToSleep(long now) {
        long until = Timeline.NEVER;
        boolean goRound = false;
        for (int i = kept.size() - 1; i >= 0; i--) {
            long p = kept.get(i).prepareToSleep(this, now);
            if (p == TimerQueue.NOT_KEEPER) {
                if (kept.get(i) == home) {
                    goRound = true; // taken while this driver was stuck; the next claim takes it back
                } else {
                    kept.remove(i);
                }
            } else if (p == TimerQueue.GO_ROUND) {
                goRound = true;
            } else {
                until = Math.min(until, p);
            }
        }
        return goRound ? TimerQueue.GO_ROUND : until;
    }

    /**
     * Sweeps queues that have too many dead entries, as if asleep: whoever arms a timer that is due before the sweep
     * would end says so through pollUntil. False if there was nothing to sweep.
     */
    private boolean sweep(long until) {
        boolean swept = false;
        for (TimerQueue q : kept) {
            boolean more = q.wantsSweep();
            while (more && q.pollUntilVolatile() != TimerQueue.AWAKE && scheduler.timeline.now() < until) {
                more = q.sweepStep();
                swept = true;
            }
        }
        return swept;
    }

    private void runClaimed() {
        PULSE.setOpaque(this, pulse + 1);
        if (scheduler.options.executor() == null || !scheduler.handOff(this)) {
            scheduler.perform(this);
        }
        PULSE.setOpaque(this, pulse + 1);
        end();
        Thread.interrupted(); // a flag left by a callback would make every park return at once
        if (stuck) {
            stuck = false;
            scheduler.driverIsUp();
        }
    }
}
