package io.pendula;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that drives queues: it runs their due timers inline, helps others, and sleeps until the next deadline.
 */
final class Driver extends QueueRunner implements Runnable {
    /*
     * Overview
     *
     * A round: run what is due in the kept queues, adopt queues whose keeper is stuck, steal what is overdue
     * elsewhere, publish until when to sleep (TimerQueue.prepareToSleep has the argument why no wake-up is lost),
     * sleep.
     *
     * A spare driver has no home; it goes away when it has kept nothing for some seconds. In a pool, where tasks may
     * block, it stays, and each driver lends its queues before it begins a task (Lookout).
     *
     * pulse is odd while a callback runs inline: the monitor calls a driver stuck that shows the same odd pulse for
     * long enough.
     */

    static final long SPARE_IDLE_NANOS = 5_000_000_000L;
    /** A sleep that ends earlier than this was ended by somebody. */
    private static final long EARLY_NANOS = 200_000;
    private static final long AFTER_FAILURE_NANOS = 1_000_000;

    private static final VarHandle PULSE;

    static {
        try {
            PULSE = MethodHandles.lookup().findVarHandle(Driver.class, "pulse", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final TimerQueue home;
    /** In a pool, else null. */
    private final Lookout lookout;
    private final Sleeper sleeper;
    private Thread thread;

    private int pulse;
    private long idleSince;

    /** True from before the park to after it: such a driver can be kicked to adopt or steal. */
    volatile boolean asleep;
    /** While asleep: until when, at most. */
    volatile long until;
    /** In a pool: inside a task. */
    volatile boolean busy;
    /** In a pool, while asleep: takes no loans. */
    volatile boolean deaf;
    private boolean calledInVain;
    /** Set by the monitor, cleared by the driver when its callback has returned. */
    volatile boolean stuck;

    // The monitor's own notes about this driver.
    int seenPulse;
    long seenAt;

    Driver(TimerScheduler scheduler, TimerQueue home) {
        super(scheduler);
        this.home = home;
        this.lookout = scheduler.lookout;
        this.sleeper = new Sleeper(scheduler.timeline, scheduler.options.earlyPark());
        if (home != null) {
            home.setOwner(this);
        }
    }

    void setThread(Thread thread) {
        this.thread = thread;
    }

    @Override
    Thread runner() {
        return thread;
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
            scheduler.crew.ended(this);
        }
    }

    private void round() {
        boolean ran = false;
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q) || owns(q)) {
                ran |= checkTimers(q);
            }
        }
        long now = scheduler.timeline.now();
        ran |= helpOthers(now);
        if (ran) {
            idleSince = now;
            calledInVain = false;
            return;
        }
        long next = prepareToSleep(now);
        if (next == TimerQueue.GO_ROUND || sweep(next)) {
            return;
        }
        sleepUntil(next, now);
    }

    private TimerQueue firstKept() {
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q)) {
                return q;
            }
        }
        return null;
    }

    private void sleepUntil(long next, long now) {
        TimerQueue watched = firstKept();
        boolean held = lookout != null && lookout.isHeldBy(this);
        if (lookout != null) {
            deaf = held && calledInVain;
            if (held) {
                next = Math.min(next, deaf ? now + Lookout.GRACE_NANOS : lookout.plan(this, now));
            }
        } else if (isSpare()) {
            // From idleSince, else a sleep that ends a little early would be followed by another of full length.
            next = Math.min(next, (watched == null ? idleSince : now) + SPARE_IDLE_NANOS);
        }
        until = next;
        asleep = true;
        if (nobodyCalled(next) && (lookout == null || !lookout.isNeeded(this, held))) {
            sleeper.sleepUntil(next, watched);
            // Until it has found something to run.
            calledInVain = lookout != null && scheduler.timeline.now() < next - EARLY_NANOS;
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
    private boolean nobodyCalled(long next) {
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q) && q.pollUntilVolatile() < next) { // AWAKE, or lent for a shorter sleep than this one
                return false;
            }
        }
        return !scheduler.isClosed();
    }

    private boolean isSuperfluous() {
        return isSpare() && lookout == null && scheduler.timeline.now() - idleSince >= SPARE_IDLE_NANOS
                && firstKept() == null;
    }

    /** Runs due timers of a kept queue, up to a bound; true if there were any. */
    private boolean checkTimers(TimerQueue q) {
        long now = scheduler.timeline.now();
        boolean fresh = true;
        boolean again = false;
        for (int ran = 0; ran < BATCH && !scheduler.isClosed(); ) { // a closing thread waits for the lock
            // What others push after a reading of the clock is due then or later, so it can wait for the next reading.
            if (claim(q, now, fresh || again)) {
                again = runClaimed();
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

    private boolean claim(TimerQueue q, long now, boolean drain) {
        q.lock();
        try {
            if (!takeUp(q)) {
                return false;
            }
            if (drain && q.hasMail()) {
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
            if (keeps(q)) {
                continue;
            }
            if (q.stalled || lookout != null && lookout.isHeldBy(this) && lookout.isLeft(q, this)) {
                helped |= adopt(q, now);
            } else if (seemsLate(q, now)) {
                helped |= steal(q, now);
            }
        }
        return helped;
    }

    private boolean adopt(TimerQueue q, long now) {
        if (!q.tryLock()) {
            return false;
        }
        try {
            Keeper k = q.keeper();
            if (k instanceof Driver d ? q.stalled && d.stuck || d.busy
                    : q.stalled && q.survey(now) < now - STEAL_AFTER_NANOS) { // a loop that has not come by since
                q.keep(this);
                return true;
            }
            return false;
        } finally {
            q.unlock();
        }
    }

    private long prepareToSleep(long now) {
        long next = Timeline.NEVER;
        boolean goRound = false;
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q) || owns(q)) {
                long p = q.prepareToSleep(this, now);
                if (p == TimerQueue.GO_ROUND) {
                    goRound = true;
                } else if (p == TimerQueue.NOT_KEEPER) {
                    goRound |= owns(q); // taken while this driver was stuck; the next claim takes it back
                } else {
                    next = Math.min(next, p);
                }
            }
        }
        return goRound ? TimerQueue.GO_ROUND : next;
    }

    /**
     * Sweeps queues that have too many dead entries, as if asleep: whoever arms a timer that is due before the sweep
     * would end says so through pollUntil. False if there was nothing to sweep.
     */
    private boolean sweep(long until) {
        boolean swept = false;
        for (TimerQueue q : scheduler.queues) {
            boolean more = keeps(q) && q.wantsSweep();
            while (more && q.pollUntilVolatile() != TimerQueue.AWAKE && scheduler.timeline.now() < until) {
                more = q.sweepStep();
                swept = true;
            }
        }
        return swept;
    }

    private void leaveQueues() {
        busy = true; // before the look at the lookout
        try {
            lookout.begins(this, claimedAt);
        } catch (Throwable e) {
            TimerScheduler.reportUncaught(e); // memory is short; the claimed task must run all the same
        }
    }

    @Override
    boolean runClaimed() {
        PULSE.setOpaque(this, pulse + 1);
        if (lookout != null) {
            leaveQueues();
        }
        boolean again = perform();
        PULSE.setOpaque(this, pulse + 1);
        end();
        if (lookout != null) {
            busy = false;
        }
        Thread.interrupted(); // a flag left by a callback would make every park return at once
        if (stuck) {
            stuck = false;
            scheduler.driverIsUp();
        }
        return again;
    }
}
