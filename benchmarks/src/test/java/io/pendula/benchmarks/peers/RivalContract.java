package io.pendula.benchmarks.peers;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/** What a design promises: one check for each promise. A check opens and closes its own scheduler. */
enum RivalContract {
    NEVER_EARLY {
        @Override
        void check(Subject subject) throws Exception {
            try (Rival rival = subject.open()) {
                Run[] runs = runs(300);
                SplittableRandom random = new SplittableRandom(1);
                for (Run run : runs) {
                    run.schedule(rival, random.nextLong(-1, MILLISECONDS.toNanos(40)));
                }
                for (Run run : runs) {
                    subject.await("a timer runs", run::hasRun);
                    run.assertOnceAndNotEarly();
                }
            }
        }
    },

    STOP_IS_TRUTHFUL {
        @Override
        void check(Subject subject) throws Exception {
            try (Rival rival = subject.open()) {
                Run stopped = new Run();
                Object handle = stopped.schedule(rival, MILLISECONDS.toNanos(20));
                boolean prevented = rival.cancel(handle);
                assertFalse(rival.cancel(handle), "the second stop");

                Run later = new Run();
                Object laterHandle = later.schedule(rival, MILLISECONDS.toNanos(40));
                subject.await("a later timer runs", later::hasRun);
                assertEquals(prevented ? 0 : 1, stopped.count.get(), "runs after a stop that said " + prevented);

                Run last = new Run();
                last.schedule(rival, 0);
                subject.await("a last timer runs", last::hasRun);
                assertFalse(rival.cancel(laterHandle), "a stop after the run");
                assertEquals(1, later.count.get());
            }
        }
    },

    STOP_DURING_RUN_IS_FALSE {
        @Override
        void check(Subject subject) throws Exception {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch released = new CountDownLatch(1);
            try (Rival rival = subject.open()) {
                Object handle = rival.schedule(MILLISECONDS.toNanos(1), () -> {
                    running.countDown();
                    awaitQuietly(released);
                });
                try {
                    subject.await("a timer runs", () -> running.getCount() == 0);
                    assertFalse(rival.cancel(handle));
                } finally {
                    released.countDown(); // before the close, which may wait for the run
                }
            }
        }
    },

    /**
     * Two threads arm, and stop their own timers and the other's while these fire: each timer runs or is stopped,
     * once.
     */
    RUNS_ONCE_OR_IS_STOPPED_ONCE {
        private static final int TIMERS = 60_000;

        @Override
        void check(Subject subject) throws Exception {
            Run[] runs = runs(TIMERS);
            AtomicReferenceArray<Object> handles = new AtomicReferenceArray<>(TIMERS);
            AtomicIntegerArray prevented = new AtomicIntegerArray(TIMERS);
            Set<Thread> before = threads();
            try (Rival rival = subject.open()) {
                inTwoThreads(subject, thread -> {
                    SplittableRandom random = new SplittableRandom(thread);
                    for (int i = thread; i < TIMERS; i += 2) {
                        // Of all orders of magnitude, so that many stops meet a timer that is about to fire.
                        handles.set(i, rival.schedule(random.nextLong(1L << random.nextInt(1, 22)), runs[i]));
                        int stopped = Math.max(0, i - random.nextInt(1 << random.nextInt(11)));
                        Object handle = handles.get(stopped);
                        if (handle != null && random.nextInt(4) > 0 && rival.cancel(handle)) {
                            prevented.incrementAndGet(stopped);
                        }
                    }
                });
                subject.await("each timer runs or is stopped", () -> ran(runs) + sum(prevented) >= TIMERS);
            }
            subject.await("the threads end", () -> threadsSince(before).isEmpty());
            for (int i = 0; i < TIMERS; i++) {
                assertEquals(1, runs[i].count.get() + prevented.get(i), "runs and stops of timer " + i);
            }
            assertAll(() -> assertNotEquals(0, ran(runs), "runs"), () -> assertNotEquals(0, sum(prevented), "stops"));
        }
    },

