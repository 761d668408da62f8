package io.pendula;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that watches workers and loops. It reports callbacks that stall, and transfers the queue of a loop that does
 * not poll to the workers.
 */
final class Monitor implements Runnable {
    /*
     * Overview
     *
     * Workers look after each other (Standby), so the monitor sleeps until its next look, which is once a second while
     * a worker is up; and for ever when all sleep. It looks every 14 ms while a loop is up, which may be late at any
     * time, and every 1 ms while a loop is late.
     *
     * It must not sleep for long while a loop is up. It publishes sleepsUntil, then looks which loops are up; a loop that
     * wakes up says so, then looks at sleepsUntil, and unparks the monitor if that lies ahead. All four are volatile, so
     * at least one of the two sees the other. The same holds for a queue that is given to another owner.
     *
     * Before it sleeps without a limit it publishes sleepsUntil, then looks whether a worker is up, and does not sleep
     * without a limit then. A worker that wakes up clears asleep, then looks at sleepsUntil before its first callback,
     * and wakes the monitor if that sleeps without a limit. So no callback stalls unseen.
     *
     * If a worker could not be started when all others were in callbacks, each look tries again.
     */

    /** Between two looks while a loop is up, or if something is to be looked at again. */
    private static final long SLOW_POLL_NANOS = 14_000_000;
    /** Between two looks while a loop is late. */
    private static final long FAST_POLL_NANOS = 1_000_000;
    /** After a failure it waits so long before it tries again. */
    private static final long AFTER_FAILURE_NANOS = 10_000_000;
    /** A loop may be behind by so much before a worker is called to help. */
    private static final long HELP_AFTER_NANOS = 2_000_000;
    /** Lateness at which a loop that waits is first suspected to have missed its wake-up. */
    private static final long LATE_NANOS = 50_000_000;
    /**
     * Time from the suspicion to the wake-up. Not zero: a thread between its push and its look at pollUntil, or a
     * thread that was woken already, may be waiting for a processor.
     */
    private static final long STILL_LATE_NANOS = 100_000_000;
    private static final long LOOK_NANOS = 1_000_000_000;
    private static final long MIN_LOOK_NANOS = 10_000_000;

    private final Engine engine;
    private final WorkerPool workerPool;
    private final Standby standby;
    private final Loops loops;
    private final long stallNanos;
    /** Between two looks at callbacks. Half of stallNanos if that is short, since it takes two looks to see a stall. */
    private final long lookNanos;
    private final Seat seat;
    /**
     * By how much the monitor itself has overslept, all in all: what stops all threads, as a collector or another
     * tenant of the machine does, is no callback's fault.
     */
    private long paused;
    private volatile long sleepsUntil;

    Monitor(Engine engine, WorkerPool workerPool, Loops loops) {
        this.engine = engine;
        this.workerPool = workerPool;
        this.standby = workerPool.standby;
        this.loops = loops;
        this.stallNanos = engine.options.stallNanos;
        this.lookNanos = Math.min(LOOK_NANOS, Math.max(MIN_LOOK_NANOS, stallNanos / 2));
        this.seat = new Seat(workerPool, this, engine.endsWhenIdle() ? "monitor" : null);
        if (engine.endsWhenIdle()) {
            sleepsUntil = Timeline.NEVER; // has no thread as yet
        }
    }

    /** Not in the shared scheduler, where the first wake starts its thread. */
    void start() {
        Thread t = workerPool.newThread(this, "monitor");
        seat.take(t);
        t.start();
    }

    /** If its thread cannot be started, the next one that would wake it tries again. */
    void wake() {
        if (!seat.wake()) {
            sleepsUntil = Timeline.NEVER;
        }
    }

    /** A loop has woken up, or a queue has got another owner. */
    void loopIsUp(long now) {
        if (sleepsUntil > now + 2 * SLOW_POLL_NANOS) {
            call();
        }
    }

