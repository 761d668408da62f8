package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.loads.ServerCalls;
import io.pendula.benchmarks.loads.Shots;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * How late timers fire, and how much processor time a firing costs, from 100 to 500,000 timers a second: who sleeps
 * less often is late and cheap. The timers are armed ahead, for random instants. Beside them nothing runs, or threads
 * that keep every processor busy, or a server's calls; with these the rate is that of the demonstration.
 */
final class FrontierCase implements Case {
    private static final String RATES = "100,500,1000,3000,5000,10000,20000,50000,100000,200000,500000";
    private static final String RATE_BESIDE_CALLS = "500";
    private static final int WARM_RATE = 20_000;
    private static final int WARM_SHOTS = 50_000;
    private static final int FAST_WARM_RATE = 200_000;
    private static final int FAST_WARM_SHOTS = 100_000;

    @Override
    public String name() {
        return "frontier";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("busy=false,true,calls");
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all("PENDULA", "STPE:threads=1", "STPE:threads=2", "NETTY_EXECUTOR:threads=1",
                "FJP", "NETTY_EPOLL:threads=1", "HWT");
    }

    @Override
    public List<String> ratios() {
        return List.of("cpu_us", "p50_us", "p99_us");
    }

    @Override
    public void run(Child child) throws Exception {
        Switches switches = Switches.beforeOpening();
        Rival rival = child.subject().open(SchedulerType.AS_BUILT);
        shots(rival, WARM_RATE, WARM_SHOTS, new Cpu(Set.of())); // all rates with the same code, compiled
        shots(rival, FAST_WARM_RATE, FAST_WARM_SHOTS, new Cpu(Set.of()));
        if (child.text("busy").equals("calls")) {
            Set<Thread> callers = ServerCalls.begin(rival);
            shots(rival, WARM_RATE, WARM_SHOTS, new Cpu(Set.of())); // while the calls are compiled
            switches.leaveOut(callers);
            measure(child, rival, RATE_BESIDE_CALLS, Set.of(), switches); // who pays for a call differs by subject
            return;
        }
        Set<Thread> burners = new HashSet<>();
        if (child.is("busy")) {
            Set<Thread> before = Child.threads();
            Child.spin();
            burners.addAll(Child.threads());
            burners.removeAll(before);
        }
        switches.leaveOut(burners);
        measure(child, rival, RATES, burners, switches);
    }

    private static void measure(Child child, Rival rival, String rates, Set<Thread> burners, Switches switches)
            throws InterruptedException {
        for (String rate : child.text("rates", rates).split(",")) {
            measure(child, rival, Integer.parseInt(rate), burners, switches);
        }
    }

    private static void measure(Child child, Rival rival, int rate, Set<Thread> burners, Switches switches)
            throws InterruptedException {
        long span = Math.max(MILLISECONDS.toNanos(child.number("spanMs", 1_000)),
                SECONDS.toNanos(child.number("firings", 2_000)) / rate);
        span = Math.min(span, MILLISECONDS.toNanos(child.number("mostMs", 20_000)));
        int count = (int) (span * rate / SECONDS.toNanos(1));
        System.gc(); // of what the rate before has left behind
        Cpu cpu = new Cpu(burners);
        switches.begin();
        Shots shots = shots(rival, rate, count, cpu);
        double process = ProcessorTime.ofProcess() - cpu.processBefore;
        long used = ProcessorTime.ofThreadsBut(burners);
        double all = used - cpu.before;
        double fired = used - cpu.armed;

        Histogram lateness = new Histogram(3);
        shots.addTo(lateness);
        child.part("rate=" + rate);
        switches.figure(child, count);
        child.figures("", lateness);
        child.figure("cpu_us", all / 1e3 / count);
        child.figure("fire_us", fired / 1e3 / count);
        if (burners.isEmpty()) {
            child.figure("process_us", process / 1e3 / count);
        }
        child.figure("early", shots.early());
        child.figure("firings", count);
    }

    /** Arms timers for random instants and waits until all have fired. */
    private static Shots shots(Rival rival, int rate, int count, Cpu cpu) throws InterruptedException {
        long span = count * SECONDS.toNanos(1) / rate;
        for (long lead = Shots.lead(count); ; lead *= 2) {
            Shots shots = new Shots(count, 0);
            SplittableRandom random = new SplittableRandom(rate);
            cpu.begin();
            long from = System.nanoTime() + lead;
            shots.arm(rival, from, i -> random.nextLong(span));
            boolean inTime = System.nanoTime() - from < 0;
            cpu.armed();
            shots.await();
            if (inTime) {
                return shots;
            }
        }
    }

    /** What the threads have used, before and after arming. */
    private static final class Cpu {
        private final Set<Thread> excluded;
        private long processBefore;
        private long before;
        private long armed;

        Cpu(Set<Thread> excluded) {
            this.excluded = excluded;
        }

        void begin() {
            processBefore = ProcessorTime.ofProcess();
            before = ProcessorTime.ofThreadsBut(excluded);
        }

        void armed() {
            armed = ProcessorTime.ofThreadsBut(excluded);
        }
    }
}
