package io.pendula;

import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** What a loop does all the time: some steps of a load, as if its I/O asked for them, then a look at its timers. */
final class LoopLane implements Runnable {
    private static final int STEPS = 64;

    private final LoopRival rival;
    private final Supplier<Load> loads;
    private final CountDownLatch started = new CountDownLatch(1);
    private Load load;
    private Thread thread;
    private volatile long steps;

    private LoopLane(LoopRival rival, Supplier<Load> loads) {
        this.rival = rival;
        this.loads = loads;
    }

    /** Takes the cost of a step; the load is made by the loop's thread. */
    static void measure(Child child, LoopRival rival, Supplier<Load> loads) throws InterruptedException {
        LoopLane lane = new LoopLane(rival, loads);
        rival.run(lane);
        lane.started.await();
        child.measure(1, () -> lane.steps, lane.thread);
    }

    @Override
    public void run() {
        try {
            if (load == null) {
                begin();
            }
            for (int i = 0; i < STEPS; i++) {
                load.step();
            }
            steps = steps + STEPS; // nobody else writes it
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1); // else the other loops would only note it
        }
    }

    private void begin() {
        thread = Thread.currentThread();
        rival.begin();
        load = loads.get();
        started.countDown();
    }
}
