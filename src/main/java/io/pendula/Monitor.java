package io.pendula;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that looks after the drivers: it hands the queues of a driver that is stuck in a callback, or of a loop that
 * does not come by, to an idle one, starts a spare driver when all are stuck, calls for help when a queue falls behind,
 * and wakes a sleeper that has missed its time.
 */
final class Monitor implements Runnable {
    /*
     * Overview
     *
     * While some driver is up the monitor looks every 14 ms, every 3 ms if none sleeps that could help and a spare one
     * may be started, every 1 ms while something looks wrong. When all drivers sleep it sleeps itself, until 14 ms after
     * the earliest of their deadlines, or 3 ms after the latest, when none may be left asleep.
     *
     * It must not sleep on while a driver is up. It publishes sleepsUntil, then looks whether a driver is up; a driver
     * that gets up clears asleep, then looks at sleepsUntil, and unparks the monitor if that lies far ahead; for the
     * last driver that gets up, less far. All four are volatile, so at least one of the two sees the other; and of two
     * drivers that get up at the same time, one sees that it is the last. At low rates that costs nothing, since the
     * monitor's time lies just behind that of the driver. The same holds for a loop, and for a queue that is given to
     * another owner, which might be stuck.
     *
     * All that relies on what the others publish. So once a second, while anything is armed, it looks at the timers
     * themselves (Backstop). It sleeps without a limit only when nothing is armed: it publishes sleepsUntil, then looks
     * into the queues; a thread that arms a timer for a queue that slept for ever pushes, then looks at sleepsUntil. A
     * driver that goes to sleep for a timer that it has armed itself has been up before, and has told the monitor so,
     * or the monitor sees it up, or sees asleep, and with it the timer in the queue.
     *
     * The monitor is a backstop: without it no timer is lost, but those behind a callback that blocks wait for it.
     */

    private static final long SLOW_POLL_NANOS = 14_000_000;
    private static final long FAST_POLL_NANOS = 1_000_000;
    /** While no driver sleeps, */
    private static final long ALL_UP_POLL_NANOS = 3_000_000;
    /** and if it sleeps for longer than this, the last one that gets up wakes it. */
    private static final long ALL_UP_LIMIT_NANOS = 4_000_000;
    /** So long after a failure it tries again. */
    private static final long AFTER_FAILURE_NANOS = 10_000_000;
    /** If the monitor itself has overslept by so much, so have all others, and the listener hears of it. */
    private static final long PAUSE_NANOS = 1_000_000_000;
    /** A queue whose driver is up may be behind by so much before an idle driver is called to help. */
    private static final long HELP_AFTER_NANOS = 2_000_000;
    /** A loop that has missed its time by so much is watched; */
    private static final long LATE_NANOS = 50_000_000;
    /**
     * and if it waits on for so long it is woken. At once would be too soon: a thread between its push and its look at
     * pollUntil, or a thread that was woken already, may be waiting for a processor.
     */
    private static final long STILL_LATE_NANOS = 100_000_000;

    private static final long HELP = 0;

    private final TimerScheduler scheduler;
    private final Backstop backstop;
    private final long stallNanos;
    private final Seat seat;
    /**
     * By how much the monitor itself has overslept, all in all: what stops all threads, as a collector or another
     * tenant of the machine does, is no callback's fault.
     */
    private long paused;
    /** When the last long pause of all threads was over: before that nobody can be blamed. */
    private long resumedAt;
    private volatile long sleepsUntil;

    Monitor(TimerScheduler scheduler, Backstop backstop, long stallNanos) {
        this.scheduler = scheduler;
        this.backstop = backstop;
        this.stallNanos = stallNanos;
        this.seat = new Seat(scheduler.crew, this, scheduler.endsWhenIdle() ? "monitor" : null);
        if (scheduler.endsWhenIdle()) {
            sleepsUntil = Timeline.NEVER; // has no thread as yet
        }
    }

    void setThread(Thread thread) {
        seat.take(thread);
    }

    /** If its thread cannot be started, the next driver that gets up tries again. */
    void wake() {
        if (!seat.wake()) {
            sleepsUntil = Timeline.NEVER;
        }
    }

    /** A driver has got up, or has come back from a long callback. */
    void driverIsUp(long now) {
        long s = sleepsUntil;
        if (s > now + ALL_UP_LIMIT_NANOS && (s > now + 2 * SLOW_POLL_NANOS || isNoneAsleep())) {
            call();
        }
    }

    /** A queue that slept for ever has got a timer. */
    void somethingIsArmed() {
        if (sleepsUntil == Timeline.NEVER) {
            call();
        }
    }

    private void call() {
        sleepsUntil = 0; // the next thread need not wake it again
        wake();
    }