    /** There may be something to watch from now on. */
    void callIfIdle() {
        if (sleepsUntil == Timeline.NEVER) {
            call();
        }
    }

    private void call() {
        sleepsUntil = 0; // the next thread need not wake it again
        wake();
    }

    @Override
    public void run() {
        while (!engine.isClosed() && seat.isMine()) {
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
            sleepsUntil = 0; // no thread need wake it
            Reporter.uncaught(e);
            Thread.interrupted(); // with the flag set the park would return at once
            LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
        } catch (Throwable again) {
            return; // the next look is the next attempt
        }
    }

    private void watch() {
        long now = engine.timeline.now();
        while (!engine.isClosed()) {
            long until = planOn(poll(now), now);
            if (engine.isClosed()) {
                return;
            }
            if (until == Timeline.NEVER && engine.endsWhenIdle()) {
                LockSupport.parkNanos(this, engine.idleNanos);
                long began = now;
                now = engine.timeline.now();
                if (now - began >= engine.idleNanos && leave()) {
                    return;
                }
            } else if (until == Timeline.NEVER) {
                LockSupport.park(this);
                now = engine.timeline.now();
            } else {
                LockSupport.parkNanos(this, until - now);
                // One reading for both, else a pause between two of them would be taken for a callback's time.
                now = engine.timeline.now();
                paused += Math.max(0, now - until);
                engine.wokeUp(until, now);
            }
            Thread.interrupted();
        }
    }

    /** Publishes until when the monitor sleeps, and looks whether that is too long. */
    private long planOn(long then, long now) {
        long until = Math.min(then, lookWhileUp(now));
        sleepsUntil = until;
        long sooner = until;
        if (until > now + SLOW_POLL_NANOS && isAnyLoopSoonerThan(until)) {
            sooner = now + SLOW_POLL_NANOS;
        }
        if (sooner == Timeline.NEVER) {
            sooner = lookWhileUp(now); // the second time: who was up before sleepsUntil was published is seen now
        }
        if (sooner != until) {
            sleepsUntil = sooner;
        }
        return sooner;
    }

    /** When to look again if a worker is up: it is in a callback, or will be. */
    private long lookWhileUp(long now) {
        for (Worker d : workerPool.workers()) {
            if (!d.asleep) {
                return now + lookNanos;
            }
        }
        return Timeline.NEVER;
    }

    /** Nothing was armed for so long that the thread should end: true if it must. Seat has the argument. */
    private boolean leave() {
        seat.vacate();
        return sleepsUntil == Timeline.NEVER || !seat.sitDownAgain(Thread.currentThread());
    }

    /** It may have polled and said so after it was looked at, and does not tell when its time is over. */
    private boolean isAnyLoopSoonerThan(long until) {
        for (TimerQueue q : engine.queues) {
            if (q.gate.owner() instanceof LoopWorker l
                    && (l.isUp() || q.gate.pollUntil() < until - SLOW_POLL_NANOS)) {
                return true;
            }
        }
        return false;
    }

    /** Looks at everything once; returns when to look again. */
    private long poll(long now) {
        long next = lookAtWorkers(now);
        for (TimerQueue q : engine.queues) {
            if (q.gate.owner() instanceof LoopWorker l) {
                next = Math.min(next, lookAtLoop(q, l, now));
            } else if (q.gate.home() instanceof LoopWorker l) {
                next = Math.min(next, lookAtAbsent(l, now));
            }
        }
        return next;
    }

    // ---- workers ----

    private long lookAtWorkers(long now) {
        long next = Timeline.NEVER;
        for (Worker d : workerPool.workers()) {
            int pulse = d.pulseOpaque();
            boolean isRunning = (pulse & 1) != 0;
            if (!isRunning || pulse != d.seenPulse) {
                d.seenPulse = pulse;
                d.seenAt = now - paused;
                d.stallReported = false;
            }
            long age = age(d.seenAt, now);
            if (isRunning && !d.stallReported) {
                if (age >= stallNanos && age > 0) {
                    d.stallReported = true;
                    engine.reporter.stalled(d.nodeOpaque(), d.lateness(), age);
                } else {
                    next = Math.min(next, now + Math.min(lookNanos, Math.max(MIN_LOOK_NANOS, stallNanos - age)));
                }
            }
        }
        workerPool.growAgain(null);
        return next;
    }

