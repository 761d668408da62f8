package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.DELETED;
import static io.pendula.internal.queue.TimerNode.WAITING;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tells stale entries from live ones, counts them, and sweeps. Guarded by the queue's lock, except for the count and the
 * volatile fields. Threads that make entries stale access those without the lock.
 */
@SuppressWarnings("unused") // padding
public final class Compactor extends Padded {
    /*
     * Live and stale. An entry is live if its timer is filed and notes this entry's number. The number is written and read
     * under the lock, and changes with each new entry. The word says whether the timer is filed. A live entry becomes stale
     * when the word changes: the timer is stopped or brought forward. A timer that is filed again gets a new number, so its
     * old entries stay stale. While a stopped timer is DELETED, a reset may make its entry live again. So a thread that
     * drops this entry changes the state first.
     *
     * When to sweep. If more than a quarter of the entries are stale, each thread that stops a timer sweeps two chunks. It
     * has the timers in its processor's cache. If that is not enough, the owner is woken, and sweeps until half of the bound
     * is left. The next such sweep continues where this one ended. If any entry is stale when a sleep is published, a full
     * sweep is planned. So no task of a stopped timer stays in memory for long. A full sweep begins anew and visits
     * everything. A sleep lasts a second at most, so the first stale entry need not call the owner. There is one exception:
     * if no armed timer is ever due, the owner sleeps without limit. So a thread that stops such a timer counts the entry,
     * then reads the gate. An owner that has published NEVER reads the count after that.
     *
     * The bound depends on the number of entries, which changes with each timer that the lock holder files. If other threads
     * read that number, each read would take the cache line away from the lock holder. So the lock holder notes the bound
     * after a drain, after a chunk of a sweep, and before it publishes a sleep. A thread that makes an entry stale counts
     * it, then reads the bound. If the owner did not see this count before it went to sleep, the thread reads the bound
     * noted then, or a later one.
     *
     * A sweep visits whole blocks, from the oldest on, because most timeouts are stopped long before they are due. A sweep
     * skips blocks in which earlier ones found few stale entries; a full sweep does not. Each round reaches such a block
     * once. So a queue that stays over its bound is swept completely after at most TimerHeap.RESTS more rounds. In all other
     * blocks a sweep visits each entry that was there when it began, although entries come and go meanwhile. An entry leaves
     * its block only with the whole block, or as a new entry with a new number. No block is united with another across the
     * sweep's position. The next sweep visits the entries made meanwhile.
     *
     * The count. A thread first makes an entry stale, then counts it. It takes an entry off the count before it makes
     * it live again. So the count can be too low for a moment, and even negative: a sweep may drop an entry before it
     * is counted. If a thread runs out of stack between two of these steps, the count stays one too low. Then a sweep
     * begins one entry later, the last stale entry may stay until its deadline, and pending() reports one timer too
     * many. A count that is too high would be worse: full sweeps would be planned forever, and the shared scheduler's
     * threads would never end.
     */

    /** Units of count: a stale entry, a stopped timer. */
    static final long STALE = 1;
    static final long STOP = 1L << 32;
    /** This many stops move to foldedStops at a time, so that the high half of the word never overflows. */
    private static final long FOLDED_STOPS = 1L << 30;

    /** No sweep begins for fewer stale entries than this. */
    public static final int STALE_FLOOR = 1024;
    /** If another thread holds the lock, perhaps to sweep, the owner is called for every 256th stale entry. */
    static final int CALL_EVERY = 256;
    /** The most entries that are not due yet and are cleaned in one hold of the lock. */
    public static final int CLEAN_CHUNK = 256;
    /** The most entries in one chunk of a sweep. */
    public static final int SWEEP_CHUNK = 1024;
    /** If anything is stale when a sleep is published, a full sweep begins after this time. */
    public static final long FULL_SWEEP_NANOS = 30_000_000_000L;
    /** The same in the shared scheduler, whose threads end when its queues are empty. */
    public static final long SHARED_FULL_SWEEP_NANOS = 3_000_000_000L;

    private static final AtomicLongFieldUpdater<Compactor> COUNTS =
            AtomicLongFieldUpdater.newUpdater(Compactor.class, "counts");

    /**
     * Stale entries in the low half, stopped timers in the high half, since most stops count both. Written by all threads
     * that stop timers or bring them forward, hence padded on both sides.
     */
    private volatile long counts;
    private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;

    private final TimerHeap entries;
    private final HoldLock lock;
    private final WakeGate gate;
    /** Long.MAX_VALUE with a manual clock: no thread sleeps, so stale entries below the bound stay until they are due. */
    private final long fullSweepNanos;
    private final LongAdder foldedStops = new LongAdder();

    /** A sweep begins if more entries than this are stale. The lock holder notes it, see above. */
    private volatile int bound = STALE_FLOOR;
    volatile boolean isUnderWay;
    /** The sweep under way visits all entries, even if few are stale. */
    private boolean isFull;
    /** When the next full sweep begins, or NEVER. Always in the future when a sleep is published. */
    long fullSweepAt = Timeline.NEVER;

    Compactor(TimerHeap entries, HoldLock lock, WakeGate gate, long fullSweepNanos) {
        this.entries = entries;
        this.lock = lock;
        this.gate = gate;
        this.fullSweepNanos = fullSweepNanos;
    }

