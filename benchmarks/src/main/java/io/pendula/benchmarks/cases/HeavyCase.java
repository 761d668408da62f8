package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.loads.Shots;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Callbacks that take long, so many that two threads have to share them: one processor and a fifth of a second one, or
 * one. They are armed ahead by one thread, hence in one of Pendula's queues, or by two.
 */
final class HeavyCase implements Case {
    private static final long SPAN = MILLISECONDS.toNanos(2_000);
    /** A timer that waits for longer should have been run by a worker that is idle. */
    private static final long LATE = MICROSECONDS.toNanos(100);
    private static final long WARM_SPAN = MILLISECONDS.toNanos(1_000);

    @Override
    public String name() {
        return "heavy";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("load=60000x20us,2000x500us", "queues=1,2", "workers=2");
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all(SchedulerType.PENDULA, SchedulerType.PENDULA_POOL, SchedulerType.STPE, SchedulerType.FJP,
                SchedulerType.NETTY_EXECUTOR);
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "p99_us", "cpu_us");
    }

    @Override
    public void run(Child child) throws Exception {
        Switches switches = Switches.beforeOpening();
        Rival rival = child.subject().open(child.workers());
        String[] rateAndMicros = child.text("load").replace("us", "").split("x");
        int rate = Integer.parseInt(rateAndMicros[0]);
        long work = MICROSECONDS.toNanos(Integer.parseInt(rateAndMicros[1]));
        int queues = child.number("queues");
        fire(rival, rate, work, queues, WARM_SPAN);
        long cpu0 = ProcessorTime.ofThreadsBut(Set.of());
        switches.begin();
        Shots[] shots = fire(rival, rate, work, queues, SPAN);
        double cpu = ProcessorTime.ofThreadsBut(Set.of()) - cpu0;
        Histogram lateness = new Histogram(3);
        List<Shots.Run> runs = new ArrayList<>();
        long early = 0;
        for (Shots s : shots) {
            s.addTo(lateness);
            runs.addAll(s.runs());
            early += s.early();
        }
        switches.figure(child, lateness.getTotalCount());
        child.figures("", lateness);
        child.figure("cpu_us", cpu / 1e3 / lateness.getTotalCount());
        child.figure("idle_percent", 100.0 * Shots.oneRunsNanos(runs, LATE) / SPAN);
        child.figure("early", early);
        child.figure("firings", lateness.getTotalCount());
    }

    private static Shots[] fire(Rival rival, int rate, long work, int queues, long span) throws InterruptedException {
        int count = (int) (span * rate / SECONDS.toNanos(1)) / queues;
        for (long lead = Shots.lead(count * queues); ; lead *= 2) {
            long from = System.nanoTime() + lead;
            Shots[] shots = new Shots[queues];
            Thread[] threads = new Thread[queues];
            for (int i = 0; i < queues; i++) {
                Shots own = shots[i] = new Shots(count, work);
                SplittableRandom random = new SplittableRandom(i);
                threads[i] = new Thread(() -> own.arm(rival, from, shot -> random.nextLong(span)), "arms-" + i);
                threads[i].start();
            }
            for (Thread t : threads) {
                t.join();
            }
            boolean inTime = System.nanoTime() - from < 0;
            for (Shots s : shots) {
                s.await();
            }
            if (inTime) {
                return shots;
            }
        }
    }
}
