package io.pendula.benchmarks.rivals;

/** A loop and its timers, which are known by the numbers of slots, as some kinds have handles and others have ids. */
public abstract class LoopRival {
    /** What the loop does all the time, a turn at a time. */
    public interface Lane extends Runnable {
        /** Whether the loop is to do nothing more. */
        boolean isClosed();
    }

    /** The loop's thread, before everything else. */
    public void begin() {}

    public abstract void arm(int slot, long delayNanos);

    public abstract void stop(int slot);

    /** Where there is no such operation: stop and arm. */
    public void reset(int slot, long delayNanos) {
        stop(slot);
        arm(slot, delayNanos);
    }

    /** What the loop has to do for its timers between two looks at its I/O. */
    public void poll() {}

    /** The loop's thread, after everything else: threads of another kind than a daemon's would keep the JVM. */
    public void end() {}

    /** Runs the lane again and again on the loop's thread until it is closed, and polls each time. Does not wait. */
    public void run(Lane lane) {
        Thread thread = new Thread(() -> {
            while (!lane.isClosed()) {
                lane.run();
                poll();
            }
            end();
        }, "loop");
        thread.setDaemon(true);
        thread.start();
    }
}
