package io.pendula.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(60)
class CompareTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "execute   | PENDULA          | PENDULA | PENDULA_POOL",
        "startstop | STPE,SUNDIAL     | SUNDIAL | PENDULA",
        "handover  | PENDULA_POOL,HWT | HWT     | STPE",
        "ticks     | PENDULA_POOL,HWT | HWT     | STPE",
        "loopio    | GO,NIO           | NIO     | PENDULA",
        "frontier  | PENDULA,DESIGNS,SUNDIAL | SUNDIAL | GO_1_10_P",
        "looparm   | PENDULA,DESIGNS  | GO_1_9  | PENDULA_HERE",
        "looparm   | PENDULA,SUNDIAL  | SUNDIAL | PENDULA_HERE",
    })
    void call_subjectOfAnotherCase_isRejectedBeforeAnythingIsMeasured(String name, String subjects,
            String unknown, String known, @TempDir Path dir) {
        Path out = dir.resolve("out.csv");
        StringWriter err = new StringWriter();
        int exit = new CommandLine(new Compare()).setErr(new PrintWriter(err)).execute(name,
                "--rounds", "1", "--subjects", subjects, "--out", out.toString());
        assertEquals(CommandLine.ExitCode.USAGE, exit);
        assertTrue(err.toString().contains(name + ": no such subject here: '" + unknown + "'; there are"),
                err::toString);
        assertTrue(err.toString().contains(known), err::toString);
        assertTrue(Files.notExists(out));
    }
}
