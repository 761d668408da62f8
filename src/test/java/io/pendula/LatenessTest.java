package io.pendula;

import static io.pendula.Figures.figure;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bounds the lateness of timers, alone and beside busy threads. The bound follows from the lateness of bare timed parks
 * of the same lengths, measured in the same seconds, so it adapts to the machine. It is generous: it is to find what
 * makes all workers late by a millisecond. The benchmarks measure the rest.
 */
@Timeout(60)
class LatenessTest {
    /** One in time is enough, as something else on the machine may disturb the others. */
    private static final int ATTEMPTS = 3;
    /** Parks and timers take turns, so that a long disturbance hits both. */
    private static final int TURNS = 10;
    private static final int TIMERS_PER_TURN = 40;
    private static final int TIMERS = TURNS * TIMERS_PER_TURN;
    private static final long SHORTEST_NANOS = 100_000;
    private static final long STEP_NANOS = 45_000;

    private static long delay(int i) {
        return SHORTEST_NANOS + i % TIMERS_PER_TURN * STEP_NANOS;
    }

    /** A timer that arms itself again until all of a turn have run. */
    private static final class Chain implements Runnable {
        private final long[] late;
        private final int end;
        private final CountDownLatch done = new CountDownLatch(1);
        private int i;
        private long due;
        private Timer timer;

        Chain(long[] late, int begin) {
            this.late = late;
            this.i = begin;
            this.end = begin + TIMERS_PER_TURN;
        }

        void begin(TimerScheduler s) {
            timer = s.after(1, TimeUnit.HOURS, this);
            arm();
            LifeFixtures.await(done);
        }

        private void arm() {
            due = System.nanoTime() + delay(i);
            timer.reset(delay(i), TimeUnit.NANOSECONDS);
        }

        @Override
        public void run() {
            late[i++] = System.nanoTime() - due;
            if (i < end) {
                arm();
            } else {
                done.countDown();
            }
        }
    }

    private static void park(long[] late, int begin) {
        for (int i = begin; i < begin + TIMERS_PER_TURN; i++) {
            long due = System.nanoTime() + delay(i);
            long left = delay(i);
            do {
                LockSupport.parkNanos(left);
                left = due - System.nanoTime();
            } while (left > 0);
            late[i] = -left;
        }
    }

    private record Quantiles(long median, long p99) {
        static Quantiles of(long[] late) {
            Arrays.sort(late);
            assertTrue(late[0] >= 0, () -> "early by " + -late[0] + " ns");
            return new Quantiles(late[TIMERS / 2], late[TIMERS * 99 / 100]);
        }

        /** The factors are for a machine on which all is late, the constants for disturbances that hit timers alone. */
        Quantiles bound() {
            return new Quantiles(2 * median + 300_000, 3 * p99 + 5_000_000);
        }

        boolean isWithin(Quantiles bound) {
            return median <= bound.median && p99 <= bound.p99;
        }

        @Override
        public String toString() {
            return String.format("p50 %.3f ms, p99 %.3f ms", LifeFixtures.millis(median), LifeFixtures.millis(p99));
        }
    }

    /** One for each processor. */
    private static final class Burners implements AutoCloseable {
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean end;

        Burners() {
            for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
                Thread t = new Thread(() -> {
                    while (!end) {
                        Thread.onSpinWait();
                    }
                }, "burner-" + i);
                t.setDaemon(true);
                t.start();
                threads.add(t);
            }
        }

        @Override
        public void close() {
            end = true; // none of them is waited for, as none does anything else
        }
    }

    private static void assertNotLate(TimerScheduler s, String load) {
        StringBuilder all = new StringBuilder();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            long[] parks = new long[TIMERS];
            long[] timers = new long[TIMERS];
            for (int turn = 0; turn < TURNS; turn++) {
                park(parks, turn * TIMERS_PER_TURN);
                new Chain(timers, turn * TIMERS_PER_TURN).begin(s);
            }
            Quantiles bare = Quantiles.of(parks);
            Quantiles ours = Quantiles.of(timers);
            String text = load + ": bare park " + bare + "; timer " + ours + "; bound " + bare.bound();
            figure("lateness, %s", text);
            if (ours.isWithin(bare.bound())) {
                return;
            }
            all.append(text).append('\n');
        }
        fail(all.toString());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void run_besideBareParks_isNotMuchLaterThanThey(boolean besideBurners) {
        try (TimerScheduler s = TimerScheduler.builder().name("late").workers(1).build()) {
            new Chain(new long[TIMERS], 0).begin(s); // loads and links what is needed
            if (!besideBurners) {
                assertNotLate(s, "idle");
            } else {
                try (Burners burners = new Burners()) {
                    assertNotLate(s, burners.threads.size() + " busy threads");
                }
            }
        }
    }
}
