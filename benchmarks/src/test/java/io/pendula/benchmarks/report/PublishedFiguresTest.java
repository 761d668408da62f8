package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.pendula.benchmarks.harness.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** README and docs say what was measured: each marked figure is recomputed from the results. */
class PublishedFiguresTest {
    private static final Path ROOT = Path.of("..");

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

    @ParameterizedTest
    @ValueSource(strings = {"benchmarks/results", "benchmarks/results-full", "benchmarks/results-history"})
    void tables_ofTheResults_areThoseOfTheirFigures(String results) throws IOException {
        Path folder = ROOT.resolve(results);
        Path again = Files.createTempDirectory("tables");
        try {
            Tables.write(Report.measured(folder), again);
            for (String name : new String[] {"tables.md", "report.json"}) {
                Path copy = again.resolve(name);
                assertTrue(Files.mismatch(folder.resolve(name), copy) == -1,
                        name + " is not what report.csv gives; 'report --draw' renews it");
                Files.delete(copy);
            }
        } finally {
            Files.delete(again);
        }
    }
}
