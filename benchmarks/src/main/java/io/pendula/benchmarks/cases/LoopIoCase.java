package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.EchoType;
import io.pendula.benchmarks.rivals.EchoServer;
import io.pendula.benchmarks.rivals.Rival;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.HdrHistogram.Histogram;

/** How late timers run on a loop that serves connections, too, and what both cost. */
final class LoopIoCase implements Case {
    private static final int WARM_RATE = 10_000;
    private static final long WARM = 2_000_000_000L;
    private static final long MEASURED = 3_000_000_000L;
    /** The time to arm them all, before the first is due. */
    private static final long LEAD = 100_000_000L;

    @Override
    public String name() {
        return "loopio";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("messages=0,20000", "rate=100,1000");
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all(EchoType.values());
    }

    @Override
    public void check(Subject subject) {
        subject.type(EchoType.class);
    }

    @Override
    public List<String> ratios() {
        return List.of("p50_us", "cpu_percent");
    }

    @Override
    public void run(Child child) throws Exception {
        EchoServer server = child.subject().type(EchoType.class).open();
        EchoClients clients = null;
        int messages = child.number("messages");
        Set<Thread> others = Set.of(Thread.currentThread());
        if (messages > 0) {
            clients = new EchoClients(server.port(), messages);
            others = Set.of(Thread.currentThread(), clients);
            clients.start();
        }
        shots(server, WARM_RATE, WARM); // all rates with the same code, compiled

        long cpu0 = ProcessorTime.ofThreadsBut(others);
        long messages0 = clients == null ? 0 : clients.messages();
        long start = System.nanoTime();
        Shot[] shots = shots(server, child.number("rate"), MEASURED);
        double nanos = System.nanoTime() - start;
        double cpu = ProcessorTime.ofThreadsBut(others) - cpu0;

        Histogram lateness = new Histogram(3);
        int early = 0;
        for (Shot s : shots) {
            early += s.lateness < 0 ? 1 : 0;
            lateness.recordValue(Math.max(0, s.lateness));
        }
        child.figures("", lateness);
        child.figure("messages_per_s", clients == null ? 0 : (clients.messages() - messages0) * 1e9 / nanos);
        child.figure("cpu_percent", cpu * 100 / nanos);
        child.figure("early", early);
    }

    /** Arms timers on the loop's thread for random instants of a span of time, and waits until all have fired. */
    private static Shot[] shots(EchoServer server, int rate, long nanos) throws InterruptedException {
        Shot[] shots = new Shot[(int) (rate * nanos / SECONDS.toNanos(1))];
        CountDownLatch left = new CountDownLatch(shots.length);
        server.execute(() -> {
            long from = System.nanoTime() + LEAD;
            SplittableRandom random = new SplittableRandom(rate);
            for (int i = 0; i < shots.length; i++) {
                long instant = from + random.nextLong(nanos);
                long now = System.nanoTime();
                shots[i] = new Shot(left, Math.max(now, instant));
                server.schedule(shots[i].deadline - now, shots[i]);
            }
        });
        left.await();
        return shots;
    }

    private static final class Shot implements Rival.Task {
        private final CountDownLatch left;
        private final long deadline;
        private long lateness;

        Shot(CountDownLatch left, long deadline) {
            this.left = left;
            this.deadline = deadline;
        }

        @Override
        public void run() {
            lateness = System.nanoTime() - deadline;
            left.countDown();
        }
    }
}
