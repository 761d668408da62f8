package io.pendula.demonstrations;

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** A callback of the demo, for all contenders, with a field for what a contender gives in return for it. */
interface Shot extends Runnable, TimerTask {
    @Override
    default void run(Timeout timeout) {
        run();
    }

    Object handle();

    void handle(Object handle);
}
