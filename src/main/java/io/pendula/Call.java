package io.pendula;

import java.util.concurrent.Callable;

/** What stands in the place of a timer's task where that is not simply run, as an executor's task with a value. */
class Call implements Runnable {
    /** What the program has given. */
    private final Object task;

    Call(Object task) {
        this.task = task;
    }

    final Object task() {
        return task;
    }

    /** Runs the task; returns its value, or null if it has none. */
    Object call() throws Exception {
        return ((Callable<?>) task).call();
    }

    @Override
    public void run() {
        throw new AssertionError("called for its value only");
    }
}
