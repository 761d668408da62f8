package io.pendula;

import static io.pendula.LifeFixtures.figure;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Timeouts that are nearly always cancelled cost no more memory than those that are not. */
@Timeout(60)
class ExecutorMemoryTest {
    private static final int TIMEOUTS = 2_000_000;

    static final class ManyTimeouts {
        private ManyTimeouts() {}

        public static void main(String[] args) throws InterruptedException {
            int threads = Integer.parseInt(args[0]);
            int lag = Integer.parseInt(args[1]);
            SchedulerExecutor pool = TimerExecutors.newScheduledThreadPool(2);
            Thread[] all = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                all[i] = new Thread(() -> scheduleAndCancel(pool, TIMEOUTS / threads, lag));
                all[i].start();
            }
            for (Thread t : all) {
                t.join();
            }
            TimerStats stats = pool.stats();
            assert stats.armed() >= TIMEOUTS / threads * threads && stats.fired() == 0 && stats.pending() == 0 : stats;
            List<Runnable> left = pool.shutdownNow();
            assert left.isEmpty() : left.size();
            System.out.println(stats.heapCapacity());
        }

        private static void scheduleAndCancel(SchedulerExecutor pool, int count, int lag) {
            ScheduledFuture<?>[] ring = new ScheduledFuture<?>[lag + 1];
            for (int i = 0; i < count + ring.length; i++) {
                int slot = i % ring.length;
                if (ring[slot] != null && !ring[slot].cancel(false)) {
                    throw new AssertionError("it ran");
                }
                // What each one holds on to would fill the heap twenty times over.
                byte[] held = new byte[600];
                ring[slot] = i >= count ? null : pool.schedule(() -> held.length, 10, TimeUnit.MINUTES);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 5000", "3, 1000"})
    void scheduleAndCancel_twoMillionTimesInSmallHeap_memoryStaysBounded(int threads, int lag) throws Exception {
        String out = LifeFixtures.runInChild(ManyTimeouts.class, List.of("-Xmx64m"), Integer.toString(threads),
                Integer.toString(lag));
        figure("%,d timeouts of %d threads, cancelled %d later: heap slots in the end %s", TIMEOUTS, threads, lag, out);
        assertTrue(Long.parseLong(out) < 100_000, out);
    }
}
