package io.pendula.benchmarks.cases;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.pendula.SchedulerExecutor;
import io.pendula.TimerScheduler;
import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.ProcessorTime;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.loads.Load;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * The deferred cost of resets: among a million timers some are put off, then others are brought forward, one by one.
 * Those put off were due in ten minutes ("far"), or all at one instant within the two seconds that are watched, when
 * all their entries have to be re-keyed at once ("near"). Or threads arm millions of timers of one worker at full speed:
 * what one of them has to do at once for the others, and how long a timer that is due waits for it, beside a thread of
 * no scheduler that only parks as long. Or views of a scheduler with a million timers are shut down, one after the other, each with so many tasks that wait.
 */
final class PauseCase implements Case {
    private static final int TIMERS = 1_000_000;
    private static final int WARM_MILLIS = 1_000;
    private static final long PROBE_PERIOD = MILLISECONDS.toNanos(1);
    private static final long NEAR = MILLISECONDS.toNanos(1_000);
    private static final int ARMED = 8_000_000;
    private static final int FORWARDS = 20;
    private static final long FORWARD_GAP_MILLIS = 100;
    private static final int VIEWS = 200;
    private static final long VIEW_GAP_MILLIS = 5;
    /** Longer than a process may run. */
    private static final long LONGEST = MINUTES.toNanos(20);

    @Override
    public String name() {
        return "pause";
    }

    @Override
    public List<Map<String, String>> cells() {
        List<Map<String, String>> cells = new ArrayList<>(Case.product("putOff=10000,100000", "due=far,near"));
        cells.addAll(Case.product("arming=1,4"));
        cells.addAll(Case.product("tasks=0,5"));
        return cells;
    }

    @Override
    public List<Subject> subjects() {
        return Subject.all(SchedulerType.PENDULA);
    }

    @Override
    public List<String> ratios() {
        return List.of("worst_late_us", "worst_probe_us");
    }

    @Override
    public void run(Child child) throws Exception {
        if (child.has("arming")) {
            requirePendula(child, "only Pendula tells how long a thread has held its queue's lock");
            arm(child);
        } else if (child.has("tasks")) {
            endViews(child);
        } else {
            reset(child);
        }
    }

    /** Resets can be watched at all subjects. */
    private static void requirePendula(Child child, String otherwise) {
        if (child.subject().type(SchedulerType.class) != SchedulerType.PENDULA) {
            throw new UnsupportedOperationException(otherwise);
        }
    }

