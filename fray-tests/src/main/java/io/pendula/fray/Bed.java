package io.pendula.fray;

import io.pendula.Door;
import io.pendula.NanoClock;
import io.pendula.TimerExecutors;
import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What a scenario runs on, for one execution: its threads, its schedulers' settings, and what it found wrong. */
final class Bed {
    /** A scenario: ends by itself, and throws or {@linkplain Bed#check checks} what must not be. */
    interface Scenario {
        void run(Bed bed) throws Exception;
    }

    /** What a thread of a scenario does. */
    interface Step {
        void run() throws Exception;
    }

    /** No timer of a scenario comes due so late that a test would wait for it. */
    static final Duration FAR = Duration.ofHours(1);
    /**
     * More than all steps of an execution take. A lost wake-up costs up to a second, since no sleep is longer while
     * anything is armed. Time passes with the steps, some microseconds each, and leaps when all threads sleep.
     */
    private static final long LATE_NANOS = 400_000_000;

    private final List<Thread> threads = new ArrayList<>();
    private NanoClock clock = NanoClock.system();
    private Throwable failure;

    /** Without a monitor, which makes executions longer. */
    TimerScheduler.Builder scheduler(int workers) {
        return Door.monitor(TimerScheduler.builder().name("fray").workers(workers).listener(new Told()), false);
    }

    TimerExecutors.Builder pool(int threads) {
        return TimerExecutors.builder().name("fray").threads(threads).listener(new Told());
    }

    /** What callbacks throw fails the scenario. */
    private final class Told implements TimerListener {
        @Override
        public void threw(TimerHandle timer, long lateness, Throwable thrown) {
            fail(thrown);
        }

        @Override
        public void wakeupThrew(TimerLoop loop, Throwable thrown) {
            fail(thrown);
        }
    }

    /**
     * A clock that shows whole milliseconds, for what waits for the end of a long park. Fray cuts a park to whole
     * milliseconds, so that it ends before its time by any other clock, and what looks for its end waits once more.
     */
    NanoClock clockInMillis() {
        clock = () -> System.nanoTime() / 1_000_000 * 1_000_000;
        return clock;
    }

    /** Starts a thread. What it throws fails the scenario. */
    Thread thread(Step body) {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (Throwable e) {
                fail(e);
            }
        });
        synchronized (threads) {
            threads.add(t);
        }
        t.start();
        return t;
    }

    /** Waits for all threads that were started so far. */
    void join() throws InterruptedException {
        List<Thread> all;
        synchronized (threads) {
            all = List.copyOf(threads);
        }
        for (Thread t : all) {
            t.join();
        }
    }

    void check(boolean holds, String otherwise) {
        if (!holds) {
            fail(new AssertionError(otherwise));
        }
    }

    synchronized void fail(Throwable e) {
        if (failure == null) {
            failure = e;
        }
    }

    synchronized void end() throws Throwable {
        if (failure != null) {
            throw failure;
        }
    }

    /** A task that must run once, not before its time and not long after it. */
    Shot shot() {
        return new Shot();
    }

    /** See {@link #shot}. */
    final class Shot implements Runnable {
        private final CountDownLatch ran = new CountDownLatch(1);
        private volatile long earliest = Long.MAX_VALUE;
        private volatile long latest = Long.MAX_VALUE;

        /** Arms a timer, or has one armed, after so long. */
        void arm(long micros, java.util.function.Consumer<Duration> arming) {
            Duration delay = Duration.ofNanos(1_000 * micros);
            earliest = clock.nanoTime() + delay.toNanos();
            arming.accept(delay);
            latest = clock.nanoTime() + delay.toNanos() + LATE_NANOS;
        }

        void armOn(TimerScheduler s, long micros) {
            arm(micros, delay -> s.after(delay, this));
        }

        @Override
        public void run() {
            long now = clock.nanoTime();
            check(ran.getCount() == 1, "ran twice");
            check(now >= earliest, "ran early, by ns " + (earliest - now));
            check(latest == Long.MAX_VALUE || now <= latest, "ran late, by ns " + (now - latest + LATE_NANOS));
            ran.countDown();
        }

        void await() throws InterruptedException {
            ran.await();
        }
    }
}
