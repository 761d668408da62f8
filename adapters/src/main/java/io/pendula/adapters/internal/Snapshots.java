package io.pendula.adapters.internal;

import io.pendula.TimerStats;
import io.pendula.TimerStats.Lateness;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Serves all meters of one binding from one snapshot per scrape. A reader that asks a second time begins the next
 * scrape. Refers to the subject only while it takes a snapshot. Safe for use by multiple threads.
 *
 * @param <S> what the snapshots are taken of
 *
 * @since 0.1
 */
public final class Snapshots<S> {
    /** No reader gets an older snapshot than this, even if it is the only one that asks. */
    static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The lateness of the recent past goes back so far, or to the scrape before if that is longer ago. */
    static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** The window moves by so much at a time, however often there is a scrape. */
    private static final long STEP_NANOS = WINDOW_NANOS / 6;

    private record Mark(long at, Lateness lateness) {}

    private final Function<? super S, TimerStats> source;
    private final LongSupplier clock;
    /** The readers that have had this snapshot, a bit each. */
    private long served;
    private TimerStats latest;
    private long takenAt;
    private Lateness recent;
    /** Of the youngest snapshot that is old enough; at first that of the binding. */
    private Lateness base;
    /** Younger ones, the oldest first. */
    private final ArrayDeque<Mark> marks = new ArrayDeque<>();

    /**
     * Takes a first snapshot, from which the recent past begins.
     *
     * @param subject what to take it of
     * @param source takes a snapshot
     * @param clock nanoseconds, from any origin
     */
    public Snapshots(S subject, Function<? super S, TimerStats> source, LongSupplier clock) {
        this.source = source;
        this.clock = clock;
        this.base = source.apply(subject).lateness();
    }

    /**
     * The snapshot of the scrape in progress.
     *
     * @param subject what to take a snapshot of, if that is needed
     * @param reader 0 to 63
     * @return not older than a second, and another one than this reader had before
     */
    public synchronized TimerStats get(S subject, int reader) {
        take(subject, reader);
        return latest;
    }

    /**
     * As {@link #get}, the lateness of the firings of the last minute and up to one more, or since the scrape before the
     * last if that is longer ago.
     *
     * @param subject what to take a snapshot of, if that is needed
     * @param reader 0 to 63
     * @return the distribution
     */
    public synchronized Lateness recent(S subject, int reader) {
        take(subject, reader);
        return recent;
    }

    private void take(S subject, int reader) {
        long now = clock.getAsLong();
        long bit = 1L << reader;
        if (latest == null || (served & bit) != 0 || now - takenAt > STALE_NANOS) {
            latest = source.apply(subject);
            takenAt = now;
            served = 0;
            recent = recent(now);
        }
        served |= bit;
    }

    private Lateness recent(long now) {
        while (!marks.isEmpty() && now - marks.getFirst().at >= WINDOW_NANOS) {
            base = marks.removeFirst().lateness;
        }
        Lateness all = latest.lateness();
        if (marks.isEmpty() || now - marks.getLast().at >= STEP_NANOS) {
            marks.add(new Mark(now, all));
        }
        return all.since(base);
    }
}