    /** Whether no driver sleeps that could help, while a spare one could be started. */
    private boolean isNoneAsleep() {
        if (!scheduler.crew.mayGrow()) {
            return false;
        }
        for (Driver d : scheduler.crew.drivers()) {
            if (d.asleep) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void run() {
        while (!scheduler.isClosed() && seat.isMine()) {
            try {
                watch();
            } catch (Throwable e) {
                recover(e);
            }
        }
    }

    /** Memory is short, or the clock has thrown. */
    private void recover(Throwable e) {
        try {
            sleepsUntil = 0; // nobody need wake it
            Reporter.uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
        } catch (Throwable again) {
            return; // the next look is the next attempt
        }
    }

    private void watch() {
        long now = scheduler.timeline.now();
        while (!scheduler.isClosed()) {
            long until = planOn(poll(now), now);
            if (scheduler.isClosed()) {
                return;
            }
            if (until == Timeline.NEVER && scheduler.endsWhenIdle()) {
                LockSupport.parkNanos(this, scheduler.idleNanos);
                long began = now;
                now = scheduler.timeline.now();
                if (now - began >= scheduler.idleNanos && leave()) {
                    return;
                }
            } else if (until == Timeline.NEVER) {
                LockSupport.park(this);
                now = scheduler.timeline.now();
            } else {
                LockSupport.parkNanos(this, until - now);
                // One reading for both, else a pause between two of them would be taken for a callback's time.
                now = scheduler.timeline.now();
                overslept(now - until, now);
            }
            Thread.interrupted();
        }
    }

    /** Publishes until when the monitor sleeps, and looks whether that is too long. */
    private long planOn(long then, long now) {
        long until = Math.min(then, backstop.look(now));
        sleepsUntil = until;
        long sooner = until;
        if (until > now + SLOW_POLL_NANOS && (anyDriverUp() || anyLoopSoonerThan(until))) {
            sooner = now + SLOW_POLL_NANOS;
        }
        if (until > now + ALL_UP_LIMIT_NANOS && isNoneAsleep()) {
            sooner = now + ALL_UP_POLL_NANOS;
        } else if (sooner == Timeline.NEVER) {
            sooner = backstop.look(now); // the second time: what was armed before sleepsUntil was published is seen now
        }
        if (sooner != until) {
            sleepsUntil = sooner;
        }
        return sooner;
    }

    private void overslept(long nanos, long now) {
        if (nanos > 0) {
            paused += nanos;
            if (nanos >= PAUSE_NANOS) {
                resumedAt = now;
                scheduler.reporter.paused(nanos);
            }
        }
    }

    /** Nothing was armed for so long that the thread should end: true if it must. Seat has the argument. */
    private boolean leave() {
        seat.vacate();
        return sleepsUntil == Timeline.NEVER || !seat.sitDownAgain(Thread.currentThread());
    }

    private boolean anyDriverUp() {
        for (Driver d : scheduler.crew.drivers()) {
            if (!d.asleep && !d.stuck) {
                return true;
            }
        }
        for (TimerQueue q : scheduler.queues) {
            Keeper k = q.gate.keeper();
            if (k instanceof LoopDriver l && (l.isUp() || q.gate.pollUntil() == WakeGate.AWAKE)
                    || k instanceof Driver d && d.stuck && !q.stalled) { // given to it a moment ago
                return true;
            }
        }
        return false;
    }

    /** It may have come by and said so after it was looked at, and does not tell when its time is over. */
    private boolean anyLoopSoonerThan(long until) {
        for (TimerQueue q : scheduler.queues) {
            if (q.gate.keeper() instanceof LoopDriver && q.gate.pollUntil() < until - SLOW_POLL_NANOS) {
                return true;
            }
        }
        return false;
    }

    /** Looks at everything once; returns when to look again. */
    private long poll(long now) {
        long next = anyDriverUp() ? now + SLOW_POLL_NANOS : Timeline.NEVER;
        long lastUp = 0;
        for (Driver d : scheduler.crew.drivers()) {
            next = Math.min(next, look(d, now));
            lastUp = Math.max(lastUp, d.asleep ? d.until : 0);
        }
        if (lastUp != Timeline.NEVER && scheduler.crew.mayGrow()) {
            next = Math.min(next, Math.max(lastUp, now) + ALL_UP_POLL_NANOS);
        }
        boolean needHelp = false;
        for (TimerQueue q : scheduler.queues) {
            Keeper keeper = q.gate.keeper();
            long p = q.gate.pollUntil();
            if (keeper instanceof LoopDriver l) {
                long then = lookAtLoop(q, l, now);
                needHelp |= then == HELP;
                next = then == HELP ? next : Math.min(next, then);
            } else if (keeper instanceof Driver d && d.stuck) {
                q.stalled = true;
                needHelp = true;
            } else if (p != WakeGate.AWAKE) {
                next = Math.min(next, dueThen(p, now));
            } else if (q.nextWhenOpaque() < now - HELP_AFTER_NANOS) {
                needHelp = true;
            }
        }
        return needHelp ? Math.min(next, callHelp(now)) : next;
    }

    /** Whether a driver is stuck; returns when to look at it again. */
    private long look(Driver d, long now) {
        int pulse = d.pulseOpaque();
        if ((pulse & 1) == 0) {
            d.seenPulse = pulse;
            d.stuck = false; // as below: it may have missed the flag
            return Timeline.NEVER;
        }
        if (pulse != d.seenPulse) {
            d.seenPulse = pulse;
            d.seenAt = now - paused;
            d.stuck = false;
        } else if (d.stuck) {
            return Timeline.NEVER; // it speaks up when it comes back
        } else if (age(d.seenAt, now) >= stallNanos) {
            d.stuck = true;
            scheduler.reporter.stalled(d.nodeOpaque(), d.lateness(), age(d.seenAt, now));
            return now + FAST_POLL_NANOS;
        }
        return now + Math.min(SLOW_POLL_NANOS, Math.max(FAST_POLL_NANOS, stallNanos - age(d.seenAt, now)));
    }

    private long age(long seenAt, long now) {
        return now - paused - seenAt;
    }

    private static boolean hasOverslept(TimerQueue q, long p, long due, long now) {
        if (due >= now - LATE_NANOS || q.gate.pollUntil() != p) {
            q.lateSince = 0;
        } else if (q.lateSince == 0) {
            q.lateSince = now;
        } else if (now - q.lateSince >= STILL_LATE_NANOS) {
            q.lateSince = 0;
            return true;
        }
        return false;
    }

    /**
     * A loop's thread may be anywhere, and come by at any moment. If it has not since a timer fell due, drivers may
     * adopt its queue, until it does. Returns when to look again, or HELP.
     */
    private long lookAtLoop(TimerQueue q, LoopDriver l, long now) {
        if (l.hasEnded()) {
            scheduler.loops.closeEnded(l);
            if (l.detached) {
                return now + FAST_POLL_NANOS; // for the new owner
            }
        }
        boolean came = l.hasComeBy(now - paused);
        TimerNode running = l.nodeOpaque();
        if (running != null && age(l.seenAt, now) >= stallNanos && !l.stallReported) {
            l.stallReported = true;
            scheduler.reporter.stalled(running, l.lateness(), age(l.seenAt, now));
        }
        long p = q.gate.pollUntil();
        if (!q.tryLock()) {
            return now + SLOW_POLL_NANOS; // it is at it
        }
        long due;
        TimerNode first;
        try {
            due = q.earliestTold();
            if (now - due >= HELP_AFTER_NANOS) { // else what has arrived stays where it may be stopped at little cost
                due = q.fileAndPeek(now);
            }
            first = q.first();
        } finally {
            q.unlock();
        }
        long late = now - due;
        if (late < HELP_AFTER_NANOS) {
            // Who comes by all the time is as good as up, else each of its waits would end with a call for the monitor.
            return came || p == WakeGate.AWAKE ? now + SLOW_POLL_NANOS : dueThen(due, now);
        }
        if (!came && running == null && now - Math.max(due, resumedAt) >= stallNanos && !l.stallReported) {
            l.stallReported = true;
            scheduler.reporter.loopStalled(l, first, late);
        }
        if (p != WakeGate.AWAKE && hasOverslept(q, p, due, now) && q.gate.casPollUntil(p, WakeGate.AWAKE)) {
            backstop.countRescue(); // once: from now on it is up, for all that anybody knows
            l.wake();
        }
        if (l.isConfined()) {
            return now + SLOW_POLL_NANOS;
        }
        q.stalled = !came; // else to steal what is due is enough
        return HELP;
    }

    private static long dueThen(long due, long now) {
        return due == Timeline.NEVER ? due : Math.max(due, now) + SLOW_POLL_NANOS;
    }

    /** Kicks an idle driver, or starts a spare one if all are stuck; returns when to look again. */
    private long callHelp(long now) {
        boolean allStuck = true;
        for (Driver d : scheduler.crew.drivers()) {
            if (d.asleep) {
                d.wake(); // it sees on its round who needs help
                return now + FAST_POLL_NANOS;
            }
            allStuck &= d.stuck;
        }
        if (allStuck && anythingDue(now)) {
            return scheduler.crew.startSpare() ? now + FAST_POLL_NANOS : now + SLOW_POLL_NANOS;
        }
        return now + SLOW_POLL_NANOS;
    }

    private boolean anythingDue(long now) {
        boolean due = false;
        for (TimerQueue q : scheduler.queues) {
            if (!q.isConfined() && q.tryLock()) {
                try {
                    due |= !q.drain() || q.earliest() <= now + SLOW_POLL_NANOS;
                } finally {
                    q.unlock();
                }
            }
        }
        return due;
    }
}
