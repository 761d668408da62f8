package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.rivals.Rival;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** 200,000 timers due at one instant: how long after it the last one fires. */
final class BurstCase implements Case {
    private static final int TIMERS = 200_000;
    private static final int WARM_ROUNDS = 2;
    private static final int ROUNDS = 5;

    @Override
    public String name() {
        return "burst";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("workers=1,2");
    }

    @Override
    public List<String> ratios() {
        return List.of("last_ms", "cpu_ns");
    }

    @Override
    public void run(Child child) throws Exception {
        Switches switches = Switches.beforeOpening();
        Rival rival = child.subject().open(child.workers());
        double[] last = new double[ROUNDS];
        long cpu = 0;
        long lead = MILLISECONDS.toNanos(300);
        for (int round = -WARM_ROUNDS; round < ROUNDS; ) {
            Round r = new Round();
            if (round == 0) {
                switches.begin();
            }
            long instant = System.nanoTime() + lead;
            for (int i = 0; i < TIMERS; i++) {
                rival.schedule(instant - System.nanoTime(), r);
            }
            boolean inTime = System.nanoTime() < instant - MILLISECONDS.toNanos(20);
            long cpu0 = ProcessorTime.ofProcess();
            r.done.await();
            if (!inTime) {
                lead *= 2; // some were overdue when they were armed; once more
                continue;
            }
            if (round >= 0) {
                last[round] = (r.lastAt - instant) / 1e6;
                cpu += ProcessorTime.ofProcess() - cpu0;
            }
            round++;
        }
        switches.figure(child, (double) TIMERS * ROUNDS);
        Arrays.sort(last);
        child.figure("last_ms", last[ROUNDS / 2]);
        child.figure("last_best_ms", last[0]);
        child.figure("cpu_ns", cpu / (double) TIMERS / ROUNDS);
    }

    private static final class Round implements Rival.Task {
        final CountDownLatch done = new CountDownLatch(1);
        private final AtomicInteger left = new AtomicInteger(TIMERS);
        long lastAt;

        @Override
        public void run() {
            if (left.decrementAndGet() == 0) {
                lastAt = System.nanoTime();
                done.countDown();
            }
        }
    }
}
