package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.rivals.LoopRival;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** What a loop does all the time: some steps of a load, as if its I/O asked for them, then a look at its timers. */
final class LoopLane implements LoopRival.Lane {
    private static final int STEPS = 64;

    final Meter meter = new Meter();
    private final LoopRival rival;
    private final Supplier<Load> loads;
    private final CountDownLatch begun = new CountDownLatch(1);
    private Load load;
    private volatile boolean closed;

    /** @param loads makes the load, on the loop's thread */
    LoopLane(LoopRival rival, Supplier<Load> loads) {
        this.rival = rival;
        this.loads = loads;
    }

    /** Returns when the load has been made. */
    void begin() throws InterruptedException {
        rival.run(this);
        begun.await();
    }

    /** The loop does nothing more. */
    void close() {
        closed = true;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void run() {
        try {
            if (load == null) {
                rival.begin();
                load = loads.get();
                begun.countDown();
            }
            for (int i = 0; i < STEPS; i++) {
                load.step();
            }
            meter.add(STEPS);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1); // else the other loops would only note it
        }
    }
}
