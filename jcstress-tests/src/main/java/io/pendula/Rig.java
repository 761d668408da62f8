package io.pendula;

import io.pendula.internal.queue.Inside;
import io.pendula.internal.queue.RunAwaiter;
import io.pendula.internal.queue.Compactor;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerHeap;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * What the states share: a queue that only they drive, its first timers, and the final audit. Its clock stands still;
 * whoever claims says what time it is. An outcome that a state does not list is forbidden.
 */
abstract class Rig {
    static final long EARLY = 10;
    static final long DUE = 20;
    static final long LATE = 30;
    static final long END = 1000;

    private static final Timeline STANDSTILL = new Timeline(() -> 0);

    final TimerHeap heap = new TimerHeap();
    final TimerQueue queue = new TimerQueue(0, STANDSTILL, null, heap, null, false, new WakeGate());
    final OneShotTimer timer = new OneShotTimer(queue, this::fired);
    final OneShotTimer other = new OneShotTimer(queue, this::fired);
    final Claimer worker = new Claimer(false);
    final Claimer helper = new Claimer(true);
    final List<TimerNode> unfired = new ArrayList<>(0);
    /** Stale entries that are in the count only, because a bound is out of reach of a few timers. */
    private int pretended;

    /** The callback of every timer here. */
    void fired() {}

    /** Arms a timer and files it in the heap. */
    final void file(TimerNode t, long when) {
        queue.arm(t, when);
        drainInbox();
    }

    final void drainInbox() {
        Inside.drain(queue);
    }

    /** With those that are there as many stale entries as are never worth a sweep; the next one is one too many. */
    final void pretendDeadEntries() {
        pretended = Compactor.STALE_FLOOR - deadEntries();
        Inside.pretendStale(queue, pretended);
    }

    /** A full sweep, which sees to each entry that was stale when it began. */
    final void sweepAll() {
        Inside.startFullSweep(queue);
        while (queue.compactor.wantsSweep() && queue.compactor.sweepStep()) {
            Thread.onSpinWait();
        }
    }

    /** Closes the queue as a scheduler does; returns how many timers it has collected. */
    final int closeQueue() {
        queue.closer.close(unfired);
        TimerNode running = worker.node();
        if (running != null) {
            queue.closer.collectRunning(running, unfired);
        }
        queue.closer.collectLate(unfired);
        return unfired.size();
    }

    /** Whether a new timer was armed, or refused. */
    final String tryArm(TimerNode t) {
        try {
            queue.arm(t, DUE);
            return "armed";
        } catch (RejectedExecutionException e) {
            return "refused";
        }
    }

    /** What a reset did: replaced a firing, armed the timer, or was refused. */
    final String tryReset(TimerNode t, long when) {
        try {
            return queue.reset(t, when) ? "replaced" : "armed";
        } catch (IllegalStateException | RejectedExecutionException e) {
            return "refused";
        }
    }

    final String tryReset(long when) {
        return tryReset(timer, when);
    }

    /** Waits longer than any run lasts; false if the end of the run was missed. */
    final boolean awaitRunEnd() {
        return awaitRunEnd(timer);
    }

    final boolean awaitRunEnd(TimerNode t) {
        try {
            return RunAwaiter.await(queue, t, TimeUnit.SECONDS.toNanos(10));
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts a state", e);
        }
    }

    /** Takes the firing that waits for a receiver, if there is one. */
    final boolean receive(TimerNode t) {
        long w = t.wordVolatile();
        return TimerNode.state(w) == TimerNode.NO_STATUS && t.tryReceive(w);
    }

    /** Keeps an actor for a random time that would be done before the other one is half way. */
    static void jitter(int maxNanos) {
        long end = System.nanoTime() + ThreadLocalRandom.current().nextInt(maxNanos);
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    static int one(boolean counts) {
        return counts ? 1 : 0;
    }

    /**
     * Runs whatever is still armed, then compares the queue's books with these: each arming must have ended in exactly
     * one of a run, a stop, a reset and a collection by close, and nothing may be left behind.
     *
     * @return "ok", or what is wrong
     */
    final String audit(int armed, int stopped, int reset) {
        long dead = queue.view().stats().get(QueueView.Count.STALE_ENTRIES); // drains the inbox
        if (dead == deadEntries()) {
            pretended = 0; // sweeps have taken off what no entry stands for
        }
        String wrong = unless("dead", dead, pretended + deadEntries());
        worker.runDue(queue, END);
        QueueView.Snapshot books = queue.view().stats();
        int runs = worker.runs + helper.runs;
        wrong += unless("armings ended", runs + stopped + reset + unfired.size(), armed);
        wrong += unless("fired", books.get(QueueView.Count.FIRED), runs);
        wrong += unless("stolen", books.get(QueueView.Count.STOLEN), helper.runs);
        wrong += unless("stopped", books.get(QueueView.Count.STOPPED), stopped);
        wrong += unless("reset", books.get(QueueView.Count.RESETS), reset);
        wrong += unless("unfired", books.get(QueueView.Count.UNFIRED), unfired.size());
        wrong += unless("pending", queue.view().pending() + heap.size(), 0);
        wrong += unless("stale in the end", books.get(QueueView.Count.STALE_ENTRIES), pretended);
        wrong += unless("in motion", one(isInMotion(timer)) + one(isInMotion(other)), 0);
        wrong += unless("runs without a task", worker.withoutTask + helper.withoutTask, 0);
        return wrong.isEmpty() ? "ok" : wrong;
    }

    /** The same after resets, of which each has armed the timer, replaced a firing, or was refused. */
    final String auditResets(int armed, int stopped, Object... results) {
        int newly = 0;
        int replaced = 0;
        for (Object result : results) {
            newly += one("armed".equals(result));
            replaced += one("replaced".equals(result));
        }
        return audit(armed + newly + replaced, stopped, replaced);
    }

    private static String unless(String what, long is, long expected) {
        return is == expected ? "" : what + ": " + is + ", not " + expected + ". ";
    }

    private static boolean isInMotion(TimerNode t) {
        return TimerNode.state(t.wordVolatile()) > TimerNode.CANCELLED;
    }

    /** An armed timer has one live entry, whichever; all others are dead. Nothing is in the inbox, and nobody runs. */
    private int deadEntries() {
        Set<TimerNode> live = new HashSet<>();
        for (TimerNode t : Inside.timers(heap)) {
            if (TimerNode.isArmed(TimerNode.state(t.wordVolatile()))) {
                live.add(t);
            }
        }
        return heap.size() - live.size();
    }
}
