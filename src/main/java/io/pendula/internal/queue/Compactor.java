package io.pendula.internal.queue;

import static io.pendula.internal.queue.TimerNode.DELETED;
import static io.pendula.internal.queue.TimerNode.WAITING;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.state;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tells stale entries from live ones, counts them, and sweeps. Guarded by the queue's lock but for the count and the
 * volatile fields, which threads that make entries stale read without it.
 */
@SuppressWarnings("unused") // padding
public final class Compactor extends Padded {
    /*
     * Live and stale. An entry is live if its timer is filed and has noted this entry's number. The number is written
     * with each entry that is made, under the lock, and read under the lock; the word says whether it counts. An entry
     * that is live becomes stale by a change of the word (stopped, brought forward) or by a new number, which only a
     * timer gets that is not filed. Of a stopped timer the entry may come back to life as long as the state is DELETED,
     * so dropping it takes that state away first.
     *
     * When to sweep. If more than a quarter of the entries are stale, the threads that stop timers sweep two chunks each,
     * as they have the timers in their processor's cache. If that is not enough, the owner is woken, and sweeps until half
     * of that is left; the next such sweep goes on where it has ended. And if anything is stale when a sleep is
     * published, a full sweep is planned, so that the task of no stopped timer stays in memory for long. It begins anew and
     * ends when it has visited everything. A sleep lasts a second at most, so the owner need not be called for the first
     * stale entry, except where all that is armed is never due: then it sleeps for ever. So a thread that stops such a
     * timer counts the entry, then reads the gate; an owner that has published NEVER reads the count after that.
     *
     * The bound goes with the number of entries, which changes with each that the lock holder files; each look at it by
     * another thread would take the cache line away. So the lock holder notes the bound after a drain, after a chunk of
     * a sweep, and before it publishes a sleep. A thread that makes an entry stale counts it, then reads the bound; so
     * if the owner did not see its count before it went to sleep, the thread reads the bound noted then, or a later one.
     *
     * A sweep takes block by block, from the oldest on, as of timeouts most are stopped long before they are due. A block
     * in which it finds little is left out by the next ones, though not by a full sweep. So a queue that stays over its
     * bound is swept as a whole after TimerHeap.RESTS more rounds at the latest, each of which comes to such a block once.
     * Of all other blocks a sweep visits each entry that was there when it began, however many come and go meanwhile: an
     * entry leaves its block only with that as a whole, or with a new number, as a new entry, and no block is united with
     * another across the place that the sweep has reached. What comes meanwhile has its turn in the next sweep.
     *
     * The count. A thread first makes an entry stale, then counts it. Before it brings an entry back to life, it takes it off
     * the count. So the count can be too low for a moment, and even negative: a sweep may drop an entry before it is counted.
     * A thread that runs out of stack between two such steps leaves the count one too low for good. Then a sweep begins one
     * entry later, the last stale entry may stay until its deadline, and pending() reports one timer too many. A count
     * that is too high would be worse: full sweeps would be planned for ever, and the shared scheduler's threads would not end.
     */

    /** What onEntryStale and count add: a stale entry, a stopped timer. */
    static final long STALE = 1;
    static final long STOP = 1L << 32;
    /** So many stops leave the word before its high half could overflow. */
    private static final long FOLDED_STOPS = 1L << 30;

    /** No sweep begins for fewer stale entries than this. */
    public static final int STALE_FLOOR = 1024;
    /** If another thread has the lock, perhaps to sweep, the owner is called once in this many entries that become stale. */
    static final int CALL_EVERY = 256;
    /** How many entries that are not due yet are cleaned in one hold of the lock. */
    public static final int CLEAN_CHUNK = 256;
    /** Entries that a sweep visits in one hold of the lock. */
    public static final int SWEEP_CHUNK = 1024;
    /** If anything is stale when a sleep is published, a full sweep begins after this time. */
    public static final long FULL_SWEEP_NANOS = 30_000_000_000L;
    /** The same in the shared scheduler, whose threads end when nothing is left. */
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
    /** Long.MAX_VALUE with a manual clock: no thread sleeps there, so stale entries below the bound wait for their turn. */
    private final long fullSweepNanos;
    private final LongAdder foldedStops = new LongAdder();

    /** More stale entries than this: it is time to sweep. As of when the lock holder noted it. */
    private volatile int bound = STALE_FLOOR;
    volatile boolean isUnderWay;
    /** Visits all entries, however few are stale. */
    private boolean isFull;
    /** When a full sweep begins, or NEVER. In the future whenever a sleep is published. */
    long fullSweepAt = Timeline.NEVER;

    Compactor(TimerHeap entries, HoldLock lock, WakeGate gate, long fullSweepNanos) {
        this.entries = entries;
        this.lock = lock;
        this.gate = gate;
        this.fullSweepNanos = fullSweepNanos;
    }

    // ---- which entries are stale ----

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
            if (s != DELETED || t.tryRest(w)) {
                return true;
            }
        }
        return true;
    }

    // ---- the count and the bound ----

    /**
     * Adds a combination of STALE and STOP; returns how many entries are stale then. Volatile: a thread counts, then reads
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

    /** Timers that were stopped, but for those that were in the inbox. Too few, for a moment, while some are folded. */
    long stops() {
        long folded = foldedStops.sum(); // before counts, or what is folded meanwhile would count twice
        long l = counts;
        return folded + (l - (int) l >> 32);
    }

    void onStaleDropped(int dropped) {
        if (dropped > 0) {
            count(-dropped * STALE);
        }
    }

    /** Coarse, so that few changes of the size change what other threads read. */
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

    /** An entry has become stale, and was counted; {@code stale} are so now. */
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
                gate.wakeIfBefore(WakeGate.SWEEP); // an owner that sleeps, however short, wakes up to sweep
            }
        }
    }

    // ---- sweeps ----

    /** Whether the owner should sweep before it sleeps. */
    public boolean wantsSweep() {
        return isUnderWay || isOverBound();
    }

    /**
     * One chunk of a sweep; true if there is more to do. The inbox is left alone: draining it at each step would bring
     * timers into the heap that are about to be stopped, and those would be the next to be swept.
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

    /** Begins a full sweep, from the first entry on. */
    void startFull() {
        isUnderWay = true;
        isFull = true;
        rewind();
    }

    /** The next entry that is visited is the first one. */
    void rewind() {
        entries.rewindSweep();
        entries.beginSweep();
    }

    /** Drops the stale ones among the next entries. Going on to half the bound spares the next few stops a sweep. */
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

    /** The owner is about to sleep, or a loop polls; {@code mail}: there may be stopped timers in the inbox. */
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

    /** Until when a loop may wait that has nothing else to do: below the bound no stale entry wakes its thread. */
    long longestWait(long now, boolean mail) {
        boolean isEmpty = entries.size() == 0 && !mail;
        return isEmpty ? fullSweepAt : Math.min(fullSweepAt, Timeline.plus(now, fullSweepNanos / 2));
    }
}
