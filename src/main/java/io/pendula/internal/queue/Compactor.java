package io.pendula.internal.queue;

import static io.pendula.internal.queue.StaleCounter.STALE;
import static io.pendula.internal.queue.TimerState.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerState.state;

/**
 * Sweeps the stale entries of a queue: counts them, decides when a sweep is worth its cost, and makes it in chunks.
 * Guarded by the queue's lock but for the volatile fields, which threads that make entries stale read without it.
 */
public final class Compactor {
    /*
     * Beyond a bound, a quarter of all entries, the owner sweeps, chunk by chunk, until half of the bound is left. A
     * little before, a thread that makes entries stale sweeps two chunks now and then: it has the timers in its
     * processor's cache. Far beyond the bound, each thread that notices sweeps, as the owner gets no processor. A pass
     * that has dropped nothing is not repeated before more have become stale.
     *
     * The sizes of heap and fifo change with each entry that the lock holder files, and each look at them by another
     * thread would take the cache line away from it. So the lock holder notes the size after a drain, after a chunk of
     * a sweep, and before it publishes a sleep, and threads that make entries stale know the bounds from that. Such a
     * thread counts first and reads the size then, so if the owner did not see its count, it reads the size that the
     * owner noted before its sleep, or a later one.
     *
     * Late sweeps. Below the bound stale entries would stay until their keys surface, which may take hours, and each
     * keeps its timer's task alive. So the owner sleeps no longer than LATE_NANOS while there are stale entries or, in
     * the inbox of a loop, timers that may have been stopped; then it drains and sweeps all entries. A pass that took
     * t is not repeated within LATE_SHARE * t.
     *
     * An owner that found nothing of that kind may sleep for hours. It says so (sleepsLong) before it publishes
     * pollUntil, and reads the count of stale entries after that; a thread that makes the first entry stale, or stops a
     * timer in the inbox, reads sleepsLong after that. So, as in the proof of WakeGate, one of them sees the other, and
     * the owner is woken once. To be woken for each of many such stops would cost more than they are worth: so if
     * drains have dropped stopped timers since the last publication, the next sleep is limited, too.
     */

    /** So many stale entries are never worth a sweep. */
    public static final int STALE_FLOOR = 1024;
    /** Beyond the tidy bound two chunks are swept for so many entries that become stale. */
    static final int TIDY_EVERY = 256;
    /** Entries that a sweep visits in one hold of the lock. */
    public static final int SWEEP_CHUNK = 1024;
    /** Stale tops that are cleaned in one hold of the lock. */
    public static final int CLEAN_CHUNK = 256;
    /** A stopped timer that is neither armed again nor referred to is let go after about this time. */
    public static final long LATE_NANOS = 30_000_000_000L;
    /** In the shared scheduler, whose threads end after that. */
    public static final long SHARED_LATE_NANOS = 3_000_000_000L;
    /** A sweep for that purpose takes no more than one part of this many of a processor. */
    public static final long LATE_SHARE = 1_000;

    /** A size is noted again when it has changed by about so many entries, as a power of two. */
    private static final int NOTE_BITS = 6;
    /** So many live entries in a row, and a sweep leaves the fifo alone. */
    private static final int LIVE_MAX = 32;

    private final Entries entries;
    private final TimerHeap heap;
    private final Liveness liveness;
    private final HoldLock lock;
    private final WakeGate gate;
    private final boolean keepOrder;
    private final long lateNanos;
    final StaleCounter staleCounter = new StaleCounter();

    /**
     * So many entries were counted stale when sweeps had visited all entries and found none of them; else 0. No sweep
     * begins before more have become stale. Volatile: read by threads that make entries stale.
     */
    private volatile int fruitless;
    /** The owner is at it, or will come back to it before it sleeps, so that no thread need wake it. */
    private volatile boolean sweeping;
    /** How many entries there were when the lock holder noted it, see above. */
    private volatile int notedSize;
    /** Where the sweep has got to in the heap; slots above have been looked at. */
    private int hand;
    /** How many slots the owner's sweep, or else a thorough round of other threads, has yet to visit. */
    private int unswept;
    /** How many entries were stale when the owner's sweep began, and how many had been dropped by then. */
    private int staleAtStart;
    private long sweptAtStart;
    /** The last pass has dropped too few entries, so the next one is to be thorough. */
    private boolean fellShort;
    /** Slots that sweeps have visited since they last dropped an entry. */
    private int visitedInVain;
    /** When to sweep though few entries are stale, so that no stopped timer stays for long; or NEVER. */
    private long lateSweepAt = Timeline.NEVER;
    /** A sweep for that reason is under way since then, or 0. */
    private long lateSweepBegan;
    /** When the owner last planned a late sweep. */
    private long plannedAt;
    /** How many stopped timers drains had dropped when the owner last published a sleep. */
    private long stopsAtPublication;
    private long swept;

