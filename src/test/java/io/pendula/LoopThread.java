package io.pendula;

import static io.pendula.LoopFixtures.NOTHING;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that lives as an application's event loop does: it waits for its next timer or for something to do, does
 * that, and runs what is due.
 */
final class LoopThread implements AutoCloseable {
    /** What it waits in. */
    enum Way {
        SELECT, PARK, POLL
    }

    private final Way way;
    private final Selector selector;
    private final BlockingQueue<Runnable> messages = new LinkedBlockingQueue<>();
    private final Queue<Runnable> work = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final CountDownLatch attached = new CountDownLatch(1);
    private final AtomicInteger wakes = new AtomicInteger();
    private volatile int rounds;
    private volatile boolean ends;
    volatile TimerLoop loop;
    final Thread thread;

    LoopThread(TimerScheduler s, Way way) {
        this.way = way;
        try {
            this.selector = way == Way.SELECT ? Selector.open() : null;
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
        this.thread = new Thread(() -> live(s), "loop-" + way);
        thread.setDaemon(true);
        thread.start();
        LifeFixtures.await(attached);
    }

    private void live(TimerScheduler s) {
        Runnable wakeup = () -> {
            wakes.incrementAndGet();
            wake();
        };
        try (TimerLoop l = s.attach(wakeup)) {
            loop = l;
            attached.countDown();
            while (!ends) {
                rounds++; // by this thread alone
                waitForSomething(l);
                for (Runnable r; (r = work.poll()) != null; ) {
                    r.run();
                }
                l.runDue();
            }
        } catch (Throwable e) {
            failure.set(e);
        }
    }

    private void waitForSomething(TimerLoop l) throws Exception {
        if (way == Way.SELECT) {
            l.select(selector);
            selector.selectedKeys().clear();
            return;
        }
        long nanos = l.nanosUntilNext();
        if (way == Way.POLL) {
            Runnable r = messages.poll(nanos, TimeUnit.NANOSECONDS);
            if (r != null) {
                r.run();
            }
        } else if (nanos > 0 && work.isEmpty()) { // a wait for a lock may have used up the permit of who has posted
            if (nanos == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        }
    }

    private void wake() {
        switch (way) {
            case SELECT -> selector.wakeup();
            case PARK -> LockSupport.unpark(thread);
            default -> messages.add(NOTHING);
        }
    }

    /** Something for the thread to do between its wait and its timers, as I/O would be. */
    void post(Runnable r) {
        work.add(r);
        wake();
    }

    /** Keeps the thread from its loop until the latch is released. */
    CountDownLatch holdUp() {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        post(() -> {
            held.countDown();
            LifeFixtures.await(release);
        });
        LifeFixtures.await(held);
        return release;
    }

    int rounds() {
        return rounds;
    }

    int wakes() {
        return wakes.get();
    }

    /** Ends the thread, which closes its loop. */
    @Override
    public void close() {
        ends = true;
        wake();
        try {
            Fixtures.join(thread);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (selector != null) {
            try {
                selector.close();
            } catch (java.io.IOException e) {
                throw new AssertionError(e);
            }
        }
        assertTrue(failure.get() == null, () -> "the loop failed: " + failure.get());
    }
}