    private long age(long seenAt, long now) {
        return now - paused - seenAt;
    }

    // ---- loops ----

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
     * A loop's thread may be anywhere, and poll at any moment. If it has not since a timer fell due, the workers get
     * its queue, until it does. Returns when to look again.
     */
    private long lookAtLoop(TimerQueue q, LoopWorker l, long now) {
        if (l.hasEnded()) {
            loops.closeEnded(l);
            if (l.detached) {
                return now + FAST_POLL_NANOS; // for the new owner
            }
        }
        boolean came = l.hasPolled(now - paused);
        TimerNode running = l.nodeOpaque();
        if (running != null && age(l.seenAt, now) >= stallNanos && !l.stallReported) {
            l.stallReported = true;
            engine.reporter.stalled(running, l.lateness(), age(l.seenAt, now));
        }
        long p = q.gate.pollUntil();
        long due = q.due.tryPeekLate(now, now - HELP_AFTER_NANOS);
        if (due == DueTimers.NOT_OWNER) {
            return now + SLOW_POLL_NANOS; // it is at it
        }
        TimerNode first = q.due.first();
        boolean isTakenOver = !came && !l.isConfined() && now - due >= HELP_AFTER_NANOS
                && q.ownership.takeOver(l, standby, () -> !l.hasPolled(now - paused));
        if (isTakenOver) {
            l.absentSince = Math.max(due, engine.resumedAt());
            l.lateTimer = first;
        }
        if (isTakenOver) {
            standby.hasTakenOver();
        }
        long late = now - due;
        if (late < HELP_AFTER_NANOS) {
            // Who polls all the time is as good as up, else each of its waits would end with a call for the monitor.
            return came || p == WakeGate.AWAKE ? now + SLOW_POLL_NANOS : dueThen(due, now);
        }
        if (!came && running == null && now - Math.max(due, engine.resumedAt()) >= stallNanos && !l.stallReported) {
            l.stallReported = true;
            engine.reporter.loopStalled(l, l.runner(), first, late);
        }
        if (isTakenOver) {
            return now + lookNanos;
        }
        if (p != WakeGate.AWAKE && hasOverslept(q, p, due, now) && q.gate.casPollUntil(p, WakeGate.AWAKE)) {
            workerPool.countOverdueWake(); // once: from now on it is up, for all that other threads know
            l.wake();
        }
        if (l.isConfined()) {
            return now + SLOW_POLL_NANOS;
        }
        standby.callHelper(null); // which runs what is due; the loop polls, so the rest is its own
        return now + FAST_POLL_NANOS;
    }

    /** The workers have its queue. */
    private long lookAtAbsent(LoopWorker l, long now) {
        if (l.hasEnded()) {
            loops.closeEnded(l);
        }
        TimerNode running = l.nodeOpaque();
        if (!l.hasPolled(now - paused) && !l.stallReported) {
            long since = running == null ? now - l.absentSince : age(l.seenAt, now);
            if (since >= stallNanos) {
                l.stallReported = true;
                if (running == null) {
                    engine.reporter.loopStalled(l, l.runner(), l.lateTimer, since);
                } else {
                    engine.reporter.stalled(running, l.lateness(), since);
                }
            }
        }
        return l.stallReported ? Timeline.NEVER : now + lookNanos; // when it comes back it says so
    }

    private static long dueThen(long due, long now) {
        return due == Timeline.NEVER ? due : Math.max(due, now) + SLOW_POLL_NANOS;
    }
}
