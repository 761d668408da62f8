package io.pendula.benchmarks.peers;

import io.pendula.benchmarks.rivals.Rival;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.TimerTask;

/**
 * Kafka's SystemTimer: hierarchical wheels with a tick of a millisecond and 20 slots each, and a DelayQueue of the
 * slots that are in use, so that no tick is spent on an empty slot. One thread waits for the queue, another one runs
 * what is due.
 */
final class KafkaTimer implements Rival {
    private final SystemTimerReaper timer = new SystemTimerReaper("kafka", new SystemTimer("kafka"));

    private static final class Timeout extends TimerTask {
        private final Task task;

        Timeout(long delayMillis, Task task) {
            super(delayMillis);
            this.task = task;
        }

        @Override
        public void run() {
            task.run();
        }
    }

    @Override
    public Object schedule(long delayNanos, Task task) {
        Timeout timeout = new Timeout(Millis.notBefore(delayNanos), task);
        timer.add(timeout);
        return timeout;
    }

    /** False, as Kafka does not say. */
    @Override
    public boolean cancel(Object handle) {
        ((Timeout) handle).cancel();
        return false;
    }

    @Override
    public void close() {
        try {
            timer.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
