package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.Histogram;
import com.codahale.metrics.Meter;
import com.codahale.metrics.MetricFilter;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.ScheduledReporter;
import com.codahale.metrics.Timer;
import java.util.List;
import java.util.Queue;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Dropwizard's reporters: stop() reports once more, and shuts the executor down if it may. */
class MetricsTest {
    private static final long PERIOD = 10;

    private static final class Reporter extends ScheduledReporter {
        final Queue<Long> instants = new ConcurrentLinkedQueue<>();
        final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        final CountDownLatch reports;

        private final int throwing;

        /** Throws in the report of this number; 0 means never. */
        Reporter(ScheduledExecutorService executor, boolean shutdownOnStop, int reports, int throwing) {
            super(new MetricRegistry(), "test", MetricFilter.ALL, TimeUnit.SECONDS, TimeUnit.SECONDS, executor,
                    shutdownOnStop);
            this.reports = new CountDownLatch(reports);
            this.throwing = throwing;
        }

        @Override
        @SuppressWarnings("rawtypes")
        public void report(SortedMap<String, Gauge> gauges, SortedMap<String, Counter> counters,
                SortedMap<String, Histogram> histograms, SortedMap<String, Meter> meters,
                SortedMap<String, Timer> timers) {
            instants.add(System.nanoTime());
            threads.add(Thread.currentThread());
            reports.countDown();
            if (instants.size() == throwing) {
                throw new IllegalStateException("meant");
            }
        }
    }

    /** 200 reporters of nothing, each 100 times, as often as they can with a delay of 10 ms. */
    static void report(ScheduledExecutorService executor) {
        List<Reporter> reporters = Stream.generate(() -> new Reporter(executor, false, 100, 0))
                .limit(200)
                .toList();
        reporters.forEach(reporter -> reporter.start(PERIOD, TimeUnit.MILLISECONDS));
        reporters.forEach(reporter -> Patience.await(reporter.reports));
        reporters.forEach(Reporter::stop);
    }

    @ParameterizedTest
    @EnumSource
    void reports_areADelayApart_alsoAfterOneThatThrew_untilStop(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Reporter reporter = new Reporter(subject.executor, false, 20, 2);
            long start = System.nanoTime();
            reporter.start(PERIOD, TimeUnit.MILLISECONDS);
            Patience.await(reporter.reports);
            reporter.stop();
            subject.letRunsEnd();
            int reports = reporter.instants.size();
            subject.letPass(5 * PERIOD);
            assertEquals(reports, reporter.instants.size());
            Patience.assertElapsed(PERIOD, start, reporter.instants.element());
            assertEquals(1, reporter.threads.stream().filter(Thread.currentThread()::equals).count());
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void stop_shutsTheExecutorDown_ifItMay(ExecutorKind kind) {
        try (Subject subject = kind.open(2)) {
            Reporter reporter = new Reporter(subject.executor, true, 1, 0);
            reporter.start(0, 1, TimeUnit.HOURS);
            Patience.await(reporter.reports);
            reporter.stop();
            subject.assertShutDown();
            assertEquals(2, reporter.instants.size());
        }
    }
}
