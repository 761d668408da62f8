package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.harness.Results;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A table of plain figures is compared with the results cell by cell. */
class CellTableTest {
    private static final String HEAD = "<!--cells of a.csv, by src/test-cells.txt-->\n| | ours | theirs |\n|---|--:|--:|\n";
    private static final String TABLE =
            "before\n" + HEAD + "| set it, ns | 40 | 80 |\n| late by, half / most, µs | 4 / 9 | 5 / 7 |\n\nafter | 1 |\n";

    private final Results results = new Results();

    CellTableTest() {
        List<Results.Figure> figures = new ArrayList<>();
        figures.add(new Results.Figure("startstop", "25.0.3", "pending=0", "PENDULA", 1, "cpu_ns", 40));
        figures.add(new Results.Figure("startstop", "25.0.3", "pending=0", "STPE", 1, "cpu_ns", 80));
        figures.add(new Results.Figure("frontier", "25.0.3", "rate=9", "PENDULA", 1, "p50_us", 4));
        figures.add(new Results.Figure("frontier", "25.0.3", "rate=9", "PENDULA", 1, "p99_us", 9));
        figures.add(new Results.Figure("frontier", "25.0.3", "rate=9", "HWT", 1, "p50_us", 5));
        figures.add(new Results.Figure("frontier", "25.0.3", "rate=9", "HWT", 1, "p99_us", 7));
        results.add(figures);
    }

    @Test
    void firstDifference_figuresOfResults_isNull() {
        String table = CellTable.renewed(TABLE, results);
        assertNull(CellTable.firstDifference(table, results));
        assertEquals(1, CellTable.count(table));
    }

    @Test
    void renewed_changedFigures_areCorrectedAndTheRestStays() {
        String table = CellTable.renewed(TABLE, results);
        assertTrue(table.startsWith("before\n" + HEAD) && table.endsWith("|\n\nafter | 1 |\n"), table);
        assertEquals(table, CellTable.renewed(table.replace("| 40", "| 41"), results));
        assertEquals(table, CellTable.renewed(TABLE.replace("| set it, ns | 40 | 80 |\n", ""), results));
    }

    @Test
    void firstDifference_anyChangedCell_isNamed() {
        String table = CellTable.renewed(TABLE, results);
        for (String cell : List.of("set it, ns", "40", "80", "late by, half / most, µs", "4 / 9", "5 / 7")) {
            String changed = table.replace("| " + cell + " |", "| other |");
            String difference = CellTable.firstDifference(changed, results);
            assertTrue(difference != null && difference.contains("is 'other', but must be '" + cell + "'"), cell);
        }
    }

    @Test
    void firstDifference_rowOrCellMissing_isNamed() {
        String table = CellTable.renewed(TABLE, results);
        assertTrue(CellTable.firstDifference(table.replaceFirst("\\| set it.*\n", ""), results).contains("has 2 rows"));
        assertTrue(CellTable.firstDifference(table.replace("| set it, ns |", "|"), results).contains("must have 3 cells"));
    }

    @Test
    void firstDifference_resourceMissing_isRejected() {
        assertThrows(IllegalArgumentException.class,
                () -> CellTable.firstDifference(TABLE.replace("test-cells", "other"), results));
    }
}
