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

/** Arms a million timers, stops a third, postpones a third, and shows what became of them, beside the JDK's own. */
@Command(name = "demo", sortOptions = false, description = {
    "Arms many timers on real time, stops a third of them, postpones a third, checks that each fired as often as it"
    + " should and never early, and shows how late, at which cost; the same with ScheduledThreadPoolExecutor."},
    footer = {"", "mvn -q test-compile exec:java -Dexec.args=\"--timers 100000\""})
public final class Demo implements Callable<Integer> {
    private static final int WARM_UP_TIMERS = 30_000;
    private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    /** Fewer would drown in what else is on the heap. */
    private static final int WEIGHED_TIMERS = 100_000;
    /** The demo alone loads each processor by less than this. */
    private static final double BUSY = 1.5;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    @Option(names = "--timers", paramLabel = "N", defaultValue = "1000000",
            description = "how many timers (default: ${DEFAULT-VALUE})")
    private int timers;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "5",
            description = "all are due within so many seconds (default: ${DEFAULT-VALUE})")
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
    private final Style style;

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
        CommandLines.atLeast(spec, "--timers", timers, 1);
        CommandLines.atLeast(spec, "--seconds", seconds, 1);
        if (workers != null) {
            CommandLines.atLeast(spec, "--workers", workers, 1);
        }
        try {
            return compare();
        } catch (OutOfMemoryError e) {
            err.println("demo: not enough memory (" + e.getMessage() + "); give fewer --timers or --workers, or more"
                    + " heap, as by MAVEN_OPTS=-Xmx2g");
            return 1;
        }
    }

    private int compare() throws InterruptedException {
        Contender.Pendula probe = new Contender.Pendula(workers == null ? 0 : workers);
        int threads = probe.workers();
        probe.close();
        IntFunction<Contender> pendula = Contender.Pendula::new;
        IntFunction<Contender> jdk = Contender.JdkPool::new;

        out.println(style.strong(String.format(Locale.ROOT, "%,d timers, due within %d s; a third is stopped, a third"
                + " postponed", timers, seconds)));
        out.println("Java " + System.getProperty("java.version") + ", "
                + Runtime.getRuntime().availableProcessors() + " processors; threads that arm: " + threads
                + ", that fire: " + threads);
        out.println();
        List<String> complaints = new ArrayList<>();
        warmUp("Pendula", pendula, threads, complaints);
        warmUp("JDK pool", jdk, threads, complaints);
        Report.Column ours = measure("Pendula", pendula, threads, complaints);
        Report.Column theirs = measure("JDK pool", jdk, threads, complaints);
        new Report(out, style, ours, theirs, timers).print();
        out.println();
        out.println("A ratio above 1 is in Pendula's favour.");
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        if (load > BUSY * Runtime.getRuntime().availableProcessors()) {
            out.println(String.format(Locale.ROOT, "The machine was busy (load average %.1f): the lateness tells that"
                    + " as well.", load));
        }
        if (complaints.isEmpty()) {
            out.println("Checked for each timer: armed = fired + stopped + replaced; none was early.");
            return 0;
        }
        out.flush();
        complaints.forEach(c -> err.println("demo: " + c));
        return 1;
    }

    private void warmUp(String name, IntFunction<Contender> maker, int threads, List<String> complaints)
            throws InterruptedException {
        try (Contender contender = maker.apply(threads)) {
            Storm storm = new Storm(contender, Math.min(timers, WARM_UP_TIMERS), threads, WARM_UP_NANOS);
            note(name + ", warming up", storm.run(Storm.Watcher.NONE, PATIENCE), complaints);
        }
    }

    private Report.Column measure(String name, IntFunction<Contender> maker, int threads, List<String> complaints)
            throws InterruptedException {
        if (style.inPlace()) {
            out.print("\r" + name + ": weighing " + String.format(Locale.ROOT, "%,d timers", timers));
            out.flush();
        }
        double bytes = weigh(maker, threads);
        try (Contender contender = maker.apply(threads)) {
            Storm storm = new Storm(contender, timers, threads, TimeUnit.SECONDS.toNanos(seconds));
            System.gc(); // each begins with a tidy heap
            Progress progress = new Progress(out, style, System::nanoTime, name, timers);
            Storm.Outcome outcome = storm.run(progress, PATIENCE);
            progress.end(outcome.counts().fired());
            note(name, outcome, complaints);
            return new Report.Column(outcome, bytes);
        }
    }

    /** By how many bytes the heap grows for each timer that is armed, its callback not included. */
    private double weigh(IntFunction<Contender> maker, int threads) throws InterruptedException {
        int weighed = Math.max(timers, WEIGHED_TIMERS);
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

    private static void note(String name, Storm.Outcome outcome, List<String> complaints) {
        outcome.complaints().forEach(c -> complaints.add(name + ": " + c));
    }
}
