package io.pendula.demonstrations;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Sets timers at the pace of a busy server, and shows what became of them and at which cost, beside two other timers. */
@Command(name = "demo", sortOptions = false, description = {
    "Sets timers at a steady pace, while many others are pending. Nearly all are reset or stopped. Checks that each fired"
    + " as often as it should and never early, and shows how late, at which cost. Does the same with"
    + " ScheduledThreadPoolExecutor and Netty's HashedWheelTimer, in turn, some rounds of each."},
    footer = {"", "java -jar demonstrations/target/demonstrations.jar --rate 20000"})
public final class Demo implements Callable<Integer> {
    /** The load's threads: enough to compete for a lock. */
    private static final int THREADS = 2;
    /** In the order of the columns; each is made for so many threads. */
    private static final Map<String, IntFunction<Contender>> CONTENDERS = new LinkedHashMap<>();

    static {
        CONTENDERS.put("Pendula", Contender.Pendula::new);
        CONTENDERS.put("JDK pool", Contender.JdkPool::new);
        CONTENDERS.put("Netty wheel", threads -> new Contender.NettyWheel());
    }

    /** The demo alone loads each processor by less than this. */
    private static final double BUSY = 1.5;

    @Option(names = "--rate", paramLabel = "R", defaultValue = "100000",
            description = "how many timers are set in a second, resets included (default: ${DEFAULT-VALUE})")
    private int rate;

    @Option(names = "--timers", paramLabel = "N", defaultValue = "100000",
            description = "how many others wait all the time (default: ${DEFAULT-VALUE})")
    private int timers;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
            description = "how many rounds of each (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "2",
            description = "how long a round is (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Option(names = "--workers", paramLabel = "W",
            description = "how many workers (default: the library's)")
    private Integer workers;

    @Option(names = "--help", usageHelp = true, description = "show this and exit")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private final PrintStream out;
    private final PrintStream err;
    private final List<String> complaints = new ArrayList<>();
    private int threads;

    private Demo(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /**
     * Runs the demo.
     *
     * @param args see {@code --help}
     */
    public static void main(String[] args) {
        System.exit(run(System.out, System.err, args));
    }

    /** Returns the exit status: 0, or 1 if a check failed, or 2 for bad options. */
    static int run(PrintStream out, PrintStream err, String... args) {
        return CommandLines.run(new Demo(out, err), out, err, args);
    }

    @Override
    public Integer call() throws InterruptedException {
        CommandLines.atLeast(spec, "--rate", rate, 1);
        CommandLines.atLeast(spec, "--timers", timers, 1);
        CommandLines.atLeast(spec, "--rounds", rounds, 1);
        CommandLines.atLeast(spec, "--seconds", seconds, 1);
        if (workers != null) {
            CommandLines.atLeast(spec, "--workers", workers, 1);
        }
        try {
            Contender.Pendula probe = new Contender.Pendula(workers == null ? 0 : workers);
            threads = probe.workers();
            probe.close();
            compare();
            return conclude();
        } catch (OutOfMemoryError e) {
            err.println("demo: not enough memory (" + e.getMessage() + "); give fewer --timers or --workers, or more"
                    + " heap, as by -Xmx2g");
            return 1;
        }
    }

    private void compare() throws InterruptedException {
        out.println(CommandLines.strong(out, String.format(Locale.ROOT,
                "%,d timers set in a second, %,d others pending", rate, timers)));
        out.println(String.format(Locale.ROOT, """
                Nine of ten are idle timeouts of %,d connections: each message resets one.
                The tenth is a request's timeout, 100 to 300 ms. The answer stops it after
                20 ms, but for one in %d, which fires.""", Traffic.CONNECTIONS, Traffic.UNANSWERED));
        out.println("Java " + System.getProperty("java.version") + ", "
                + Runtime.getRuntime().availableProcessors() + " processors; threads that set timers: " + THREADS);
        for (String name : CONTENDERS.keySet()) {
            try (Contender contender = CONTENDERS.get(name).apply(threads)) {
                out.println(name + ": " + contender.setup());
            }
        }
        out.println();
        // All, before one is measured: so that the compiler has seen all.
        for (String name : CONTENDERS.keySet()) {
            round("warming up", name, 1);
        }
        Map<String, List<Traffic.Outcome>> outcomes = new LinkedHashMap<>();
        for (int i = 1; i <= rounds; i++) {
            for (String name : CONTENDERS.keySet()) {
                outcomes.computeIfAbsent(name, n -> new ArrayList<>()).add(round("round " + i, name, seconds));
            }
        }
        new TrafficReport(out, outcomes).print();
        out.println();
    }

    private Traffic.Outcome round(String when, String who, int length) throws InterruptedException {
        String name = when + ", " + who;
        try (Contender contender = CONTENDERS.get(who).apply(threads)) {
            boolean inPlace = CommandLines.ansi(out).enabled();
            Traffic.Outcome outcome = new Traffic(contender, timers, rate, THREADS, TimeUnit.SECONDS.toNanos(length))
                    .run(share -> out.print(inPlace ? String.format("\r%-26s%9.0f %%", name, 100 * share) : ""));
            out.println(String.format(Locale.ROOT, "%s%-26s%,11d fired", inPlace ? "\r" : "", name,
                    outcome.counts().fired()));
            outcome.complaints().forEach(c -> complaints.add(name + ": " + c));
            return outcome;
        }
    }

    private int conclude() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        if (load > BUSY * Runtime.getRuntime().availableProcessors()) {
            out.println(String.format(Locale.ROOT, "The machine is busy (load average %.1f), which makes all timers"
                    + " late.", load));
        }
        if (complaints.isEmpty()) {
            out.println("Checked for each timer: set = fired + stopped + reset; none was early.");
            out.println();
            out.println("Your first timer: docs/guide.md. Other loads: --help. More timers, more cases,");
            out.println("and where Pendula is behind: benchmarks/README.md.");
            return 0;
        }
        out.flush();
        complaints.forEach(c -> err.println("demo: " + c));
        return 1;
    }
}
