package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.pendula.benchmarks.harness.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** README and docs say what was measured: each figure with a source is recomputed from the results. */
class PublishedFiguresTest {
    private static final Path ROOT = Path.of("..");
    private static final String RENEW = "not what report.csv gives; 'report --draw' renews it";

    @Test
    void markedFigures_ofReadmeAndDocs_areThoseOfTheResults() throws IOException {
        Results results = Results.read(ROOT.resolve("benchmarks/results").resolve(Report.FIGURES));
        int marks = 0;
        for (Path file : Marks.files(ROOT)) {
            String text = Files.readString(file);
            marks += Marks.count(text);
            String difference = Marks.firstDifference(text, results);
            if (difference != null) {
                fail(ROOT.relativize(file) + ": " + difference + "; 'report --draw --publish' renews it");
            }
        }
        assertTrue(marks > 0, "no marks found");
    }

    @Test
    void table_ofTheReadme_hasTheFiguresOfTheResults() throws IOException {
        Results results = Results.read(ROOT.resolve("benchmarks/results").resolve(Report.FIGURES));
        String readme = Files.readString(ROOT.resolve("README.md"));
        assertEquals(1, CellTable.count(readme));
        assertNull(CellTable.firstDifference(readme, results), "'report --draw --publish' renews it");
        assertEquals(readme, CellTable.renewed(readme, results));
    }

    @ParameterizedTest
    @ValueSource(strings = {"benchmarks/results", "benchmarks/results-full", "benchmarks/results-history"})
    void tables_ofTheResults_areThoseOfTheirFigures(String results, @TempDir Path again) throws IOException {
        Path folder = ROOT.resolve(results);
        Tables.write(Report.measured(folder), again);
        assertEquals(Files.readString(folder.resolve("tables.md")), Files.readString(again.resolve("tables.md")), RENEW);
        ObjectMapper json = new ObjectMapper(); // how its lines are broken does not matter
        assertEquals(json.readTree(folder.resolve("report.json").toFile()),
                json.readTree(again.resolve("report.json").toFile()), RENEW);
    }
}
