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
     * elsewhere, publish until when to sleep (WakeGate has the argument why no wake-up is lost),
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
    private static final VarHandle ROUNDS;

    static {
        try {
            PULSE = MethodHandles.lookup().findVarHandle(Driver.class, "pulse", int.class);
            ROUNDS = MethodHandles.lookup().findVarHandle(Driver.class, "rounds", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final TimerQueue home;
    /** In a pool, else null. */
    private final Lookout lookout;
    /** In a pool, else the monitor looks. */
    private final Backstop backstop;
    private final Sleeper sleeper;
    private final Seat seat;

    private int pulse;
    /** Rounds so far; wraps around. Tells a sleeper from a driver that gets on. */
    private int rounds;
    private long idleSince;

    /** True from before the park to after it: such a driver can be kicked to adopt or steal. */
    volatile boolean asleep;
    /** While asleep: until when, at most. */
    volatile long until;
    /** In a pool, while asleep: when it gets up to look after all queues, or NEVER. */
    volatile long lookAt = Timeline.NEVER;
    private boolean naps;
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
        this.backstop = scheduler.options.kind() == Options.Kind.POOL ? scheduler.backstop : null;
        this.sleeper = new Sleeper(scheduler.timeline, scheduler.options.earlyPark());
        this.seat = new Seat(scheduler.crew, this, home != null && scheduler.endsWhenIdle() ? "worker-" + home.index
                : null);
        if (home != null) {
            home.gate.setOwner(this);
        }
    }

    void setThread(Thread thread) {
        seat.take(thread);
        isParked(); // links what the monitor calls later, perhaps when there is no memory for that
    }

    /** Has no thread as yet, and is asleep until the first wake. Nobody else knows this driver. */
    void sitsEmpty() {
        until = Timeline.NEVER;
        asleep = true;
        home.prepareToSleep(this, scheduler.timeline.now());
    }

    @Override
    Thread runner() {
        return seat.thread();
    }

    TimerQueue home() {
        return home;
    }

    boolean isSpare() {
        return home == null;
    }

    @Override
    public void wake() {
        if (!seat.wake()) {
            for (TimerQueue q : scheduler.queues) {
                if (keeps(q)) {
                    sleepOn(q);
                }
            }
        }
    }

    /**
     * No thread could be started, so the next one that arms a timer must wake this driver. Under the lock: a thread
     * that sits here all the same locks the queue before it says that it sleeps, and finds all that is armed by now.
     */
    private void sleepOn(TimerQueue q) {
        q.lock();
        try {
            if (keeps(q) && seat.thread() == null) {
                q.gate.casPollUntil(WakeGate.AWAKE, Timeline.NEVER);
            }
        } finally {
            q.unlock();
        }
    }

    int pulseOpaque() {
        return (int) PULSE.getOpaque(this);
    }

    int roundsOpaque() {
        return (int) ROUNDS.getOpaque(this);
    }

    /** Whether its thread is parked, or gone, and not in a callback, whatever it has said of itself. */
    boolean isParked() {
        Thread t = seat.thread();
        Thread.State s = t == null ? Thread.State.TERMINATED : t.getState();
        return (s == Thread.State.WAITING || s == Thread.State.TIMED_WAITING || s == Thread.State.TERMINATED)
                && (pulseOpaque() & 1) == 0;
    }

    @Override
    public void run() {
        try {
            boolean prepared = false;
            boolean stays = seat.isMine();
            while (stays && !scheduler.isClosed()) {
                try {
                    if (!prepared) {
                        prepared = true; // before the attempt: what fails is not tried again
                        prepare();
                    }
                    stays = goRound();
                } catch (Throwable e) {
                    recover(e);
                }
            }
        } finally {
            if (seat.isMine()) {
                scheduler.crew.ended(this);
            } else {
                scheduler.crew.left(Thread.currentThread()); // the driver may have another thread by now
            }
        }
    }

    private void prepare() {
        if (scheduler.endsWhenIdle()) {
            asleep = false; // as at the end of each sleep
            scheduler.driverIsUp();
        }
        if (scheduler.options.tightSlack()) {
            Sleeper.tightenSlack();
        }
    }

    /** False if this thread must end: the driver is a spare one that is no longer needed, or it has left its seat. */
    private boolean goRound() {
        if (isSpare() && lookout == null) {
            long now = scheduler.timeline.now();
            if (idleSince == 0) {
                idleSince = now;
            }
            if (isSuperfluous(now)) {
                return false;
            }
        }
        return round();
    }

    /** Callbacks are caught elsewhere, so memory is short, or the stack, or the clock has thrown. */
    private void recover(Throwable e) {
        try {
            Reporter.uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
        } catch (Throwable again) {
            return; // the next round is the next attempt
        }
    }

    private boolean round() {
        ROUNDS.setOpaque(this, rounds + 1);
        boolean ran = false;
        boolean timed = keepsOthers();
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q) || owns(q)) {
                ran |= checkTimers(q, timed);
            }
        }
        long now = scheduler.timeline.now();
        ran |= helpOthers(now);
        if (ran) {
            idleSince = now;
            calledInVain = false;
            return true;
        }
        long next = prepareToSleep(now);
        if (next == TimerQueue.RETRY || sweep(next)) {
            return true;
        }
        return sleepUntil(next, now);
    }

    private boolean keepsOthers() {
        for (TimerQueue q : scheduler.queues) {
            if (q != home && keeps(q)) {
                return true;
            }
        }
        return false;
    }

    private TimerQueue firstKept() {
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q)) {
                return q;
            }
        }
        return null;
    }

    private boolean sleepUntil(long next, long now) {
        boolean idle = next == Timeline.NEVER && !isSpare() && scheduler.endsWhenIdle();
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
        } else if (idle) {
            next = now + scheduler.idleNanos;
        }
        if (backstop != null && isNeededAtLook(now, held)) {
            return true; // once: the next look is not due yet
        }
        until = next;
        asleep = true;
        boolean left = false;
        try {
            boolean sleeps = true;
            while (sleeps && nobodyCalled(next) && (lookout == null || !lookout.isNeeded(this, held))) {
                long nap = lookAt;
                sleeper.sleepUntil(Math.min(next, nap), watched);
                long woke = lookout == null && nap == Timeline.NEVER ? 0 : scheduler.timeline.now();
                // Until it has found something to run.
                calledInVain = lookout != null && woke < next - EARLY_NANOS;
                sleeps = nap < next && woke >= nap - EARLY_NANOS && looksAndSleepsOn(Math.max(woke, nap));
            }
            left = idle && scheduler.timeline.now() >= next && leave();
        } finally {
            if (!left) {
                asleep = false;
                Thread.interrupted(); // whatever has set the flag: with it every park would return at once
                scheduler.driverIsUp();
            }
        }
        return !left;
    }

    /**
     * Nothing was armed for so long that the thread should end: true if it must. The driver stays what it is, keeper of
     * its queues and asleep for ever; Seat has the argument why no wake is lost.
     */
    private boolean leave() {
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q) && !owns(q)) {
                return false; // adopted: its owner is up, and takes it back
            }
        }
        until = Timeline.NEVER;
        seat.vacate();
        return nobodyCalled(Timeline.NEVER) || !seat.sitDownAgain(Thread.currentThread());
    }

    /** In a pool: looks if it is time to, and plans when to look again though nobody calls; see Backstop. */
    private boolean isNeededAtLook(long now, boolean held) {
        long then = backstop.look(now, this);
        if (then == Backstop.GET_UP) {
            return true;
        }
        naps = then != Timeline.NEVER && (naps || held || lookout == null || !lookout.holderNaps(this));
        lookAt = naps ? then : Timeline.NEVER;
        return false;
    }

    /** The nap is over. */
    private boolean looksAndSleepsOn(long now) {
        long then = backstop.napIsOver(now, this);
        if (then == Backstop.GET_UP) {
            return false;
        }
        lookAt = then;
        if (lookout != null && lookout.holderTakesNaps(this)) {
            naps = false;
            lookAt = Timeline.NEVER; // before isNeeded looks whether this driver has become the holder
        }
        return true;
    }

    /**
     * The last look before the park, after the last wait for a lock: such a wait parks, too, and may have used up the
     * permit of a waker. A waker changes pollUntil (a closing thread: closed), then unparks; so either its change is
     * seen here, or its permit comes after this look and ends the park.
     */
    private boolean nobodyCalled(long next) {
        for (TimerQueue q : scheduler.queues) {
            if (keeps(q) && q.gate.pollUntil() < next) { // AWAKE, or lent for a shorter sleep than this one
                return false;
            }
        }
        return !scheduler.isClosed();
    }

    private boolean isSuperfluous(long now) {
        return now - idleSince >= SPARE_IDLE_NANOS && firstKept() == null;
    }

    /** Runs due timers of a kept queue, up to a bound, also in time if others wait for it; true if there were any. */
    private boolean checkTimers(TimerQueue q, boolean timed) {
        long now = scheduler.timeline.now();
        long began = now;
        boolean fresh = true;
        boolean again = false;
        for (int ran = 0; ran < BATCH && !scheduler.isClosed(); ) { // a closing thread waits for the lock
            // What others push after a reading of the clock is due then or later, so it can wait for the next reading.
            if (claim(q, now, fresh || again)) {
                again = runClaimed();
                ran++;
                fresh = false;
                if (timed && scheduler.timeline.now() - began >= BATCH_NANOS) {
                    return true;
                }
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
            if (drain && q.intake.hasMail()) {
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
            scheduler.retireIfVacant(q); // so that the next round has one queue less to look at
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
            Keeper k = q.gate.keeper();
            if (k instanceof Driver d ? q.stalled && d.stuck || d.busy
                    : q.stalled && q.fileAndPeek(now) < now - STEAL_AFTER_NANOS && q.stalled) { // it has not come by since
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
                q.intake.room.reportShortage();
                long p = q.prepareToSleep(this, now);
                if (p == TimerQueue.RETRY) {
                    goRound = true;
                } else if (p == TimerQueue.NOT_KEEPER) {
                    goRound |= owns(q); // taken while this driver was stuck; the next claim takes it back
                } else {
                    next = Math.min(next, p);
                }
            }
        }
        return goRound ? TimerQueue.RETRY : next;
    }

    /**
     * Sweeps queues that have too many stale entries, as if asleep: an arming thread whose timer is due before the sweep
     * would end says so through the pollUntil of its queue, which may be another than the one that is swept. False if
     * there was nothing to sweep.
     */
    boolean sweep(long until) {
        boolean swept = false;
        for (TimerQueue q : scheduler.queues) {
            boolean more = q.compactor.wantsSweep();
            while (more && keeps(q) && nobodyCalled(until) && scheduler.timeline.now() < until) {
                more = q.compactor.sweepStep();
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
            Reporter.uncaught(e); // memory is short; the claimed task must run all the same
        }
    }

    @Override
    boolean runClaimed() {
        PULSE.setOpaque(this, pulse + 1);
        try {
            if (lookout != null) {
                leaveQueues();
            }
            return perform();
        } finally {
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
        }
    }
}
