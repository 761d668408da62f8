package io.pendula.examples;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
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
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * The load of a server, the same for every contender: half of the timers are timeouts of requests, of which nineteen
 * in twenty are stopped since the answer comes; the other half are idle timeouts of open connections, which each
 * message resets. The load comes at a steady pace, whatever a contender makes of it.
 */
final class Traffic {
    static final int CONNECTIONS = 10_000;
    /** One request of so many gets no answer. */
    static final int UNANSWERED = 20;
    private static final long MIN_LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long MAX_LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long IDLE_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final long BATCH_NANOS = 5_000_000;
    private static final long TRACKABLE_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final long SEED = 0x9E3779B97F4A7C15L;
    private static final long LOOK_MILLIS = 50;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** What the traffic was like. Times are in nanoseconds; {@code complaints} is empty if all was as it must be. */
    record Outcome(Storm.Counts counts, long untrue, Histogram lateness, double perCall, long cpuNanos, long wallNanos,
            List<String> complaints) {
        double cpuPerTimer() {
            return (double) cpuNanos / Math.max(1, counts.armed());
        }

        /** The share of one processor that the threads of the program took. */
        double processors() {
            return (double) cpuNanos / wallNanos;
        }
    }

    /** A timeout of a request: its value counts its firings. */
    private final class Request extends AtomicInteger implements Shot {
        private static final long serialVersionUID = 1;

        private transient Object handle;
        private transient long sent;
        private transient long due;
        private transient boolean stopped;

        @Override
        public void run() {
            long late = System.nanoTime() - due;
            incrementAndGet();
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
    }

    /** An idle timeout of a connection, which never fires as messages come often enough. */
    private final class Idle implements Shot {
        private Object handle;

        @Override
        public void run() {
            idleFired.increment();
        }

        @Override
        public Object handle() {
            return handle;
        }

        @Override
        public void handle(Object h) {
            handle = h;
        }
    }

    private final Contender contender;
    private final int rate;
    private final int threads;
    private final long span;
    private final Idle[] connections = new Idle[CONNECTIONS];
    private final LongAdder armed = new LongAdder();
    private final LongAdder stopped = new LongAdder();
    private final LongAdder reset = new LongAdder();
    private final LongAdder early = new LongAdder();
    private final LongAdder idleFired = new LongAdder();
    private final LongAdder calls = new LongAdder();
    private final LongAdder callNanos = new LongAdder();
    private final Recorder lateness = new Recorder(TRACKABLE_NANOS, 3);
    private final Histogram latenesses = new Histogram(TRACKABLE_NANOS, 3);
    private Histogram interval;
    private long cpuAtEnd;

    /**
     * Prepares a load.
     *
     * @param rate how many timers are armed in a second, resets included
     * @param threads how many threads make the load
     * @param span for how many nanoseconds
     */
    Traffic(Contender contender, int rate, int threads, long span) {
        this.contender = contender;
        this.rate = rate;
        this.threads = threads;
        this.span = span;
        for (int i = 0; i < CONNECTIONS; i++) {
            connections[i] = new Idle();
        }
    }

    /** Runs the load, and closes the contender at the end. */
    Outcome run(Storm.Watcher watcher) throws InterruptedException {
        return run(watcher, PATIENCE_NANOS);
    }

    /**
     * Runs the load, and closes the contender at the end.
     *
     * @param patience for how many nanoseconds timeouts that have not fired are waited for
     */
    Outcome run(Storm.Watcher watcher, long patience) throws InterruptedException {
        for (Idle c : connections) {
            contender.arm(c, IDLE_LIMIT_NANOS);
        }
        armed.add(CONNECTIONS);
        long start = System.nanoTime();
        long cpu = threadsCpu();
        List<Request> requests = load(start, watcher);
        long wall = System.nanoTime() - start;
        cpu = cpuAtEnd - cpu;
        for (long end = System.nanoTime() + patience; look(watcher) > 0 && System.nanoTime() - end < 0;) {
            Thread.sleep(LOOK_MILLIS);
        }
        for (Idle c : connections) {
            if (contender.stop(c)) {
                stopped.increment();
            }
        }
        contender.close();
        look(watcher);
        return outcome(requests, cpu, wall);
    }

