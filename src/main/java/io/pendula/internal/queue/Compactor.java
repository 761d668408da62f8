package io.pendula.internal.queue;

import static io.pendula.internal.queue.StaleCounter.STALE;
import static io.pendula.internal.queue.TimerNode.DELETED;
import static io.pendula.internal.queue.TimerNode.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerNode.WAITING;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.state;

/**
 * Tells stale entries from live ones, counts them, and decides when to sweep. Guarded by the queue's lock but for the
 * volatile fields, which threads that make entries stale read without it.
 */
public final class Compactor {
    /*
     * Live and stale. An entry is live if its timer is filed and has noted this entry's number. The number is written
     * with each entry that is made, under the lock, and read under the lock; the word says whether it counts. An entry
     * that is live becomes stale by a change of the word (stopped, brought forward) or by a new number, which only a
     * timer gets that is not filed. Of a stopped timer the entry may come back to life as long as the state is DELETED,
     * so dropping it takes that state away first.
     *
     * When to sweep. If more than a quarter of the entries are stale, the threads that stop timers sweep two chunks each,
     * as they have the timers in their processor's cache. If that is not enough, the owner is woken, and sweeps until half
     * of that is left. And if anything is stale when a sleep is published, a full sweep is planned, so that the task of no
     * stopped timer stays in memory for long. No sleep lasts so long that the owner would have to be called for the first
     * stale entry (DueTimers). A sweep ends when it has seen everything; one that a caller has begun the owner ends.
     *
     * The bound goes with the number of entries, which changes with each that the lock holder files; each look at it by
     * another thread would take the cache line away. So the lock holder notes the bound after a drain, after a chunk of
     * a sweep, and before it publishes a sleep. A thread that makes an entry stale counts it, then reads the bound; so
     * if the owner did not see its count before it went to sleep, the thread reads the bound noted then, or a later one.
     *
     * The count. A thread makes an entry stale first and counts it then. So a sweep may drop an entry that is not
     * counted yet, and the count is negative for a moment. A thread that ends between the two, since it has no stack
     * left, would leave it wrong for good. But after a quiet round, one that has seen all entries while nothing changed,
     * none is stale: what is counted then is wrong, or about to be counted right. If two quiet rounds in a row find
     * the same, it is wrong, and is taken off. As long as something is counted, a full sweep is planned, so the second
     * one comes half a minute after the first, and no thread is held up between two steps for so long.
     */

    /** No sweep begins for fewer stale entries than this. */
    public static final int STALE_FLOOR = 1024;
    /** If another thread has the lock, perhaps to sweep, the owner is called once in this many entries that become stale. */
    static final int CALL_EVERY = 256;
    /** Entries that a sweep visits in one hold of the lock. */
    public static final int SWEEP_CHUNK = 1024;
    /** Stale tops that are cleaned in one hold of the lock. */
    public static final int CLEAN_CHUNK = 256;
    /** If anything is stale when a sleep is published, a full sweep begins after this time. */
    public static final long FULL_SWEEP_NANOS = 30_000_000_000L;
    /** The same in the shared scheduler, whose threads end when nothing is left. */
    public static final long SHARED_FULL_SWEEP_NANOS = 3_000_000_000L;

    private final Entries entries;
    private final HoldLock lock;
    private final WakeGate gate;
    private final boolean keepOrder;
    private final long fullSweepNanos;
    private final Sweep sweep;
    final StaleCounter staleCounter = new StaleCounter();

    /** The sweep that is under way ends after this many rounds at the latest; 0 if none is. */
    private volatile int roundsLeft;
    /** It visits all entries, however few are stale. */
    private boolean full;
    /** Since the last round began, a stopped timer's entry has come back to life. */
    private volatile boolean revived;
    /** More stale entries than this: it is time to sweep. As of when the lock holder noted it. */
    private volatile int bound = STALE_FLOOR;
    /** When a full sweep begins, or NEVER. In the future whenever a sleep is published. */
    private long fullSweepAt = Timeline.NEVER;
    /** How many entries are counted stale though the last round has seen that none is; 0 if it was not quiet. */
    private int wrong;
    private long swept;

    Compactor(Entries entries, HoldLock lock, WakeGate gate, boolean keepOrder, long fullSweepNanos) {
        this.entries = entries;
        this.lock = lock;
        this.gate = gate;
        this.keepOrder = keepOrder;
        this.fullSweepNanos = fullSweepNanos;
        this.sweep = new Sweep(entries, this);
    }

    // ---- which entries are stale ----

    boolean isLive(TimerNode t, int seq, long w) {
        return isFiled(state(w)) && t.entry == seq;
    }

    /** Whether the top entry is what its timer, whose word is {@code w}, waits for. */
    boolean isTopLive(TimerNode top, long w) {
        return state(w) == WAITING && top.entry == entries.topSeq();
    }

    /** Whether this entry belongs to no armed timer; lets a stopped timer go. Most of a sweep's time passes here. */
    boolean isStale(TimerNode t, int seq) {
        while (t.entry == seq) {
            long w = t.wordVolatile();
            int s = state(w);
            if (isFiled(s)) {
                return false;
            }
            if (s != DELETED || t.tryLetGo(w)) {
                return true;
            }
        }
        return true;
    }

    /** Re-keys or drops a top entry that is not live under its key; true if it was dropped. */
    boolean cleanTop(Intake intake) {
        TimerNode t = entries.top();
        int seq = entries.topSeq();
        long w = t.wordVolatile();
        if (state(w) == MODIFIED_LATER && t.entry == seq) {
            intake.rekeyTop(t, w);
            return false;
        }
        if (isStale(t, seq)) {
            entries.pop();
            return true;
        }
        return false;
    }