    RESET_TO_EARLIER {
        @Override
        void check(Subject subject) throws Exception {
            try (Rival rival = subject.open()) {
                Run[] others = runs(100);
                for (Run other : others) {
                    other.schedule(rival, HOURS.toNanos(1));
                }
                Run run = new Run();
                Object handle = run.schedule(rival, HOURS.toNanos(2));
                handle = run.reset(rival, handle, MILLISECONDS.toNanos(5));
                subject.await("a timer runs after a reset", run::hasRun);
                run.assertOnceAndNotEarly();

                handle = run.reset(rival, handle, MILLISECONDS.toNanos(5));
                subject.await("a timer runs again", () -> run.count.get() == 2);

                handle = run.reset(rival, handle, HOURS.toNanos(1));
                assertTrue(rival.cancel(handle), "a stop after a reset");
                handle = run.reset(rival, handle, MILLISECONDS.toNanos(5));
                subject.await("a stopped timer runs after a reset", () -> run.count.get() == 3);
                assertEquals(0, ran(others), "runs of others");
            }
        }
    },

    RESET_TO_LATER {
        @Override
        void check(Subject subject) throws Exception {
            try (Rival rival = subject.open()) {
                for (;;) {
                    long began = System.nanoTime();
                    Run run = new Run();
                    Object handle = run.schedule(rival, MILLISECONDS.toNanos(30));
                    handle = run.reset(rival, handle, MILLISECONDS.toNanos(90));
                    handle = run.reset(rival, handle, MILLISECONDS.toNanos(50));
                    handle = run.reset(rival, handle, MILLISECONDS.toNanos(60));
                    if (System.nanoTime() - began < MILLISECONDS.toNanos(30)) {
                        subject.await("a timer runs after resets", run::hasRun);
                        run.assertOnceAndNotEarly();
                        return;
                    }
                    rival.cancel(handle); // it may have fired before a reset; once more
                }
            }
        }
    },

    /** Two threads reset their own timers while these fire. After its last reset each of them still fires. */
    NO_RESET_IS_LOST {
        private static final int TIMERS = 200;
        private static final int RESETS = 300;

        @Override
        void check(Subject subject) throws Exception {
            Run[] runs = runs(TIMERS);
            try (Rival rival = subject.open()) {
                inTwoThreads(subject, thread -> {
                    SplittableRandom random = new SplittableRandom(thread);
                    Object[] handles = new Object[TIMERS];
                    for (int i = thread; i < TIMERS; i += 2) {
                        handles[i] = runs[i].schedule(rival, HOURS.toNanos(1));
                    }
                    for (int round = 0; round < RESETS; round++) {
                        for (int i = thread; i < TIMERS; i += 2) {
                            if (random.nextInt(8) == 0) {
                                rival.cancel(handles[i]);
                            }
                            long delay = round < RESETS - 1 && random.nextBoolean() ? HOURS.toNanos(1)
                                    : random.nextLong(MILLISECONDS.toNanos(1));
                            handles[i] = runs[i].reset(rival, handles[i], delay);
                        }
                    }
                });
                for (Run run : runs) {
                    subject.await("a timer runs after its last reset",
                            () -> run.hasRun() && run.lastAt - run.earliest >= 0);
                    assertTrue(run.count.get() <= RESETS + 1, "more runs than armings");
                }
            }
        }
    },

    /** Of two timers that one thread has armed, the one runs first whose deadline is earlier by more than a tick. */
    ORDER_OF_DEADLINES {
        private static final int TIMERS = 40;
        private static final long APART = MILLISECONDS.toNanos(4);

        @Override
        void check(Subject subject) throws Exception {
            try (Rival rival = subject.open()) {
                List<Run> runs = new ArrayList<>(Arrays.asList(runs(TIMERS)));
                List<Integer> places = new ArrayList<>(IntStream.range(0, TIMERS).boxed().toList());
                Collections.shuffle(places, new Random(1));
                long base = System.nanoTime() + MILLISECONDS.toNanos(20);
                for (int i = 0; i < TIMERS; i++) {
                    runs.get(i).schedule(rival, base + places.get(i) * APART - System.nanoTime());
                }
                for (Run run : runs) {
                    subject.await("a timer runs", run::hasRun);
                }
                for (Run a : runs) {
                    for (Run b : runs) {
                        if (b.earliest - a.latest > subject.tickNanos) {
                            assertTrue(a.firstAt - b.firstAt <= 0, "the later deadline runs first");
                        }
                    }
                }
            }
        }
    },

