package io.pendula;

import java.util.List;

/**
 * A snapshot of what a scheduler has done. The counts of one worker belong together; when nothing is being armed,
 * stopped or fired meanwhile, {@code armed == fired + stopped + reset + unfired + pending} exactly.
 *
 * @param armed how often a timer was armed: by making it, by a reset, by each next tick of a ticker
 * @param fired how many of these fired
 * @param stopped how many were prevented by {@code stop} or {@code cancel}
 * @param reset how many were replaced by a {@code reset}
 * @param unfired how many were dropped or returned when the scheduler was closed
 * @param pending how many are still to come
 * @param dead heap entries of timers that are no longer armed, not swept yet
 * @param slots the heaps' capacity, in entries
 * @param swept dead entries dropped
 * @param stolen firings run by another driver than the worker's own
 * @param rescues sleeping drivers that the monitor had to wake, because a timer was overdue
 * @param spareDrivers spare drivers that the monitor has started
 * @param inboxHelp how often an arming thread emptied an inbox
 * @param maxLatenessNanos the largest delay between a deadline and the claim of its firing, in nanoseconds
 * @param workers the same for each worker; loops that were closed count above, but are not among these unless a
 *     timer of theirs is still armed
 */
public record TimerStats(
        long armed, long fired, long stopped, long reset, long unfired, long pending, long dead, long slots,
        long swept, long stolen, long rescues, long spareDrivers, long inboxHelp, long maxLatenessNanos,
        List<Worker> workers) {

    /**
     * One worker's part of the snapshot.
     *
     * @param armed how often one of its timers was armed
     * @param fired how many of these fired
     * @param stopped how many were prevented by {@code stop} or {@code cancel}
     * @param reset how many were replaced by a {@code reset}
     * @param unfired how many were dropped or returned when the scheduler was closed
     * @param pending how many are still to come
     * @param dead heap entries of timers that are no longer armed, not swept yet
     * @param slots the heap's capacity, in entries
     * @param swept dead entries dropped
     * @param stolen firings run by another driver than the worker's own
     * @param inboxHelp how often an arming thread emptied the inbox
     * @param maxLatenessNanos the largest delay between a deadline and the claim of its firing, in nanoseconds
     */
    public record Worker(
            long armed, long fired, long stopped, long reset, long unfired, long pending, long dead, long slots,
            long swept, long stolen, long inboxHelp, long maxLatenessNanos) {}

    /** {@code gone} are workers that are no more. */
    static TimerStats of(List<Worker> workers, Worker gone, long rescues, long spareDrivers) {
        Worker sum = workers.stream().reduce(gone, TimerStats::sum);
        return new TimerStats(sum.armed, sum.fired, sum.stopped, sum.reset, sum.unfired, sum.pending, sum.dead,
                sum.slots, sum.swept, sum.stolen, rescues, spareDrivers, sum.inboxHelp, sum.maxLatenessNanos, workers);
    }

    static final Worker NOTHING = new Worker(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    static Worker sum(Worker a, Worker b) {
        return new Worker(
                a.armed + b.armed, a.fired + b.fired, a.stopped + b.stopped, a.reset + b.reset,
                a.unfired + b.unfired, a.pending + b.pending, a.dead + b.dead, a.slots + b.slots, a.swept + b.swept,
                a.stolen + b.stolen, a.inboxHelp + b.inboxHelp, Math.max(a.maxLatenessNanos, b.maxLatenessNanos));
    }
}
