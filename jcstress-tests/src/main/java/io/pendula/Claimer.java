package io.pendula;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.DueTimers;
import io.pendula.internal.queue.Firing;
import io.pendula.internal.queue.TimerNode;
import io.pendula.internal.queue.TimerQueue;

/** Somebody who claims due timers and runs them, as a worker does. Each thread of a state has its own. */
final class Claimer extends Firing {
    final boolean stealing;
    int runs;
    /** Claims whose task was gone, which a cancel must never cause. */
    int withoutTask;
    /** Runs that threw. */
    int thrown;

    Claimer(boolean stealing) {
        this.stealing = stealing;
    }

    /** Claims and runs until nothing is due; returns how many it ran. */
    int runDue(TimerQueue queue, long now) {
        int before = runs;
        while (claim(queue, now)) {
            finish();
        }
        return runs - before;
    }

    /** Takes the earliest due timer, which runs until {@link #finish}. A helper gives way to a thread that has the lock. */
    boolean claim(TimerQueue queue, long now) {
        int step = stealing ? queue.due.helpOne(this, now) : queue.due.claimNext(this, now);
        return step == DueTimers.CLAIMED;
    }

    void finish() {
        TimerNode t = node();
        runs++;
        boolean ends = !t.isReceiver(task);
        if (task == null) {
            withoutTask++;
        } else {
            try {
                ends &= t.fire(task, deadline);
            } catch (Throwable e) {
                thrown++;
            }
        }
        if (ends) {
            QueuedNode.queueOf(t).endRun(t);
        }
        end();
    }
}
