package io.pendula.benchmarks.cases;

import io.pendula.Timer;
import io.pendula.TimerExecutors;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.SchedulerType;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** From the first call in a JVM that has done nothing else until the first firing. */
final class StartCase implements Case {
    @Override
    public String name() {
        return "start";
    }

    @Override
    public List<Map<String, String>> cells() {
        return Case.product("first=pool,timer");
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all(SchedulerType.PENDULA, SchedulerType.STPE);
    }

    @Override
    public List<String> ratios() {
        return List.of("fired_ms");
    }

    /** In one more JVM, since this one has loaded much already. */
    @Override
    public void run(Child child) throws Exception {
        Process p = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), First.class.getName(), child.text("first"),
                child.subject().spec())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader r = new BufferedReader(new InputStreamReader(p.getInputStream(),
                StandardCharsets.US_ASCII))) {
            String[] nanos = r.readLine().split(" ");
            child.figure("made_ms", Long.parseLong(nanos[0]) / 1e6);
            child.figure("fired_ms", Long.parseLong(nanos[1]) / 1e6);
        } finally {
            p.destroyForcibly();
        }
    }

    /** The measured program. */
    static final class First implements Runnable {
        private final Thread waiter = Thread.currentThread();
        private volatile long firedAt;

        @Override
        public void run() {
            firedAt = System.nanoTime();
            LockSupport.unpark(waiter);
        }

        public static void main(String[] args) {
            boolean pool = args[0].equals("pool");
            boolean pendula = args[1].equals("PENDULA");
            First first = new First();
            LockSupport.parkNanos(1);
            long began = System.nanoTime();
            long made = began;
            if (pendula && !pool) {
                Timer.after(1, TimeUnit.MILLISECONDS, first);
            } else {
                ScheduledExecutorService s = pendula ? TimerExecutors.newScheduledThreadPool(2)
                        : Executors.newScheduledThreadPool(2);
                made = System.nanoTime();
                s.schedule(first, pool ? 0 : 1, TimeUnit.MILLISECONDS);
            }
            while (first.firedAt == 0) {
                LockSupport.park();
            }
            System.out.println((made - began) + " " + (first.firedAt - began));
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }
}
