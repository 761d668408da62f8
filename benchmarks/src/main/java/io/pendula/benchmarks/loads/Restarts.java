package io.pendula.benchmarks.loads;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.rivals.Rival;

/**
 * Connections with a timeout each, which starts again at each message. A message is passed on from one connection to the
 * next. There is no pause between messages, so about half of the new deadlines are earlier than the old ones.
 */
public final class Restarts extends Load {
    private static final int MESSAGES = 100;
    private static final long SHORTEST = SECONDS.toNanos(10);
    private static final int SPREAD = (int) SECONDS.toNanos(1);

    private final Rival rival;
    private final boolean byReset;
    private final Object[] timeouts;
    private int message;
    private int passed;

    /** @param byReset whether a timeout is reset, where there is such an operation, or stopped and a new one armed */
    public Restarts(Rival rival, int connections, boolean byReset) {
        super(0);
        this.rival = rival;
        this.byReset = byReset;
        this.timeouts = new Object[connections];
        for (int i = 0; i < connections; i++) {
            timeouts[i] = rival.schedule(delay(), Rival.Task.NOTHING);
        }
    }

    /** One message. */
    @Override
    public void step() {
        int i = (int) (((long) message * timeouts.length / MESSAGES + passed) % timeouts.length);
        if (byReset) {
            timeouts[i] = rival.reset(timeouts[i], delay(), Rival.Task.NOTHING);
        } else {
            rival.cancel(timeouts[i]);
            timeouts[i] = rival.schedule(delay(), Rival.Task.NOTHING);
        }
        message++;
        if (message == MESSAGES) {
            message = 0;
            passed = passed + 1 == timeouts.length ? 0 : passed + 1;
        }
    }

    private long delay() {
        return SHORTEST + random(SPREAD);
    }
}
