package io.pendula;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerNode;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that watches workers and loops. It reports callbacks that stall, and loops that are late.
 */
final class Monitor implements Runnable {
    /*
     * Overview
     *
     * Workers look after each other (Standby), so the monitor sleeps until its next look, which is once a second while
     * a worker is up, or anything is armed or runs on a loop; else it sleeps for ever.
     *
     * Before it sleeps without a limit it publishes sleepsUntil, then looks whether a worker is up, and does not sleep
     * without a limit then. A worker that wakes up clears asleep, then looks at sleepsUntil before its first callback,
     * and wakes the monitor if that sleeps without a limit. So no callback stalls unseen.
     *
     * The same holds for loops: after it has published sleepsUntil, the monitor looks what has arrived on each loop, what
     * is filed there, and what runs. A thread that arms where nothing had arrived notes that in arrivals, then looks at
     * sleepsUntil. What a drain moves from the one place to the other stays in view, as the monitor looks under the
     * queue's lock. A loop with nothing armed wakes no thread, however often it polls.
     *
     * If a worker could not be started when all others were in callbacks, each look tries again.
     */

    /** After a failure it waits so long before it tries again. */
    private static final long AFTER_FAILURE_NANOS = 10_000_000;
    private static final long LOOK_NANOS = 1_000_000_000;
    private static final long MIN_LOOK_NANOS = 10_000_000;

    private final Engine engine;
    private final WorkerPool workerPool;
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
        if (until == Timeline.NEVER) { // the second time: what was there before sleepsUntil was published is seen now
            sooner = isAnyLoopBusy(now) ? now + lookNanos : lookWhileUp(now);
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

    /** Looks at everything once; returns when to look again. */
    private long poll(long now) {
        return Math.min(lookAtWorkers(now), lookAtLoops(now));
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
                    engine.reporter.stalled(d.node(), d.lateness(), age);
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

    private long lookAtLoops(long now) {
        long next = Timeline.NEVER;
        for (LoopWorker l : loops.all()) {
            if (l.hasEnded()) {
                loops.closeEnded();
            } else {
                lookAtLoop(l, now);
                next = isBusy(l, now) ? now + lookNanos : next;
            }
        }
        return next;
    }

    private boolean isAnyLoopBusy(long now) {
        for (LoopWorker l : loops.all()) {
            if (isBusy(l, now)) {
                return true;
            }
        }
        return false;
    }

    /** Whether something is armed or runs there; true if another thread has the lock. */
    private boolean isBusy(LoopWorker l, long now) {
        return peek(l, now) != Timeline.NEVER || l.node() != null; // in this order: a claim comes between
    }

    /** When a timer is due there, or NOT_OWNER. What is late for long is filed first. */
    private long peek(LoopWorker l, long now) {
        return l.queue.due.tryPeekLate(now, now - lookNanos);
    }

    /** If it is late for long that is reported. Its thread may be anywhere. */
    private void lookAtLoop(LoopWorker l, long now) {
        if (l.hasPolled(now - paused) || l.stallReported) {
            return;
        }
        TimerNode running = l.node();
        long due = running == null ? peek(l, now) : DueTimers.NOT_OWNER;
        if (running != null) {
            reportStalled(l, running, age(l.seenAt, now));
        } else if (due != DueTimers.NOT_OWNER) {
            reportLate(l, now, due);
        }
    }

    private void reportStalled(LoopWorker l, TimerNode running, long age) {
        if (age >= stallNanos) {
            l.stallReported = true;
            engine.reporter.stalled(running, l.lateness(), age);
        }
    }

    private void reportLate(LoopWorker l, long now, long due) {
        TimerNode first = l.queue.due.first();
        if (first != null && now - Math.max(due, engine.resumedAt()) >= stallNanos) {
            l.stallReported = true;
            engine.reporter.loopStalled(l, l.thread, first, now - due);
        }
    }
}
