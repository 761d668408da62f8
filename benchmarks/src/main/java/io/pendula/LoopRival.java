package io.pendula;

/** A loop and its timers, which are known by the numbers of slots, as some kinds have handles and others have ids. */
abstract class LoopRival {
    /** The loop's thread, before everything else. */
    void begin() {}

    abstract void arm(int slot, long delayNanos);

    abstract void stop(int slot);

    /** Where there is no such operation: stop and arm. */
    void reset(int slot, long delayNanos) {
        stop(slot);
        arm(slot, delayNanos);
    }

    /** What the loop has to do for its timers between two looks at its I/O. */
    void poll() {}

    /** Runs the lane again and again on the loop's thread until it is closed, and polls each time. Does not wait. */
    void run(LoopLane lane) {
        Thread thread = new Thread(() -> {
            while (!lane.isClosed()) {
                lane.run();
                poll();
            }
        }, "loop");
        thread.setDaemon(true);
        thread.start();
    }
}
