package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AdmissionTest {
    @Test
    void enter_atTheBound_isRejected() {
        Admission a = new Admission(2);
        a.enter();
        a.enter();
        RejectedExecutionException e = assertThrows(RejectedExecutionException.class, a::enter);
        assertEquals("maxPending reached: 2 timers are armed", e.getMessage());
        assertEquals(2, a.held());
    }

    @Test
    void leave_atTheBound_letsOneIn() {
        Admission a = new Admission(1);
        a.enter();
        a.leave();
        a.enter();
        assertThrows(RejectedExecutionException.class, a::enter);
    }

    @Test
    void enter_manyThreads_neverAboveTheBound() throws InterruptedException {
        Admission a = new Admission(3);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(new Thread(() -> {
                for (int n = 0; n < 10_000; n++) {
                    try {
                        a.enter();
                    } catch (RejectedExecutionException full) {
                        continue;
                    }
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    inside.decrementAndGet();
                    a.leave();
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
