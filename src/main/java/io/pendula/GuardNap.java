package io.pendula;

import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import io.pendula.internal.queue.WakeGate;

/** How long the guard sleeps while the poller sleeps for ever. */
final class GuardNap {
    /*
     * The thread that arms the first timer of an idle scheduler calls the guard, in case its call of the poller is lost.
     * The guard then naps for a second before it sleeps for ever again. So a scheduler that is idle after each timer calls
     * the guard once a second, not for each.
     *
     * No first timer is missed. The guard clears until (V1), then looks at all gates (V2). The thread that arms moves a
     * gate to AWAKE (A1), then reads until (A2). All are volatile. If the guard does not see the gate, V1 < V2 < A1 < A2,
     * and the thread that arms calls it.
     */

    private static final long NANOS = 1_000_000_000;
    /** The guard was called, and is on its way to its nap. */
    private static final long CALLED = Timeline.NEVER;

    private final Standby standby;
    private final Engine engine;
    /** When the nap ends, or CALLED; 0 if the guard may sleep for ever. */
    private volatile long until;

    GuardNap(Standby standby, Engine engine) {
        this.standby = standby;
        this.engine = engine;
    }

    /** The first timer was armed: whether the guard must be called. */
    boolean begins() {
        if (until != 0) {
            return false;
        }
        until = CALLED;
        return true;
    }

    /** The guard goes to sleep. Until when; NEVER if nothing is armed. */
    long plan(long now) {
        long u = until;
        if (u == CALLED) {
            u = now + NANOS;
        } else if (u <= now) {
            until = 0; // V1
            u = isAnythingArmed() ? now + NANOS : 0; // V2
        }
        if (u == 0) {
            return Timeline.NEVER;
        }
        until = u;
        return u;
    }

    /** Whether the poller sleeps though a thread that has armed a timer must have called it. */
    boolean isForgotten(Worker p) {
        return standby.isAnyGateBefore(WakeGate.AWAKE + 1) || p.until == Timeline.NEVER && isAnythingArmed();
    }

    /** A gate says so, or an inbox: if the poller's thread could not be started, its gates say that it sleeps for ever. */
    private boolean isAnythingArmed() {
        for (TimerQueue q : engine.queues) {
            if (q.gate.owner() == standby && (q.gate.pollUntil() != Timeline.NEVER || q.due.hasArrivals())) {
                return true;
            }
        }
        return false;
    }
}
