package io.pendula.examples;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Sets timers at the pace of a busy server, and shows what became of them and at which cost, beside the JDK's pool. */
@Command(name = "demo", sortOptions = false, description = {
    "Sets timers at a steady pace, of which most are stopped or reset; checks that each fired as often as it should"
    + " and never early; and shows how late, at which cost. Then the same with ScheduledThreadPoolExecutor. With"
    + " --overload, sets a million timers at once: more than the machine can run in time."},
    footer = {"", "mvn -q test-compile exec:java -Dexec.args=\"--rate 50000\""})
public final class Demo implements Callable<Integer> {
    /** Faster than what follows, so that the code is compiled soon; the same for both. */
    private static final int PACED_WARM_UP_RATE = 200_000;
    private static final double PACED_WARM_UP_SHARE = 0.5;
    private static final int PACED_SECONDS = 3;
    private static final int OVERLOAD_SECONDS = 5;
    private static final int OVERLOAD_TIMERS = 1_000_000;
    /** The load's threads: enough to compete for a lock. */
    private static final int PACED_THREADS = 2;
    private static final int WARM_UP_TIMERS = 30_000;
    private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    /** Fewer would drown in what else is on the heap. */
    private static final int WEIGHED_TIMERS = 100_000;
    /** The demo alone loads each processor by less than this. */
    private static final double BUSY = 1.5;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    @Option(names = "--rate", paramLabel = "R", defaultValue = "20000",
            description = "how many timers are set in a second (default: ${DEFAULT-VALUE})")
    private int rate;

    @Option(names = "--seconds", paramLabel = "S",
            description = "for how many seconds (default: 3; with --overload all are due within 5)")
    private Integer seconds;

    @Option(names = "--overload", description = "set all timers at once: a third is stopped, a third postponed")
    private boolean overload;

    @Option(names = "--timers", paramLabel = "N",
            description = "how many timers in an overload, which this implies (default: 1000000)")
    private Integer timersGiven;

    @Option(names = "--workers", paramLabel = "W",
            description = "how many workers (default: the library's)")
    private Integer workers;

    @Option(names = "--help", usageHelp = true, description = "show this and exit")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private final PrintStream out;
    private final PrintStream err;
    private final Style style;
    private final List<String> complaints = new ArrayList<>();
    private int timers;
    private int threads;

    private Demo(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
        this.style = Style.of(out);
    }

    /**
     * Runs the demo. Ends the JVM only if something was wrong, so that Maven ends by itself.
     *
     * @param args see {@code --help}
     */
    public static void main(String[] args) {
        CommandLines.exitUnlessFine(run(System.out, System.err, args));
    }

    /** Returns the exit status: 0, or 1 if a check failed, or 2 for bad options. */
    static int run(PrintStream out, PrintStream err, String... args) {
        return CommandLines.run(new Demo(out, err), out, err, args);
    }

    @Override
    public Integer call() throws InterruptedException {
        overload |= timersGiven != null;
        timers = timersGiven == null ? OVERLOAD_TIMERS : timersGiven;
        if (seconds == null) {
            seconds = overload ? OVERLOAD_SECONDS : PACED_SECONDS;
        }
        CommandLines.atLeast(spec, "--timers", timers, 1);
        CommandLines.atLeast(spec, "--rate", rate, 1);
        CommandLines.atLeast(spec, "--seconds", seconds, 1);
        if (workers != null) {
            CommandLines.atLeast(spec, "--workers", workers, 1);
        }
        try {
            Contender.Pendula probe = new Contender.Pendula(workers == null ? 0 : workers);
            threads = probe.workers();
            probe.close();
            if (overload) {
                compareOverload();
            } else {
                comparePaced();
            }
            return conclude();
        } catch (OutOfMemoryError e) {
            err.println("demo: not enough memory (" + e.getMessage() + "); give fewer --timers or --workers, or more"
                    + " heap, as by MAVEN_OPTS=-Xmx2g");
            return 1;
        }
    }

    private void comparePaced() throws InterruptedException {
        out.println(style.strong(String.format(Locale.ROOT, "%,d timers a second, for %d s", rate, seconds)));
        out.println(String.format(Locale.ROOT, """
                Half are timeouts of requests, 100 to 300 ms; the answer stops them after 20 ms,
                but for one in %d. Half are idle timeouts of %,d connections: each message
                resets one of them.""", Traffic.UNANSWERED, Traffic.CONNECTIONS));
        describeMachine(PACED_THREADS);
        warmUpPaced("Pendula", Contender.Pendula::new);
        warmUpPaced("JDK pool", Contender.JdkPool::new);
        TrafficReport.Column ours = pace("Pendula", Contender.Pendula::new);
        TrafficReport.Column theirs = pace("JDK pool", Contender.JdkPool::new);
        new TrafficReport(out, style, ours, theirs).print();
        out.println();
    }

