package io.pendula.benchmarks.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.harness.CellText;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Subject;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The designs of the history in the cases beside those of JMH: each runs, and says where it cannot. */
class DesignsCasesTest {
    private static Launch launch(String name, String cell, String subject) {
        return new Launch(Cases.named(name), CellText.parse(cell), Subject.of(subject), Launch.Jvm.present(),
                CellText.parse("warmMs=10 rates=1000 firings=100 spanMs=100"));
    }

    @ParameterizedTest
    @CsvSource({"frontier, busy=false, GO_1_10_P, p50_us, switches",
        "blocked, blocked=one armed=outside workers=2, GO_1_10_HANDED, p50_us, switches",
        "wakeups, '', WHEEL_10MS, idle_sleeps, falling_sleeps",
        "pause, putOff=10000 due=far, GO_1_14, worst_late_us, worst_probe_us",
        "pause, putOff=10000 due=near, GOIM, worst_late_us, worst_probe_us"})
    void run_design_hasFigures(String name, String cell, String subject, String figure, String another)
            throws Exception {
        Map<String, Double> figures = launch(name, cell, subject).run().get(0).figures();
        assertTrue(figures.getOrDefault(figure, -1.0) > 0, figures::toString);
        assertTrue(figures.getOrDefault(another, -1.0) > 0, figures::toString);
    }

    @ParameterizedTest
    @CsvSource({"arming=1, only Pendula tells how long a thread has held its queue's lock",
        "tasks=0, only Pendula has views to be shut down"})
    void run_whatDesignsDoNotHave_isSkipped(String cell, String notice) {
        assertEquals(notice, assertThrows(Launch.Skipped.class, () -> launch("pause", cell, "NGINX").run())
                .getMessage());
    }
}