    Compactor(Entries entries, Liveness liveness, HoldLock lock, WakeGate gate, boolean keepOrder, long lateNanos) {
        this.entries = entries;
        this.heap = entries.heap;
        this.liveness = liveness;
        this.lock = lock;
        this.gate = gate;
        this.keepOrder = keepOrder;
        this.lateNanos = lateNanos;
    }

    /**
     * More stale entries than this: the worker sweeps. A racy read of the size is benign, it only shifts the bound.
     */
    private static int softBound(int size) {
        return Math.max(STALE_FLOOR, size >> 2);
    }

    /**
     * More than this: a thread that makes entries stale sweeps a little now and then. It has the timers in its
     * processor's cache, so this costs a fraction of what it costs the worker, which is called if that is not enough.
     */
    private static int tidyBound(int size) {
        return softBound(size) * 3 / 4;
    }

    /** More than this: each thread that notices helps, as the worker gets no processor. */
    private static int hardBound(int size) {
        return STALE_FLOOR / 2 + (size >> 1);
    }

    boolean isOverBound() {
        return isOver(softBound(entries.size()));
    }

    private boolean isOver(int bound) {
        int stale = staleCounter.stale();
        return stale > bound && stale > fruitless;
    }

    /** Lock held. */
    void noteSize() {
        int size = entries.size();
        if (size >> NOTE_BITS != notedSize >> NOTE_BITS) {
            notedSize = size;
        }
    }

    /** After an entry has become stale, and was counted. */
    void tidyUp(int stale) {
        if (stale == 1) {
            gate.callForStale();
        }
        int size = notedSize;
        if (stale > tidyBound(size) && stale > fruitless) {
            boolean turn = stale % TIDY_EVERY == 0 || stale > hardBound(size);
            if (turn) {
                StackRoom.check(stale);
            }
            if (turn && lock.tryLock()) {
                try {
                    sweepChunk();
                    sweepChunk();
                } finally {
                    lock.unlock();
                }
                sweepToHardBound();
            }
            if (isOver(softBound(notedSize)) && !sweeping) {
                gate.wakeIfBefore(1); // an owner that sleeps, however short, wakes up to sweep
            }
        }
    }

    void onStaleDropped(int dropped) {
        if (dropped > 0) {
            swept += dropped;
            int stale = staleCounter.add(-dropped * STALE);
            if (fruitless > 0) {
                fruitless = Math.min(fruitless, Math.max(0, stale));
            }
        }
    }

    /**
     * Whether the owner should sweep before it sleeps. Asked after pollUntil was published: a thread that makes an entry
     * stale counts it, then looks at pollUntil, so either the owner sees the count or it is woken.
     */
    public boolean wantsSweep() {
        return sweeping || isOverBound();
    }

