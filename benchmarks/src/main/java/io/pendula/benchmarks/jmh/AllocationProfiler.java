package io.pendula.benchmarks.jmh;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/** What all threads together allocate per operation, the scheduler's too. */
public final class AllocationProfiler implements InternalProfiler {
    static final String LABEL = "allocated";

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final Method TOTAL = total();

    private long before;

    @Override
    public String getDescription() {
        return "bytes that the process allocates per operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = allocated();
    }

    @Override
    public Collection<ScalarResult> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        double bytes = allocated() - before;
        return List.of(new ScalarResult(LABEL, bytes / result.getMetadata().getAllOps(), "B/op",
                AggregationPolicy.AVG));
    }

    /** Before JDK 21 a thread that ends takes its part away. */
    private static long allocated() {
        try {
            return TOTAL == null ? Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
                    .filter(bytes -> bytes > 0).sum() : (long) TOTAL.invoke(THREADS);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Method total() {
        try {
            return ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
