package io.pendula;

import static io.pendula.LifeFixtures.await;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program may say that two of its threads are equal. They are two all the same. */
@Timeout(60)
class EqualThreadsTest {
    private static final class Equal extends Thread {
        Equal(Runnable body) {
            super(body);
            setDaemon(true);
        }

        @Override
        public boolean equals(Object o) {
            return o instanceof Equal;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private final CountDownLatch bothHaveLoops = new CountDownLatch(2);

    /** Returns on which thread a timer ran that the loop's thread armed with the scheduler. */
    private Thread ranOn(TimerScheduler s) {
        Thread me = Thread.currentThread();
        try (TimerLoop loop = s.attach(() -> LockSupport.unpark(me))) {
            bothHaveLoops.countDown();
            await(bothHaveLoops);
            Thread[] on = new Thread[1];
            CountDownLatch ran = new CountDownLatch(1);
            s.after(1, TimeUnit.MILLISECONDS, () -> {
                on[0] = Thread.currentThread();
                ran.countDown();
            });
            while (ran.getCount() > 0) {
                LockSupport.parkNanos(Math.min(loop.nanosUntilNext(), 1_000_000));
                loop.runDue();
            }
            return on[0];
        }
    }

    @Test
    void after_onThreadsWithLoops_runsOnTheOwn() throws Exception {
        try (TimerScheduler s = TimerScheduler.builder().workers(1).build()) {
            FutureTask<Thread> first = new FutureTask<>(() -> ranOn(s));
            FutureTask<Thread> second = new FutureTask<>(() -> ranOn(s));
            Thread a = new Equal(first);
            Thread b = new Equal(second);
            a.start();
            b.start();
            assertSame(a, first.get());
            assertSame(b, second.get());
        }
    }

    @Test
    void await_anotherThreadHasItsFiring_closeEndsTheWait() throws Exception {
        TimerScheduler s = TimerScheduler.builder().workers(1).build();
        Alarm soon = s.alarm(Duration.ofMillis(1));
        Alarm never = s.alarm(Duration.ofHours(1));
        FutureTask<Void> waits = new FutureTask<>(() -> {
            never.await();
            return null;
        });
        FutureTask<Void> receives = new FutureTask<>(() -> {
            soon.await();
            return null;
        });
        Thread first = new Equal(waits);
        first.start();
        Fixtures.awaitWaiting(first);
        new Equal(receives).start();
        assertNull(receives.get());
        s.close();
        Throwable e = assertThrows(ExecutionException.class, waits::get).getCause();
        assertSame(CancellationException.class, e.getClass());
    }
}
