package io.pendula.benchmarks.peers;

import io.pendula.benchmarks.rivals.Rival;
import java.util.TimerTask;

/** {@link java.util.Timer}: a binary heap, one lock, one thread. What is cancelled stays in the heap until it is due. */
final class JavaTimer implements Rival {
    private final java.util.Timer timer = new java.util.Timer(true);

    private static final class Timeout extends TimerTask {
        private final Task task;

        Timeout(Task task) {
            this.task = task;
        }

        @Override
        public void run() {
            task.run();
        }
    }

    @Override
    public Object schedule(long delayNanos, Task task) {
        Timeout timeout = new Timeout(task);
        timer.schedule(timeout, Millis.notBefore(delayNanos));
        return timeout;
    }

    @Override
    public boolean cancel(Object handle) {
        return ((Timeout) handle).cancel();
    }

    @Override
    public void close() {
        timer.cancel();
    }
}
