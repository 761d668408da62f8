package io.pendula.clients;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Measures the processor time of the same work on the JDK's pool and on Pendula's, in turn, for docs/executor.md. */
@EnabledIfSystemProperty(named = "figures", matches = "true")
class FiguresTest {
    private static final int WARM_UPS = 3;
    private static final int ROUNDS = 5;
    private static final List<ExecutorKind> POOLS = List.of(ExecutorKind.JDK_POOL, ExecutorKind.PENDULA_POOL);

    private interface Work {
        void run(ScheduledExecutorService executor) throws Exception;
    }

    private enum Client {
        AWS(AwsTest::answer),
        BUCKET4J(Bucket4jTest::waitForTokens),
        METRICS(MetricsTest::report),
        MUTINY(MutinyTest::answerInTime),
        PAHO(PahoTest::keepAlive),
        SSHD(SshdTest::beat);

        private final Work work;

        Client(Work work) {
            this.work = work;
        }
    }

    @ParameterizedTest
    @EnumSource
    void processorTime(Client client) throws Exception {
        Map<ExecutorKind, long[]> millis = new EnumMap<>(ExecutorKind.class);
        for (int round = -WARM_UPS; round < ROUNDS; round++) {
            for (ExecutorKind kind : POOLS) {
                long took = millisOf(client.work, kind);
                if (round >= 0) {
                    millis.computeIfAbsent(kind, k -> new long[ROUNDS])[round] = took;
                }
            }
        }
        for (ExecutorKind kind : POOLS) {
            long[] sorted = millis.get(kind);
            Arrays.sort(sorted);
            System.out.printf("%s, %s: %d ms (%d to %d)%n", client, kind, sorted[ROUNDS / 2], sorted[0],
                    sorted[ROUNDS - 1]);
        }
    }

    private static long millisOf(Work work, ExecutorKind kind) throws Exception {
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        try (Subject subject = kind.open(2)) {
            long before = process.getProcessCpuTime();
            work.run(subject.executor);
            return (process.getProcessCpuTime() - before) / 1_000_000;
        }
    }
}