    private void warmUpPaced(String name, IntFunction<Contender> maker) throws InterruptedException {
        pace(name + ", warming up", maker, PACED_WARM_UP_RATE,
                (long) (TimeUnit.SECONDS.toNanos(seconds) * PACED_WARM_UP_SHARE), Storm.Watcher.NONE);
    }

    private TrafficReport.Column pace(String name, IntFunction<Contender> maker) throws InterruptedException {
        double bytes = weigh(maker, WEIGHED_TIMERS);
        Progress progress = new Progress(out, style, System::nanoTime, name, (long) rate * seconds / 2);
        Traffic.Outcome outcome = pace(name, maker, rate, TimeUnit.SECONDS.toNanos(seconds), progress);
        progress.end(outcome.counts().fired());
        return new TrafficReport.Column(outcome, bytes);
    }

    private Traffic.Outcome pace(String name, IntFunction<Contender> maker, int pace, long span,
            Storm.Watcher watcher) throws InterruptedException {
        try (Contender contender = maker.apply(threads)) {
            Traffic traffic = new Traffic(contender, pace, PACED_THREADS, span);
            System.gc(); // each begins with a tidy heap
            Traffic.Outcome outcome = traffic.run(watcher);
            note(name, outcome.complaints());
            return outcome;
        }
    }

    private void compareOverload() throws InterruptedException {
        out.println(style.strong(String.format(Locale.ROOT, "%,d timers, due within %d s; a third is stopped, a third"
                + " postponed", timers, seconds)));
        describeMachine(threads);
        warmUp("Pendula", Contender.Pendula::new);
        warmUp("JDK pool", Contender.JdkPool::new);
        Report.Column ours = measure("Pendula", Contender.Pendula::new);
        Report.Column theirs = measure("JDK pool", Contender.JdkPool::new);
        new Report(out, style, ours, theirs, timers).print();
        out.println();
        out.println("A ratio above 1 is in Pendula's favour.");
    }

    private void describeMachine(int loading) {
        out.println("Java " + System.getProperty("java.version") + ", "
                + Runtime.getRuntime().availableProcessors() + " processors; threads that set timers: " + loading
                + ", that fire: " + threads);
        out.println();
    }

    private int conclude() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        if (load > BUSY * Runtime.getRuntime().availableProcessors()) {
            out.println(String.format(Locale.ROOT, "The machine is busy (load average %.1f), which makes all timers"
                    + " late.", load));
        }
        if (complaints.isEmpty()) {
            out.println("Checked for each timer: set = fired + stopped + reset; none was early.");
            return 0;
        }
        out.flush();
        complaints.forEach(c -> err.println("demo: " + c));
        return 1;
    }

    private void warmUp(String name, IntFunction<Contender> maker) throws InterruptedException {
        try (Contender contender = maker.apply(threads)) {
            Storm storm = new Storm(contender, Math.min(timers, WARM_UP_TIMERS), threads, WARM_UP_NANOS);
            note(name + ", warming up", storm.run(Storm.Watcher.NONE, PATIENCE).complaints());
        }
    }

    private Report.Column measure(String name, IntFunction<Contender> maker) throws InterruptedException {
        if (style.inPlace()) {
            out.print("\r" + name + ": weighing " + String.format(Locale.ROOT, "%,d timers", timers));
            out.flush();
        }
        double bytes = weigh(maker, Math.max(timers, WEIGHED_TIMERS));
        try (Contender contender = maker.apply(threads)) {
            Storm storm = new Storm(contender, timers, threads, TimeUnit.SECONDS.toNanos(seconds));
            System.gc(); // each begins with a tidy heap
            Progress progress = new Progress(out, style, System::nanoTime, name, timers);
            Storm.Outcome outcome = storm.run(progress, PATIENCE);
            progress.end(outcome.counts().fired());
            note(name, outcome.complaints());
            return new Report.Column(outcome, bytes);
        }
    }

    /** By how many bytes the heap grows for each timer that is armed, its callback not included. */
    private double weigh(IntFunction<Contender> maker, int weighed) throws InterruptedException {
        try (Contender contender = maker.apply(threads)) {
            Storm storm = new Storm(contender, weighed, threads, TimeUnit.DAYS.toNanos(1));
            long before = usedHeap();
            storm.arm(Storm.Watcher.NONE);
            long after = usedHeap();
            Reference.reachabilityFence(storm);
            return (double) (after - before) / weighed;
        }
    }

    private static long usedHeap() {
        System.gc();
        Runtime rt = Runtime.getRuntime();
        return rt.totalMemory() - rt.freeMemory();
    }

    private void note(String name, List<String> found) {
        found.forEach(c -> complaints.add(name + ": " + c));
    }
}
