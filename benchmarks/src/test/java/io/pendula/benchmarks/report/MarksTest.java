package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.harness.Results;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Figures in Markdown are those of the results, or it is said which are not. */
class MarksTest {
    private static final String CELL = "inFlight=1000 pending=0";

    private final Results results = new Results();

    MarksTest() {
        List<Results.Figure> figures = new ArrayList<>();
        double[] ours = {40, 47.2, 60};
        double[] theirs = {80, 94, 240};
        for (int round = 1; round <= 3; round++) {
            figures.add(new Results.Figure("startstop", "25.0.3", CELL, "PENDULA", round, "cpu_ns", ours[round - 1]));
            figures.add(new Results.Figure("startstop", "25.0.3", CELL, "STPE", round, "cpu_ns", theirs[round - 1]));
            figures.add(new Results.Figure("startstop", "25.0.3", "inFlight=1000 pending=9", "PENDULA", round, "cpu_ns",
                    100));
            figures.add(new Results.Figure("startstop", "17.0.15", CELL, "PENDULA", round, "cpu_ns", 55));
        }
        results.add(figures);
    }

    @Test
    void firstDifference_figureOfResults_isNull() {
        assertNull(Marks.firstDifference("It costs <!--figure startstop; pending=0; PENDULA; cpu_ns-->47.2"
                + "<!--/figure--> ns, on 17 <!--figure startstop; java=17 pending=0; PENDULA; cpu_ns-->55<!--/figure-->.",
                results));
    }

    @Test
    void firstDifference_ratio_isMedianOfRatios() {
        assertNull(Marks.firstDifference("<!--figure startstop; pending=0; PENDULA / STPE; cpu_ns-->0.50<!--/figure-->",
                results));
    }

    @Test
    void firstDifference_changedFigure_isNamed() {
        String difference = Marks.firstDifference(
                "<!--figure startstop; pending=0; PENDULA; cpu_ns-->47.3<!--/figure-->", results);
        assertEquals("figure startstop; pending=0; PENDULA; cpu_ns is '47.3', but the results say '47.2'", difference);
    }

    @Test
    void firstDifference_changedTable_isNamed() {
        String table = Marks.renewed("<!--table startstop; inFlight=1000; PENDULA, STPE; cpu_ns--><!--/table-->",
                results);
        assertTrue(table.contains("| 0 | **47.2** | 94 |"), table);
        assertTrue(table.contains("| 9 | **100** |  |"), table);
        assertNull(Marks.firstDifference(table, results));
        assertTrue(Marks.firstDifference(table.replace("| 94 |", "| 84 |"), results).contains("| 94 |"));
    }

    @Test
    void renewed_table_marksAllThatAreLevelWithTheBest() {
        results.add(List.of(new Results.Figure("startstop", "25.0.3", CELL, "HWT", 1, "cpu_ns", 51.9),
                new Results.Figure("startstop", "25.0.3", CELL, "KAFKA", 1, "cpu_ns", 52)));
        String table = Marks.renewed("<!--table startstop; pending=0; PENDULA, HWT, KAFKA; cpu_ns--><!--/table-->", results);
        assertTrue(table.contains("| **47.2** | **51.9** | 52 |"), table);
    }

    @Test
    void renewed_changedFigure_isCorrected() {
        assertEquals("a <!--figure startstop; pending=0; PENDULA; cpu_ns-->47.2<!--/figure--> b", Marks.renewed(
                "a <!--figure startstop; pending=0; PENDULA; cpu_ns-->1<!--/figure--> b", results));
    }

    @Test
    void renewed_exampleInBlockOfCode_isLeftAlone() {
        String text = "```\n<!--figure startstop; pending=0; PENDULA; cpu_ns-->1<!--/figure-->\n```\n";
        assertEquals(text, Marks.renewed(text, results));
        assertEquals(0, Marks.count(text));
    }

    @Test
    void firstDifference_settingsOfTwoCells_areRejected() {
        String message = assertThrows(IllegalArgumentException.class, () -> Marks.firstDifference(
                "<!--figure startstop; inFlight=1000; PENDULA; cpu_ns-->1<!--/figure-->", results)).getMessage();
        assertTrue(message.contains("must choose one cell"), message);
    }

    @Test
    void firstDifference_figureNotMeasured_isRejected() {
        assertThrows(IllegalArgumentException.class, () -> Marks.firstDifference(
                "<!--figure startstop; pending=7; PENDULA; cpu_ns-->1<!--/figure-->", results));
        assertThrows(IllegalArgumentException.class, () -> Marks.firstDifference(
                "<!--figure startstop; pending=0; HWT; cpu_ns-->1<!--/figure-->", results));
        assertThrows(IllegalArgumentException.class, () -> Marks.firstDifference(
                "<!--table startstop; pending=0; PENDULA, HWT; cpu_ns-->1<!--/table-->", results));
    }

    @Test
    void renewed_behind_listsTheWorstFirst() {
        results.add(List.of(new Results.Figure("startstop", "25.0.3", CELL, "HWT", 1, "cpu_ns", 20),
                new Results.Figure("startstop", "25.0.3", "inFlight=1000 pending=9", "HWT", 1, "cpu_ns", 10)));
        String text = Marks.renewed("<!--behind 1-->?<!--/behind-->", results);
        assertTrue(text.contains("* startstop inFlight=1000 pending=9, cpu_ns: PENDULA 100, HWT 10\n* and 1 more"),
                text);
        assertTrue(text.contains("JDK 25:") && text.contains("JDK 17:"), text);
    }

    @Test
    void renewed_behindOnAnotherJdk_isListedThere() {
        results.add(List.of(new Results.Figure("startstop", "17.0.15", CELL, "HWT", 1, "cpu_ns", 11)));
        String text = Marks.renewed("<!--behind 1-->?<!--/behind-->", results);
        assertTrue(text.contains("JDK 17:\n\n* startstop " + CELL + ", cpu_ns: PENDULA 55, HWT 11"), text);
    }
}
