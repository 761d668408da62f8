package io.pendula.benchmarks.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessorTimeTest {
    private static final long BUSY_NANOS = 50_000_000;

    private static void use(long nanos) {
        for (long end = ProcessorTime.ofCaller() + nanos; ProcessorTime.ofCaller() < end; ) {
            Thread.onSpinWait();
        }
    }

    private static Thread started(Runnable body) {
        Thread t = new Thread(body);
        t.start();
        return t;
    }

    @Test
    void sum_threadEnds_keepsItsTime() {
        ProcessorTime time = new ProcessorTime();
        time.look("a", 5);
        time.look("b", 7);
        time.look("a", -1);
        time.look("b", 9);
        assertEquals(14, time.sum(Set.of()));
        assertEquals(9, time.sum(Set.of("a")));
    }

    /** Numbers of threads are given again. */
    @Test
    void sum_anotherThreadWithTheSameNumber_countsBoth() {
        ProcessorTime time = new ProcessorTime();
        time.look("1", 500);
        time.look("1", 20);
        time.look("1", 30);
        assertEquals(530, time.sum(Set.of()));
    }

    @Test
    void ofThreadsBut_threadThatWasBusyEnds_isNotTakenAway() throws InterruptedException {
        Object monitor = new Object();
        boolean[] is = new boolean[2]; // ready, over
        Thread busy = started(() -> {
            use(BUSY_NANOS);
            synchronized (monitor) {
                is[0] = true;
                monitor.notifyAll();
                waitFor(monitor, is, 1);
            }
        });
        synchronized (monitor) {
            waitFor(monitor, is, 0);
        }
        Set<Thread> others = Set.of(Thread.currentThread());
        long before = ProcessorTime.ofThreadsBut(others);
        assertTrue(before >= BUSY_NANOS);
        synchronized (monitor) {
            is[1] = true;
            monitor.notifyAll();
        }
        busy.join();
        assertTrue(ProcessorTime.ofThreadsBut(others) >= before);
    }

    private static void waitFor(Object monitor, boolean[] is, int what) {
        try {
            while (!is[what]) {
                monitor.wait();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void ofProcess_aThreadIsBusy_hasItsTime() throws InterruptedException {
        long before = ProcessorTime.ofProcess();
        started(() -> use(BUSY_NANOS)).join(); // it has ended, so nobody may have looked at all that it has used
        use(4 * BUSY_NANOS);
        // The system notes what a thread has used when that is switched, or at a tick, of 10 ms at most.
        assertTrue(ProcessorTime.ofProcess() - before >= 4 * BUSY_NANOS * 9 / 10);
    }
}