    /**
     * Until the top is live, or was put off from an instant after {@code lazyFrom}; false if there are so many stale
     * ones that another thread should get the lock meanwhile.
     */
    boolean cleanTops(Intake intake, long lazyFrom) {
        int dropped = 0;
        int visits = 0;
        while (entries.size() > 0 && visits < CLEAN_CHUNK) {
            TimerNode top = entries.top();
            long w = top.wordVolatile();
            if (isTopLive(top, w) || entries.topKey() > lazyFrom && state(w) == MODIFIED_LATER) {
                break;
            }
            visits++;
            lock.visit(1);
            if (cleanTop(intake)) {
                dropped++;
            }
        }
        onStaleDropped(dropped);
        return visits < CLEAN_CHUNK;
    }

    // ---- counts and the bound ----

    /** A stopped timer's entry is live again. */
    void onRevived() {
        revived = true; // before the count: a round that does not see the one does not see the other
        staleCounter.add(-STALE);
    }

    /** What has ever become stale, as far as it is counted, less what has come back to life. */
    long everStale() {
        return staleCounter.stale() + swept;
    }

    void onStaleDropped(int dropped) {
        if (dropped > 0) {
            swept += dropped;
            staleCounter.add(-dropped * STALE);
        }
    }

    /** Coarse, so that few changes of the size change what other threads read. */
    private int boundNow() {
        return Math.max(STALE_FLOOR, entries.size() >> 2 & -16);
    }

    /** Lock held. */
    void noteSize() {
        int now = boundNow();
        if (now != bound) {
            bound = now;
        }
    }

    boolean isOverBound() {
        return staleCounter.stale() > boundNow();
    }

    /** An entry has become stale, and was counted; {@code stale} are so now. */
    void onEntryStale(int stale) {
        if (stale > bound) {
            HoldLock.checkStack();
            boolean swept = lock.tryLock();
            if (swept) {
                try {
                    noteSize();
                    startIfOverBound();
                    sweepChunk();
                    sweepChunk();
                } finally {
                    lock.unlock();
                }
            }
            if (swept ? staleCounter.stale() > bound : stale % CALL_EVERY == 0) {
                gate.wakeIfBefore(1); // an owner that sleeps, however short, wakes up to sweep
            }
        }
    }

    // ---- sweeps ----

    /** Whether the owner should sweep before it sleeps. */
    public boolean wantsSweep() {
        return isUnderWay() || isOverBound();
    }

    boolean isUnderWay() {
        return roundsLeft > 0;
    }

    /**
     * One chunk of a sweep; true if there is more to do. The inbox is left alone: draining it at each step would bring
     * timers into the heap that are about to be stopped, and those would be the next to be swept.
     */
    public boolean sweepStep() {
        lock.lock();
        try {
            startIfOverBound();
            sweepChunk();
            return wantsSweep();
        } finally {
            lock.unlock();
        }
    }

    private void startIfOverBound() {
        if (!isUnderWay() && isOverBound()) {
            start(false);
        }
    }

    /** A round that is under way is completed, and a whole one follows. */
    void start(boolean visitsAll) {
        full = visitsAll;
        roundsLeft = sweep.isBegun() ? 2 : 1;
    }

    /** Drops the stale ones among the next entries. Going on to half the bound spares the next few stops a sweep. */
    private void sweepChunk() {
        assert lock.isHeldByCurrentThread();
        if (!isUnderWay()) {
            return;
        }
        if (!sweep.isBegun()) {
            revived = false;
            sweep.begin();
        }
        int before = entries.size();
        int goal = boundNow() / 2;
        int visits = sweep.visit(Math.min(lock.left(), SWEEP_CHUNK), full ? Integer.MAX_VALUE : staleCounter.stale() - goal);
        lock.visit(visits);
        onStaleDropped(before - entries.size());
        if (!sweep.isBegun()) {
            roundsLeft--;
            checkCount();
        }
        if (!full && staleCounter.stale() <= goal) {
            roundsLeft = 0;
        }
        entries.trim();
        noteSize();
    }

    /** After a round. */
    private void checkCount() {
        int counted = !revived && sweep.isQuiet() ? staleCounter.stale() : 0;
        if (counted != 0 && counted == wrong) {
            staleCounter.add(-counted * STALE);
            counted = 0;
        }
        wrong = counted;
    }

    // ---- full sweeps ----

    /** When the owner must wake up for one, or NEVER. */
    long fullSweepAt() {
        return fullSweepAt;
    }

    /** The owner is about to sleep, or a loop polls; {@code mail}: there may be stopped timers in the inbox. */
    void planFullSweep(long now, boolean mail) {
        boolean anyStale = staleCounter.stale() != 0;
        if (keepOrder || !anyStale && !mail) { // a manual clock's advance and its loops look at everything anyway
            fullSweepAt = Timeline.NEVER;
        } else if (now >= fullSweepAt || fullSweepAt == Timeline.NEVER) {
            if (anyStale && now >= fullSweepAt && !(full && isUnderWay())) {
                start(true);
            }
            fullSweepAt = Timeline.plus(now, fullSweepNanos);
        }
    }

    /** Until when a loop may wait that has nothing else to do: of what becomes stale meanwhile its thread hears no more. */
    long longestWait(long now, boolean mail) {
        boolean isEmpty = entries.size() == 0 && !mail;
        return keepOrder || isEmpty ? fullSweepAt : Math.min(fullSweepAt, Timeline.plus(now, fullSweepNanos / 2));
    }

    /** The queue is closed or retired. */
    void stopSweeping() {
        roundsLeft = 0;
        fullSweepAt = Timeline.NEVER;
    }

    // ---- figures ----

    long swept() {
        return swept;
    }
}
