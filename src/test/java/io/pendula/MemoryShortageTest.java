package io.pendula;

import static io.pendula.LifeFixtures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Timers are armed until there is no memory left: what is filed runs all the same, at little cost, and none is lost. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class MemoryShortageTest {
    private static final long WATCHED_NANOS = 2_000_000_000;
    /** In that time. */
    private static final long MOST_CPU_NANOS = 500_000_000;

    static final class ArmUntilMemoryIsShort {
        private static final int ENOUGH = 3;
        private static final int WINDOWS = 5;
        /** After the shortage. */
        private static final int TICKS = 20;
        private static volatile int ran;
        private static volatile int ticks;

        private ArmUntilMemoryIsShort() {}

        /**
         * What a program has done long before its memory is short. A JVM creates a class's string constants when it is
         * about to compile the first of its methods; without memory it collects, fails, and tries again soon.
         */
        private static void warmUp(TimerScheduler s) {
            LongAdder warm = new LongAdder();
            for (int i = 0; i < 30_000; i++) {
                s.after(i % 100, TimeUnit.MICROSECONDS, warm::increment);
                if (i % 10 == 0) {
                    LockSupport.parkNanos(100_000);
                }
            }
            while (warm.sum() < 30_000) {
                Thread.onSpinWait();
            }
        }

        public static void main(String[] args) throws InterruptedException {
            OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            TimerScheduler s = TimerScheduler.builder().workers(1).build();
            Ticker ticker = s.every(java.time.Duration.ofMillis(10), () -> ticks++);
            Runnable count = () -> ran++;
            s.after(1, TimeUnit.MILLISECONDS, count);
            warmUp(s);
            os.getProcessCpuTime();
            int armed = 1;
            int exhausted = 0;
            int rejected = 0;
            while (exhausted < ENOUGH && rejected < ENOUGH) {
                try {
                    // A part is due while the ticks are watched, the others later.
                    s.after(armed % 100 == 0 ? armed % 1_009 * 10 : 12_000 + armed % 101 * 10, TimeUnit.MILLISECONDS,
                            count);
                    armed++;
                } catch (OutOfMemoryError e) {
                    exhausted++;
                } catch (RejectedExecutionException e) {
                    rejected++;
                }
            }
            long cpu = Long.MAX_VALUE;
            int ranBefore = ran;
            int ticksBefore = ticks;
            // The best one counts: whatever else the machine does makes it worse.
            for (int i = 0; i < WINDOWS && cpu > MOST_CPU_NANOS; i++) {
                long cpuBefore = os.getProcessCpuTime();
                long until = System.nanoTime() + WATCHED_NANOS;
                while (until - System.nanoTime() > 0) {
                    LockSupport.parkNanos(10_000_000); // no sleep: on some JDKs that allocates
                }
                cpu = Math.min(cpu, os.getProcessCpuTime() - cpuBefore);
            }
            int ranShort = ran - ranBefore;
            int ticksShort = ticks - ticksBefore;
            long end = System.nanoTime() + 20_000_000_000L;
            while (ran < armed && end - System.nanoTime() > 0) {
                LockSupport.parkNanos(10_000_000); // no sleep: on some JDKs that allocates
            }
            int ticksAfter = ticks;
            while (ticks - ticksAfter < TICKS && end - System.nanoTime() > 0) {
                LockSupport.parkNanos(10_000_000);
            }
            boolean isTicking = ticks - ticksAfter >= TICKS;
            ticker.stop();
            s.after(0, TimeUnit.MILLISECONDS, count); // there is memory again
            Thread.sleep(500);
            System.out.println(armed + " " + ran + " " + ranShort + " " + isTicking + " " + cpu / 1_000_000 + " " + exhausted
                    + " " + rejected + " " + ticksShort);
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseG1GC"})
    void arm_untilMemoryIsShort_whatIsFiledRunsAndNothingIsLost(String collector) throws Exception {
        ContractCase.inTimeAtLeastOnce(() -> {
            String all = LifeFixtures.runInChild(ArmUntilMemoryIsShort.class, List.of("-Xmx32m", collector));
            String[] lines = all.split("\n");
            String[] out = lines[lines.length - 1].split(" ");
            figure("%s: armed %s, ran %s, %s of these while memory was short, ticks on %s, processor time %s ms,"
                    + " OutOfMemoryErrors %s, rejected %s, ticks while memory was short %s",
                    (Object[]) new String[] {collector, out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]});
            assertEquals(Long.parseLong(out[0]) + 1, Long.parseLong(out[1]), "lost timers: " + all);
            assertTrue(Long.parseLong(out[2]) > 0, "nothing has run while memory was short");
            assertEquals("true", out[3], "the ticker is lost");
            return Long.parseLong(out[4]) <= MOST_CPU_NANOS / 1_000_000;
        });
    }
}