    /** Returns all requests when the last one has been answered or left without an answer. */
    private List<Request> load(long start, Storm.Watcher watcher) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads, Storm::daemon);
        List<Request> requests = new ArrayList<>();
        try {
            List<Future<List<Request>>> parts = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int number = t;
                parts.add(pool.submit(() -> part(number, start)));
            }
            for (Future<List<Request>> part : parts) {
                while (!part.isDone()) {
                    Thread.sleep(LOOK_MILLIS);
                    look(watcher);
                }
                requests.addAll(part.get());
            }
            cpuAtEnd = threadsCpu(); // while all threads are there
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
        return requests;
    }

    /**
     * What all threads of the program have used. The JVM's own are left out: in so short a run its compiler uses more
     * than all others, and does not depend on the load.
     */
    private static long threadsCpu() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (long id : threads.getAllThreadIds()) {
            sum += Math.max(0, threads.getThreadCpuTime(id)); // -1 if it has ended
        }
        return sum;
    }

    /** One thread's part: every five milliseconds its share of requests, answers and messages. */
    private List<Request> part(int number, long start) {
        List<Request> requests = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(SEED + number);
        int own = CONNECTIONS / threads;
        double perBatch = rate / 2.0 / threads * BATCH_NANOS / 1e9;
        double owed = 0;
        int answered = 0;
        for (long b = 0, batches = span / BATCH_NANOS; b < batches || answered < requests.size(); b++) {
            while (start + b * BATCH_NANOS - System.nanoTime() > 0) {
                LockSupport.parkNanos(start + b * BATCH_NANOS - System.nanoTime());
            }
            long before = System.nanoTime();
            int first = requests.size();
            int firstAnswer = answered;
            for (; answered < first && before - requests.get(answered).sent >= ANSWER_NANOS; answered++) {
                if ((answered + 1) % UNANSWERED != 0) {
                    answer(requests.get(answered));
                }
            }
            if (b < batches) {
                for (owed += perBatch; owed >= 1; owed--) {
                    requests.add(send(random.nextLong(MIN_LIMIT_NANOS, MAX_LIMIT_NANOS)));
                    message(connections[number * own + random.nextInt(own)]);
                }
            }
            callNanos.add(System.nanoTime() - before);
            calls.add((answered - firstAnswer) + 2L * (requests.size() - first));
        }
        return requests;
    }

    private Request send(long limit) {
        Request r = new Request();
        r.sent = System.nanoTime();
        r.due = r.sent + limit;
        contender.arm(r, limit);
        armed.increment();
        return r;
    }

    private void answer(Request r) {
        if (contender.stop(r)) {
            r.stopped = true;
            stopped.increment();
        }
    }

    private void message(Idle c) {
        if (contender.postpone(c, IDLE_LIMIT_NANOS)) {
            reset.increment();
        }
        armed.increment();
    }

    /** Returns how many requests have neither been answered nor run into their timeout. */
    private long look(Storm.Watcher watcher) {
        interval = lateness.getIntervalHistogram(interval);
        latenesses.add(interval);
        long fired = latenesses.getTotalCount();
        long pending = Math.max(0, armed.sum() - stopped.sum() - reset.sum() - fired);
        watcher.see(fired, stopped.sum(), pending);
        return pending - CONNECTIONS;
    }

    private Outcome outcome(List<Request> requests, long cpu, long wall) {
        long untrue = 0;
        long wrong = 0;
        for (Request r : requests) {
            if (r.stopped && r.get() == 1 && !contender.keepsItsWord()) {
                r.stopped = false;
                stopped.decrement();
                untrue++;
            }
            wrong += r.get() + (r.stopped ? 1 : 0) == 1 ? 0 : 1;
        }
        Storm.Counts counts = new Storm.Counts(armed.sum(), latenesses.getTotalCount() + idleFired.sum(), stopped.sum(),
                reset.sum());
        List<String> complaints = new ArrayList<>();
        if (!counts.addUp()) {
            complaints.add("the counts do not add up: " + counts);
        }
        if (early.sum() > 0) {
            complaints.add(early.sum() + " timers fired early");
        }
        if (wrong > 0) {
            complaints.add(wrong + " timeouts fired too often, too seldom or after they were stopped");
        }
        if (idleFired.sum() > 0) {
            complaints.add(idleFired.sum() + " idle timeouts fired, though none was due");
        }
        String objection = contender.objection(counts);
        if (objection != null) {
            complaints.add(objection);
        }
        return new Outcome(counts, untrue, latenesses, (double) callNanos.sum() / Math.max(1, calls.sum()), cpu, wall,
                complaints);
    }
}
