package io.pendula;

/** Who runs the due timers of queues: a driver, which has a thread of its own for that, or an application's loop. */
abstract class QueueRunner extends Firing implements Keeper {
    /*
     * A runner keeps the queues that it owns, and those that it has adopted. Adopting changes the queue's keeper, under
     * its lock, and from then on the adopter sleeps for that queue's deadlines too, so that after the first late timer
     * none waits for the monitor. The owner takes its queue back when it next locks it. Everyone else finds out by
     * looking at the keeper under the lock: who has lost a queue neither runs its timers nor touches pollUntil. A waker
     * reads the keeper after its CAS of pollUntil; if that changes at that very moment, the new keeper is up (it has
     * just set AWAKE) and has a drain before it, so the wake may go to either.
     *
     * One due timer at a time is claimed and run outside the lock: a batch would hide the rest of it from thieves if
     * one callback blocks. After BATCH callbacks of a queue the others have their turn. Callbacks may block, so what is
     * stolen, and what is adopted, has its turn for BATCH_NANOS only: after each of those callbacks the clock is read. A
     * driver that keeps its home queue alone does not read it, as nobody waits for the end of that batch.
     */

    /** Callbacks of one queue before other queues, and the inbox of others, are looked at. */
    static final int BATCH = 64;
    /** A batch that is not a home driver's only one ends when it has taken so long. */
    static final long BATCH_NANOS = 1_000_000;
    /** A timer this late may be run by whoever is idle, though the queue's keeper is up. */
    static final long STEAL_AFTER_NANOS = 500_000;

    final TimerScheduler scheduler;

    QueueRunner(TimerScheduler scheduler) {
        this.scheduler = scheduler;
    }

    final boolean keeps(TimerQueue q) {
        return q.gate.keeper() == this;
    }

    final boolean owns(TimerQueue q) {
        return q.gate.owner() == this;
    }

    /** Lock held. Makes sure that this is the queue's keeper, and up; false if another is, by right. */
    final boolean takeUp(TimerQueue q) {
        if (!keeps(q)) {
            if (!owns(q)) {
                return false; // prepareToSleep forgets it
            }
            q.keep(this);
        } else if (q.gate.pollUntil() != WakeGate.AWAKE) {
            q.gate.setPollUntil(WakeGate.AWAKE);
        }
        if (q.stalled) {
            q.stalled = false; // from now on others may steal again, but need not adopt it
        }
        return true;
    }

    /** Whether another's queue is overdue, as far as can be told without its lock. */
    static boolean seemsLate(TimerQueue q, long now) {
        long late = now - STEAL_AFTER_NANOS;
        return q.nextWhenOpaque() < late || q.gate.owner() instanceof LoopDriver && q.inbox.arrivals() < late;
    }

    /** Runs what is due in another's queue, which stays where it is, up to a bound; true if there was anything. */
    final boolean steal(TimerQueue q, long now) {
        int ran = 0;
        for (long t = now; ran < BATCH && t - now < BATCH_NANOS && !q.isConfined() && !isGone() && q.tryLock();
                t = scheduler.timeline.now()) {
            boolean claimed;
            boolean more;
            try {
                more = q.intake.hasMail() && !q.drain();
                claimed = q.claimDue(now, this, true);
            } finally {
                q.unlock();
            }
            if (claimed) {
                runClaimed();
            } else if (!more) {
                break;
            }
            ran++;
        }
        return ran > 0;
    }

    /** Whether it has no more business here. */
    boolean isGone() {
        return scheduler.isClosed();
    }

    /** Runs what was claimed, to its end or into the executor; true if the timer was armed again. */
    abstract boolean runClaimed();

    final boolean perform() {
        return (scheduler.options.executor() == null || !scheduler.handOff(this)) && scheduler.perform(this);
    }
}
