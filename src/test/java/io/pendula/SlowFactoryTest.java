package io.pendula;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool's thread factory takes its time: the worker that has called it waits, and no one else. */
@Timeout(60)
class SlowFactoryTest {
    private static final class Hold implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void run() {
            begun.countDown();
            LifeFixtures.await(open);
        }
    }

    /** Two of three threads are there; one of them has called the factory, the other one is free. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void newThread_isSlow_theOtherWorkerRunsWhatIsSubmitted(boolean failsInTheEnd) throws Exception {
        AtomicInteger made = new AtomicInteger();
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
        ThreadFactory factory = body -> {
            if (made.incrementAndGet() == 3) {
                called.countDown();
                LifeFixtures.await(answer);
                if (failsInTheEnd) {
                    return null;
                }
            }
            Thread t = new Thread(body);
            t.setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
            return t;
        };
        SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(3, factory);
        Hold first = new Hold();
        pool.execute(first);
        LifeFixtures.await(first.begun);
        Hold second = new Hold();
        pool.execute(second); // the second worker finds that there is no third
        LifeFixtures.await(called);
        first.open.countDown();
        List<Future<?>> all = new ArrayList<>();
        for (int round = 0; round < 5; round++) {
            // From many threads, so that they go to every queue of the pool.
            CountDownLatch ran = new CountDownLatch(8);
            for (int i = 0; i < 8; i++) {
                Thread t = new Thread(() -> pool.execute(ran::countDown));
                t.start();
                Fixtures.join(t);
            }
            LifeFixtures.await(ran);
        }
        assertFalse(second.begun.await(0, SECONDS), "its worker waits for the factory");
        answer.countDown();
        LifeFixtures.await(second.begun);
        second.open.countDown();
        for (int i = 0; i < 20; i++) {
            all.add(pool.submit(() -> {}));
        }
        for (Future<?> f : all) {
            f.get(Fixtures.PATIENCE_SECONDS, SECONDS);
        }
        pool.close();
        assertEquals(failsInTheEnd ? 1 : 0, uncaught.size(), uncaught::toString);
        assertTrue(made.get() >= 3);
        assertEquals(0, pool.engine.workerPool.workers().length);
    }
}
