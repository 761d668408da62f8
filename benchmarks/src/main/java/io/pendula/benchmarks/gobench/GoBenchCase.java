package io.pendula.benchmarks.gobench;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.GoProgram;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.harness.Switches;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The benchmarks of Go's own timers, in our words, at one processor and at two: those by whose figures the changes of
 * these timers were argued for. Each processor has a thread that does 1,000 operations at a time, beside 32,768 timers
 * that are far away. An operation is a timer (of "ticker" a tick, of "adjust10000" one of 10,000 timers); its time is
 * that of the clock through the operations of all threads, as Go reports it.
 *
 * <p>What takes a goroutine in Go is a task of a pool here. Callbacks of AfterFunc are such goroutines: up to Go 1.13
 * the timer thread hands them over, since 1.14 the worker that sleeps for the timer runs them itself.
 *
 * <p>Two operations tell how late a firing is: "parallel", of a timer that a busy thread has armed, and "staggered", of
 * ticks that come in turn, each followed by work.
 */
public final class GoBenchCase implements Case {
    /** So many timers that are far away each thread arms before it begins. */
    private static final int FAR_TIMERS = 1 << 15;
    private static final int WARM_WINDOWS = 4;
    private static final int WINDOWS = 5;
    private static final int WINDOW_MILLIS = 250;
    /** Operations whose callbacks are goroutines in Go. */
    private static final Set<String> AFTER_FUNC = Set.of("afterfunc", "simultaneous", "parallel");
    /** Designs whose timer thread hands such callbacks over. */
    private static final Set<String> HANDS_OVER = Set.of("GO_1_9", "GO_1_10");

    @Override
    public String name() {
        return "gobench";
    }

    @Override
    public List<Map<String, String>> cells() {
        List<Map<String, String>> cells = new ArrayList<>();
        cells.addAll(Case.product("op=" + String.join(",", GoOp.NAMES), "procs=1,2"));
        cells.addAll(Case.product("op=context", "contexts=40,4000,400000", "procs=1,2"));
        cells.addAll(Case.product("op=parallel", "procs=2")); // one processor arms, the others are to fire
        cells.addAll(Case.product("op=staggered", "workUs=300", "tickers=1,5", "procs=1,2"));
        cells.addAll(Case.product("op=staggered", "workUs=2000", "tickers=1", "procs=1,2"));
        return cells;
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all("PENDULA", "GO_1_9", "GO_1_10", "GO_1_14", GoProgram.SUBJECT);
    }

    @Override
    public List<String> ratios() {
        return List.of("wall_ns", "cpu_ns", "late_us");
    }

    @Override
    public String remarks(Results results) {
        return GoClaims.table(results);
    }

    @Override
    public void run(Child child) throws Exception {
        int procs = child.number("procs");
        if (Runtime.getRuntime().availableProcessors() != procs) {
            throw new IllegalStateException("the JVM must have as many processors as the cell says, " + procs
                    + ", but has " + Runtime.getRuntime().availableProcessors());
        }
        GoLane[] lanes = new GoLane[procs];
        for (int i = 0; i < procs; i++) {
            lanes[i] = new GoLane(i);
        }
        Goroutines goroutines = new Goroutines(procs);
        Switches switches = Switches.beforeOpening(); // what is to be counted are the threads that follow
        switches.leaveOut(Set.of(lanes));
        Rival rival = opened(child.subject(), child.text("op")).open(SchedulerType.AS_BUILT);
        switch (child.text("op")) {
            case "parallel" -> new GoLatency(child, switches, rival, goroutines).parallel(procs - 1);
            case "staggered" -> new GoLatency(child, switches, rival, goroutines)
                    .staggered(procs * child.number("tickers"), child.number("workUs"));
            default -> {
                int far = child.has("contexts") ? child.number("contexts") / procs : FAR_TIMERS;
                for (GoLane lane : lanes) {
                    lane.begin(rival, far, GoOp.named(child.text("op"), rival, goroutines));
                }
                measure(child, switches, lanes);
            }
        }
    }

    /** The subject, or that whose callbacks are handed over as those of AfterFunc were up to Go 1.13. */
    static Subject opened(Subject subject, String op) {
        return AFTER_FUNC.contains(op) && HANDS_OVER.contains(subject.spec())
                ? Subject.of(subject.spec() + "_HANDED") : subject;
    }

    private static void measure(Child child, Switches switches, GoLane[] lanes) throws InterruptedException {
        int windows = child.number("windows", WINDOWS);
        double[] wall = new double[windows];
        double[] cpu = new double[windows];
        double[] switched = new double[windows];
        for (int i = -WARM_WINDOWS; i < windows; i++) {
            long millis = i < 0 ? child.number("warmMs", WINDOW_MILLIS) : child.number("windowMs", WINDOW_MILLIS);
            switches.begin();
            long cpu0 = ProcessorTime.ofProcess();
            long before = GoLane.done(lanes);
            long began = System.nanoTime();
            double done;
            do {
                Thread.sleep(millis);
                done = GoLane.done(lanes) - before;
            } while (done == 0); // some take longer than a window
            if (i >= 0) {
                wall[i] = (System.nanoTime() - began) / done;
                cpu[i] = (ProcessorTime.ofProcess() - cpu0) / (double) (GoLane.done(lanes) - before);
                switched[i] = switches.areKnown() ? switches.count() / done : 0;
            }
        }
        child.figure("wall_ns", Results.Spread.of(wall).median());
        child.figure("cpu_ns", Results.Spread.of(cpu).median());
        if (switches.areKnown()) {
            child.figure("switches", Results.Spread.of(switched).median());
        }
    }
}
