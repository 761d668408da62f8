package io.pendula.examples;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * The demo's workload, the same for every contender: some threads arm many timers with random deadlines, then stop a
 * third of them and postpone a third; then all wait until each has fired as often as it should.
 */
final class Storm {
    private static final long SEED = 0x9E3779B97F4A7C15L;
    private static final long TRACKABLE_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final int MOVED_ONCE = 1 << 16;
    private static final long LOOK_MILLIS = 20;

    /** How often timers were armed, and what came of it. */
    record Counts(long armed, long fired, long stopped, long reset) {
        boolean addUp() {
            return armed == fired + stopped + reset;
        }

        @Override
        public String toString() {
            return armed + " armed, " + fired + " fired, " + stopped + " stopped, " + reset + " reset";
        }
    }

    /**
     * What a storm was like. Times are nanoseconds; {@code complaints} is empty if all was as it must be.
     * {@code untrue}: how many timers were stopped or reset, by the word of the contender, and fired all the same.
     */
    record Outcome(Counts counts, long untrue, Histogram lateness, long armNanos, long changeNanos, long cpuNanos,
            List<String> complaints) {}

    /** Hears how the storm goes on. */
    interface Watcher {
        Watcher NONE = (fired, stopped, pending) -> {};

        void see(long fired, long stopped, long pending);
    }

    /**
     * A timer's callback, which knows when it is due. Its value counts the firings: those of the first deadline in
     * the low half, those of the deadline it was postponed to in the high half.
     */
    final class Task extends AtomicInteger implements Shot {
        private static final long serialVersionUID = 1;

        private transient Object handle;
        private long due;
        /** Zero if it was not postponed. */
        private long moved;
        /** The stop or the postponing prevented a firing. */
        private boolean prevented;

        @Override
        public void run() {
            long now = System.nanoTime();
            long m = moved; // one read: a firing of the first deadline may race with the postponing
            boolean second = m != 0 && now - m >= 0;
            getAndAdd(second ? MOVED_ONCE : 1);
            long late = now - (second ? m : due);
            if (late < 0) {
                early.increment();
            }
            lateness.recordValue(Math.max(0, Math.min(late, TRACKABLE_NANOS)));
        }

        @Override
        public Object handle() {
            return handle;
        }

        @Override
        public void handle(Object h) {
            handle = h;
        }

        /** As many firings as armings, none of which was prevented then. */
        private boolean isUntrue() {
            return prevented && first() + second() == armings();
        }

        /** Exactly one firing or prevention for each arming, and no firing at a deadline that was given up. */
        private boolean isRight() {
            return first() + second() + (prevented ? 1 : 0) == armings()
                    && !(prevented && first() > 0)
                    && (moved == 0 || second() > 0);
        }

        private int armings() {
            return moved == 0 ? 1 : 2;
        }

        private int first() {
            return get() & MOVED_ONCE - 1;
        }

        private int second() {
            return get() >>> 16;
        }
    }

    /** What a collection takes at most, with a million timers. */
    private static final long GC_NANOS = 250_000_000;

    private interface Step {
        void apply(int index, SplittableRandom random);
    }

    private final Contender contender;
    private final Task[] shots;
    private final int threads;
    private final long span;
    private final LongAdder armed = new LongAdder();
    private final LongAdder stopped = new LongAdder();
    private final LongAdder reset = new LongAdder();
    private final LongAdder early = new LongAdder();
    private final Recorder lateness = new Recorder(TRACKABLE_NANOS, 3);
    private final Histogram latenesses = new Histogram(TRACKABLE_NANOS, 3);
    private Histogram interval;

    /**
     * Makes the callbacks, so that their memory and the time to allocate them count for no contender.
     *
     * @param span nanoseconds within which all deadlines lie; the first fifth of it is free of them, for arming
     */
    Storm(Contender contender, int timers, int threads, long span) {
        this.contender = contender;
        this.threads = threads;
        this.span = span;
        this.shots = new Task[timers];
        for (int i = 0; i < timers; i++) {
            shots[i] = new Task();
        }
    }

