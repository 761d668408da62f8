package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.pendula.benchmarks.rivals.LoopRival;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

/** Agrona's wheel, sized for a hundred thousand timers: a tick of a millisecond, a hundred of them in each slot. */
abstract class AgronaWheel extends LoopRival implements DeadlineTimerWheel.TimerHandler {
    private static final long TICK = 1 << 20;
    private static final int TICKS = 1024;

    private final long[] ids;
    private DeadlineTimerWheel wheel;

    AgronaWheel(int slots) {
        this.ids = new long[slots];
    }

    abstract long now();

    @Override
    public void begin() {
        wheel = new DeadlineTimerWheel(NANOSECONDS, now(), TICK, TICKS);
    }

    @Override
    public void arm(int slot, long delayNanos) {
        ids[slot] = wheel.scheduleTimer(now() + delayNanos);
    }

    @Override
    public void stop(int slot) {
        wheel.cancelTimer(ids[slot]);
    }

    /** At the end of each tick: it looks at all that is in a tick, each time. */
    @Override
    public void poll() {
        long now = now();
        while (wheel.currentTickTime() <= now) {
            wheel.poll(now, this, Integer.MAX_VALUE);
        }
    }

    @Override
    public boolean onTimerExpiry(TimeUnit unit, long now, long id) {
        return true;
    }
}
