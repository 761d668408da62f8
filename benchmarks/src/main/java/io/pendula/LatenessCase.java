package io.pendula;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.HdrHistogram.Histogram;

/** How late timers run, and what that costs, when so many a second fire at random instants. */
final class LatenessCase implements Case {
    private static final int WARM_RATE = 20_000;
    private static final long WARM = MILLISECONDS.toNanos(2_500);
    private static final long MEASURED = MILLISECONDS.toNanos(3_000);
    /** The time to arm them all, before the first is due. */
    private static final long LEAD = MILLISECONDS.toNanos(100);

    @Override
    public String name() {
        return "lateness";
    }

    @Override
    public List<Map<String, String>> cells(boolean busy) {
        return Case.product("rate=100,1000,10000", busy ? "busy=false,true" : "busy=false");
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        measure(child, child.open(SchedulerType.AS_BUILT));
    }

    static void measure(Child child, Rival rival) throws InterruptedException {
        shots(rival, WARM_RATE, WARM); // all rates with the same code, compiled
        Set<Thread> excluded = new HashSet<>();
        if (child.is("busy")) {
            Set<Thread> before = Child.threads();
            Child.spin();
            excluded.addAll(Child.threads());
            excluded.removeAll(before);
        }
        excluded.add(Thread.currentThread());
        long cpu0 = Child.cpuOfOthers(excluded);
        Shot[] shots = shots(rival, child.number("rate"), MEASURED);
        double cpu = Child.cpuOfOthers(excluded) - cpu0;

        Histogram lateness = new Histogram(3);
        int early = 0;
        for (Shot s : shots) {
            early += s.lateness < 0 ? 1 : 0;
            lateness.recordValue(Math.max(0, s.lateness));
        }
        child.figure("p50_us", lateness.getValueAtPercentile(50) / 1e3);
        child.figure("p90_us", lateness.getValueAtPercentile(90) / 1e3);
        child.figure("p99_us", lateness.getValueAtPercentile(99) / 1e3);
        child.figure("max_us", lateness.getMaxValue() / 1e3);
        child.figure("cpu_us", cpu / 1e3 / shots.length);
        child.figure("early", early);
    }

    /** Arms timers for random instants of a span of time, and waits until all have fired. */
    private static Shot[] shots(Rival rival, int rate, long nanos) throws InterruptedException {
        Shot[] shots = new Shot[(int) (rate * nanos / SECONDS.toNanos(1))];
        CountDownLatch left = new CountDownLatch(shots.length);
        long from = System.nanoTime() + LEAD;
        SplittableRandom random = new SplittableRandom(rate);
        for (int i = 0; i < shots.length; i++) {
            shots[i] = new Shot(left);
            long instant = from + random.nextLong(nanos);
            long now = System.nanoTime();
            shots[i].deadline = Math.max(now, instant);
            rival.schedule(shots[i].deadline - now, shots[i]);
        }
        left.await();
        return shots;
    }

    private static final class Shot implements Rival.Task {
        private final CountDownLatch left;
        long deadline;
        long lateness;

        Shot(CountDownLatch left) {
            this.left = left;
        }

        @Override
        public void run() {
            lateness = System.nanoTime() - deadline;
            left.countDown();
        }
    }
}