    /** Closes the contender at the end. {@code patience}: how many nanoseconds late the last firing may be. */
    Outcome run(Watcher watcher, long patience) throws InterruptedException {
        long cpu = processCpu();
        long firstDue = System.nanoTime() + span / 5;
        long armNanos = arm(watcher);
        long changeNanos = inSlices(this::change, watcher);
        if (firstDue - System.nanoTime() > GC_NANOS) {
            System.gc(); // now, or the garbage of arming will stop the one or the other in the midst of its firings
        }
        if (awaitFirings(watcher, System.nanoTime() + span + patience)) {
            contender.finish();
        }
        cpu = processCpu() - cpu;
        contender.close();
        long untrue = contender.keepsItsWord() ? 0 : putRight();
        look(watcher);
        Counts counts = new Counts(armed.sum(), latenesses.getTotalCount(), stopped.sum(), reset.sum());
        return new Outcome(counts, untrue, latenesses, armNanos, changeNanos, cpu, complaints(counts));
    }

    /** Returns how long it took. */
    long arm(Watcher watcher) throws InterruptedException {
        return inSlices((i, random) -> {
            long delay = span / 5 + (long) (random.nextDouble() * span * 3 / 5);
            Task shot = shots[i];
            shot.due = System.nanoTime() + delay;
            contender.arm(shot, delay);
            armed.increment();
        }, watcher);
    }

    private void change(int i, SplittableRandom random) {
        Task shot = shots[i];
        switch (i % 3) {
            case 1 -> {
                if (contender.stop(shot)) {
                    shot.prevented = true;
                    stopped.increment();
                }
            }
            case 2 -> {
                long moved = shot.due + 1 + (long) (random.nextDouble() * span / 5);
                shot.moved = moved;
                if (contender.postpone(shot, moved - System.nanoTime())) {
                    shot.prevented = true;
                    reset.increment();
                }
                armed.increment();
            }
            default -> {
                // The others are left alone.
            }
        }
    }

    /** Applies a step to all timers, each thread to its own part of them, and returns how long that took. */
    private long inSlices(Step step, Watcher watcher) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads, Storm::daemon);
        try {
            long start = System.nanoTime();
            List<Future<Long>> ends = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int from = (int) ((long) shots.length * t / threads);
                int to = (int) ((long) shots.length * (t + 1) / threads);
                ends.add(pool.submit(() -> {
                    SplittableRandom random = new SplittableRandom(SEED + from);
                    for (int i = from; i < to; i++) {
                        step.apply(i, random);
                    }
                    return System.nanoTime();
                }));
            }
            long took = 0;
            for (Future<Long> end : ends) {
                while (!end.isDone()) {
                    Thread.sleep(LOOK_MILLIS);
                    look(watcher);
                }
                took = Math.max(took, end.get() - start);
            }
            return took;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    /** False if it took too long. */
    private boolean awaitFirings(Watcher watcher, long latest) throws InterruptedException {
        while (look(watcher) > 0) {
            if (System.nanoTime() - latest >= 0) {
                return false;
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return true;
    }

    /** Counts no stop and no reset that prevented nothing; returns how many there were. */
    private long putRight() {
        long untrue = 0;
        for (Task shot : shots) {
            if (shot.isUntrue()) {
                shot.prevented = false;
                (shot.moved == 0 ? stopped : reset).decrement();
                untrue++;
            }
        }
        return untrue;
    }

    /** Returns how many firings are to come. */
    private long look(Watcher watcher) {
        interval = lateness.getIntervalHistogram(interval);
        latenesses.add(interval);
        long fired = latenesses.getTotalCount();
        long pending = armed.sum() - stopped.sum() - reset.sum() - fired;
        watcher.see(fired, stopped.sum(), Math.max(0, pending));
        return pending;
    }

    private List<String> complaints(Counts counts) {
        List<String> complaints = new ArrayList<>();
        if (!counts.addUp()) {
            complaints.add("the counts do not add up: " + counts);
        }
        if (early.sum() > 0) {
            complaints.add(early.sum() + " timers fired early");
        }
        long wrong = 0;
        for (Task shot : shots) {
            wrong += shot.isRight() ? 0 : 1;
        }
        if (wrong > 0) {
            complaints.add(wrong + " timers fired too often, too seldom or after they were stopped");
        }
        String objection = contender.objection(counts);
        if (objection != null) {
            complaints.add(objection + ", but " + counts + " were seen");
        }
        return complaints;
    }

    static Thread daemon(Runnable body) {
        Thread t = new Thread(body, "demo");
        t.setDaemon(true);
        return t;
    }

    private static long processCpu() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
