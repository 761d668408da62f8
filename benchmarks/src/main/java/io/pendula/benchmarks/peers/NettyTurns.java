package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

/**
 * Pendula's timers on one of Netty's loops: what is due runs in a turn, a task of that loop, and of Netty's own timers
 * there is one, for the next turn.
 */
final class NettyTurns implements Runnable {
    final TimerLoop loop;
    private final EventExecutor executor;
    private ScheduledFuture<?> alarm;
    private long alarmAt;

    /** Called on the executor's thread. */
    NettyTurns(TimerScheduler timers, EventExecutor executor) {
        this.executor = executor;
        this.loop = timers.attach(() -> executor.execute(this));
        run();
    }

    @Override
    public void run() {
        loop.runDue();
        long nanos = loop.nanosUntilNext();
        if (nanos == 0) {
            executor.execute(this);
        } else if (nanos != Long.MAX_VALUE) {
            setAlarm(nanos);
        }
    }

    private void setAlarm(long nanos) {
        long now = System.nanoTime();
        if (alarm != null && alarmAt - now > 0) { // else this turn is its own
            if (alarmAt - now <= nanos) {
                return; // a turn too many is cheaper than to move it
            }
            alarm.cancel(false);
        }
        alarmAt = now + nanos;
        alarm = executor.schedule(this, nanos, NANOSECONDS);
    }
}