    // ---- which entries are stale ----

    /** Whether the top entry is live and has its timer's deadline as the key. {@code w} is the timer's word. */
    boolean isTopLive(TimerNode top, long w) {
        return state(w) == WAITING && top.entry == entries.topSeq();
    }

    /** Whether the entry is stale. Makes a DELETED timer REMOVED. A sweep spends most of its time here. */
    boolean isStale(TimerNode t, int seq) {
        while (t.entry == seq) {
            long w = t.wordVolatile();
            int s = state(w);
            if (isFiled(s)) {
                return false;
            }
            if (s != DELETED || t.tryRest(w)) {
                return true;
            }
        }
        return true;
    }

    // ---- the count and the bound ----

    /**
     * Adds a combination of STALE and STOP, and returns the number of stale entries. Volatile: a thread counts, then reads
     * the bound, which the owner notes before it sleeps.
     */
    int count(long delta) {
        long l = COUNTS.getAndAdd(this, delta) + delta;
        if (l >= FOLDED_STOPS * STOP && COUNTS.compareAndSet(this, l, l - FOLDED_STOPS * STOP)) { // else a later call does
            foldedStops.add(FOLDED_STOPS);
        }
        return (int) l;
    }

    /** May be negative. */
    int stale() {
        return (int) counts;
    }

    /** The number of stops, except of timers in the inbox. Too low for a moment while another thread folds stops. */
    long stops() {
        long folded = foldedStops.sum(); // before counts, or stops folded in between would count twice
        long l = counts;
        return folded + (l - (int) l >> 32);
    }

    void onStaleDropped(int dropped) {
        if (dropped > 0) {
            count(-dropped * STALE);
        }
    }

    /** A multiple of 16, so that few changes of the size change the word that other threads read. */
    private int boundNow() {
        return Math.max(STALE_FLOOR, entries.size() >> 2 & -16);
    }

    void noteSize() {
        assert lock.isHeldByCurrentThread();
        int now = boundNow();
        if (now != bound) {
            bound = now;
        }
    }

    boolean isOverBound() {
        return stale() > bound;
    }

    /** An entry has become stale and was counted. {@code stale} is the count after that. */
    void onEntryStale(int stale) {
        if (stale > bound) {
            boolean swept = lock.tryLock();
            if (swept) {
                try {
                    sweepChunk();
                    sweepChunk();
                } finally {
                    lock.unlock();
                }
            }
            if (swept ? stale() > bound : stale % CALL_EVERY == 0) {
                gate.wakeIfBefore(WakeGate.SWEEP); // the owner sweeps even if its sleep would end soon
            }
        }
    }

    // ---- sweeps ----

    /** Whether the owner should sweep before it sleeps. */
    public boolean wantsSweep() {
        return isUnderWay || isOverBound();
    }

    /**
     * Sweeps one chunk; true if there is more to do. Does not drain the inbox: a drain at each step would file timers that
     * are about to be stopped, and they would be swept next.
     */
    public boolean sweepStep() {
        lock.lock();
        try {
            sweepChunk();
            return wantsSweep();
        } finally {
            lock.unlock();
        }
    }

    /** Begins a full sweep at the first entry. */
    void startFull() {
        isUnderWay = true;
        isFull = true;
        rewind();
    }

    /** Moves the sweep to the first entry. */
    void rewind() {
        entries.rewindSweep();
        entries.beginSweep();
    }

    /** Drops the stale entries of the next chunk. Ends at half the bound, so that the next few stops need no sweep. */
    private void sweepChunk() {
        assert lock.isHeldByCurrentThread();
        noteSize();
        if (!isUnderWay) {
            if (!isOverBound()) {
                return;
            }
            isUnderWay = true;
            entries.beginSweep();
        }
        int before = entries.size();
        int goal = boundNow() / 2;
        try {
            entries.sweep(this, SWEEP_CHUNK, isFull ? Integer.MAX_VALUE : stale() - goal, isFull);
        } finally {
            onStaleDropped(before - entries.size());
        }
        boolean atEnd = entries.isSwept();
        if (atEnd) {
            rewind();
        }
        if (atEnd || !isFull && stale() <= goal) {
            isUnderWay = false;
            isFull = false;
        }
        entries.trim();
        noteSize();
    }

    // ---- when to sweep all ----

    /** Called before the owner sleeps, and by each poll of a loop. {@code mail}: the inbox may have stopped timers. */
    void planFullSweep(long now, boolean mail) {
        boolean anyStale = stale() > 0;
        if (!anyStale && !mail) {
            fullSweepAt = Timeline.NEVER;
        } else if (now >= fullSweepAt || fullSweepAt == Timeline.NEVER) {
            if (anyStale && now >= fullSweepAt && !isFull) {
                startFull();
            }
            fullSweepAt = Timeline.plus(now, fullSweepNanos);
        }
    }

    /** When an idle loop must wake up, because below the bound no stale entry wakes its thread. */
    long longestWait(long now, boolean mail) {
        boolean isEmpty = entries.size() == 0 && !mail;
        return isEmpty ? fullSweepAt : Math.min(fullSweepAt, Timeline.plus(now, fullSweepNanos / 2));
    }
}
