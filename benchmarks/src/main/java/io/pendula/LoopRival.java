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
    void comeBy() {}

    /** Calls this again and again on the loop's thread, and comes by after each call. Does not wait for it. */
    void run(Runnable steps) {
        Thread thread = new Thread(() -> {
            for (;;) {
                steps.run();
                comeBy();
            }
        }, "loop");
        thread.setDaemon(true);
        thread.start();
    }
}
