package io.pendula;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
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

    /** A thread that ends takes its part away; here none does within an iteration. */
    private static long allocated() {
        return Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())).filter(b -> b > 0).sum();
    }
}
