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
     * While some driver is up the monitor looks every 14 ms, every 1 ms while something looks wrong. When all drivers
     * sleep it sleeps itself, until 14 ms after the earliest of their deadlines: an idle scheduler costs nothing.
     *
     * It must not sleep on while a driver is up. It publishes sleepsUntil, then looks whether a driver is up; a driver
     * that gets up clears asleep, then looks at sleepsUntil, and unparks the monitor if that lies far ahead. All four
     * are volatile, so at least one of the two sees the other. At low rates that costs nothing, since the monitor's
     * time lies just behind that of the driver. The same holds for a loop, and for a queue that is given to another
     * owner, who might be stuck.
     *
     * The monitor is a backstop for time, not for correctness: without it no timer is lost, but those behind a
     * callback that blocks wait for it.
     */

    private static final long SLOW_POLL_NANOS = 14_000_000;
    private static final long FAST_POLL_NANOS = 1_000_000;
    /** A queue whose driver is up may be behind by so much before an idle driver is called to help. */
    private static final long HELP_AFTER_NANOS = 2_000_000;
    /** A sleeper that has missed its time by so much is watched; */
    private static final long LATE_NANOS = 50_000_000;
    /**
     * and if it sleeps on for so long it is woken. At once would be too soon: a thread between its push and its look at
     * pollUntil, or a driver that was woken already, may be waiting for a processor.
     */
    private static final long STILL_LATE_NANOS = 100_000_000;

    private static final long HELP = 0;

    private final TimerScheduler scheduler;
    private final long stallNanos;
    private Thread thread;
    /**
     * By how much the monitor itself has overslept, all in all: what stops all threads, as a collector or another
     * tenant of the machine does, is no callback's fault.
     */
    private long paused;
    private volatile long sleepsUntil;
    /** Written by the monitor alone. */
    private volatile long rescues;

    Monitor(TimerScheduler scheduler, long stallNanos) {
        this.scheduler = scheduler;
        this.stallNanos = stallNanos;
    }

    void setThread(Thread thread) {
        this.thread = thread;
    }

    long rescues() {
        return rescues;
    }

    /** Nobody is woken if the thread could not be made. */
    void wake() {
        LockSupport.unpark(thread);
    }

    /** A driver has got up, or has come back from a long callback. */
    void driverIsUp(long now) {
        if (sleepsUntil > now + 2 * SLOW_POLL_NANOS) {
            sleepsUntil = 0; // the next driver need not wake it again
            wake();
        }
    }

    @Override
    public void run() {
        while (!scheduler.isClosed()) {
            long now = scheduler.timeline.now();
            long until = poll(now);
            sleepsUntil = until;
            if (until > now + SLOW_POLL_NANOS && (anyDriverUp() || anyLoopSoonerThan(until))) {
                until = now + SLOW_POLL_NANOS;
                sleepsUntil = until;
            }
            if (scheduler.isClosed()) {
                break;
            }
            if (until == Timeline.NEVER) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, until - now);
                paused += Math.max(0, scheduler.timeline.now() - until);
            }
            Thread.interrupted();
        }
    }

    private boolean anyDriverUp() {
        for (Driver d : scheduler.crew.drivers()) {
            if (!d.asleep && !d.stuck) {
                return true;
            }
        }
        for (TimerQueue q : scheduler.queues) {
            Keeper k = q.keeper();
            if (k instanceof LoopDriver l && (l.isUp() || q.pollUntilVolatile() == TimerQueue.AWAKE)
                    || k instanceof Driver d && d.stuck && !q.stalled) { // given to it a moment ago
                return true;
            }
        }
        return false;
    }

    /** It may have come by and said so after it was looked at, and does not tell when its time is over. */
    private boolean anyLoopSoonerThan(long until) {
        for (TimerQueue q : scheduler.queues) {
            if (q.keeper() instanceof LoopDriver && q.pollUntilVolatile() < until - SLOW_POLL_NANOS) {
                return true;
            }
        }
        return false;
    }

    /** Looks at everything once; returns when to look again. */
    private long poll(long now) {
        long next = anyDriverUp() ? now + SLOW_POLL_NANOS : Timeline.NEVER;
        for (Driver d : scheduler.crew.drivers()) {
            next = Math.min(next, look(d, now));
        }
        boolean needHelp = false;
        for (TimerQueue q : scheduler.queues) {
            Keeper keeper = q.keeper();
            long p = q.pollUntilVolatile();
            if (keeper instanceof LoopDriver l) {
                long then = lookAtLoop(q, l, now);
                needHelp |= then == HELP;
                next = then == HELP ? next : Math.min(next, then);
            } else if (keeper instanceof Driver d && d.stuck) {
                q.stalled = true;
                needHelp = true;
            } else if (p != TimerQueue.AWAKE) {
                next = Math.min(next, lookAtSleeper(q, p, now));
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
            scheduler.reportStall(d.nodeOpaque(), d.lateness(), age(d.seenAt, now));
            return now + FAST_POLL_NANOS;
        }
        return now + Math.min(SLOW_POLL_NANOS, Math.max(FAST_POLL_NANOS, stallNanos - age(d.seenAt, now)));
    }

    private long age(long seenAt, long now) {
        return now - paused - seenAt;
    }

    private long lookAtSleeper(TimerQueue q, long p, long now) {
        long due = p;
        if (q.tryLock()) { // even if the inbox is empty: what lies in the heap may be what an earlier look has filed
            try {
                q.drain();
                due = Math.min(due, q.earliest());
            } finally {
                q.unlock();
            }
        }
        if (hasOverslept(q, p, due, now)) {
            rescues++;
            q.keeper().wake();
        }
        return dueThen(due, now);
    }

    private static boolean hasOverslept(TimerQueue q, long p, long due, long now) {
        if (due >= now - LATE_NANOS || q.pollUntilVolatile() != p) {
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
        boolean came = l.hasComeBy(now - paused);
        TimerNode running = l.nodeOpaque();
        if (running != null && age(l.seenAt, now) >= stallNanos && !l.stallReported) {
            l.stallReported = true;
            scheduler.reportStall(running, l.lateness(), age(l.seenAt, now));
        }
        long p = q.pollUntilVolatile();
        if (!q.tryLock()) {
            return now + SLOW_POLL_NANOS; // it is at it
        }
        long due;
        TimerNode first;
        try {
            due = q.survey(now);
            first = q.first();
        } finally {
            q.unlock();
        }
        long late = now - due;
        if (late < HELP_AFTER_NANOS) {
            // Who comes by all the time is as good as up, else each of its waits would end with a call for the monitor.
            return came || p == TimerQueue.AWAKE ? now + SLOW_POLL_NANOS : dueThen(due, now);
        }
        if (!came && running == null && late >= stallNanos && !l.stallReported) {
            l.stallReported = true;
            scheduler.reportStall(l, first, late);
        }
        if (p != TimerQueue.AWAKE && hasOverslept(q, p, due, now) && q.casPollUntil(p, TimerQueue.AWAKE)) {
            rescues++; // once: from now on it is up, for all that anybody knows
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
                    q.drain();
                    due |= q.earliest() <= now + SLOW_POLL_NANOS;
                } finally {
                    q.unlock();
                }
            }
        }
        return due;
    }
}
