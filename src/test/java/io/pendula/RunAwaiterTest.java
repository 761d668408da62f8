package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.Inside;

import io.pendula.internal.queue.RunAwaiter;
import io.pendula.internal.queue.TimerNode;
import io.pendula.Fixtures.Rig;
import io.pendula.Fixtures.SteppedTimer;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RunAwaiterTest {
    private static final long LONG = TimeUnit.HOURS.toNanos(1);

    private final Rig rig = new Rig(false);

    private SteppedTimer running() {
        SteppedTimer t = new SteppedTimer(rig.queue);
        rig.queue.arm(t, 10);
        assertEquals(t, rig.claim(10).node());
        return t;
    }

    @Test
    void await_manyOtherRunsEnd_isNotWokenForThem() throws Exception {
        SteppedTimer awaited = running();
        FutureTask<Boolean> awaiter = new FutureTask<>(() -> RunAwaiter.await(rig.queue, awaited, LONG));
        Thread thread = new Thread(awaiter);
        AtomicInteger looks = new AtomicInteger();
        awaited.stepInAtEach(() -> {
            if (Thread.currentThread() == thread) {
                looks.incrementAndGet();
            }
        });
        thread.start();
        Fixtures.awaitWaiting(thread);
        OneShotTimer other = rig.arm(20);
        for (int i = 0; i < 1_000_000; i++) {
            assertEquals(other, rig.claim(20).node());
            rig.queue.endRun(other);
            rig.queue.reset(other, 20);
        }
        int before = looks.get();
        assertTrue(before <= 10, () -> "looks at the awaited timer: " + before); // two; a park may end without a reason
        rig.queue.endRun(awaited);
        assertTrue(awaiter.get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void await_twoTimersAndSeveralThreads_eachHearsOfItsOwn() throws Exception {
        SteppedTimer[] timers = {running(), running()};
        FutureTask<?>[] awaiters = new FutureTask<?>[6];
        for (int i = 0; i < awaiters.length; i++) {
            TimerNode t = timers[i % 2];
            FutureTask<Boolean> awaiter = new FutureTask<>(() -> RunAwaiter.await(rig.queue, t, LONG));
            awaiters[i] = awaiter;
            Thread thread = new Thread(awaiter);
            thread.start();
            Fixtures.awaitWaiting(thread);
        }
        for (int k = 0; k < 2; k++) {
            for (int i = 1; i < awaiters.length; i += 2) {
                assertEquals(k == 1, awaiters[i].isDone());
            }
            rig.queue.endRun(timers[1 - k]);
            for (int i = 1 - k; i < awaiters.length; i += 2) {
                assertEquals(true, awaiters[i].get(Fixtures.PATIENCE_SECONDS, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void await_timeoutOrInterrupt_leavesNothingBehind() throws Exception {
        SteppedTimer t = running();
        assertFalse(RunAwaiter.await(rig.queue, t, 0));
        assertFalse(RunAwaiter.await(rig.queue, t, 1_000));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> RunAwaiter.await(rig.queue, t, LONG));
        assertFalse(Thread.currentThread().isInterrupted());
        rig.queue.endRun(t);
        assertTrue(RunAwaiter.await(rig.queue, t, 0));
        assertEquals(0, Inside.awaiting(rig.queue));
    }
}
