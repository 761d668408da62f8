package io.pendula.benchmarks.gobench;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.rivals.Rival;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/** An operation of {@link GoBenchCase}, which one thread repeats. */
abstract class GoOp {
    static final List<String> NAMES = List.of("afterfunc", "after", "stop", "simultaneous", "startstop", "reset",
            "sleep", "ticker", "adjust10000");
    private static final int COUNT = 1_000;
    private static final long HOUR = HOURS.toNanos(1);

    final Rival rival;

    private GoOp(Rival rival) {
        this.rival = rival;
    }

    /** Does some operations and returns how many. */
    abstract int some() throws InterruptedException;

    static GoOp named(String name, Rival rival, Goroutines goroutines) {
        return switch (name) {
            case "afterfunc" -> new AfterFunc(rival);
            case "after" -> new After(rival);
            case "stop" -> new Stop(rival);
            case "simultaneous" -> new Simultaneous(rival);
            case "startstop" -> new StartStop(rival, COUNT);
            case "reset" -> new Reset(rival);
            case "sleep" -> new Sleep(rival, goroutines);
            case "ticker" -> new Ticker(rival);
            case "adjust10000" -> new Adjust(rival);
            case "context" -> new StartStop(rival, 10);
            default -> throw new IllegalArgumentException("no such operation: '" + name + "'; there are " + NAMES
                    + " and context");
        };
    }

    /** Each callback arms the next, which is due at once. */
    private static final class AfterFunc extends GoOp implements Rival.Task {
        private final Semaphore over = new Semaphore(0);
        private int left;

        AfterFunc(Rival rival) {
            super(rival);
        }

        @Override
        int some() throws InterruptedException {
            left = COUNT;
            rival.schedule(0, this);
            over.acquire();
            return COUNT;
        }

        @Override
        public void run() {
            if (--left == 0) {
                over.release();
            } else {
                rival.schedule(0, this);
            }
        }
    }

    /** Waits for a timer, then for the next. */
    private static final class After extends GoOp implements Rival.Task {
        private final Semaphore fired = new Semaphore(0);

        After(Rival rival) {
            super(rival);
        }

        @Override
        int some() throws InterruptedException {
            for (int i = 0; i < COUNT; i++) {
                rival.schedule(1, this);
                fired.acquire();
            }
            return COUNT;
        }

        @Override
        public void run() {
            fired.release();
        }
    }

    /** A timer is stopped at once. */
    private static final class Stop extends GoOp {
        Stop(Rival rival) {
            super(rival);
        }

        @Override
        int some() {
            for (int i = 0; i < COUNT; i++) {
                rival.cancel(rival.schedule(SECONDS.toNanos(1), Rival.Task.NOTHING));
            }
            return COUNT;
        }
    }

    /** All are due at once. */
    private static final class Simultaneous extends GoOp {
        Simultaneous(Rival rival) {
            super(rival);
        }

        @Override
        int some() throws InterruptedException {
            CountDownLatch left = new CountDownLatch(COUNT);
            Rival.Task task = left::countDown;
            for (int i = 0; i < COUNT; i++) {
                rival.schedule(0, task);
            }
            left.await();
            return COUNT;
        }
    }

    /** Some are armed, then all are stopped. */
    private static final class StartStop extends GoOp {
        private final Object[] handles;

        StartStop(Rival rival, int count) {
            super(rival);
            handles = new Object[count];
        }

        @Override
        int some() {
            for (int i = 0; i < handles.length; i++) {
                handles[i] = rival.schedule(HOUR, Rival.Task.NOTHING);
            }
            for (Object handle : handles) {
                rival.cancel(handle);
            }
            return handles.length;
        }
    }

    /** One timer is put off again and again. */
    private static final class Reset extends GoOp {
        Reset(Rival rival) {
            super(rival);
        }

        @Override
        int some() {
            Object handle = rival.schedule(HOUR, Rival.Task.NOTHING);
            for (int i = 0; i < COUNT; i++) {
                handle = rival.reset(handle, HOUR, Rival.Task.NOTHING);
            }
            rival.cancel(handle);
            return COUNT;
        }
    }

    /** So many goroutines sleep for as short as can be; a timer makes each ready again. */
    private static final class Sleep extends GoOp {
        private final Goroutines goroutines;

        Sleep(Rival rival, Goroutines goroutines) {
            super(rival);
            this.goroutines = goroutines;
        }

        @Override
        int some() throws InterruptedException {
            CountDownLatch left = new CountDownLatch(COUNT);
            Runnable awake = left::countDown;
            Rival.Task ready = () -> goroutines.execute(awake);
            Runnable asleep = () -> rival.schedule(1, ready);
            for (int i = 0; i < COUNT; i++) {
                goroutines.execute(asleep);
            }
            left.await();
            return COUNT;
        }
    }

    /** Takes so many ticks of a ticker that ticks as often as can be; a tick that nothing waits for is lost. */
    private static final class Ticker extends GoOp {
        Ticker(Rival rival) {
            super(rival);
        }

        @Override
        int some() {
            Ticks ticks = new Ticks(rival, Thread.currentThread());
            for (int i = 0; i < COUNT; i++) {
                ticks.take();
            }
            ticks.end();
            return COUNT;
        }
    }

    private static final class Ticks implements Rival.Task {
        private final Rival rival;
        private final Thread taker;
        private Object handle;
        private volatile boolean isThere;
        private volatile boolean isOver;
        private volatile boolean hasEnded;

        Ticks(Rival rival, Thread taker) {
            this.rival = rival;
            this.taker = taker;
            handle = rival.schedule(HOUR, this); // the reset then publishes the handle to the callback
            rival.reset(handle, 1, this);
        }

        void take() {
            while (!isThere) {
                LockSupport.park(this);
            }
            isThere = false;
        }

        void end() {
            isOver = true;
            while (!hasEnded) {
                LockSupport.park(this);
            }
        }

        @Override
        public void run() {
            if (isOver) {
                hasEnded = true;
                LockSupport.unpark(taker);
                return;
            }
            if (!isThere) {
                isThere = true;
                LockSupport.unpark(taker);
            }
            handle = rival.reset(handle, 1, this);
        }
    }

    /** The last of many timers is brought forward, and a timer that follows is waited for: both have to be found. */
    private static final class Adjust extends GoOp implements Rival.Task {
        private final Object[] handles = new Object[10_000];
        private final Semaphore awake = new Semaphore(0);

        Adjust(Rival rival) {
            super(rival);
        }

        @Override
        int some() throws InterruptedException {
            for (int i = 0; i < handles.length; i++) {
                handles[i] = rival.schedule(HOUR, Rival.Task.NOTHING);
            }
            int last = handles.length - 1;
            handles[last] = rival.reset(handles[last], 1, Rival.Task.NOTHING);
            rival.schedule(MICROSECONDS.toNanos(1), this);
            awake.acquire();
            for (Object handle : handles) {
                rival.cancel(handle);
            }
            return handles.length;
        }

        @Override
        public void run() {
            awake.release();
        }
    }
}
