package io.pendula;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** What the tests on real threads share. */
final class LifeFixtures {
    /** Generous: only a timer that is really lost takes so long. */
    static final long LOST_SECONDS = Scale.patience(10);

    private LifeFixtures() {}

    static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(LOST_SECONDS, TimeUnit.SECONDS), () -> latch.getCount() + " still missing");
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted while waiting", e);
        }
    }

    static void eventually(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LOST_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                fail("not within " + LOST_SECONDS + " s: " + what);
            }
            LockSupport.parkNanos(200_000);
        }
    }

    /** A thread that can be interrupted so many times, and throws then. */
    static final class Uninterruptible extends Thread {
        private final AtomicInteger allowed;

        Uninterruptible(Runnable body, int allowed) {
            super(body);
            this.allowed = new AtomicInteger(allowed);
        }

        @Override
        public void interrupt() {
            if (allowed.getAndDecrement() <= 0) {
                throw new SecurityException("meant");
            }
            super.interrupt();
        }
    }

    static void spin(long nanos) {
        for (long end = System.nanoTime() + nanos; System.nanoTime() - end < 0; ) {
            Thread.onSpinWait();
        }
    }

    /** Keeps a callback from returning, whatever its thread is told. */
    static void block(long nanos) {
        for (long end = System.nanoTime() + nanos, left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    interface Work {
        void run(int thread) throws Exception;
    }

    /** Runs the work on so many threads at the same time and passes on what one of them threw. */
    static void inParallel(int threads, Work work) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch ready = new CountDownLatch(threads);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            Thread t = new Thread(() -> {
                try {
                    ready.countDown();
                    await(ready);
                    work.run(number);
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            }, "test-" + i);
            t.setDaemon(true);
            all.add(t);
            t.start();
        }
        for (Thread t : all) {
            t.join(TimeUnit.SECONDS.toMillis(3 * LOST_SECONDS));
            assertTrue(!t.isAlive(), () -> t.getName() + " still runs at " + Arrays.toString(t.getStackTrace()));
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    /** The live threads of the scheduler with this name. */
    static List<Thread> threadsOf(String scheduler) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().startsWith("pendula-" + scheduler + "-"))
                .toList();
    }

    static void awaitNoThreadOf(String scheduler) {
        eventually("no thread of " + scheduler, () -> threadsOf(scheduler).isEmpty());
    }

    /** For schedulers whose workers were never held up: whatever fired late, nobody had to be rescued. */
    static void assertNoRescue(TimerScheduler s) {
        assertEquals(0, s.stats().overdueWakes(), "rescues");
    }

    static void figure(String format, Object... values) {
        Figures.figure(format, values);
    }

    static double millis(long nanos) {
        return nanos / 1e6;
    }

    /** Makes named threads and notes each one's id in /proc before it does its work. */
    static final class NotingFactory implements ThreadFactory {
        final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        final Queue<String> tids = new ConcurrentLinkedQueue<>();
        private final String name;

        NotingFactory(String name) {
            this.name = name;
        }

        @Override
        public Thread newThread(Runnable body) {
            Thread t = new Thread(() -> {
                tids.add(ownTid());
                body.run();
            }, name + "-" + threads.size());
            t.setDaemon(true);
            threads.add(t);
            return t;
        }
    }

    /** The calling thread's id in /proc, or "" where there is none. */
    static String ownTid() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        } catch (IOException e) {
            return "";
        }
    }

    static boolean isLinuxWithProc() {
        return Files.isSymbolicLink(Path.of("/proc/thread-self"));
    }

    /** Records what it hears. */
    static class Heard implements TimerListener {
        record News(Object timer, long lateness, Object what) {}

        final Queue<News> threw = new ConcurrentLinkedQueue<>();
        final Queue<News> slow = new ConcurrentLinkedQueue<>();
        final Queue<News> stalled = new ConcurrentLinkedQueue<>();
        final Queue<News> timedOut = new ConcurrentLinkedQueue<>();
        /** With the scheduler's name, how many threads, for how long. */
        final Queue<News> allBlocked = new ConcurrentLinkedQueue<>();

        @Override
        public void threw(TimerHandle timer, long latenessNanos, Throwable thrown) {
            threw.add(new News(timer, latenessNanos, thrown));
        }

        @Override
        public void slow(TimerHandle timer, long latenessNanos, long ranNanos) {
            slow.add(new News(timer, latenessNanos, ranNanos));
        }

        @Override
        public void stalled(TimerHandle timer, long latenessNanos, long blockedNanos) {
            stalled.add(new News(timer, latenessNanos, blockedNanos));
        }

        @Override
        public void timedOut(TimerHandle timer, long latenessNanos, long ranNanos) {
            timedOut.add(new News(timer, latenessNanos, ranNanos));
        }

        @Override
        public void allBlocked(String schedulerName, int threads, long blockedNanos) {
            allBlocked.add(new News(schedulerName, threads, blockedNanos));
        }
    }

    /** System property: where the classes are in which {@link Planted} has planted a fault. */
    static final String PLANTED = "pendula.planted";

    /** Runs a class of the tests in a JVM of its own, with the library and the tests alone on its class path. */
    static String runInChild(Class<?> main, List<String> jvmOptions, String... args)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile("pendula-child", ".txt");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (!Scale.FULL) {
            command.add("-XX:TieredStopAtLevel=1");
        }
        command.addAll(jvmOptions);
        String planted = System.getProperty(PLANTED, "");
        command.addAll(List.of(Figures.option(), Scale.option(), "-ea", "-cp",
                (planted.isEmpty() ? "" : planted + File.pathSeparator) + location(TimerScheduler.class)
                        + File.pathSeparator + location(LifeFixtures.class), main.getName()));
        command.addAll(List.of(args));
        Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            boolean ended = p.waitFor(6 * LOST_SECONDS, TimeUnit.SECONDS);
            String text = Files.readString(out, StandardCharsets.UTF_8);
            assertTrue(ended, () -> "the child JVM did not end: " + text);
            assertEquals(0, p.exitValue(), text);
            return text.strip();
        } finally {
            p.destroyForcibly();
            Files.delete(out);
        }
    }

    private static String location(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (java.net.URISyntaxException e) {
            throw new AssertionError(e);
        }
    }
}
