package io.pendula;

import io.pendula.internal.engine.Call;
import io.pendula.internal.executor.ScheduledTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A queue with tasks of an executor, which runs all the time. */
abstract class TaskRig extends Rig {
    /** Longer than any wait; who waits so long has missed a wake. */
    private static final long FOR_EVER_SECONDS = 10;

    /** Has no threads. */
    private static final TimerScheduler SCHEDULER = TimerScheduler.builder().workers(0).build();

    final SchedulerExecutor executor = new SchedulerExecutor(SCHEDULER.engine, false);
    volatile int calls;

    final ScheduledTask<Integer> one() {
        return new ScheduledTask<>(queue, new Call((Callable<Integer>) this::call), executor.tracker, 0, false);
    }

    /** {@code period} as ScheduledTask takes it. */
    final ScheduledTask<Void> periodic(long period) {
        return new ScheduledTask<>(queue, this::tick, executor.tracker, period, false);
    }

    private Integer call() {
        calls = calls + 1; // not atomic: a task never overlaps itself
        return 42;
    }

    /** The callback of a periodic task. */
    void tick() {
        call();
    }

    /** Whether the thread was interrupted, for what it does next. */
    static String flag() {
        return Thread.interrupted() ? "interrupted" : "clear";
    }

    static String state(Future<?> f) {
        return !f.isDone() ? f.isCancelled() ? "cancelled, but not done" : "not done" : outcome(f, false);
    }

    /** How a future ends, or "lost". */
    static String outcome(Future<?> f, boolean wait) {
        try {
            return String.valueOf(f.get(wait ? FOR_EVER_SECONDS : 0, TimeUnit.SECONDS));
        } catch (CancellationException e) {
            return "cancelled";
        } catch (ExecutionException e) {
            return "failed";
        } catch (TimeoutException e) {
            return "lost";
        } catch (InterruptedException e) {
            return "a foreign interrupt";
        }
    }

    /** Runs all that is due until the end of time: what was cancelled must never run again. */
    final String callsAtEnd() {
        int before = calls;
        worker.runDue(queue, END);
        return calls > before ? "runs on" : heap.size() + queue.view().pending() > 0 ? "left behind" : "over";
    }
}
