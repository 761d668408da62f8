package io.pendula.demonstrations;

import io.pendula.Timer;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A scheduler as the demo sees it. Each shot belongs to one thread, which arms, stops and postpones it. */
interface Contender extends AutoCloseable {
    /** In words, for readers who would set it up alike. */
    String setup();

    void arm(Shot shot, long nanos);

    /** True if that prevented the firing. */
    boolean stop(Shot shot);

    /** True if that replaced the firing that was to come; false if the shot will now fire once more. */
    default boolean postpone(Shot shot, long nanos) {
        boolean replaced = stop(shot);
        arm(shot, nanos);
        return replaced;
    }

    /** What is wrong if this scheduler, once closed, has counted differently; null if nothing is. */
    default String objection(Traffic.Counts counts) {
        return null;
    }

    /** Whether a stop that returned true has always prevented the firing. */
    default boolean keepsItsWord() {
        return true;
    }

    /** Drops what has not fired and returns when no callback runs any more. */
    @Override
    void close();

    /** The library. */
    final class Pendula implements Contender {
        private final TimerScheduler timers;

        /** Zero workers: as many as the library thinks fit. */
        Pendula(int workers) {
            TimerScheduler.Builder builder = TimerScheduler.builder().name("demo");
            timers = (workers == 0 ? builder : builder.workers(workers)).build();
        }

        int workers() {
            return timers.stats().queues().size();
        }

        @Override
        public String setup() {
            return "TimerScheduler, workers: " + workers();
        }

        @Override
        public void arm(Shot shot, long nanos) {
            shot.handle(timers.after(nanos, TimeUnit.NANOSECONDS, shot));
        }

        @Override
        public boolean stop(Shot shot) {
            return ((Timer) shot.handle()).stop();
        }

        @Override
        public boolean postpone(Shot shot, long nanos) {
            return ((Timer) shot.handle()).reset(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public String objection(Traffic.Counts counts) {
            TimerStats s = timers.stats();
            Traffic.Counts own = new Traffic.Counts(s.armed(), s.fired(), s.stopped(), s.resets());
            return own.equals(counts) && s.unfired() == 0 ? null
                    : "the scheduler's own statistics say " + own + " and " + s.unfired() + " unfired";
        }

        @Override
        public void close() {
            timers.close();
        }
    }

    /** What the JDK has. */
    final class JdkPool implements Contender {
        private final ScheduledThreadPoolExecutor pool;

        JdkPool(int threads) {
            pool = new ScheduledThreadPoolExecutor(threads, Traffic::daemon);
            pool.setRemoveOnCancelPolicy(true);
        }

        @Override
        public String setup() {
            return "ScheduledThreadPoolExecutor, threads: " + pool.getCorePoolSize() + ", removeOnCancelPolicy: "
                    + pool.getRemoveOnCancelPolicy();
        }

        @Override
        public void arm(Shot shot, long nanos) {
            shot.handle(pool.schedule(shot, nanos, TimeUnit.NANOSECONDS));
        }

        @Override
        public boolean stop(Shot shot) {
            return ((Future<?>) shot.handle()).cancel(false);
        }

        /** A future that is cancelled while its callback runs says that it was prevented. */
        @Override
        public boolean keepsItsWord() {
            return false;
        }

        @Override
        public void close() {
            pool.shutdownNow();
            awaitEnd();
        }

        private void awaitEnd() {
            boolean interrupted = false;
            for (;;) {
                try {
                    if (pool.awaitTermination(1, TimeUnit.MINUTES)) {
                        break;
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Netty's wheel: one thread, which wakes up once a tick. */
    final class NettyWheel implements Contender {
        private static final int TICK_MILLIS = 1;
        /** With fewer, each tick would look at many timers that are not due. */
        private static final int SLOTS = 65_536;

        private final HashedWheelTimer wheel = new HashedWheelTimer(Traffic::daemon, TICK_MILLIS, TimeUnit.MILLISECONDS,
                SLOTS);

        @Override
        public String setup() {
            return "HashedWheelTimer, threads: 1, tick: " + TICK_MILLIS + " ms, slots: " + SLOTS;
        }

        @Override
        public void arm(Shot shot, long nanos) {
            shot.handle(wheel.newTimeout(shot, nanos, TimeUnit.NANOSECONDS));
        }

        @Override
        public boolean stop(Shot shot) {
            return ((Timeout) shot.handle()).cancel();
        }

        @Override
        public void close() {
            wheel.stop();
        }
    }
}
