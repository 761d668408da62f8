package io.pendula.examples;

import io.pendula.Timer;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Repeats an asynchronous task. The pause counts from the end of the task's stage, so no two of them overlap. */
final class AsyncRepeater implements AutoCloseable {
    private final TimerScheduler timers;
    private final Supplier<? extends CompletionStage<?>> task;
    private final Duration pause;
    private final Timer timer;
    private boolean closed;

    /** The first run comes at once. A run that fails, whatever it throws, is followed by the next one, like any other. */
    AsyncRepeater(TimerScheduler timers, Duration pause, Supplier<? extends CompletionStage<?>> task) {
        this.timers = timers;
        this.task = task;
        this.pause = pause;
        this.timer = timers.timer(this::run);
        timer.reset(Duration.ZERO);
    }

    private void run() {
        try {
            task.get().whenComplete((value, failure) -> runAgain());
        } catch (Throwable e) { // also if there is no stage
            runAgain();
            throw e; // for the scheduler's listener
        }
    }

    private void runAgain() {
        try {
            arm();
        } catch (Throwable e) { // the stage would drop it
            if (!timers.isClosed()) {
                Thread thread = Thread.currentThread();
                thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            }
        }
    }

    private synchronized void arm() {
        if (!closed) { // a timer that was cancelled cannot be reset
            timer.reset(pause);
        }
    }

    /** No run begins after this. One whose stage is not complete goes on. */
    @Override
    public synchronized void close() {
        closed = true;
        timer.cancel();
    }
}
