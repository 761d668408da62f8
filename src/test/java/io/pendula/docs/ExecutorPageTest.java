package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerExecutors;
import io.pendula.TimerScheduler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of docs/executor.md. */
@Timeout(60)
class ExecutorPageTest {
    @Test
    void pool_isAScheduledExecutorService() throws Exception {
        ScheduledExecutorService pool = TimerExecutors.newScheduledThreadPool(4);
        ScheduledFuture<String> answer = pool.schedule(() -> "42", 10, TimeUnit.MILLISECONDS);
        assertEquals("42", answer.get());
        pool.shutdown();
        assertTrue(pool.awaitTermination(30, TimeUnit.SECONDS));
    }

    @Test
    void runTimeout_isASettingOfTheBuilder() throws Exception {
        SchedulerExecutor pool = TimerExecutors.builder().threads(4).runTimeout(Duration.ofSeconds(30)).build();
        assertEquals("in time", pool.submit(() -> "in time").get());
        assertEquals(0, pool.stats().callbacksTimedOut());
        pool.close();
    }

    @Test
    void view_shutDown_leavesTheScheduler() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        try (TimerScheduler scheduler = TimerScheduler.builder().name("app").workers(2).build()) {
            SchedulerExecutor view = scheduler.asScheduledExecutorService();
            ScheduledFuture<?> future = view.schedule(ran::countDown, 1, TimeUnit.HOURS);
            view.shutdownNow();     // ends the tasks of this view, not the scheduler

            assertFalse(future.isDone());
            assertFalse(scheduler.isClosed());
            assertEquals(1, ran.getCount());
        }
    }

    @Test
    void view_ofASchedulerWithAnExecutor_runsTasksThere() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (TimerScheduler scheduler = TimerScheduler.builder().executor(threads).build()) {
            ScheduledExecutorService view = scheduler.asScheduledExecutorService();
            String name = view.schedule(() -> Thread.currentThread().getName(), 1, TimeUnit.MILLISECONDS).get();

            assertTrue(name.startsWith("pool-"), name);
        }
        threads.shutdown();
    }

    @Test
    void fixedThreads_ofTheFactory_areUsed() throws Exception {
        List<Thread> made = new ArrayList<>();
        try (SchedulerExecutor pool = TimerExecutors.newSingleThreadScheduledExecutor(body -> {
            Thread thread = new Thread(body, "timer");
            made.add(thread);
            return thread;
        })) {
            Thread runner = pool.submit(Thread::currentThread).get();
            assertSame(made.get(0), runner);
        }
    }
}