    CLOSE_LEAVES_NO_THREAD {
        @Override
        void check(Subject subject) throws Exception {
            Set<Thread> before = threads();
            Run run = new Run();
            try (Rival rival = subject.open()) {
                run.schedule(rival, HOURS.toNanos(1));
                Run soon = new Run();
                soon.schedule(rival, 0);
                subject.await("a timer runs", soon::hasRun);
            }
            subject.await("the threads end", () -> threadsSince(before).isEmpty());
            assertEquals(0, run.count.get());
        }
    };

    abstract void check(Subject subject) throws Exception;

    /** What is checked, and how much time it has. */
    static final class Subject {
        private final LongFunction<Rival> opener;
        private final long tickNanos;
        private final long limitNanos;

        /** @param opener makes a scheduler; its argument does not matter */
        Subject(LongFunction<Rival> opener, long tickNanos, long limitNanos) {
            this.opener = opener;
            this.tickNanos = tickNanos;
            this.limitNanos = limitNanos;
        }

        Rival open() {
            return opener.apply(0);
        }

        void await(String what, BooleanSupplier condition) throws InterruptedException {
            long began = System.nanoTime();
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - began < limitNanos, () -> "in vain: until " + what);
                Thread.sleep(1);
            }
        }
    }

    /** A task that notes its runs, and the bounds between which its deadline is. */
    static final class Run implements Rival.Task {
        final AtomicInteger count = new AtomicInteger();
        volatile long earliest;
        volatile long latest;
        volatile long firstAt;
        volatile long lastAt;

        @Override
        public void run() {
            long now = System.nanoTime();
            if (count.get() == 0) {
                firstAt = now;
            }
            lastAt = now;
            count.incrementAndGet();
        }

        Object schedule(Rival rival, long delayNanos) {
            earliest = System.nanoTime() + delayNanos;
            Object handle = rival.schedule(delayNanos, this);
            latest = System.nanoTime() + Math.max(0, delayNanos); // of one that is overdue: when it is armed
            return handle;
        }

        Object reset(Rival rival, Object handle, long delayNanos) {
            earliest = System.nanoTime() + delayNanos;
            return rival.reset(handle, delayNanos, this);
        }

        boolean hasRun() {
            return count.get() > 0;
        }

        void assertOnceAndNotEarly() {
            long early = earliest - firstAt;
            assertTrue(early <= 0, () -> early + " ns early");
            assertEquals(1, count.get(), "runs");
        }
    }

    private interface Work {
        void of(int thread);
    }

    private static void inTwoThreads(Subject subject, Work work) throws InterruptedException {
        AtomicInteger done = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            int index = i;
            Thread thread = new Thread(() -> {
                work.of(index);
                done.incrementAndGet();
            });
            thread.setDaemon(true);
            thread.start();
        }
        subject.await("both threads have done their work", () -> done.get() == 2);
    }

    private static Run[] runs(int count) {
        Run[] runs = new Run[count];
        Arrays.setAll(runs, i -> new Run());
        return runs;
    }

    private static int ran(Run[] runs) {
        return Arrays.stream(runs).mapToInt(run -> run.count.get()).sum();
    }

    private static int sum(AtomicIntegerArray counts) {
        return IntStream.range(0, counts.length()).map(counts::get).sum();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // of a pool that is shut down
        }
    }

    private static Set<Thread> threads() {
        return Child.threads();
    }

    private static Set<Thread> threadsSince(Set<Thread> before) {
        Set<Thread> since = new HashSet<>(threads());
        since.removeAll(before);
        return since;
    }
}
