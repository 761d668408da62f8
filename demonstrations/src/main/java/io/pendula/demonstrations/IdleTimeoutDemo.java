package io.pendula.demonstrations;

import io.pendula.TimerHandle;
import io.pendula.TimerListener;
import io.pendula.TimerLoop;
import io.pendula.TimerScheduler;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

import com.sun.management.UnixOperatingSystemMXBean;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Puts an {@link IdleTimeoutServer} under load, checks that it keeps its timeouts, and shows what its timers cost:
 * {@code java -cp demonstrations/target/demonstrations.jar io.pendula.demonstrations.IdleTimeoutDemo}, with
 * {@code --connections 1000 --timeout 500} for other figures.
 */
@Command(name = "idle-timeout", sortOptions = false, description = {
    "Opens many connections to a server of one thread that closes idle ones; keeps some alive; checks that no"
    + " connection is closed early, late or for no reason, and shows what the timers cost the loop."},
    footer = {"", "java -cp demonstrations/target/demonstrations.jar io.pendula.demonstrations.IdleTimeoutDemo"
    + " --connections 1000"})
public final class IdleTimeoutDemo implements Callable<Integer> {
    /** By how much a closing may be late on a machine that makes no pauses of its own. */
    static final Duration TOLERANCE = Duration.ofMillis(50);
    /** File descriptors for all but connections. */
    private static final long OTHER_FILES = 256;
    private static final int BACKLOG = 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Option(names = "--connections", paramLabel = "N", defaultValue = "5000",
            description = "how many connections (default: ${DEFAULT-VALUE})")
    private int connections;

    @Option(names = "--alive", paramLabel = "N",
            description = "how many of them are kept alive (default: a fifth)")
    private Integer alive;

    @Option(names = "--rate", paramLabel = "N", defaultValue = "5000",
            description = "messages per second that do so, all together (default: ${DEFAULT-VALUE})")
    private int rate;

    @Option(names = "--timeout", paramLabel = "MS", defaultValue = "2000",
            description = "a connection silent for so long is closed (default: ${DEFAULT-VALUE})")
    private int timeout;

    @Option(names = "--deadline", paramLabel = "MS", defaultValue = "100",
            description = "for the answer to a request (default: ${DEFAULT-VALUE})")
    private int deadline;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "5",
            description = "how long messages are sent (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Option(names = "--help", usageHelp = true, description = "show this and exit")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private final PrintStream out;
    private final PrintStream err;