    private static void arm(Child child) throws InterruptedException {
        TimerScheduler timers = TimerScheduler.builder().workers(1).build();
        Probe probe = new Probe(timers);
        Arming[] threads = new Arming[child.number("arming")];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Arming(timers, ARMED / threads.length, i);
        }
        Thread.sleep(child.number("warmMs", WARM_MILLIS));
        probe.lateness.reset(); // about, as a run may be in progress
        BareProbe bare = new BareProbe();
        bare.start();
        for (Arming t : threads) {
            t.start();
        }
        for (Arming t : threads) {
            t.join();
        }
        bare.end();
        child.figure("hold_cpu_us", Arrays.stream(threads).mapToLong(t -> t.most).max().orElseThrow() / 1e3);
        child.figure("p99_probe_us", probe.lateness.getValueAtPercentile(99) / 1e3);
        child.figure("worst_probe_us", probe.lateness.getMaxValue() / 1e3);
        child.figure("park_p99_us", bare.lateness.getValueAtPercentile(99) / 1e3);
        child.figure("park_worst_us", bare.lateness.getMaxValue() / 1e3);
    }

    private static void endViews(Child child) throws InterruptedException {
        requirePendula(child, "only Pendula has views to be shut down");
        TimerScheduler timers = TimerScheduler.builder().build();
        Load.fill(SchedulerType.pendula(timers), TIMERS, 0);
        Probe probe = new Probe(timers);
        Thread.sleep(child.number("warmMs", WARM_MILLIS));
        probe.lateness.reset(); // about, as a run may be in progress
        long[] took = new long[VIEWS];
        for (int i = 0; i < VIEWS; i++) {
            SchedulerExecutor view = timers.asScheduledExecutorService();
            for (int j = child.number("tasks"); j > 0; j--) {
                view.schedule(Rival.Task.NOTHING, 60, MINUTES);
            }
            long begun = System.nanoTime();
            view.shutdownNow();
            took[i] = System.nanoTime() - begun;
            Thread.sleep(VIEW_GAP_MILLIS);
        }
        Arrays.sort(took);
        child.figure("end_us", took[VIEWS / 2] / 1e3);
        child.figure("p99_probe_us", probe.lateness.getValueAtPercentile(99) / 1e3);
        child.figure("worst_probe_us", probe.lateness.getMaxValue() / 1e3);
    }

    private void reset(Child child) throws InterruptedException {
        boolean near = child.text("due").equals("near");
        Object[] putOff = new Object[child.number("putOff")];
        Rival timers = child.subject().open(SchedulerType.AS_BUILT);
        Load.fill(timers, TIMERS - putOff.length, 0);
        CountDownLatch fired = new CountDownLatch(FORWARDS);
        Forward[] forwards = new Forward[FORWARDS];
        for (int i = 0; i < FORWARDS; i++) {
            forwards[i] = new Forward(timers, fired);
        }
        Probe probe = new Probe(timers);
        Thread.sleep(child.number("warmMs", WARM_MILLIS));

        long start = System.nanoTime();
        for (int i = 0; i < putOff.length; i++) {
            long delay = near ? start + NEAR - System.nanoTime() : MINUTES.toNanos(10) + i;
            putOff[i] = timers.schedule(delay, Rival.Task.NOTHING);
        }
        probe.lateness.reset(); // about, as a run may be in progress
        for (int i = 0; i < putOff.length; i++) {
            putOff[i] = timers.reset(putOff[i], MINUTES.toNanos(60), Rival.Task.NOTHING);
        }
        for (Forward f : forwards) {
            f.bringForward();
            Thread.sleep(FORWARD_GAP_MILLIS);
        }
        fired.await();
        long latest = 0;
        for (Forward f : forwards) {
            latest = Math.max(latest, f.lateness);
        }
        child.figure("first_late_us", forwards[0].lateness / 1e3);
        child.figure("worst_late_us", latest / 1e3);
        child.figure("worst_probe_us", probe.lateness.getMaxValue() / 1e3);
    }

    /**
     * A thread that arms, and notes the most processor time that a few armings took: nearly all of that is what it did
     * in one hold of the queue's lock, as it helps at one of so many.
     */
    private static final class Arming extends Thread {
        private static final int BATCH = 16;

        private final int count;
        private final Load load;
        long most;

        Arming(TimerScheduler timers, int count, int seed) {
            this.count = count;
            this.load = new Load(seed) {
                @Override
                public void step() {
                    timers.after(farDelay(), NANOSECONDS, Rival.Task.NOTHING);
                }
            };
        }

        @Override
        public void run() {
            for (int i = 0; i < count; i += BATCH) {
                long before = ProcessorTime.ofCaller();
                for (int j = 0; j < BATCH; j++) {
                    load.step();
                }
                if (i > count / 4) { // compiled by then
                    most = Math.max(most, ProcessorTime.ofCaller() - before);
                }
            }
        }
    }

    /** A timer that is far away until it is brought forward. */
    private static final class Forward implements Rival.Task {
        private final Rival timers;
        private final Object timer;
        private final CountDownLatch fired;
        private long deadline;
        long lateness;

        Forward(Rival timers, CountDownLatch fired) {
            this.timers = timers;
            this.fired = fired;
            this.timer = timers.schedule(MINUTES.toNanos(60), this);
        }

        void bringForward() {
            deadline = System.nanoTime() + PROBE_PERIOD;
            timers.reset(timer, PROBE_PERIOD, this);
        }

        @Override
        public void run() {
            lateness = System.nanoTime() - deadline;
            fired.countDown();
        }
    }

    /** It is reset and read while another thread records; its size is fixed, so that a record allocates nothing. */
    private static Histogram lateness() {
        return new ConcurrentHistogram(LONGEST, 3);
    }

    /** A timer that arms itself again and again, and notes how late it was. */
    private static final class Probe implements Rival.Task {
        private final Rival timers;
        private Object timer;
        final Histogram lateness = lateness();
        private long deadline;

        Probe(TimerScheduler timers) {
            this(SchedulerType.pendula(timers));
        }

        Probe(Rival timers) {
            this.timers = timers;
            timer = timers.schedule(MINUTES.toNanos(60), this);
            next();
        }

        private void next() {
            deadline = System.nanoTime() + PROBE_PERIOD;
            timer = timers.reset(timer, PROBE_PERIOD, this); // a stale one is of no harm: it has fired
        }

        @Override
        public void run() {
            lateness.recordValue(Math.max(0, System.nanoTime() - deadline));
            next();
        }
    }

    /** What the collector and the system do to any thread that sleeps for the period again and again. */
    private static final class BareProbe extends Thread {
        final Histogram lateness = lateness();
        private volatile boolean over;

        @Override
        public void run() {
            while (!over) {
                long deadline = System.nanoTime() + PROBE_PERIOD;
                long left = PROBE_PERIOD;
                while (left > 0) {
                    LockSupport.parkNanos(left);
                    left = deadline - System.nanoTime();
                }
                lateness.recordValue(-left);
            }
        }

        void end() throws InterruptedException {
            over = true;
            join();
        }
    }
}
