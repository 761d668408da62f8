package io.pendula.examples;

import io.pendula.TimerGroup;
import io.pendula.Timers;
import java.time.Duration;

/** Tickers that end by themselves. */
final class Repeat {
    private Repeat() {}

    /** Runs {@code task} that many times; {@code runs} is at least 1. Close the group to end it before. */
    static TimerGroup times(Timers timers, int runs, Duration period, Runnable task) {
        TimerGroup group = timers.group("repeat");
        int[] left = {runs};
        group.every(period, () -> {
            if (--left[0] == 0) {
                group.close(); // before the run, which may throw
            }
            task.run();
        });
        return group;
    }

    /** Runs {@code task} until {@code limit} has passed. Close the group to end it before. */
    static TimerGroup during(Timers timers, Duration limit, Duration period, Runnable task) {
        TimerGroup group = timers.group("repeat");
        group.every(period, task);
        group.after(limit, group::close);
        return group;
    }
}
