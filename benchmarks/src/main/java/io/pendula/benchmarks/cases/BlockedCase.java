package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.loads.Shots;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * One callback blocks its thread for 200 ms, or as many as there are threads do, while 10,000 others fall due evenly:
 * how late these are. They are armed by the thread that armed the blocking one, or in the callback that then blocks.
 */
final class BlockedCase implements Case {
    private static final int TIMERS = 10_000;
    private static final long BLOCK = MILLISECONDS.toNanos(200);
    /** From the begin of the blocking callback to the first of the others. */
    private static final long LEAD = MILLISECONDS.toNanos(20);
    private static final long SPAN = BLOCK - 2 * LEAD;
    private static final int WARM_ROUNDS = 3;
    private static final int ROUNDS = 10;
    private static final long PARK = MILLISECONDS.toNanos(2);

    @Override
    public String name() {
        return "blocked";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("blocked=one,all", "armed=outside,inside", "workers=2,4");
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all(SchedulerType.PENDULA, SchedulerType.PENDULA_POOL, SchedulerType.STPE, SchedulerType.FJP);
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "p99_us", "max_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        int workers = child.workers();
        Switches switches = Switches.beforeOpening();
        Rival rival = child.subject().open(workers);
        int blockers = child.text("blocked").equals("all") ? workers : 1;
        boolean inside = child.text("armed").equals("inside");
        double[] p50 = new double[ROUNDS];
        double[] p99 = new double[ROUNDS];
        double[] max = new double[ROUNDS];
        double[] parks = new double[ROUNDS];
        double cpu = 0;
        for (int i = -WARM_ROUNDS; i < ROUNDS; i++) {
            Round round = new Round(rival, blockers, inside);
            if (i == 0) {
                switches.begin();
            }
            BareParks bare = new BareParks();
            long cpu0 = ProcessorTime.ofThreadsBut(Set.of(bare, Thread.currentThread()));
            bare.start();
            round.run();
            bare.stop = true;
            bare.join();
            if (i >= 0) {
                Histogram lateness = new Histogram(3);
                round.shots.addTo(lateness);
                p50[i] = lateness.getValueAtPercentile(50) / 1e3;
                p99[i] = lateness.getValueAtPercentile(99) / 1e3;
                max[i] = lateness.getMaxValue() / 1e3;
                parks[i] = bare.worst / 1e3;
                cpu += ProcessorTime.ofThreadsBut(Set.of(bare, Thread.currentThread())) - cpu0;
            }
        }
        switches.figure(child, (double) TIMERS * ROUNDS);
        child.figure("p50_us", median(p50));
        child.figure("p99_us", median(p99));
        child.figure("max_us", median(max));
        child.figure("worst_us", Arrays.stream(max).max().orElseThrow());
        child.figure("park_max_us", median(parks));
        child.figure("park_worst_us", Arrays.stream(parks).max().orElseThrow());
        child.figure("cpu_us", cpu / 1e3 / TIMERS / ROUNDS);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static final class Round {
        final Shots shots = new Shots(TIMERS, 0);
        private final Rival rival;
        private final int blockers;
        private final boolean inside;
        private final CountDownLatch over;

        Round(Rival rival, int blockers, boolean inside) {
            this.rival = rival;
            this.blockers = blockers;
            this.inside = inside;
            this.over = new CountDownLatch(blockers);
        }

        void run() throws InterruptedException {
            long begin = System.nanoTime() + LEAD;
            for (int i = 0; i < blockers; i++) {
                boolean arms = inside && i == 0;
                rival.schedule(begin - System.nanoTime(), () -> block(arms));
            }
            if (!inside) {
                arm(begin);
            }
            over.await();
            shots.await();
        }

        private void arm(long begin) {
            shots.arm(rival, begin + LEAD, i -> i * SPAN / TIMERS);
        }

        private void block(boolean arms) {
            long begin = System.nanoTime();
            if (arms) {
                arm(begin);
            }
            for (long end = begin + BLOCK, now; (now = System.nanoTime()) < end; ) {
                LockSupport.parkNanos(end - now);
            }
            over.countDown();
        }
    }

    /** How late a thread wakes up that does nothing but sleep: what the machine adds to every figure. */
    private static final class BareParks extends Thread {
        volatile boolean stop;
        long worst;

        BareParks() {
            super("bare-parks");
            setDaemon(true);
        }

        @Override
        public void run() {
            for (long due = System.nanoTime() + PARK; !stop; due += PARK) {
                try {
                    NANOSECONDS.sleep(due - System.nanoTime());
                } catch (InterruptedException e) {
                    return;
                }
                worst = Math.max(worst, System.nanoTime() - due);
                due = Math.max(due, System.nanoTime() - PARK);
            }
        }
    }
}