    /**
     * One chunk of a sweep; true if there is more to do. The inbox is left alone: draining it at each step would bring
     * timers into the heap that are about to be stopped, and those would be the next to be swept.
     */
    public boolean sweepStep() {
        lock.lock();
        try {
            if (!sweeping) {
                startSweep();
            }
            unswept -= SWEEP_CHUNK;
            sweepChunk();
            // Going on to half the bound spares the next few stops a wake.
            int goal = liveness.thorough ? 0 : softBound(entries.size()) / 2;
            sweeping = unswept > 0 && staleCounter.stale() > goal;
            if (!sweeping) {
                fellShort = !liveness.thorough && hasFallenShort(goal);
                liveness.thorough = false;
            }
            return wantsSweep(); // after clearing the flag, for threads that saw it and woke none
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether a pass that has ended has left stale entries that it could not tell from live ones. What became stale
     * during the pass says nothing of that, unless it is very much.
     */
    private boolean hasFallenShort(int goal) {
        return staleCounter.stale() > goal && (swept - sweptAtStart < staleAtStart - goal || isOverHardBound());
    }

    private void startSweep() {
        if (fellShort) {
            startThoroughSweep();
        } else {
            sweeping = true;
            unswept = entries.size();
            staleAtStart = staleCounter.stale();
            sweptAtStart = swept;
        }
    }

    /** Of all entries, with all stale ones told from live ones. */
    void startThoroughSweep() {
        lock.lock();
        try {
            fellShort = false;
            liveness.thorough = true;
            hand = heap.size(); // from the tail, so that none is missed
            sweeping = true;
            unswept = entries.size();
        } finally {
            lock.unlock();
        }
    }

    private boolean isOverHardBound() {
        return isOver(hardBound(entries.size()));
    }

    /** In several holds of the lock; no more than twice the stale entries that a drain can bring. */
    void sweepToHardBound() {
        for (int chunks = 4 * Inbox.HELP_DEPTH / SWEEP_CHUNK; chunks > 0 && isOverHardBound() && lock.tryLock(); ) {
            try {
                for (; chunks > 0 && isOverHardBound() && lock.left() > SWEEP_CHUNK + HoldLock.SPARE_VISITS; chunks--) {
                    sweepChunk();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Drops the stale ones among the next entries. */
    private void sweepChunk() {
        assert lock.isHeldByCurrentThread();
        int slots = Math.min(lock.left(), Math.min(SWEEP_CHUNK, entries.size()));
        lock.visit(slots);
        int dropped = liveness.thorough ? sweepThoroughly(slots) : sweepOldest(slots);
        visitedInVain = dropped > 0 ? 0 : visitedInVain + slots;
        if (liveness.thorough && !sweeping) {
            unswept -= slots;
        }
        if (visitedInVain >= entries.size()) {
            visitedInVain = 0;
            if (liveness.thorough) {
                fruitless = staleCounter.stale();
            } else if (!sweeping) { // only threads that make entries stale have swept
                liveness.thorough = true;
                unswept = entries.size();
            }
        } else if (liveness.thorough && !sweeping && unswept <= 0) {
            liveness.thorough = false; // one round drops what only a thorough sweep can, and takes longer
        }
        entries.trim();
        noteSize();
    }

    /**
     * First the oldest ones of the fifo: of timeouts most are stopped long before they are due, so these are stale but
     * for a few, and to drop them takes no sift. If that is not enough, the heap, round and round.
     */
    private int sweepOldest(int slots) {
        // The bound shrinks with the number of entries.
        int enough = staleCounter.stale() - softBound(entries.size()) * 3 / 8;
        int dropped = 0;
        int visited = 0;
        for (int live = 0; visited < slots && live < LIVE_MAX && entries.hasOldest(); visited++) {
            if (isOldestStale()) {
                entries.dropOldest();
                dropped++;
                live = 0;
            } else if (dropped < enough) {
                entries.moveOldestToHeap();
                live++;
            } else {
                break;
            }
        }
        if (dropped == 0 || dropped < enough) {
            dropped += sweepHeap(Math.min(slots - visited, heap.size()));
        }
        onStaleDropped(dropped);
        return dropped;
    }

    /** So many slots of the heap. The loop has a method of its own, which the compiler then sees as a whole. */
    private int sweepHeap(int slots) {
        int dropped = 0;
        int h = hand;
        for (int left = slots; left > 0; left--) {
            if (h <= 0 || h > heap.size()) {
                h = heap.size();
            }
            if (isStale(--h)) {
                entries.removeFromHeap(h); // what comes here, if not visited before, has its turn in the next round
                dropped++;
            }
        }
        hand = h;
        return dropped;
    }

    /**
     * The whole heap, then the fifo, of which the heap takes what is live. As a round in the heap begins at the tail, the
     * last entry, which takes the place of a dropped one, has been visited before.
     */
    private int sweepThoroughly(int slots) {
        int dropped = 0;
        for (int visited = 0; visited < slots && entries.size() > 0; visited++) {
            hand = Math.min(hand, heap.size());
            if (hand == 0 && entries.hasOldest()) {
                if (isOldestStale()) {
                    entries.dropOldest();
                    dropped++;
                } else {
                    entries.moveOldestToHeap();
                }
                continue;
            }
            if (hand == 0) {
                hand = heap.size();
            }
            if (hand > 0 && isStale(--hand)) {
                dropped += dropUntilVisited();
            }
        }
        onStaleDropped(dropped);
        return dropped;
    }

    /** Of the heap's entries. */
    private boolean isStale(int i) {
        return liveness.isStale(heap.node(i), heap.key(i), i);
    }

    private boolean isOldestStale() {
        return liveness.isStale(entries.oldest(), entries.oldestKey(), entries.oldestNumber());
    }

    /**
     * Drops the entry that the hand is at, and visits what comes there if that is an entry that was not visited before:
     * a parent, if the last entry went further up. Returns how many were dropped.
     */
    private int dropUntilVisited() {
        for (int dropped = 1; ; dropped++) {
            int last = heap.seq(heap.size() - 1);
            entries.removeFromHeap(hand);
            if (hand >= heap.size() || heap.seq(hand) == last) {
                return dropped;
            }
            if (lock.left() <= 0) {
                hand++; // the next hold looks at this slot
                return dropped;
            }
            lock.visit(1);
            if (!isStale(hand)) {
                return dropped;
            }
        }
    }

    /**
     * Until the top is live, or was put off from an instant after {@code lazyFrom}; false if there are so many stale
     * ones that another thread should get the lock meanwhile.
     */
    boolean cleanTops(long lazyFrom) {
        int dropped = 0;
        int visits = 0;
        while (entries.size() > 0 && visits < CLEAN_CHUNK) {
            TimerNode top = entries.top();
            long w = top.wordVolatile();
            if (liveness.isTopLive(top, w) || entries.topKey() > lazyFrom && state(w) == MODIFIED_LATER) {
                break;
            }
            visits++;
            lock.visit(1);
            if (liveness.cleanTop()) {
                dropped++;
            }
        }
        onStaleDropped(dropped);
        return visits < CLEAN_CHUNK;
    }

    // ---- late sweeps ----

    /** When the owner must wake up for one, or NEVER. */
    long lateSweepAt() {
        return lateSweepAt;
    }

    /** The queue is closed or retired. */
    void stopSweeping() {
        sweeping = false;
        lateSweepAt = Timeline.NEVER;
        lateSweepBegan = 0;
    }

    /** {@code mail}: there may be timers in the inbox; {@code stops}: how many stopped ones drains have dropped. */
    void planLateSweep(long now, boolean mail, long stops) {
        if (keepOrder) { // a manual clock's advance and its loops look at everything anyway
            lateSweepAt = Timeline.NEVER;
            return;
        }
        if (lateSweepBegan > 0 && !sweeping) { // it has ended
            long pause = Math.max(lateNanos, LATE_SHARE * (now - lateSweepBegan));
            lateSweepBegan = 0;
            lateSweepAt = Timeline.plus(now, pause);
        }
        boolean isStale = staleCounter.stale() > 0 || mail;
        if (!isStale && stops == stopsAtPublication) {
            lateSweepAt = Timeline.NEVER;
        } else if (lateSweepAt == Timeline.NEVER) {
            lateSweepAt = Timeline.plus(isStale ? plannedAt : now, lateNanos);
        }
        if (now >= lateSweepAt && lateSweepBegan == 0) {
            lateSweepAt = Timeline.plus(now, lateNanos);
            if (staleCounter.stale() > 0) {
                lateSweepBegan = now;
                startThoroughSweep();
            }
        }
        plannedAt = now;
    }

    /** Whether there is something for a late sweep that planLateSweep did not see. */
    boolean missesStale() {
        return lateSweepAt == Timeline.NEVER && staleCounter.stale() > 0 && !keepOrder;
    }

    /** The same for what was pushed meanwhile: it may have been stopped before the gate said that the sleep is long. */
    boolean missesMail(boolean mail) {
        return lateSweepAt == Timeline.NEVER && mail && !keepOrder;
    }

    /** The owner is about to sleep until then. */
    void publish(long until, long now, long stops) {
        stopsAtPublication = stops;
        noteSize(); // before W1, so that threads know by now what is too much
        gate.publish(until, !keepOrder && until - now > lateNanos);
    }

    // ---- figures ----

    long swept() {
        return swept;
    }

    /** Begins anew; {@code stops}: from where drains go on to count stopped timers. */
    void takeFigures(long stops) {
        swept = 0;
        stopsAtPublication = stops;
    }
}
