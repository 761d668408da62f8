package io.pendula.benchmarks.gobench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.cases.Cases;
import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Subject;
import io.pendula.benchmarks.peers.SchedulerType;
import io.pendula.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GoBenchCaseTest {
    private static final List<SchedulerType> TYPES = List.of(SchedulerType.PENDULA, SchedulerType.GO_1_9,
            SchedulerType.GO_1_9_HANDED, SchedulerType.GO_1_10, SchedulerType.GO_1_10_HANDED, SchedulerType.GO_1_14,
            SchedulerType.STPE);

    static Stream<Arguments> pairs() {
        List<String> names = new ArrayList<>(GoOp.NAMES);
        names.add("context");
        return names.stream().flatMap(name -> TYPES.stream().map(type -> Arguments.of(name, type)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void some_operation_endsAgainAndAgain(String name, SchedulerType type) throws InterruptedException {
        int count = name.equals("adjust10000") ? 10_000 : name.equals("context") ? 10 : 1_000;
        Goroutines goroutines = new Goroutines(2);
        try (Rival rival = type.open(SchedulerType.AS_BUILT)) {
            GoOp op = GoOp.named(name, rival, goroutines);
            for (int i = 0; i < 5; i++) {
                assertEquals(count, op.some());
            }
        } finally {
            goroutines.shutdownNow();
        }
    }

    @Test
    void named_unknown_isRejected() {
        String message = assertThrows(IllegalArgumentException.class, () -> GoOp.named("snooze", null, null))
                .getMessage();
        assertTrue(message.contains("'snooze'") && message.contains("afterfunc"), message);
    }

    @ParameterizedTest
    @CsvSource({"GO_1_9, afterfunc, GO_1_9_HANDED", "GO_1_10, simultaneous, GO_1_10_HANDED", "GO_1_9, after, GO_1_9",
        "GO_1_10, ticker, GO_1_10", "GO_1_14, afterfunc, GO_1_14", "PENDULA, parallel, PENDULA"})
    void opened_designBefore114_handsCallbacksOfAfterFuncOver(String subject, String op, String opened) {
        assertEquals(opened, GoBenchCase.opened(Subject.of(subject), op).spec());
    }

    @Test
    void cells_namesOfOperations_areKnownToJavaAndGo() {
        Set<String> ops = new GoBenchCase().cells().stream().map(cell -> cell.get("op")).collect(Collectors.toSet());
        ops.removeAll(Set.of("parallel", "staggered"));
        Goroutines goroutines = new Goroutines(1);
        ops.forEach(op -> GoOp.named(op, null, goroutines));
        goroutines.shutdownNow();
        assertEquals(GoOp.NAMES.size() + 1, ops.size());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "op=afterfunc procs=1                       | wall_ns cpu_ns",
        "op=context contexts=40 procs=2             | wall_ns cpu_ns",
        "op=parallel procs=2                        | late_us late_p99_us late_max_us",
        "op=staggered workUs=300 tickers=1 procs=1  | late_us late_p99_us late_max_us lost",
    })
    void measure_cell_hasItsFiguresOnSoManyProcessors(String cell, String figures) throws Exception {
        Launch launch = new Launch(Cases.named("gobench"), CellText.parse(cell), Subject.of("GO_1_10"),
                Launch.Jvm.present(), CellText.parse("warmMs=20 windowMs=30 windows=1"));
        List<Launch.Part> parts;
        try {
            parts = launch.run();
        } catch (Launch.Skipped e) {
            assertTrue(e.getMessage().contains("processors"), e.getMessage()); // so many are not to be had here
            return;
        }
        Map<String, Double> found = parts.get(0).figures();
        found.remove("switches"); // Linux only
        assertEquals(Set.of(figures.split(" ")), found.keySet());
        assertFalse(found.values().stream().anyMatch(value -> value.isNaN() || value < 0), found::toString);
    }

    @Test
    void table_stepsBetweenDesigns_standBesideThoseOfTheCommits() {
        Results results = new Results();
        add(results, "op=stop procs=1", "GO_1_9", 200);
        add(results, "op=stop procs=1", "GO_1_10", 100);
        add(results, "op=stop procs=2", "GO_1_10", 100);
        add(results, "op=stop procs=2", "GO_1_14", 112.5);
        String table = GoClaims.table(results);
        assertTrue(table.contains("| stop | 76f4fd8a52, 1.10, 4 processors | -60 % | GO_1_9 to GO_1_10 | 25 | -50 % |  |"),
                table);
        assertTrue(table.contains("| stop | 6becb03334, 1.14, 12 processors | -6 % | GO_1_10 to GO_1_14 | 25 |  | +12.5 % |"),
                table);
        assertFalse(table.contains("afterfunc"), table);
    }

    @Test
    void table_nothingMeasured_isEmpty() {
        assertEquals("", GoClaims.table(new Results()));
    }

    @Test
    void published_operations_areThoseOfTheCase() {
        GoClaims.PUBLISHED.forEach(claim -> assertTrue(GoOp.NAMES.contains(claim.op()), claim::toString));
    }

    private static void add(Results results, String cell, String subject, double value) {
        results.add(List.of(new Results.Figure("gobench", "25", cell, subject, 1, "wall_ns", value)));
    }
}
