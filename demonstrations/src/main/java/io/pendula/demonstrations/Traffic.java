package io.pendula.demonstrations;

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
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleConsumer;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * The load of a server, the same for every contender. Nine of ten timers are idle timeouts of open connections, which
 * each message resets. The tenth is the timeout of a request: in nineteen of twenty cases the answer comes and stops it, and
 * the rest fire. Beside them others wait all the time. The load comes at a steady pace, whatever a contender makes of it.
 */
final class Traffic {
    static final int CONNECTIONS = 20_000;
    /** One timer of so many is the timeout of a request. */
    static final int REQUEST = 10;
    /** One request of so many gets no answer. */
    static final int UNANSWERED = 20;
    private static final long MIN_LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long MAX_LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long IDLE_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final long OTHERS_LIMIT_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final long BATCH_NANOS = 5_000_000;
    private static final long TRACKABLE_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final long SEED = 0x9E3779B97F4A7C15L;
    /** A look is work that belongs to no contender, so there are few. */
    private static final long LOOK_MILLIS = 500;
    /** Netty's wheel has a finalizer, and is gone only at the second collection after its round. */
    private static final long FINALIZER_MILLIS = 100;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

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
     * What the traffic was like. Times are in nanoseconds; {@code complaints} is empty if all was as it must be.
     *
     * @param untrue how many timers were stopped or reset, by the word of the contender, and fired all the same
     * @param cpuPerTimer processor time for each timer that was set under load, the load's own included
     * @param bytes by how much the heap grew for each of the others, its callback not included
     */
    record Outcome(Counts counts, long untrue, Histogram lateness, double perCall, double cpuPerTimer, double bytes,
            List<String> complaints) {}

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
    private final Idle[] others;
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
     * Makes the callbacks, so that their memory and the time to allocate them count for no contender.
     *
     * @param others how many timers wait beside the load
     * @param rate how many timers are set in a second, resets included
     * @param threads how many threads make the load
     * @param span for how many nanoseconds
     */
    Traffic(Contender contender, int others, int rate, int threads, long span) {
        this.contender = contender;
        this.others = new Idle[others];
        this.rate = rate;
        this.threads = threads;
        this.span = span;
        for (int i = 0; i < CONNECTIONS; i++) {
            connections[i] = new Idle();
        }
        for (int i = 0; i < others; i++) {
            this.others[i] = new Idle();
        }
    }

    /**
     * Runs the load, and closes the contender at the end.
     *
     * @param watcher is given twice a second how much of the load is over, from 0 to 1
     */
    Outcome run(DoubleConsumer watcher) throws InterruptedException {
        return run(watcher, PATIENCE_NANOS);
    }

    /**
     * Runs the load, and closes the contender at the end.
     *
     * @param patience for how many nanoseconds timeouts that have not fired are waited for
     */
    Outcome run(DoubleConsumer watcher, long patience) throws InterruptedException {
        System.gc();
        Thread.sleep(FINALIZER_MILLIS);
        long before = usedHeap();
        arm(others, OTHERS_LIMIT_NANOS);
        double bytes = (double) (usedHeap() - before) / Math.max(1, others.length);
        arm(connections, IDLE_LIMIT_NANOS);
        long armedBefore = armed.sum();
        long cpu = threadsCpu();
        List<Request> requests = load(System.nanoTime(), watcher);
        double cpuPerTimer = (double) (cpuAtEnd - cpu) / Math.max(1, armed.sum() - armedBefore);
        Thread.sleep(Math.min(patience, MAX_LIMIT_NANOS) / 1_000_000);
        for (long end = System.nanoTime() + patience; look(watcher, 1) > 0 && System.nanoTime() - end < 0;) {
            Thread.sleep(LOOK_MILLIS);
        }
        stop(connections);
        stop(others);
        contender.close();
        look(watcher, 1);
        return outcome(requests, cpuPerTimer, bytes);
    }

    private void arm(Idle[] timers, long limit) {
        for (Idle idle : timers) {
            contender.arm(idle, limit);
        }
        armed.add(timers.length);
    }

    private void stop(Idle[] timers) {
        for (Idle idle : timers) {
            if (contender.stop(idle)) {
                stopped.increment();
            }
        }
    }

    private static long usedHeap() {
        System.gc(); // also, each begins with a tidy heap
        Runtime rt = Runtime.getRuntime();
        return rt.totalMemory() - rt.freeMemory();
    }

    static Thread daemon(Runnable body) {
        Thread t = new Thread(body, "demo");
        t.setDaemon(true);
        return t;
    }

    /** Returns all requests when the last one has been answered or left without an answer. */
    private List<Request> load(long start, DoubleConsumer watcher) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads, Traffic::daemon);
        List<Request> requests = new ArrayList<>();
        try {
            List<Future<List<Request>>> parts = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int number = t;
                parts.add(pool.submit(() -> part(number, start)));
            }
            for (Future<List<Request>> part : parts) {
                requests.addAll(await(part, start, watcher));
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

    private List<Request> await(Future<List<Request>> part, long start, DoubleConsumer watcher)
            throws InterruptedException, ExecutionException {
        for (;;) {
            try {
                return part.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                look(watcher, Math.min(1, (double) (System.nanoTime() - start) / (span + ANSWER_NANOS)));
            }
        }
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
        double perBatch = (double) rate / REQUEST / threads * BATCH_NANOS / 1e9;
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
                    for (int i = 1; i < REQUEST; i++) {
                        message(connections[number * own + random.nextInt(own)]);
                    }
                }
            }
            callNanos.add(System.nanoTime() - before);
            calls.add((answered - firstAnswer) + (long) REQUEST * (requests.size() - first));
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
    private long look(DoubleConsumer watcher, double share) {
        interval = lateness.getIntervalHistogram(interval);
        latenesses.add(interval);
        long fired = latenesses.getTotalCount();
        watcher.accept(share);
        return armed.sum() - stopped.sum() - reset.sum() - fired - CONNECTIONS - others.length;
    }

    private Outcome outcome(List<Request> requests, double cpuPerTimer, double bytes) {
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
        Counts counts = new Counts(armed.sum(), latenesses.getTotalCount() + idleFired.sum(), stopped.sum(),
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
            complaints.add(idleFired.sum() + " idle timeouts and others fired, though none was due");
        }
        String objection = contender.objection(counts);
        if (objection != null) {
            complaints.add(objection);
        }
        return new Outcome(counts, untrue, latenesses, (double) callNanos.sum() / Math.max(1, calls.sum()),
                cpuPerTimer, bytes, complaints);
    }
}
