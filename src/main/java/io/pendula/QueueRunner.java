package io.pendula;

import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.TimerQueue;

/** A thread that runs due timers: a worker's, or an application's loop. */
abstract class QueueRunner extends CallbackRun {
    /*
     * One due timer at a time is claimed under the queue's lock and run outside it: a batch would hide the rest of it
     * from helpers if one callback blocks. Any worker may claim from any queue of the workers, so several may share the
     * work of one queue; a loop's queue is its own. What is exclusive is to say until when the queue's owner sleeps (WakeGate).
     *
     * After BATCH callbacks of a queue the others have their turn. Callbacks may block, so what is stolen has its turn
     * for BATCH_NANOS only: after each of those callbacks the clock is read.
     */

    /** So many callbacks of one queue run before the other queues are looked at. */
    static final int BATCH = 64;
    /** A batch that others may have to wait for ends when it has taken so long. */
    static final long BATCH_NANOS = 1_000_000;

    final Engine engine;

    QueueRunner(Engine engine) {
        this.engine = engine;
    }

    /** Runs what is due in another's queue, which stays where it is, up to a bound; true if there was anything. */
    final boolean help(TimerQueue q, long now) {
        int ran = 0;
        for (long t = now; ran < BATCH && t - now < BATCH_NANOS && !engine.isClosed();
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
