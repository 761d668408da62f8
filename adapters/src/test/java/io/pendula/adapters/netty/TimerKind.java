package io.pendula.adapters.netty;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.pendula.TimerScheduler;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** What the tests with real threads run on; Netty's own timer shows that they ask for what users are used to. */
enum TimerKind {
    PENDULA,
    PENDULA_SHARED,
    WHEEL;

    /** False with Netty 4.1, whose tasks are not told of a cancel. */
    static final boolean HAS_HOOK =
            Arrays.stream(TimerTask.class.getMethods()).anyMatch(method -> method.getName().equals("cancelled"));

    /** A timer, and what must be closed with it. */
    record Subject(Timer timer, TimerScheduler scheduler) implements AutoCloseable {
        @Override
        public void close() {
            timer.stop();
            if (scheduler != null) {
                scheduler.close();
            }
        }
    }

    Subject open() {
        switch (this) {
            case PENDULA:
                TimerScheduler scheduler = TimerScheduler.builder().name("netty").workers(2).build();
                return new Subject(new PendulaTimer(scheduler), scheduler);
            case PENDULA_SHARED:
                return new Subject(new PendulaTimer(), null);
            default:
                return new Subject(new HashedWheelTimer(1, TimeUnit.MILLISECONDS), null);
        }
    }
}
