package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.loads.Load;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What the parts cost of which every scheduler is made: none can do with less. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class FloorBenchmark {
    private static final int HEAP = 100_000;
    private static final long PARK = 100_000;

    private final AtomicLong word = new AtomicLong();
    private final PriorityQueue<Long> heap = new PriorityQueue<>();
    private final Load random = new Load(1) {
        @Override
        public void step() {}
    };
    private Thread partner;
    private volatile Thread asker;
    private volatile boolean asked;
    private volatile boolean closed;

    @Setup
    public void fill() {
        for (int i = 0; i < HEAP; i++) {
            heap.add(random.farDelay());
        }
        partner = new Thread(this::answer, "partner");
        partner.setDaemon(true);
        partner.start();
    }

    @TearDown
    public void close() {
        closed = true;
        LockSupport.unpark(partner);
    }

    @Benchmark
    public long clock() {
        return System.nanoTime();
    }

    @Benchmark
    public boolean cas() {
        long seen = word.get();
        return word.compareAndSet(seen, seen + 1);
    }

    /** As many bytes as a future of the JDK has. */
    @Benchmark
    public Object allocate() {
        return new long[6];
    }

    /** One entry in and the earliest out of a binary heap of 100,000. */
    @Benchmark
    public Long heap() {
        heap.add(random.farDelay());
        return heap.poll();
    }

    /** A sleep of 100 us, whose processor time is what counts. */
    @Benchmark
    public void park() {
        LockSupport.parkNanos(this, PARK);
    }

    /** Waking a thread that sleeps and being woken by it: two hand-overs. */
    @Benchmark
    public void unpark() {
        asker = Thread.currentThread();
        asked = true;
        LockSupport.unpark(partner);
        while (asked) {
            LockSupport.park(this);
        }
    }

    private void answer() {
        while (!closed) {
            if (asked) {
                asked = false;
                LockSupport.unpark(asker);
            }
            LockSupport.park(this);
        }
    }
}
