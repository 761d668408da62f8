package io.pendula.benchmarks.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
    private static Results.Figure figure(String subject, int round, double value) {
        return new Results.Figure("reset", "25", "threads=1", subject, round, "cpu_ns", value);
    }

    @Test
    void read_whatWasAppended_isTheSame(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("a/b.csv");
        Results.create(file, Map.of("commit", "abc: d"));
        Results.append(file, List.of(figure("PENDULA", 1, 12.5)));
        Results.append(file, List.of(figure("STPE", 1, 25)));
        Results read = Results.read(file);
        assertEquals(Map.of("commit", "abc: d"), read.about());
        assertEquals(List.of(figure("PENDULA", 1, 12.5), figure("STPE", 1, 25)), read.figures());
    }

    @Test
    void read_brokenLine_isRejected(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("b.csv");
        Results.create(file, Map.of());
        Files.writeString(file, Files.readString(file) + "reset,25,threads=1\n");
        String message = assertThrows(IOException.class, () -> Results.read(file)).getMessage();
        assertTrue(message.contains("expected 7, found 3") && message.contains("line: 2"), message);
    }

    @Test
    void read_otherColumns_areRejected(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("b.csv");
        Files.writeString(file, "case,java,cell,subject,round,value,figure\n");
        assertThrows(IOException.class, () -> Results.read(file));
    }

    @Test
    void spread_ofFour_hasTheMeanOfTheInnerTwo() {
        assertEquals(new Results.Spread(2.5, 1, 9), Results.Spread.of(9, 1, 3, 2));
    }

    @Test
    void ratio_ofRounds_isTakenRoundByRound() {
        Results results = new Results();
        // A machine that is four times slower in the second round changes no ratio.
        results.add(List.of(figure("PENDULA", 1, 10), figure("PENDULA", 2, 40), figure("PENDULA", 3, 10),
                figure("STPE", 1, 20), figure("STPE", 2, 80)));
        assertEquals(new Results.Spread(0.5, 0.5, 0.5), results.ratio("25", "threads=1", "PENDULA", "STPE", "cpu_ns"));
        assertNull(results.ratio("25", "threads=1", "PENDULA", "HWT", "cpu_ns"));
    }
}
