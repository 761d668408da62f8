package io.pendula;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.QueueOwner;
import io.pendula.internal.queue.TimerQueue;

/** A thread that runs due timers: a worker's, or an application's loop. */
abstract class QueueRunner extends CallbackRun {
    /*
     * One due timer at a time is claimed under the queue's lock and run outside it: a batch would hide the rest of it
     * from helpers if one callback blocks. Any runner may claim from any queue that is not confined, so several may
     * share the work of one queue. What is exclusive is to say until when the queue's owner sleeps (WakeGate).
     *
     * After BATCH callbacks of a queue the others have their turn. Callbacks may block, so what is stolen has its turn
     * for BATCH_NANOS only: after each of those callbacks the clock is read.
     */

    /** So many callbacks of one queue run before the other queues are looked at. */
    static final int BATCH = 64;
    /** A batch that others may have to wait for ends when it has taken so long. */
    static final long BATCH_NANOS = 1_000_000;
    /** A timer of a loop that is this late may be run by a worker, though the loop's thread polls. */
    static final long STEAL_AFTER_NANOS = 500_000;

    final Engine engine;

    QueueRunner(Engine engine) {
        this.engine = engine;
    }

    /** Whether another's queue is overdue, as far as can be told without its lock. */
    static boolean seemsLate(TimerQueue q, long now) {
        long late = now - STEAL_AFTER_NANOS;
        return q.due.nextWhenOpaque() < late || isOfLoop(q) && q.due.arrivals() < late;
    }

    /** Whether a loop owns it, though the workers may have it for the moment. */
    static boolean isOfLoop(TimerQueue q) {
        QueueOwner home = q.gate.home();
        return home != null && home.asksForArrivals();
    }

    /** Runs what is due in another's queue, which stays where it is, up to a bound; true if there was anything. */
    final boolean help(TimerQueue q, long now) {
        int ran = 0;
        for (long t = now; ran < BATCH && t - now < BATCH_NANOS && !q.ownership.isConfined() && !isGone();
                t = engine.timeline.now()) {
            int step = q.due.helpOne(this, t, true);
            if (step == DueTimers.CLAIMED) {
                runClaimed();
            } else if (step != DueTimers.MORE) {
                break;
            }
            ran++;
        }
        return ran > 0;
    }

    /** Whether it has no more business here. */
    boolean isGone() {
        return engine.isClosed();
    }

    /** Runs what was claimed, to its end or into the executor; true if the timer was armed again. */
    abstract boolean runClaimed();

    final boolean perform() {
        return runCallback() && engine.endRun(this);
    }

    /** True if the run ends here: the executor has not got it. */
    final boolean runCallback() {
        return (engine.options.executor == null || !engine.handOff(this)) && engine.runCallback(this);
    }
}
