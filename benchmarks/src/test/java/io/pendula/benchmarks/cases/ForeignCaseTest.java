package io.pendula.benchmarks.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.loads.Purgatory;
import io.pendula.benchmarks.loads.Restarts;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForeignCaseTest {
    @ParameterizedTest
    @CsvSource({"op=million, wall_ms", "op=cancel timers=1000 first=oldest, cpu_ns",
        "op=cancel timers=1000 first=youngest, wall_ns", "op=restart timers=1000 by=cancel, cpu_ns",
        "op=restart timers=50 by=reset, wall_ns", "op=drift, drift_us", "op=purgatory rate=20000, cpu_us"})
    void run_cell_hasFigures(String cell, String figure) throws Exception {
        Map<String, Double> figures = new Launch(Cases.named("foreign"), CellText.parse(cell), Subject.of("PENDULA"),
                Launch.Jvm.present(), CellText.parse("count=1000 waitMs=100 warmMs=50 windowMs=100 firings=50")).run()
                .get(0).figures();
        assertTrue(figures.get(figure) > 0, figures::toString);
        if (cell.equals("op=million")) {
            assertTrue(figures.get("wall_ms") >= 100, figures::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({"false, 1000", "true, 1000", "false, 50"})
    void step_asManyMessagesAsConnections_restartsEachTimeoutAsOften(boolean byReset, int connections) {
        Map<Object, Integer> armed = new HashMap<>();
        Rival rival = new Rival() {
            private int last;

            @Override
            public Object schedule(long delayNanos, Task task) {
                assertTrue(delayNanos >= 10_000_000_000L && delayNanos < 11_000_000_000L, () -> "delay: " + delayNanos);
                armed.put(++last, 0);
                return last;
            }

            @Override
            public boolean cancel(Object handle) {
                assertTrue(armed.remove(handle) != null, "stopped twice");
                return true;
            }

            @Override
            public Object reset(Object handle, long delayNanos, Task task) {
                armed.merge(handle, 1, Integer::sum);
                return handle;
            }

            @Override
            public void close() {}
        };
        Restarts restarts = new Restarts(rival, connections, byReset);
        int turns = Math.max(1, 100 / connections);
        for (int i = 0; i < turns * connections; i++) {
            restarts.step();
        }
        assertEquals(connections, armed.size());
        if (byReset) {
            assertEquals(Set.of(turns), Set.copyOf(armed.values()));
        } else {
            assertTrue(armed.keySet().stream().allMatch(handle -> (int) handle > connections), armed::toString);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDULA", "STPE", "HWT", "KAFKA", "NETTY_EXECUTOR", "GO_1_14"})
    void run_purgatory_answersMostAndExpiresSome(SchedulerType type) throws InterruptedException {
        try (Rival rival = type.open(SchedulerType.AS_BUILT)) {
            Purgatory purgatory = Purgatory.run(rival, 5_000, 400);
            assertEquals(2_000, purgatory.requests());
            long expired = purgatory.lateness().getTotalCount();
            assertTrue(expired > 50 && expired < 600, () -> "expired: " + expired);
        }
    }

    @ParameterizedTest
    @CsvSource({"PENDULA_POOL, by=caller tasks=1", "PENDULA_POOL, by=run tasks=100", "STPE, by=caller tasks=100",
        "NETTY_EXECUTOR, by=run tasks=100"})
    void run_delayed_hasFigures(String subject, String cell) throws Exception {
        assertDelayed(subject, cell);
    }

    @Test
    void run_delayedCancelledByVirtualThreads_hasFiguresWhereThereAreAny() throws Exception {
        if (Runtime.version().feature() >= 21) {
            assertDelayed("PENDULA_POOL", "by=virtual tasks=100");
        } else {
            Launch.Skipped skipped = assertThrows(Launch.Skipped.class,
                    () -> assertDelayed("PENDULA_POOL", "by=virtual tasks=100"));
            assertEquals("no virtual threads before JDK 21", skipped.getMessage());
        }
    }

    private static void assertDelayed(String subject, String cell) throws Exception {
        Map<String, Double> figures = new Launch(Cases.named("delayed"), CellText.parse(cell), Subject.of(subject),
                Launch.Jvm.present(), CellText.parse("warmMs=20 windowMs=50 windows=2")).run().get(0).figures();
        assertTrue(figures.get("round_us") > 0, figures::toString);
    }

    @Test
    void mostResident_status_isInMegabytes() {
        assertEquals(2, ForeignCase.mostResident(List.of("VmPeak:\t 9999 kB", "VmHWM:\t    2048 kB", "VmRSS:\t 1 kB")));
    }
}