    private IdleTimeoutDemo(PrintStream out, PrintStream err) {
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
        return CommandLines.run(new IdleTimeoutDemo(out, err), out, err, args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandLines.atLeast(spec, "--connections", connections, 1);
        CommandLines.atLeast(spec, "--rate", rate, 1);
        CommandLines.atLeast(spec, "--timeout", timeout, 1);
        CommandLines.atLeast(spec, "--deadline", deadline, 1);
        CommandLines.atLeast(spec, "--seconds", seconds, 0);
        fitIntoLimits();
        int living = alive == null ? connections / 5 : Math.min(alive, connections);
        CommandLines.atLeast(spec, "--alive", living, 0);
        if (2_000L * living > (long) rate * timeout) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '--rate': each of " + living
                    + " connections would send less than two messages in " + timeout + " ms");
        }
        return load(living);
    }

    /** Both ends of each connection are in this process. */
    private void fitIntoLimits() {
        OperatingSystemMXBean os = ManagementFactory.getOperatingSystemMXBean();
        if (os instanceof UnixOperatingSystemMXBean unix) {
            long files = unix.getMaxFileDescriptorCount() - unix.getOpenFileDescriptorCount() - OTHER_FILES;
            if (files < 2L * connections) {
                say("Only %,d connections, not %,d: no more than %,d files may be open.",
                        Math.max(1, files / 2), connections, unix.getMaxFileDescriptorCount());
                connections = (int) Math.max(1, files / 2);
            }
        }
    }

    private int load(int living) throws IOException, InterruptedException {
        head("%,d connections, %,d of them with %,d messages a second for %d s", connections, living,
                living == 0 ? 0 : rate, seconds);
        say("closed after %,d ms of silence; an answer may take %,d ms", timeout, deadline);
        say("Java %s, %d processors", System.getProperty("java.version"), Runtime.getRuntime().availableProcessors());
        out.println();
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        CallbackMeter callbacks = new CallbackMeter();
        try (TimerScheduler timers = TimerScheduler.builder().name("idle-timeout").workers(0)
                .slowCallback(Duration.ZERO).listener(callbacks).build();
                ServerSocketChannel acceptor = ServerSocketChannel.open().bind(anyPort, BACKLOG);
                PauseMeter pauses = new PauseMeter()) {
            Duration idleTimeout = Duration.ofMillis(timeout);
            Duration requestLimit = Duration.ofMillis(deadline);
            MeteredServer server = new MeteredServer(timers, callbacks, acceptor, idleTimeout,
                    requestLimit);
            LoadClient client = new LoadClient(new LoadClient.Plan(acceptor.getLocalAddress(), connections, living,
                    rate, Duration.ofSeconds(seconds), idleTimeout, requestLimit, PATIENCE.plus(idleTimeout)),
                    this::show);
            LoadClient.Outcome outcome;
            long pending;
            Thread loop = new Thread(server, "server");
            loop.start();
            try {
                outcome = client.run();
                pending = timers.pending();
            } finally {
                server.close();
                loop.join();
            }
            report(outcome, server, pauses.longestNanos());
            List<String> complaints = complaints(outcome, server, pauses.longestNanos(), pending);
            out.flush();
            complaints.forEach(c -> err.println("idle-timeout: " + c));
            return complaints.isEmpty() ? 0 : 1;
        }
    }

    private void show(Duration elapsed, int open, long messages) {
        say("%5.1f s  %,6d open  %,9d messages", elapsed.toMillis() / 1e3, open, messages);
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
    }

    private void head(String format, Object... values) {
        out.println(CommandLines.strong(out, String.format(Locale.ROOT, format, values)));
    }

    private void report(LoadClient.Outcome o, MeteredServer server, long pause) {
        out.println();
        say("%-34s%,12d", "connections closed for silence", o.closed);
        say("  %-32s%12d", "too early", o.early);
        say("  %-32s%12d", "though alive", o.killed);
        say("%-34s%,12d%,12.0f /s", "messages, each one reset", o.messages, o.messages * 1e9 / o.sendingNanos);
        say("  %-32s%,12d", "answered in time", o.inTime);
        say("  %-32s%,12d", "not within the deadline", o.late);
        out.println();
        head("%-34s%12s%12s%12s", "lateness of the closings, ms", "median", "99 of 100", "latest");
        percentiles("at the server", server.lateness);
        percentiles("as the client saw it", o.lateness);
        out.println();
        head("what the machine made them wait, ms");
        say("  %-56s%,12.2f", "everybody, in its longest pause", pause / 1e6);
        say("  %-56s%,12.2f", "the server, in its worst time", server.withheld.mostNanos() / 1e6);
        say("  %-56s%,12.2f", "the client, in its worst time", o.withheld.mostNanos() / 1e6);
        out.println();
        head("%-34s%12s%12s%12s", "the loop's processor time", "each, ns", "all, ms", "share");
        share("in all, " + String.format(Locale.ROOT, "%,d turns", server.turns), server.turns, server.cpuNanos,
                server.cpuNanos);
        share("reset", server.resets, server.heard, server.cpuNanos);
        share("nanosUntilNext", server.nexts, server.turns, server.cpuNanos);
        share("runDue, for each callback", server.runs, server.runs.getTotalCount(), server.cpuNanos);
    }

    /** By the median, as samples in which the thread was interrupted would weigh too much. */
    private void share(String label, Histogram each, long times, long cpuNanos) {
        share(label, times, (double) each.getValueAtPercentile(50) * times, cpuNanos);
    }

    private void percentiles(String label, Histogram h) {
        say("  %-32s%,12.2f%,12.2f%,12.2f", label, h.getValueAtPercentile(50) / 1e6, h.getValueAtPercentile(99) / 1e6,
                h.getMaxValue() / 1e6);
    }

    private void share(String label, long times, double nanos, double cpuNanos) {
        say("  %-32s%,12.0f%,12.1f%10.1f %%", label, nanos / Math.max(1, times), nanos / 1e6, 100 * nanos / cpuNanos);
    }

    private List<String> complaints(LoadClient.Outcome o, MeteredServer server, long pause, long pending) {
        List<String> all = new ArrayList<>();
        complainIf(o.opened < connections, all, "%d of %d connections could not be opened; %s",
                connections - o.opened, connections, o.firstFailure);
        complainIf(o.early > 0, all, "%d connections were closed early", o.early);
        complainIf(server.early > 0, all, "%d connections were closed early, the server says", server.early);
        complainIf(o.killed > 0, all, "%d connections were closed though they were alive", o.killed);
        complainIf(o.neglected > 0 && pause + o.withheld.mostNanos() < Duration.ofMillis(timeout).toNanos() / 4, all,
                "%d connections got no messages in time from the client itself", o.neglected);
        complainIf(o.leftOpen > 0, all, "%d idle connections were not closed", o.leftOpen);
        complainIf(o.wrong > 0, all, "%d answers were wrong", o.wrong);
        complainIf(o.broken > 0, all, "%d connections broke, the first by %s", o.broken, o.firstFailure);
        complainIf(o.neglected == 0 && o.messages != server.heard, all, "%d messages were sent, but %d heard",
                o.messages, server.heard);
        complainIf(pending > 0, all, "%d timers are armed though no connection is left", pending);
        long machine = pause + server.withheld.mostNanos();
        complainIfLate("by the server", server.lateness, machine, all);
        // The last message may be heard late, and the end may be seen late.
        complainIfLate("as the client saw it", o.lateness, 2 * machine + o.withheld.mostNanos(), all);
        return all;
    }

    private static void complainIfLate(String where, Histogram lateness, long machine, List<String> complaints) {
        complainIf(lateness.getMaxValue() > TOLERANCE.toNanos() + machine, complaints, "a connection was closed %.2f ms"
                + " late %s; allowed were %d ms, and %.2f ms by which the machine was late", lateness.getMaxValue() / 1e6,
                where, TOLERANCE.toMillis(), machine / 1e6);
    }

    private static void complainIf(boolean wrong, List<String> complaints, String format, Object... values) {
        if (wrong) {
            complaints.add(String.format(Locale.ROOT, format, values));
        }
    }

    /** Adds up how long callbacks take, for the loop's thread alone. */
    private static final class CallbackMeter implements TimerListener {
        private long nanos;

        @Override
        public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
            nanos += ranNanos;
        }
    }

    /** Measures as it goes. Its figures may be read when its thread has ended. */
    private static final class MeteredServer extends IdleTimeoutServer {
        /** To time each reset would cost about as much as the reset itself. */
        private static final int SAMPLE = 16;

        private final Histogram lateness = new Histogram(TimeUnit.MINUTES.toNanos(10), 3);
        private final Histogram resets = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);
        private final Histogram nexts = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);
        private final Histogram runs = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);
        private final CallbackMeter callbacks;
        private final Withheld withheld = new Withheld();
        private final long timeoutNanos;
        private int early;
        private long heard;
        private long turns;
        private long cpuNanos;

        MeteredServer(TimerScheduler timers, CallbackMeter callbacks, ServerSocketChannel acceptor,
                Duration idleTimeout, Duration requestLimit) throws IOException {
            super(timers, acceptor, idleTimeout, requestLimit);
            this.callbacks = callbacks;
            this.timeoutNanos = idleTimeout.toNanos();
        }

        @Override
        public void run() {
            long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            super.run();
            cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
        }

        @Override
        void select(TimerLoop loop, Selector selector) throws IOException {
            if (turns++ % SAMPLE == 0) {
                long before = System.nanoTime();
                loop.nanosUntilNext();
                nexts.recordValue(bounded(System.nanoTime() - before));
            }
            withheld.waits();
            super.select(loop, selector);
            withheld.runs();
        }

        @Override
        int runDue(TimerLoop loop, int limit) {
            long inCallbacks = callbacks.nanos;
            long before = System.nanoTime();
            int ran = super.runDue(loop, limit);
            long own = System.nanoTime() - before - (callbacks.nanos - inCallbacks);
            int times = Math.max(1, ran);
            runs.recordValueWithCount(bounded(own / times), times);
            return ran;
        }

        @Override
        void heard(Connection connection) {
            if (heard++ % SAMPLE == 0) {
                long before = System.nanoTime();
                super.heard(connection);
                resets.recordValue(bounded(System.nanoTime() - before));
            } else {
                super.heard(connection);
            }
        }

        @Override
        void lost(Connection connection, long silentNanos) {
            if (silentNanos < timeoutNanos) {
                early++;
            }
            lateness.recordValue(Math.max(0, silentNanos - timeoutNanos));
        }

        private static long bounded(long nanos) {
            return Math.max(0, Math.min(TimeUnit.SECONDS.toNanos(10), nanos));
        }
    }
}
