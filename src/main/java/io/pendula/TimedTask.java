package io.pendula;

import io.pendula.internal.queue.TimerQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** A task with a timeout, whose timer goes when the task is done, was cancelled, or was given back. */
final class TimedTask<V> extends ScheduledTask<V> {
    /** In the place of the timer, when it is needed no more. */
    private static final Object SETTLED = "settled";

    /** Null, the timer, or SETTLED. */
    private final AtomicReference<Object> timeout = new AtomicReference<>();

    private TimedTask(TimerQueue queue, Callable<V> task, ShutdownTracker tracker) {
        super(queue, task, tracker);
    }

    static <V> Future<V> submit(ShutdownTracker tracker, Callable<V> task, long timeout, TimeUnit unit,
            Consumer<? super Future<V>> onTimeout) {
        SchedulerEngine own = tracker.engine;
        TimedTask<V> timed = new TimedTask<>(own.currentQueue(), task, tracker);
        tracker.submit(timed, 0);
        timed.armTimeout(own.timeline.isSystem() ? SharedScheduler.engine() : own, timeout, unit, onTimeout);
        return timed;
    }

    /** What is done when the time is over. */
    private final class Expiry implements Runnable {
        private final Consumer<? super Future<V>> action;

        Expiry(Consumer<? super Future<V>> action) {
            this.action = action;
        }

        @Override
        public void run() {
            if (isDone()) {
                return;
            }
            if (action == null) {
                cancel(true);
            } else {
                action.accept(TimedTask.this);
            }
        }
    }

    /** After the submission: before it, a cancel would find nothing to prevent. */
    private void armTimeout(SchedulerEngine timers, long delay, TimeUnit unit, Consumer<? super Future<V>> action) {
        Timer timer;
        try {
            timer = OneShotTimer.arm(timers, Check.delay(delay, unit), new Expiry(action));
        } catch (Throwable e) {
            cancel(true);
            throw e;
        }
        if (!timeout.compareAndSet(null, timer)) {
            timer.cancel();
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (isDone()) {
            settled();
        }
        return cancelled;
    }

    @Override
    void settled() {
        if (timeout.getAndSet(SETTLED) instanceof Timer timer) {
            timer.cancel();
        }
    }
}
