package io.pendula.soak;

import io.pendula.Timer;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.LockSupport;

/**
 * A timer's callback, with an account of its armings: each must come to exactly one end. Small, and nothing in it
 * allocates, as there are millions, also when memory is short.
 */
final class Account implements Runnable {
    /** One firing of so many throws, and one of so many blocks. */
    private static final int THROWS = 997;
    private static final int BLOCKS = 4_999;
    private static final long BLOCK_NANOS = 20_000_000;

    private static final AtomicIntegerFieldUpdater<Account> ARMED =
            AtomicIntegerFieldUpdater.newUpdater(Account.class, "armed");
    private static final AtomicIntegerFieldUpdater<Account> TAKEN =
            AtomicIntegerFieldUpdater.newUpdater(Account.class, "taken");
    private static final AtomicIntegerFieldUpdater<Account> FIRED =
            AtomicIntegerFieldUpdater.newUpdater(Account.class, "fired");
    private static final AtomicIntegerFieldUpdater<Account> INSIDE =
            AtomicIntegerFieldUpdater.newUpdater(Account.class, "inside");

    private final Ledger ledger;
    Timer timer;
    private volatile int armed;
    /** Stopped, or replaced by a reset. */
    private volatile int taken;
    private volatile int fired;
    private volatile int inside;
    /** No firing that is still to come is due earlier. Not kept if several threads use the timer: then 0. */
    private volatile long earliest;
    /** When the last arming is due. Of the thread that arms. */
    private long latest;

    Account(Ledger ledger) {
        this.ledger = ledger;
    }

    @Override
    public void run() {
        long early = earliest == 0 ? 0 : earliest - System.nanoTime();
        if (early > 0) {
            ledger.complain("a timer fired " + early + " ns early");
        }
        if (!INSIDE.compareAndSet(this, 0, 1)) {
            ledger.complain("a timer overlapped itself");
        }
        long n = ledger.firings.incrementAndGet();
        if (n % BLOCKS == 0) {
            LockSupport.parkNanos(BLOCK_NANOS);
        }
        inside = 0;
        FIRED.incrementAndGet(this);
        if (n % THROWS == 0) {
            ledger.thrown.incrementAndGet();
            throw Ledger.MEANT;
        }
    }

    /** Firings that are to come, or in progress. */
    int open() {
        return armed - taken - fired;
    }

    int armed() {
        return armed;
    }

    int taken() {
        return taken;
    }

    int fired() {
        return fired;
    }

    /** Armed by {@code how}; false if that was refused, as for want of memory. */
    boolean arm(Arming how, long nanos) {
        earliest = System.nanoTime() + nanos;
        latest = earliest;
        try {
            timer = how.arm(nanos, this);
            ARMED.incrementAndGet(this);
            return true;
        } catch (OutOfMemoryError | RejectedExecutionException e) {
            ledger.refusals.incrementAndGet();
            return false;
        }
    }

    /** By the one thread that uses it. */
    void reset(long nanos) {
        int before = open();
        long due = System.nanoTime() + nanos;
        boolean wasOverdue = before == 1 && due - nanos - latest > Ledger.LOST_NANOS + ledger.heldUpNanos.get();
        if (wasOverdue && timer.isPending()) {
            ledger.complain("a timer has not fired for " + Ledger.LOST_NANOS / 1_000_000_000 + " s");
        }
        earliest = before == 0 ? due : Math.min(earliest, due);
        if (tryReset(nanos)) {
            latest = due;
            if (before == 1 && open() == 1) { // what was to come has been replaced
                earliest = due;
            }
        }
    }

    /** By any thread, at the same time as others. */
    void resetShared(long nanos) {
        earliest = 0;
        tryReset(nanos);
    }

    /** A reset that fails for want of memory either has done nothing, or has replaced a firing by another. */
    private boolean tryReset(long nanos) {
        try {
            if (timer.reset(nanos, TimeUnit.NANOSECONDS)) {
                TAKEN.incrementAndGet(this);
            }
            ARMED.incrementAndGet(this);
            return true;
        } catch (OutOfMemoryError | RejectedExecutionException e) {
            ledger.refusals.incrementAndGet();
            return false;
        }
    }

    void stop() {
        if (timer.stop()) {
            TAKEN.incrementAndGet(this);
        }
    }

    /** How a new timer is armed. */
    interface Arming {
        Timer arm(long nanos, Runnable callback);
    }
}
