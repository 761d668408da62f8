package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * A pool all of whose threads but one are blocked, always or half of the time, while short tasks go on. Those from
 * outside come each millisecond, one scheduled ("outer") and one executed ("exec"). Those from inside fall due on a
 * thread that is blocked ("inner"): a task, before it blocks, schedules one for each of the milliseconds to come.
 */
final class MixCase implements PoolCase {
    private static final long SPACING = MILLISECONDS.toNanos(1);
    private static final long SHORTEST_BLOCK = MILLISECONDS.toNanos(5);
    private static final long LONGEST_BLOCK = MILLISECONDS.toNanos(50);
    /** Pendula's bound, where nothing else disturbs the machine, for what falls due on a blocked thread. */
    private static final long PROMISED = MILLISECONDS.toNanos(2);
    private static final long WARM = MILLISECONDS.toNanos(1_500);
    private static final long MEASURED = MILLISECONDS.toNanos(3_000);

    @Override
    public String name() {
        return "mix";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("blocked=half,always", "workers=2,4");
    }

    @Override
    public List<String> ratios() {
        return List.of("inner_p50_us", "outer_p50_us", "exec_p50_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        ScheduledExecutorService pool = child.openPool();
        boolean always = child.text("blocked").equals("always");
        int blockers = child.workers() - 1;
        new Round(pool, blockers, always).run(WARM);
        Set<Thread> feeder = Set.of(Thread.currentThread());
        long cpu0 = ProcessorTime.ofThreadsBut(feeder);
        Round round = new Round(pool, blockers, always);
        round.run(MEASURED);
        double cpu = ProcessorTime.ofThreadsBut(feeder) - cpu0;

        List<Shot> inner = new ArrayList<>();
        round.blockers.forEach(b -> inner.addAll(b.inner));
        int tasks = inner.size() + round.outer.size() + round.exec.size();
        child.figures("inner_", lateness(inner));
        child.figure("inner_in_2ms_percent", 100.0 * inner.stream().filter(s -> s.lateness <= PROMISED).count()
                / inner.size());
        child.figures("outer_", lateness(round.outer));
        child.figures("exec_", lateness(round.exec));
        child.figures("sleep_", round.sleeps);
        child.figure("timers", inner.size() + round.outer.size());
        child.figure("cpu_us", cpu / 1e3 / tasks);
    }

    private static Histogram lateness(List<Shot> shots) {
        Histogram lateness = new Histogram(3);
        shots.forEach(s -> lateness.recordValue(Math.max(0, s.lateness)));
        return lateness;
    }

    /** All this for some time, and until the last task has run. */
    private static final class Round {
        private final ScheduledExecutorService pool;
        private final boolean always;
        private final AtomicInteger open = new AtomicInteger(1);
        private final CountDownLatch over = new CountDownLatch(1);
        final List<Blocker> blockers = new ArrayList<>();
        final List<Shot> outer = new ArrayList<>();
        final List<Shot> exec = new ArrayList<>();
        /** How late the outside thread itself wakes up: what the machine adds. */
        final Histogram sleeps = new Histogram(3);
        private long end;

        Round(ScheduledExecutorService pool, int blockers, boolean always) {
            this.pool = pool;
            this.always = always;
            for (int i = 0; i < blockers; i++) {
                this.blockers.add(new Blocker(this, i));
            }
        }

        void run(long nanos) throws InterruptedException, TimeoutException {
            SplittableRandom random = new SplittableRandom(-1);
            long next = System.nanoTime();
            end = next + nanos;
            open.addAndGet(blockers.size());
            blockers.forEach(pool::execute);
            for (; next < end; next += SPACING) {
                NANOSECONDS.sleep(next - System.nanoTime());
                sleeps.recordValue(Math.max(0, System.nanoTime() - next));
                schedule(SPACING + random.nextLong(SPACING), outer);
                Shot shot = new Shot(this, System.nanoTime());
                exec.add(shot);
                pool.execute(shot);
            }
            close();
            if (!over.await(30, SECONDS)) {
                throw new TimeoutException(open + " tasks have not run");
            }
        }

        void schedule(long delay, List<Shot> shots) {
            Shot shot = new Shot(this, System.nanoTime() + delay);
            shots.add(shot);
            pool.schedule(shot, delay, NANOSECONDS);
        }

        /** One of those that were open has run. */
        void close() {
            if (open.decrementAndGet() == 0) {
                over.countDown();
            }
        }
    }

    private static final class Shot implements Runnable {
        private final Round round;
        private final long deadline;
        long lateness;

        Shot(Round round, long deadline) {
            this.round = round;
            this.deadline = deadline;
            round.open.incrementAndGet();
        }

        @Override
        public void run() {
            lateness = System.nanoTime() - deadline;
            round.close();
        }
    }

    /** Blocks its thread, again and again. */
    private static final class Blocker implements Runnable {
        private final Round round;
        private final SplittableRandom random;
        final List<Shot> inner = new ArrayList<>();

        Blocker(Round round, int seed) {
            this.round = round;
            this.random = new SplittableRandom(seed);
        }

        @Override
        public void run() {
            long now = System.nanoTime();
            if (now >= round.end) {
                round.close();
                return;
            }
            long until = now + span();
            for (long due = now + SPACING; due < until; due += SPACING) {
                round.schedule(due - System.nanoTime(), inner);
            }
            do {
                LockSupport.parkNanos(until - System.nanoTime());
            } while (System.nanoTime() < until);
            if (round.always) {
                round.pool.execute(this);
            } else {
                round.pool.schedule(this, span(), NANOSECONDS);
            }
        }

        private long span() {
            return random.nextLong(SHORTEST_BLOCK, LONGEST_BLOCK);
        }
    }
}
