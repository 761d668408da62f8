package io.pendula.internal.queue;

import java.util.concurrent.RejectedExecutionException;

/**
 * Room in the heap for one more entry: by growth, or without memory in the place of another. Guarded by the queue's lock.
 */
final class HeapRoom {
    /*
     * Memory shortage. If the heap cannot grow, it keeps the timers that are due early: one that is filed makes room by
     * parking another, which is due later. So what is due soon needs no memory, and what is parked (Shortage) is looked
     * at before it is due. What is parked is in the inbox to all others: its state is MOVING or MODIFIED_EARLIER, and
     * stop and reset need the word alone. A reset that brings it forward wakes the owner in vain; the next look finds
     * it, and so it may be late by the time between two looks.
     *
     * With a manual clock the order of arming counts, and time stands still: there nothing makes room, and each drain
     * tries to grow.
     */

    /** So many entries are looked at to find one that is due later than another. */
    private static final int MAKE_ROOM_VISITS = 16;

    private final int index;
    private final Timeline timeline;
    private final HoldLock lock;
    private final Entries entries;
    private final TimerHeap heap;
    private final Compactor compactor;
    private final boolean keepOrder;
    final Shortage shortage = new Shortage();

    HeapRoom(int index, Timeline timeline, HoldLock lock, Entries entries, Compactor compactor,
            boolean keepOrder) {
        this.index = index;
        this.timeline = timeline;
        this.lock = lock;
        this.entries = entries;
        this.heap = entries.heap;
        this.compactor = compactor;
        this.keepOrder = keepOrder;
    }

    /** While memory is short the depth of the inbox is told to be large, so that arming threads look here. */
    void refuseIfShort(long when) {
        if (shortage.isOn()) {
            long now = timeline.now();
            if (when > now && !shortage.mayTry(now)) {
                throw new RejectedExecutionException("memory is short: the heap of worker " + index
                        + ", which holds " + entries.size() + " timers, could not grow");
            }
        }
    }

    boolean isFull() {
        return heap.size() == heap.capacity();
    }

    boolean isAmple() {
        return heap.capacity() - heap.size() > heap.capacity() >> 4;
    }

    boolean hasRoom() {
        if (keepOrder && !shortage.parked.isEmpty() && !shortage.isPassing()) {
            return false; // it would overtake those
        }
        return !isFull() || grow();
    }

    boolean grow() {
        long began = timeline.now();
        if (!keepOrder && !shortage.mayTry(began)) {
            return false;
        }
        try {
            entries.ensureRoom();
            return true;
        } catch (OutOfMemoryError e) {
            long now = timeline.now();
            shortage.failed(e, now, now - began);
            lock.setScarce(true);
            return false;
        }
    }

    /** By parking what is due later; only the last entries are looked at, as such are. */
    boolean makeRoomFor(long when) {
        for (int i = heap.size() - 1, end = Math.max(0, i - MAKE_ROOM_VISITS); i >= end && !keepOrder; i--) {
            if (lock.left() <= HoldLock.SPARE_VISITS) {
                return false;
            }
            lock.visit(1);
            if (compactor.isStale(heap.node(i), heap.seq(i))) {
                entries.removeFromHeap(i);
                compactor.onStaleDropped(1);
                return true;
            }
            if (heap.key(i) > when && park(i)) {
                return true;
            }
        }
        return false;
    }

    /** Lock held. False if the entry has become stale at this moment. */
    boolean park(int i) {
        TimerNode t = heap.node(i);
        long w = t.wordVolatile();
        if (!compactor.isLive(t, heap.seq(i), w) || !t.tryPark(w)) {
            return false;
        }
        entries.removeFromHeap(i);
        entries.heap.takeSeq(); // walks and sweeps see that entries have moved
        shortage.parked.append(t);
        return true;
    }

    /** What is to be told if memory was short since the last call; else null. */
    Throwable takeReport() {
        if (!shortage.hasReport()) {
            return null;
        }
        OutOfMemoryError e;
        lock.lock();
        try {
            e = shortage.takeReport();
        } finally {
            lock.unlock();
        }
        try {
            return e == null ? null : new IllegalStateException("memory was short: the heap of worker "
                    + index + " could not grow for a while, so that arming may have been rejected", e);
        } catch (OutOfMemoryError again) {
            return e;
        }
    }
}
