package io.pendula.benchmarks.loads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.pendula.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * Timers armed ahead by one thread, each of which notes how late it fires. As all instants are fixed beforehand, a
 * firing that is late delays no other one's deadline: what piles up counts as lateness.
 */
public final class Shots {
    /** When a shot was due, and when its callback ran. */
    public record Run(long due, long start, long end) {}

    private static final long NANOS_PER_ARMING = 2_000;
    private static final long LEAD = MILLISECONDS.toNanos(100);

    private final Shot[] shots;
    private final CountDownLatch left;
    private final long work;

    /** @param work nanoseconds that each callback keeps its thread busy */
    public Shots(int count, long work) {
        this.shots = new Shot[count];
        this.left = new CountDownLatch(count);
        this.work = work;
        for (int i = 0; i < count; i++) {
            shots[i] = new Shot();
        }
    }

    /**
     * Arms all.
     *
     * @param from the first possible instant; must be in the future still when this returns, see {@link #lead}
     * @param offsets nanoseconds from the first possible instant to that of a shot
     */
    public void arm(Rival rival, long from, IntToLongFunction offsets) {
        for (int i = 0; i < shots.length; i++) {
            Shot shot = shots[i];
            shot.deadline = from + offsets.applyAsLong(i);
            rival.schedule(shot.deadline - System.nanoTime(), shot);
        }
    }

    /** Waits until all have fired. */
    public void await() throws InterruptedException {
        left.await();
    }

    /** How long it takes to arm so many; where that is not enough, the caller tries again with twice as much. */
    public static long lead(int count) {
        return LEAD + count * NANOS_PER_ARMING;
    }

    public void addTo(Histogram lateness) {
        for (Shot s : shots) {
            lateness.recordValue(Math.max(0, s.lateness));
        }
    }

    public long early() {
        long early = 0;
        for (Shot s : shots) {
            early += s.lateness < 0 ? 1 : 0;
        }
        return early;
    }

    public List<Run> runs() {
        return Arrays.stream(shots).map(s -> new Run(s.deadline, s.deadline + s.lateness, s.end)).toList();
    }

    /**
     * For how long exactly one callback ran although a timer waited that was late already. A second thread could have
     * run that.
     *
     * @param late by how many nanoseconds a timer has to be late
     */
    public static long oneRunsNanos(Collection<Run> runs, long late) {
        record Change(long at, int waiting, int running) {}
        List<Change> changes = new ArrayList<>();
        for (Run r : runs) {
            long waits = r.due + late;
            changes.add(new Change(waits, 1, 0));
            changes.add(new Change(Math.max(waits, r.start), -1, 0));
            changes.add(new Change(r.start, 0, 1));
            changes.add(new Change(r.end, 0, -1));
        }
        changes.sort(Comparator.comparingLong(Change::at));
        long sum = 0;
        long before = 0;
        int waiting = 0;
        int running = 0;
        for (Change c : changes) {
            sum += waiting > 0 && running == 1 ? c.at - before : 0;
            before = c.at;
            waiting += c.waiting;
            running += c.running;
        }
        return sum;
    }

    private final class Shot implements Rival.Task {
        long deadline;
        long lateness;
        long end;

        @Override
        public void run() {
            long now = System.nanoTime();
            lateness = now - deadline;
            end = now;
            while (end - now < work) {
                Thread.onSpinWait();
                end = System.nanoTime();
            }
            left.countDown();
        }
    }
}
