package io.pendula.benchmarks.designs;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.rivals.Rival.Task;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The rows of the table of Go114, beside a worker that sleeps. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class Go114Test {
    private static final int OTHERS = 8;

    private final Go114 timers = new Go114(1);
    private Go114Timer timer;

    /** Leaves the worker asleep for half an hour, with {@link #OTHERS} timers and the one under test in its heap. */
    @BeforeEach
    void open() throws Exception {
        arm(MINUTES.toNanos(30), Task.NOTHING);
        for (int i = 1; i < OTHERS; i++) {
            arm(HOURS.toNanos(1), Task.NOTHING);
        }
        timer = arm(HOURS.toNanos(2), Task.NOTHING);
        fire(new CountDownLatch(1));
    }

    @AfterEach
    void close() {
        timers.close();
    }

    @Test
    void schedule_new_isWaiting() {
        assertEquals(Go114.WAITING, timer.status());
    }

    @Test
    void stop_waiting_isDeleted() {
        assertTrue(timers.cancel(timer));
        assertEquals(Go114.DELETED, timer.status());
        assertFalse(timers.cancel(timer));
        assertEquals(Go114.DELETED, timer.status());
    }

    @Test
    void stop_modified_isDeleted() {
        reset(HOURS.toNanos(3));
        assertTrue(timers.cancel(timer));
        assertEquals(Go114.DELETED, timer.status());
        reset(HOURS.toNanos(1));
        assertTrue(timers.cancel(timer));
        assertEquals(Go114.DELETED, timer.status());
    }

    @Test
    void reset_waitingOrModifiedOrDeleted_isModified() {
        reset(HOURS.toNanos(3));
        assertEquals(Go114.MODIFIED_LATER, timer.status());
        reset(HOURS.toNanos(1));
        assertEquals(Go114.MODIFIED_EARLIER, timer.status());
        reset(HOURS.toNanos(4));
        assertEquals(Go114.MODIFIED_LATER, timer.status());
        timers.cancel(timer);
        reset(HOURS.toNanos(1));
        assertEquals(Go114.MODIFIED_EARLIER, timer.status());
    }

    @Test
    void worker_modifiedEarlier_isWaitingAtItsPlace() throws Exception {
        reset(MINUTES.toNanos(40));
        long when = timer.nextWhen;
        fire(new CountDownLatch(1));
        assertEquals(Go114.WAITING, timer.status());
        assertEquals(when, timer.when);
    }

    @Test
    void worker_modifiedLater_staysUntilItIsMet() throws Exception {
        reset(HOURS.toNanos(3));
        fire(new CountDownLatch(1));
        assertEquals(Go114.MODIFIED_LATER, timer.status());
    }

    @Test
    void schedule_moreThanAQuarterDeleted_areRemoved() throws Exception {
        Go114Timer second = arm(HOURS.toNanos(3), Task.NOTHING);
        Go114Timer third = arm(HOURS.toNanos(3), Task.NOTHING);
        timers.cancel(timer);
        timers.cancel(second);
        Go114Timer fourth = arm(HOURS.toNanos(3), Task.NOTHING);
        assertEquals(Go114.DELETED, second.status(), "with less than a quarter deleted");
        timers.cancel(third);
        arm(HOURS.toNanos(3), Task.NOTHING);
        timers.cancel(fourth);
        arm(HOURS.toNanos(3), Task.NOTHING);
        assertEquals(Go114.REMOVED, timer.status());
        assertEquals(Go114.REMOVED, second.status());
        assertEquals(Go114.REMOVED, third.status());
        assertEquals(Go114.REMOVED, fourth.status());
        assertFalse(timers.cancel(timer));

        reset(HOURS.toNanos(1));
        assertEquals(Go114.WAITING, timer.status());
    }

    @Test
    void schedule_topDeleted_isRemoved() throws Exception {
        Go114Timer top = arm(MINUTES.toNanos(20), Task.NOTHING);
        awaitSleep();
        timers.cancel(top);
        assertEquals(Go114.DELETED, top.status());
        arm(HOURS.toNanos(1), Task.NOTHING);
        assertEquals(Go114.REMOVED, top.status());
    }

    @Test
    void worker_due_hasNoStatusBeforeItRuns() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Go114Timer due = arm(0, () -> {
            running.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        try {
            assertTrue(running.await(20, SECONDS));
            assertEquals(Go114.NO_STATUS, due.status());
            assertFalse(timers.cancel(due));
        } finally {
            released.countDown();
        }
    }

    private Go114Timer arm(long delayNanos, Task task) {
        return (Go114Timer) timers.schedule(delayNanos, task);
    }

    private void reset(long delayNanos) {
        assertEquals(timer, timers.reset(timer, delayNanos, Task.NOTHING));
    }

    /** Makes the worker wake up and go to sleep again. */
    private void fire(CountDownLatch fired) throws InterruptedException {
        arm(0, fired::countDown);
        assertTrue(fired.await(20, SECONDS));
        awaitSleep();
    }

    private void awaitSleep() throws InterruptedException {
        long began = System.nanoTime();
        while (!timer.worker.isAsleep()) {
            assertTrue(System.nanoTime() - began < SECONDS.toNanos(20), "the worker does not go to sleep");
            Thread.sleep(1);
        }
    }
}
