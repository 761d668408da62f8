package io.pendula;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.Timeline;
import io.pendula.internal.queue.TimerQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The timer that {@link Timers#schedule} returns. It fires at least once a minute, reads the wall clock, and runs the task
 * if it is due. Each reading determines the time of the next reading. If a reading fails, the next one follows a minute
 * later.
 *
 * <p>The schedule has no time between {@code asked} and {@code due}. So {@code due} stays valid while the clock is between
 * them, even if the clock was set. The schedule is asked again only if the clock is not between them. Therefore a schedule
 * may also count from the instant that is passed to it, for example an hour after the last run.
 */
final class WallTimer extends QueuedNode implements TimerHandle {
    private static final Duration LOOK = Duration.ofMinutes(1);
    /** Prevents reading a clock without a pause if it moves in steps or stands still. */
    private static final Duration SHORTEST = Duration.ofMillis(1);
    /**
     * If the clock is set back to more than this before the last run, it was wrong then, and the time of that run comes
     * again.
     */
    private static final Duration WRONG = Duration.ofHours(3);

    private final Schedule schedule;
    private final InstantSource clock;
    private volatile Instant asked;
    private volatile Instant due;
    /** The time of the last run, until the clock is set back too far before it. */
    private volatile Instant ran = Instant.MIN;

    WallTimer(TimerQueue queue, Runnable task, Schedule schedule, InstantSource clock) {
        super(queue, task);
        this.schedule = schedule;
        this.clock = clock;
        this.asked = clock.instant();
        this.due = nextAfter(asked);
        if (due == null) {
            throw new IllegalArgumentException("the schedule has no time after " + asked);
        }
    }

    long firstLook() {
        return look(asked);
    }

    @Override
    protected long nextAfter(long deadline, long now) {
        return Timeline.plus(presentAt(now), LOOK.toNanos());
    }

    @Override
    public boolean fire(Runnable claimed, long deadline) {
        Instant now = clock.instant();
        Instant time = due;
        boolean isDue = !now.isBefore(time);
        if (isDue || now.isBefore(asked)) {
            due = dueAfter(now); // times that were missed are skipped
            asked = now;
        }
        if (due == null) {
            queue.stop(this); // the end of the run cancels it: the listener may need the task
        } else {
            queue.retime(this, look(now));
        }
        if (isDue) {
            ran = time;
            claimed.run();
        }
        return true;
    }

    @Override
    protected void ended(boolean armedAgain) {
        if (due == null) {
            cancel();
        }
    }

    /** The next time. If the clock was set back to shortly before the last run, the time of that run is skipped. */
    private Instant dueAfter(Instant now) {
        if (ran.isAfter(now.plus(WRONG))) {
            ran = Instant.MIN;
        }
        Instant next = nextAfter(now);
        return ran.equals(next) ? nextAfter(ran) : next;
    }

    private Instant nextAfter(Instant after) {
        Instant next = schedule.next(after);
        if (next != null && !next.isAfter(after)) {
            throw new IllegalStateException("the schedule's next time must be after " + after + ", but is " + next);
        }
        return next;
    }

    /** The deadline of the next reading. */
    private long look(Instant now) {
        Duration left = Duration.between(now, due);
        Duration wait = left.compareTo(LOOK) > 0 ? LOOK : left.compareTo(SHORTEST) < 0 ? SHORTEST : left;
        return queue.timeline.deadlineIn(wait.toNanos());
    }

    @Override
    public boolean repeats() {
        return true;
    }

    @Override
    protected String kind() {
        return "Schedule";
    }

    @Override
    protected String status(long word) {
        return isArmed(state(word)) ? "next run at " + due : super.status(word);
    }
}
