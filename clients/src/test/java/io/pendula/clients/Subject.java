package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** An executor under test, with its threads, and what must be true of it when its client has gone. */
final class Subject implements AutoCloseable {
    final ScheduledExecutorService executor;
    private final int workers;
    private final Threads threads;
    /** The scheduler that the executor is a view of, null for a pool. */
    private final TimerScheduler beneath;

    Subject(ScheduledExecutorService executor, int workers, Threads threads, TimerScheduler beneath) {
        this.executor = executor;
        this.workers = workers;
        this.threads = threads;
        this.beneath = beneath;
    }

    /** Makes the executor's threads and keeps what they died of, or what their tasks threw at nobody. */
    static final class Threads implements ThreadFactory {
        private final Set<Thread> made = ConcurrentHashMap.newKeySet();
        private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();

        @Override
        public Thread newThread(Runnable body) {
            Thread t = new Thread(body, "subject-" + made.size());
            t.setDaemon(true);
            t.setUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
            made.add(t);
            return t;
        }
    }

    /** Whether the calling thread is one of the executor's. */
    boolean isOwnThread() {
        return threads.made.contains(Thread.currentThread());
    }

    /** Returns when everything that falls due within this time from now on has had its turn. */
    void letPass(long millis) {
        assertEquals("passed", now(() -> "passed", millis));
    }

    /** Returns when what ran when it was called has ended: when one task holds each worker, all at the same time. */
    void letRunsEnd() {
        CyclicBarrier all = new CyclicBarrier(workers);
        List<Future<Integer>> holds = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            holds.add(executor.submit(() -> all.await(Patience.SECONDS, TimeUnit.SECONDS)));
        }
        holds.forEach(Patience::get);
    }

    /**
     * The client has gone: the executor is up, still runs a task, nobody saw an exception that nobody waited for, and
     * exactly so many tasks of the client still wait.
     */
    void assertLeftRunning(int waiting) {
        assertFalse(executor.isShutdown(), "shut down");
        assertFalse(executor.isTerminated(), "terminated");
        assertTrue(now(this::isOwnThread, 1), "a task on a thread of somebody else");
        letDueEnd();
        List<Runnable> left = executor.shutdownNow();
        assertEquals(waiting, left.size(), () -> "left behind: " + left);
        assertTerminates();
    }

    /**
     * What the client's last calls have left may still run when a task that is due later has, with more than one worker.
     * With Pendula it may not even have begun, as only the tasks of each worker begin in order, not those of all.
     */
    private void letDueEnd() {
        Patience.until("nothing is due or runs", executor instanceof ScheduledThreadPoolExecutor jdk
                ? () -> isIdle(jdk)
                : () -> isIdle((SchedulerExecutor) executor));
    }

    /** The pool first marks a task as cancelled, then removes it; a thread of the client may be in between. */
    private static boolean isIdle(ScheduledThreadPoolExecutor jdk) {
        long completed = jdk.getCompletedTaskCount();
        return jdk.getActiveCount() == 0
                && jdk.getQueue().stream().noneMatch(task -> ((Future<?>) task).isCancelled()
                        || ((Delayed) task).getDelay(TimeUnit.NANOSECONDS) <= 0)
                && jdk.getCompletedTaskCount() == completed;
    }

    private static boolean isIdle(SchedulerExecutor pendula) {
        long fired = pendula.stats().fired();
        return pendula.stats().running() == 0
                && pendula.pendingTimers(Integer.MAX_VALUE).stream()
                        .noneMatch(timer -> timer.remaining().isZero())
                && pendula.stats().fired() == fired;
    }

    /** The client has shut the executor down, as it says it does, and left nothing in it. */
    void assertShutDown() {
        assertTrue(executor.isShutdown(), "not shut down");
        assertEquals(List.of(), executor.shutdownNow());
        assertTerminates();
    }

    private void assertTerminates() {
        try {
            assertTrue(executor.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS), "does not terminate");
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted while waiting", e);
        }
        if (beneath != null) {
            assertFalse(beneath.isClosed(), "the scheduler closed with its view");
            CountDownLatch fired = new CountDownLatch(1);
            beneath.after(Duration.ZERO, fired::countDown);
            Patience.await(fired);
            Patience.until("nothing pending beneath", () -> beneath.pending() == 0);
        }
        assertEquals(List.of(), List.copyOf(threads.uncaught));
    }

    private <T> T now(Callable<T> task, long millis) {
        return Patience.get(executor.schedule(task, millis, TimeUnit.MILLISECONDS));
    }

    @Override
    public void close() {
        executor.shutdownNow();
        if (beneath != null) {
            beneath.close();
        }
    }
}
