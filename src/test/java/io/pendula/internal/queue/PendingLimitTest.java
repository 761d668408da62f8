package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Fixtures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PendingLimitTest {
    @Test
    void acquire_atTheBound_isRejected() {
        PendingLimit a = new PendingLimit(2);
        a.take(1);
        a.take(1);
        RejectedExecutionException e = assertThrows(RejectedExecutionException.class, () -> a.take(1));
        assertEquals("maxPending is reached: 2 timers are pending", e.getMessage());
        assertEquals(2, a.held());
    }

    @Test
    void release_atTheBound_letsOneIn() {
        PendingLimit a = new PendingLimit(1);
        a.take(1);
        a.take(-1);
        a.take(1);
        assertThrows(RejectedExecutionException.class, () -> a.take(1));
    }

    @Test
    void acquire_manyThreads_neverAboveTheBound() throws InterruptedException {
        PendingLimit a = new PendingLimit(3);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(new Thread(() -> {
                for (int n = 0; n < 10_000; n++) {
                    try {
                        a.take(1);
                    } catch (RejectedExecutionException full) {
                        continue;
                    }
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    inside.decrementAndGet();
                    a.take(-1);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread t : threads) {
            Fixtures.join(t);
        }
        assertTrue(most.get() <= 3, most + " inside");
        assertEquals(0, a.held());
    }
}
