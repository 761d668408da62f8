package io.pendula.internal.queue;

import java.util.function.BooleanSupplier;

/**
 * Whose a queue is. The owner sees to it that its due timers run; another may take it over. A queue whose loop has gone
 * leaves the scheduler's queues when nothing is armed there, and comes back with the next arming: see GoneQueues.
 */
public final class Ownership {
    private final HoldLock lock;
    private final WakeGate gate;
    private final Inbox inbox;
    private final Intake intake;
    private final Entries entries;
    private final Compactor compactor;
    private final DueTimers due;

    /** Its loop has gone, so it leaves the scheduler's queues when nothing is armed here. */
    private volatile boolean left;

    Ownership(HoldLock lock, WakeGate gate, Inbox inbox, Intake intake, Entries entries, Compactor compactor, DueTimers due) {
        this.lock = lock;
        this.gate = gate;
        this.inbox = inbox;
        this.intake = intake;
        this.entries = entries;
        this.compactor = compactor;
        this.due = due;
    }

    /** Whether no thread but the owner may run what is due, as in the queue of a confined loop. */
    public boolean isConfined() {
        QueueOwner k = gate.home();
        return k != null && k.isConfined();
    }

    /** Makes the loop the owner again, from which the workers took the queue over; nothing if its home is another now. */
    public void takeBack(QueueOwner loop) {
        lock.lock();
        try {
            gate.takeBack(loop);
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@code to}, which is up, takes over from {@code from}; false if that is no longer the owner, or is not absent, as is
     * asked under the lock: a poll notes itself before it takes the lock.
     */
    public boolean takeOver(QueueOwner from, QueueOwner to, BooleanSupplier isAbsent) {
        lock.lock();
        try {
            if (gate.owner() != from || !isAbsent.getAsBoolean()) {
                return false;
            }
            gate.transfer(to);
            return true;
        } finally {
            lock.unlock();
        }
    }

    // ---- leaving the scheduler's queues, and coming back ----

    /** Makes {@code to} the owner, for good; null with a manual clock, whose advance runs what is due. */
    public void giveTo(QueueOwner to) {
        lock.lock();
        try {
            give(to);
        } finally {
            lock.unlock();
        }
    }

    private void give(QueueOwner to) {
        assert lock.isHeldByCurrentThread();
        gate.setHome(to);
        gate.transfer(to);
        intake.drain(); // so that arrivals says what the owner asks for
    }

    /** As giveTo, when the loop has gone that the queue was made for. */
    public void leaveTo(QueueOwner successor) {
        lock.lock();
        try {
            left = true;
            give(successor);
        } finally {
            lock.unlock();
        }
    }

    /** Whether it may be worth to try and retire this queue. The racy read of the size is benign. */
    public boolean seemsVacant() {
        return left && entries.size() <= compactor.staleCounter.stale() && inbox.head() == null;
    }

    /**
     * True if nothing was armed here and, as is asked under the lock, no callback of this queue runs: then the inbox
     * takes no more timers.
     */
    public boolean retire(BooleanSupplier isAnyRunning) {
        lock.lock();
        try {
            // Not all at once, if there is much to drain or to clean: then the next attempt goes on.
            boolean vacant = left && intake.drain() && compactor.cleanTops(Timeline.NEVER) && entries.size() == 0
                    && intake.isEmpty();
            if (!vacant || isAnyRunning.getAsBoolean() || !inbox.retire()) {
                return false;
            }
            compactor.stopSweeping();
            due.setNextWhenOpaque(Timeline.NEVER);
            release();
            return true;
        } finally {
            lock.unlock();
        }
    }

    public boolean isRetired() {
        return inbox.isRetired();
    }

    /** Ends the retirement. The owner first, so that each push finds an owner to wake; null if it is closed next. */
    public void comeBackTo(QueueOwner successor) {
        lock.lock();
        try {
            give(successor);
            gate.setPollUntil(Timeline.NEVER); // the owner may sleep, and has nothing to do before the push
            inbox.reopen();
        } finally {
            lock.unlock();
        }
    }

    /** No thread sleeps for this queue any more, nor does it keep its last owner in memory. */
    public void disown() {
        lock.lock();
        try {
            release();
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        assert lock.isHeldByCurrentThread();
        gate.setHome(null);
        gate.transfer(null);
    }
}
