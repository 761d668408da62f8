package io.pendula.benchmarks.jmh;

import io.pendula.benchmarks.harness.ProcessorTime;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Processor time of the whole process per operation: what a scheduler does on threads of its own, and what the garbage
 * collector does for it, counts too.
 */
public final class CpuProfiler implements InternalProfiler {
    static final String LABEL = "cpu";

    private long before;

    @Override
    public String getDescription() {
        return "processor time of the process per operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = ProcessorTime.ofProcess();
    }

    @Override
    public Collection<ScalarResult> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        double nanos = ProcessorTime.ofProcess() - before;
        return List.of(new ScalarResult(LABEL, nanos / result.getMetadata().getAllOps(), "ns/op",
                AggregationPolicy.AVG));
    }
}
