package io.pendula;

import java.util.List;

/**
 * A snapshot of what a scheduler has done. The counts of one queue belong together; when nothing is being armed,
 * stopped or fired meanwhile, {@code armed == fired + stopped + reset + unfired + pending} exactly.
 *
 * @param armed how often a timer was armed: by making it, by a reset, by each next tick of a ticker
 * @param fired how many of these fired
 * @param stopped how many were prevented by {@code stop} or {@code cancel}
 * @param reset how many were replaced by a {@code reset}
 * @param unfired how many were dropped or returned when the scheduler was closed
 * @param pending how many are still to come
 * @param staleEntries heap entries of timers that are no longer armed, not swept yet
 * @param heapCapacity the heaps' capacity, in entries
 * @param staleDropped stale entries dropped
 * @param stolen firings run by another driver than the queue's own
 * @param overdueWakes sleeping drivers that the monitor had to wake, because a timer was overdue
 * @param spareThreads spare drivers that the monitor has started
 * @param callerDrains how often an arming thread emptied an inbox
 * @param maxLatenessNanos the largest delay between a deadline and the claim of its firing, in nanoseconds
 * @param queues the same for each queue; loops that were closed count above, but are not among these unless a
 *     timer of theirs is still armed
 */
public record TimerStats(
        long armed, long fired, long stopped, long reset, long unfired, long pending, long staleEntries, long heapCapacity,
        long staleDropped, long stolen, long overdueWakes, long spareThreads, long callerDrains, long maxLatenessNanos,
        List<Queue> queues) {

    /**
     * One queue's part of the snapshot.
     *
     * @param armed how often one of its timers was armed
     * @param fired how many of these fired
     * @param stopped how many were prevented by {@code stop} or {@code cancel}
     * @param reset how many were replaced by a {@code reset}
     * @param unfired how many were dropped or returned when the scheduler was closed
     * @param pending how many are still to come
     * @param staleEntries heap entries of timers that are no longer armed, not swept yet
     * @param heapCapacity the heap's capacity, in entries
     * @param staleDropped stale entries dropped
     * @param stolen firings run by another driver than the queue's own
     * @param callerDrains how often an arming thread emptied the inbox
     * @param maxLatenessNanos the largest delay between a deadline and the claim of its firing, in nanoseconds
     */
    public record Queue(
            long armed, long fired, long stopped, long reset, long unfired, long pending, long staleEntries, long heapCapacity,
            long staleDropped, long stolen, long callerDrains, long maxLatenessNanos) {}

    /** {@code gone} are queues that are no more. */
    static TimerStats of(List<Queue> queues, Queue gone, long overdueWakes, long spareThreads) {
        Queue sum = queues.stream().reduce(gone, TimerStats::sum);
        return new TimerStats(sum.armed, sum.fired, sum.stopped, sum.reset, sum.unfired, sum.pending, sum.staleEntries,
                sum.heapCapacity, sum.staleDropped, sum.stolen, overdueWakes, spareThreads, sum.callerDrains, sum.maxLatenessNanos, queues);
    }

    static final Queue NOTHING = new Queue(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    static Queue sum(Queue a, Queue b) {
        return new Queue(
                a.armed + b.armed, a.fired + b.fired, a.stopped + b.stopped, a.reset + b.reset,
                a.unfired + b.unfired, a.pending + b.pending, a.staleEntries + b.staleEntries, a.heapCapacity + b.heapCapacity, a.staleDropped + b.staleDropped,
                a.stolen + b.stolen, a.callerDrains + b.callerDrains, Math.max(a.maxLatenessNanos, b.maxLatenessNanos));
    }
}
