package io.pendula;

import static io.pendula.LifeFixtures.figure;
import static org.junit.jupiter.api.Assertions.assertEquals;

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

/** Timers are armed until there is no memory left: what is due runs all the same, at little cost, and none is lost. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class MemoryShortageTest {
    private static final long WATCHED_NANOS = 2_000_000_000;
    /** In that time; the ticker ticks 200 times. */
    private static final int FEWEST_TICKS = 180;
    /** In that time. */
    private static final long MOST_CPU_NANOS = 500_000_000;

    static final class ArmUntilMemoryIsShort {
        private static final int ENOUGH = 3;
        private static final int WINDOWS = 5;
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
            int kept = 0;
            long cpu = Long.MAX_VALUE;
            // The best one counts: whatever else the machine does makes it worse.
            for (int i = 0; i < WINDOWS && (kept < FEWEST_TICKS || cpu > MOST_CPU_NANOS); i++) {
                long cpuBefore = os.getProcessCpuTime();
                int ticksBefore = ticks;
                long until = System.nanoTime() + WATCHED_NANOS;
                while (until - System.nanoTime() > 0) {
                    LockSupport.parkNanos(10_000_000); // no sleep: on some JDKs that allocates
                }
                kept = Math.max(kept, ticks - ticksBefore);
                cpu = Math.min(cpu, os.getProcessCpuTime() - cpuBefore);
            }
            int early = ran;
            long end = System.nanoTime() + 20_000_000_000L;
            while (ran < armed && end - System.nanoTime() > 0) {
                LockSupport.parkNanos(10_000_000); // no sleep: on some JDKs that allocates
            }
            ticker.stop();
            s.after(0, TimeUnit.MILLISECONDS, count); // there is memory again
            Thread.sleep(500);
            System.out.println(armed + " " + ran + " " + kept + " " + cpu / 1_000_000 + " " + exhausted + " " + rejected
                    + " " + early);
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseG1GC"})
    void arm_untilMemoryIsShort_whatIsDueRunsAndNothingIsLost(String collector) throws Exception {
        ContractCase.inTimeAtLeastOnce(() -> {
            String all = LifeFixtures.runInChild(ArmUntilMemoryIsShort.class, List.of("-Xmx32m", collector));
            String[] lines = all.split("\n");
            String[] out = lines[lines.length - 1].split(" ");
            figure("%s: armed %s, ran %s, ticks in 2 s %s, processor time %s ms, OutOfMemoryErrors %s, rejected %s,"
                    + " early %s",
                    (Object[]) new String[] {collector, out[0], out[1], out[2], out[3], out[4], out[5], out[6]});
            assertEquals(Long.parseLong(out[0]) + 1, Long.parseLong(out[1]), "lost timers: " + all);
            return Long.parseLong(out[2]) >= FEWEST_TICKS && Long.parseLong(out[3]) <= MOST_CPU_NANOS / 1_000_000;
        });
    }
}
