package io.pendula.benchmarks.gobench;

import static java.util.concurrent.TimeUnit.HOURS;

import io.pendula.benchmarks.rivals.Rival;
import java.util.Arrays;

/** A thread of {@link GoBenchCase}, which stands for a processor: it does its operations until the JVM ends. */
final class GoLane extends Thread {
    private Rival rival;
    private int far;
    private GoOp op;
    private volatile long done;

    GoLane(int number) {
        super("lane-" + number);
        setDaemon(true);
    }

    /** @param far how many timers to arm first and to leave alone */
    void begin(Rival rival, int far, GoOp op) {
        this.rival = rival;
        this.far = far;
        this.op = op;
        start();
    }

    static long done(GoLane[] lanes) {
        return Arrays.stream(lanes).mapToLong(lane -> lane.done).sum();
    }

    @Override
    public void run() {
        for (int i = 0; i < far; i++) {
            rival.schedule(HOURS.toNanos(1), Rival.Task.NOTHING);
        }
        try {
            for (long sum = 0;;) {
                sum += op.some();
                done = sum;
            }
        } catch (InterruptedException e) {
            throw new AssertionError("not interrupted", e);
        }
    }
}
